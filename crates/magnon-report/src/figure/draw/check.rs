//! The checks that every figure makes of its lists before it draws.

use crate::PlotError;

/// Above this the width of an axis could overflow.
const LARGEST: f64 = 1e300;

/// Checks on behalf of one kind of figure, which the errors name.
#[derive(Clone, Copy)]
pub(crate) struct Check(pub &'static str);

impl Check {
    pub fn some<T>(self, what: &str, values: &[T]) -> Result<(), PlotError> {
        if values.is_empty() {
            return Err(PlotError::Empty { figure: self.0, what: what.to_owned() });
        }
        Ok(())
    }

    pub fn length(self, what: &str, found: usize, expected: usize) -> Result<(), PlotError> {
        if found != expected {
            return Err(PlotError::Length {
                figure: self.0,
                what: what.to_owned(),
                found,
                expected,
            });
        }
        Ok(())
    }

    pub fn finite(self, what: &str, values: &[f64]) -> Result<(), PlotError> {
        match values.iter().position(|&value| !drawable(value)) {
            None => Ok(()),
            Some(index) => Err(PlotError::Value {
                figure: self.0,
                what: what.to_owned(),
                index,
                value: values[index],
            }),
        }
    }

    pub fn below(
        self,
        what: &'static str,
        index: usize,
        value: usize,
        limit: usize,
    ) -> Result<(), PlotError> {
        if value >= limit {
            return Err(PlotError::Index { figure: self.0, what, index, value, limit });
        }
        Ok(())
    }

    /// A curve: two finite lists of one length, at least one point.
    pub fn curve(self, what: &str, x: &[f64], y: &[f64]) -> Result<(), PlotError> {
        self.some(what, x)?;
        self.length(what, y.len(), x.len())?;
        self.finite(what, x)?;
        self.finite(what, y)
    }
}

/// Whether a number has a place on an axis.
pub(crate) fn drawable(value: f64) -> bool {
    value.abs() <= LARGEST
}
