//! `spectrum`: eigenvalues of an operator.

use super::{BuiltOperator, OperatorSummary, Phases, Progress};
use crate::Error;
use crate::matrix::Matrix;
use crate::spectrum::{Method, SpectrumConfig};
use num_complex::Complex64;
use serde::{Deserialize, Serialize};

/// What [`spectrum`] found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpectrumReport {
    /// The operator.
    #[serde(flatten)]
    pub operator: OperatorSummary,
    /// How the eigenvalues were found.
    pub method: Method,
    /// Weakly connected components of the graph.
    pub components: usize,
    /// Number of eigenvalues.
    pub count: usize,
    /// Products of the operator with a block of vectors, by the iteration.
    pub products: usize,
    /// The bound of residuals that was asked for.
    pub tolerance: f64,
    /// The eigenvalues, ascending.
    pub eigenvalues: Vec<f64>,
    /// ‖Su − λu‖ of every pair, where vectors were computed.
    pub residuals: Option<Vec<f64>>,
    /// Where the time went, that of the operator included.
    pub seconds: Phases,
}

/// Eigenvalues with their vectors.
#[derive(Clone, Debug)]
pub struct Eigenpairs {
    /// The eigenvalues, and how they were found.
    pub report: SpectrumReport,
    /// The eigenvectors in columns, where they were asked for.
    pub vectors: Option<Matrix<Complex64>>,
}

/// Finds the eigenvalues of an operator: all of them, or those that `config` selects.
pub fn spectrum(
    built: &BuiltOperator,
    config: &SpectrumConfig,
    progress: &dyn Progress,
) -> Result<Eigenpairs, Error> {
    let mut seconds = built.report.seconds.clone();
    let found = seconds
        .time("spectrum", || crate::spectrum::spectrum(&built.operator, config, progress))?;
    let report = SpectrumReport {
        operator: built.report.operator.clone(),
        method: found.method,
        components: found.components,
        count: found.eigenvalues.len(),
        products: found.products,
        tolerance: config.tolerance,
        eigenvalues: found.eigenvalues,
        residuals: found.residuals,
        seconds,
    };
    Ok(Eigenpairs { report, vectors: found.vectors })
}
