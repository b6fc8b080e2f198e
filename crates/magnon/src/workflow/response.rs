//! `response`: what a filter does to each frequency.

use super::filter::build;
use super::{BuiltOperator, FilterSummary, OperatorSummary, Phases};
use crate::Error;
use crate::filter::{FilterConfig, FilterError};
use serde::{Deserialize, Serialize};

/// Configuration of a [`response`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `filter` | LinearRank | the filter | |
/// | `points` | 201 | points of the grid, ends included | 2 to 10 000 000 |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResponseConfig {
    /// The filter.
    pub filter: FilterConfig,
    /// Points of the grid, ends included.
    pub points: usize,
}

impl Default for ResponseConfig {
    fn default() -> Self {
        Self { filter: FilterConfig::default(), points: 201 }
    }
}

impl ResponseConfig {
    /// Checks the number of points; the filter is checked when it is built.
    pub fn check(&self) -> Result<(), Error> {
        match self.points {
            2..=10_000_000 => Ok(()),
            points => Err(Error::Argument(format!(
                "the number of points is {points}, but must be from 2 to 10000000"
            ))),
        }
    }
}

/// What [`response`] found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResponseReport {
    /// The operator.
    #[serde(flatten)]
    pub operator: OperatorSummary,
    /// The filter.
    #[serde(flatten)]
    pub filter: FilterSummary,
    /// The grid λ, evenly spaced over the interval that holds the spectrum.
    pub lambda: Vec<f64>,
    /// h(λ).
    pub response: Vec<f64>,
    /// Where the time went, that of the operator included.
    pub seconds: Phases,
}

/// Evaluates the response h(λ) of a filter at even points over the spectrum of an operator.
pub fn response(built: &BuiltOperator, config: &ResponseConfig) -> Result<ResponseReport, Error> {
    config.check()?;
    let filter = build(built, &config.filter)?;
    let (bounds, last) = (built.operator.bounds(), (config.points - 1) as f64);
    let at = |i: usize| (1.0 - i as f64 / last) * bounds.min + i as f64 / last * bounds.max;
    let lambda: Vec<f64> = (0..config.points).map(at).collect();
    let mut seconds = built.report.seconds.clone();
    let response: Vec<f64> =
        seconds.time("response", || lambda.iter().map(|&lambda| filter.response(lambda)).collect());
    if let Some(i) = response.iter().position(|h| !h.is_finite()) {
        let (lambda, response) = (lambda[i], response[i]);
        return Err(FilterError::NotFinite { lambda, response }.into());
    }
    Ok(ResponseReport {
        operator: built.report.operator.clone(),
        filter: FilterSummary::new(&filter, &config.filter),
        lambda,
        response,
        seconds,
    })
}
