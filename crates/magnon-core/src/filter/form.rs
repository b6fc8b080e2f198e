//! `Filter`: a function h of the operator, in one of three forms that can be evaluated.

use super::FilterError;
use crate::compute::{Bounds, Series};

/// Most terms that a filter may have.
pub(super) const MAX_ORDER: usize = 100_000;

/// How closely an infinite series is followed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Accuracy {
    /// Up to the power K, whatever that leaves out.
    Order(usize),
    /// As many terms as keep |h − truncated h| below this over the whole spectrum.
    Tolerance(f64),
    /// To machine precision, in double precision: solved where h is rational.
    Exact,
}

/// A function h of the operator; the same object filters data and draws its response.
///
/// ```
/// use magnon_core::filter::Filter;
/// let filter = Filter::linear_rank(3)?;
/// assert_eq!(filter.coefficients(), [0.5, 1.0 / 3.0, 1.0 / 6.0]);
/// assert_eq!(filter.response(1.0), 1.0);
/// # Ok::<(), magnon_core::filter::FilterError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    series: Series,
    /// Bound of |h − what is evaluated| over the spectrum; 0 where nothing was left out.
    truncation: f64,
    /// Whether double precision is asked for.
    exact: bool,
}

impl Filter {
    /// A polynomial in powers, checked for size and finite numbers.
    pub(super) fn powers(coefficients: Vec<f64>, truncation: f64) -> Result<Self, FilterError> {
        Self::checked(Series::Powers(coefficients), truncation)
    }

    pub(super) fn checked(series: Series, truncation: f64) -> Result<Self, FilterError> {
        let filter = Self { series, truncation, exact: false };
        let terms = filter.coefficients().len();
        if terms > MAX_ORDER + 1 {
            return Err(FilterError::OrderTooLarge(terms - 1));
        }
        match filter.coefficients().iter().find(|c| !c.is_finite()) {
            Some(&value) => Err(FilterError::OutOfRange {
                name: "a coefficient",
                value,
                range: "a finite number",
            }),
            None => Ok(filter),
        }
    }

    /// The same filter, applied in double precision.
    pub(super) fn into_exact(self) -> Self {
        Self { exact: true, ..self }
    }

    /// How h is evaluated.
    pub fn series(&self) -> &Series {
        &self.series
    }

    /// The coefficients of the form; for a rational form those of the numerator, whose
    /// [`series`](Self::series) has the denominator too.
    pub fn coefficients(&self) -> &[f64] {
        match &self.series {
            Series::Powers(coefficients) | Series::Chebyshev { coefficients, .. } => coefficients,
            Series::Rational { numerator, .. } => numerator,
        }
    }

    /// Products with the operator for one evaluation; `None` where it is solved for.
    pub fn order(&self) -> Option<usize> {
        match self.series {
            Series::Rational { .. } => None,
            _ => Some(self.coefficients().len().saturating_sub(1)),
        }
    }

    /// Bound of |h − what is evaluated| over the spectrum; 0 where nothing was left out.
    pub fn truncation(&self) -> f64 {
        self.truncation
    }

    /// Whether the filter is applied in double precision.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// K where h(λ) = λ^K.
    pub fn as_power(&self) -> Option<usize> {
        let Series::Powers(coefficients) = &self.series else { return None };
        let (last, rest) = coefficients.split_last()?;
        let is_power = *last == 1.0 && rest.iter().all(|&c| c == 0.0);
        is_power.then_some(rest.len())
    }

    /// The response h(λ) of what is evaluated.
    pub fn response(&self, lambda: f64) -> f64 {
        match &self.series {
            Series::Powers(coefficients) => horner(coefficients, lambda),
            Series::Chebyshev { coefficients, domain } => {
                clenshaw(coefficients, to_unit(*domain, lambda))
            }
            Series::Rational { numerator, denominator } => {
                horner(numerator, lambda) / horner(denominator, lambda)
            }
        }
    }
}

/// λ mapped from `domain` to [−1, 1].
pub(super) fn to_unit(domain: Bounds, lambda: f64) -> f64 {
    (lambda - domain.centre()) / domain.half_width()
}

/// Σ c_k x^k.
pub(super) fn horner(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// Σ c_k T_k(x).
fn clenshaw(coefficients: &[f64], x: f64) -> f64 {
    let Some((first, rest)) = coefficients.split_first() else { return 0.0 };
    let (mut b1, mut b2) = (0.0, 0.0);
    for c in rest.iter().rev() {
        (b1, b2) = (2.0 * x * b1 - b2 + c, b1);
    }
    x * b1 - b2 + first
}
