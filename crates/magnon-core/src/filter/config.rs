//! `FilterConfig`: the configuration of a filter, as flags and files write it.

use super::{Accuracy, Filter, FilterError};
use crate::operator::{Bounds, Kind};
use serde::{Deserialize, Serialize};

/// The filters; see the [module](super).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum FilterKind {
    /// LinearRank of the paper.
    #[default]
    LinearRank,
    /// Markov diffusion.
    Markov,
    /// Personalised PageRank.
    Ppr,
    /// Heat kernel.
    Heat,
    /// Chebyshev series.
    Chebyshev,
    /// Bernstein polynomial.
    Bernstein,
    /// Feed-forward times feedback part.
    Arma,
    /// General polynomial.
    Polynomial,
    /// A single power.
    Power,
}

impl FilterKind {
    /// The name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::LinearRank => "linear-rank",
            Self::Markov => "markov",
            Self::Ppr => "ppr",
            Self::Heat => "heat",
            Self::Chebyshev => "chebyshev",
            Self::Bernstein => "bernstein",
            Self::Arma => "arma",
            Self::Polynomial => "polynomial",
            Self::Power => "power",
        }
    }
}

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
        let order = self.effective_order().unwrap_or_default();
        let coefficients = self.coefficients.as_deref().unwrap_or_default();
        match self.kind {
            FilterKind::LinearRank => Filter::linear_rank(order),
            FilterKind::Markov => Filter::markov(order),
            FilterKind::Power => Filter::power(order),
            FilterKind::Ppr => {
                Filter::page_rank(self.alpha.unwrap_or(0.9), domain, kind, self.accuracy())
            }
            FilterKind::Heat => {
                Filter::heat(self.time.unwrap_or(1.0), domain, kind, self.accuracy())
            }
            FilterKind::Polynomial => Filter::polynomial(coefficients),
            FilterKind::Chebyshev => Filter::chebyshev(coefficients, domain),
            FilterKind::Bernstein => Filter::bernstein(coefficients, domain, kind),
            FilterKind::Arma => {
                let feedback = self.feedback.as_deref().unwrap_or_default();
                Filter::arma(coefficients, feedback, domain, self.accuracy())
            }
        }
    }

    /// The order K that is meant: the one given, or 8 for a filter that needs one.
    pub fn effective_order(&self) -> Option<usize> {
        match self.kind {
            FilterKind::LinearRank | FilterKind::Markov | FilterKind::Power => {
                Some(self.order.unwrap_or(8))
            }
            _ => self.order,
        }
    }

    fn accuracy(&self) -> Accuracy {
        match (self.exact, self.order) {
            (true, _) => Accuracy::Exact,
            (false, Some(order)) => Accuracy::Order(order),
            (false, None) => Accuracy::Tolerance(self.tolerance.unwrap_or(1e-6)),
        }
    }

    /// Refuses parameters that the filter does not have: they would be forgotten in silence.
    fn check(&self) -> Result<(), FilterError> {
        use FilterKind::{
            Arma, Bernstein, Chebyshev, Heat, LinearRank, Markov, Polynomial, Power, Ppr,
        };
        let series = &[Ppr, Heat, Arma][..];
        let given: [(&'static str, bool, &[FilterKind]); 7] = [
            ("order", self.order.is_some(), &[LinearRank, Markov, Power, Ppr, Heat, Arma]),
            ("alpha", self.alpha.is_some(), &[Ppr]),
            ("time", self.time.is_some(), &[Heat]),
            (
                "coefficients",
                self.coefficients.is_some(),
                &[Polynomial, Chebyshev, Bernstein, Arma],
            ),
            ("feedback coefficients", self.feedback.is_some(), &[Arma]),
            ("exact solution; it is a finite sum already", self.exact, series),
            ("tolerance; it is a finite sum already", self.tolerance.is_some(), series),
        ];
        let stray = given.iter().find(|(_, given, kinds)| *given && !kinds.contains(&self.kind));
        if let Some((parameter, ..)) = stray {
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
