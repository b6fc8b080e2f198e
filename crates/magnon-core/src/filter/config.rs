//! `FilterConfig`: the configuration of a filter, as flags and files write it.

use super::{Accuracy, Filter, FilterError, FilterKind};
use crate::operator::{Bounds, Kind};
use serde::{Deserialize, Serialize};

/// Configuration of a [`Filter`].
///
/// | name | default | purpose | used by |
/// |---|---|---|---|
/// | `kind` | `linear-rank` | which filter | |
/// | `order` | 8; none for series | highest power, or where a series is cut | linear-rank, markov, power, ppr, heat, arma |
/// | `alpha` | 0.9 | weight of the next step against restart | ppr |
/// | `time` | 1 | diffusion time | heat |
/// | `coefficients` | | θ, c or ζ | polynomial, chebyshev, bernstein, arma |
/// | `feedback` | | η₁, η₂, … | arma |
/// | `exact` | false | solve, or go to machine precision | ppr, heat, arma |
/// | `tolerance` | 1e-6 | where a series without an order is cut | ppr, heat, arma |
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FilterConfig {
    /// Which filter.
    pub kind: FilterKind,
    /// Highest power, or where a series is cut.
    pub order: Option<usize>,
    /// α of personalised PageRank.
    pub alpha: Option<f64>,
    /// Diffusion time of the heat kernel.
    pub time: Option<f64>,
    /// θ, c or ζ.
    pub coefficients: Option<Vec<f64>>,
    /// η₁, η₂, ….
    pub feedback: Option<Vec<f64>>,
    /// Whether to solve instead of cutting the series.
    pub exact: bool,
    /// Where a series without an order is cut.
    pub tolerance: Option<f64>,
}

impl FilterConfig {
    /// Makes the filter for an operator of `kind` with spectrum in `domain`.
    pub fn build(&self, domain: Bounds, kind: Kind) -> Result<Filter, FilterError> {
        self.check()?;
        (self.kind.entry().build)(self, domain, kind)
    }

    /// Makes the filter as an iteration: with an order K, what K of its steps compute.
    pub fn build_steps(&self, domain: Bounds, kind: Kind) -> Result<Filter, FilterError> {
        match (self.kind.entry().iterate, self.order) {
            (Some(iterate), Some(_)) => {
                self.check()?;
                iterate(self, domain, kind)
            }
            _ => self.build(domain, kind),
        }
    }

    /// The order K that is meant: the one given, or the default of a filter that needs one.
    pub fn effective_order(&self) -> Option<usize> {
        self.order.or(self.kind.entry().order)
    }

    pub(super) fn accuracy(&self) -> Accuracy {
        match (self.exact, self.order) {
            (true, _) => Accuracy::Exact,
            (false, Some(order)) => Accuracy::Order(order),
            (false, None) => Accuracy::Tolerance(self.tolerance.unwrap_or(1e-6)),
        }
    }

    /// Refuses parameters that the filter does not have: they would be forgotten in silence.
    fn check(&self) -> Result<(), FilterError> {
        let given = [
            ("order", self.order.is_some(), "order"),
            ("alpha", self.alpha.is_some(), "alpha"),
            ("time", self.time.is_some(), "time"),
            ("coefficients", self.coefficients.is_some(), "coefficients"),
            ("feedback", self.feedback.is_some(), "feedback coefficients"),
            ("exact", self.exact, "exact solution; it is a finite sum already"),
            ("tolerance", self.tolerance.is_some(), "tolerance; it is a finite sum already"),
        ];
        let known = self.kind.entry().parameters;
        let stray = given.iter().find(|(name, given, _)| *given && !known.contains(name));
        if let Some(&(_, _, parameter)) = stray {
            return Err(FilterError::Unused { filter: self.kind.name(), parameter });
        }
        let unused = |parameter| Err(FilterError::Unused { filter: self.kind.name(), parameter });
        match (self.exact, self.order.is_some(), self.tolerance.is_some()) {
            (true, true, _) => return unused("order when solved exactly"),
            (true, _, true) => return unused("tolerance when solved exactly"),
            (_, true, true) => return unused("tolerance when its order is given"),
            _ => {}
        }
        if self.order == Some(0) {
            return Err(FilterError::OrderZero(self.kind.name()));
        }
        Ok(())
    }
}

/// Refuses tolerances that cannot be meant.
pub(super) fn check_tolerance(tolerance: f64) -> Result<(), FilterError> {
    if tolerance > 0.0 && tolerance < 1.0 {
        return Ok(());
    }
    Err(FilterError::OutOfRange {
        name: "tolerance",
        value: tolerance,
        range: "above 0 and below 1",
    })
}
