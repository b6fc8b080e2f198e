//! Which filter an operator is put through.

use super::BuiltOperator;
use crate::compute::Series;
use crate::filter::{Filter, FilterConfig, FilterError, FilterKind};
use serde::{Deserialize, Serialize};

/// Which filter was made, and how it is evaluated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FilterSummary {
    /// Which filter.
    pub filter: FilterKind,
    /// The order K, where it has one.
    pub order: Option<usize>,
    /// Products with the operator for one evaluation; `None` where it is solved for.
    pub products: Option<usize>,
    /// Bound of what a series that was cut leaves out.
    pub truncation: f64,
    /// Whether it is applied in double precision, to machine precision.
    pub exact: bool,
    /// The coefficients that are evaluated; those of the numerator where it is solved for.
    pub coefficients: Vec<f64>,
    /// The coefficients of the denominator, where it is solved for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub denominator: Option<Vec<f64>>,
}

impl FilterSummary {
    pub(super) fn new(filter: &Filter, config: &FilterConfig) -> Self {
        Self {
            filter: config.kind,
            order: config.effective_order(),
            products: filter.order(),
            truncation: filter.truncation(),
            exact: filter.is_exact(),
            coefficients: filter.coefficients().to_vec(),
            denominator: match filter.series() {
                Series::Rational { denominator, .. } => Some(denominator.clone()),
                _ => None,
            },
        }
    }
}

/// The filter of a configuration for an operator.
pub(super) fn build(built: &BuiltOperator, config: &FilterConfig) -> Result<Filter, FilterError> {
    config.build(built.operator.bounds(), built.operator.config().kind)
}
