//! `frequency_response`: eigenvalues of Laplacian and renormalised adjacency at many charges, with a filter's
//! response beside them.

use super::filter::build;
use super::{BuiltOperator, FilterSummary, OperatorSummary, Phases, Progress};
use crate::Error;
use crate::filter::{Filter, FilterConfig};
use crate::operator::{Charge, Kind, Normalize, OperatorConfig};
use crate::spectrum::{FrequencyResponse, ResponseCurve, SpectrumConfig};
use serde::{Deserialize, Serialize};

/// Configuration of a [`frequency_response`].
///
/// | name | default | purpose |
/// |---|---|---|
/// | `filter` | LinearRank | the filter |
/// | `charges` | | charges of the curves; the operator's own where there are none |
/// | `solver` | | bounds the memory; its choice of eigenvalues is not used |
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FrequencyConfig {
    /// The filter.
    pub filter: FilterConfig,
    /// Charges of the curves; the operator's own where there are none.
    pub charges: Vec<Charge>,
    /// Bounds the memory of the dense solver.
    pub solver: SpectrumConfig,
}

/// What [`frequency_response`] found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrequencyReport {
    /// The operator.
    #[serde(flatten)]
    pub operator: OperatorSummary,
    /// The filter.
    #[serde(flatten)]
    pub filter: FilterSummary,
    /// d̄: mean row sum of A_s.
    pub mean_degree: f64,
    /// One curve per charge, in the order asked for.
    pub curves: Vec<FrequencyCurve>,
    /// Where the time went, that of the operator included.
    pub seconds: Phases,
}

/// The curves of one charge, all in the order of the eigenvalues of the Laplacian.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrequencyCurve {
    /// The charge q.
    pub charge: f64,
    /// The charge as it is written, such as `1/3`.
    pub charge_text: String,
    /// λ_q: eigenvalues of the normalised Laplacian without self loops, ascending.
    pub laplacian: Vec<f64>,
    /// Eigenvalues of the renormalised adjacency, descending.
    pub adjacency: Vec<f64>,
    /// 1 − d̄/(d̄+1)·λ_q.
    pub approximation: Vec<f64>,
    /// The filter's response at the eigenvalues of the operator that it was built for.
    pub response: Vec<f64>,
    /// Largest |adjacency − approximation|.
    pub max_error: f64,
    /// Mean |adjacency − approximation|.
    pub mean_error: f64,
}

/// Frequency responses, with what is told of them.
#[derive(Clone, Debug)]
pub struct FrequencyResponses {
    /// The curves, and what is told of them.
    pub report: FrequencyReport,
    /// The filter, to be evaluated elsewhere.
    pub filter: Filter,
}

impl FrequencyReport {
    /// Names of the columns of [`rows`](Self::rows).
    pub const HEADER: [&'static str; 6] =
        ["charge", "index", "laplacian", "adjacency", "approximation", "response"];

    /// Slope d̄/(d̄+1) of the approximation.
    pub fn slope(&self) -> f64 {
        self.mean_degree / (self.mean_degree + 1.0)
    }

    /// One row per charge and eigenvalue.
    pub fn rows(&self) -> impl Iterator<Item = Vec<String>> {
        self.curves.iter().flat_map(FrequencyCurve::rows)
    }
}

impl FrequencyCurve {
    fn new(curve: ResponseCurve, operator: &OperatorConfig, filter: &Filter) -> Self {
        let pairs = curve.laplacian.iter().zip(&curve.adjacency);
        let response = pairs.map(|(laplacian, adjacency)| {
            let low = if operator.self_loops { *adjacency } else { 1.0 - laplacian };
            filter.response(match operator.kind {
                Kind::Adjacency => low,
                Kind::NegatedAdjacency => -low,
                Kind::Laplacian => 1.0 - low,
            })
        });
        Self {
            charge: curve.charge.value(),
            charge_text: curve.charge.to_string(),
            response: response.collect(),
            laplacian: curve.laplacian,
            adjacency: curve.adjacency,
            approximation: curve.approximation,
            max_error: curve.max_error,
            mean_error: curve.mean_error,
        }
    }

    fn rows(&self) -> impl Iterator<Item = Vec<String>> {
        let columns = [&self.laplacian, &self.adjacency, &self.approximation, &self.response];
        (0..self.laplacian.len()).map(move |i| {
            let mut row = vec![self.charge_text.clone(), i.to_string()];
            row.extend(columns.iter().map(|column| column[i].to_string()));
            row
        })
    }
}

/// Compares the eigenvalues of the renormalised adjacency with what the paper takes them for, at several
/// charges, and evaluates a filter of the operator at them. The operator must be normalised.
pub fn frequency_response(
    built: &BuiltOperator,
    config: &FrequencyConfig,
    progress: &dyn Progress,
) -> Result<FrequencyResponses, Error> {
    let operator = *built.operator.config();
    if operator.normalize == Normalize::None {
        let problem = "frequency responses compare normalised operators; normalise by sym or rw";
        return Err(Error::Argument(problem.to_owned()));
    }
    let filter = build(built, &config.filter)?;
    let own = [operator.charge];
    let charges = if config.charges.is_empty() { &own[..] } else { &config.charges };
    let mut seconds = built.report.seconds.clone();
    let pattern = built.operator.pattern();
    let FrequencyResponse { curves, mean_degree } = seconds.time("spectrum", || {
        let (symmetrize, solver) = (operator.symmetrize, &config.solver);
        crate::spectrum::frequency_response(pattern, charges, symmetrize, solver, progress)
    })?;
    let curves = curves.into_iter().map(|curve| FrequencyCurve::new(curve, &operator, &filter));
    let report = FrequencyReport {
        operator: built.report.operator.clone(),
        filter: FilterSummary::new(&filter, &config.filter),
        mean_degree,
        curves: curves.collect(),
        seconds,
    };
    Ok(FrequencyResponses { report, filter })
}
