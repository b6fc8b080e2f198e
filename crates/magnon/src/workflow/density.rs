//! `density`: how the eigenvalues of an operator are spread.

use super::{BuiltOperator, OperatorSummary, Phases, Progress};
use crate::Error;
use crate::spectrum::{Density, DensityConfig};
use serde::{Deserialize, Serialize};

/// What [`density`] found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DensityReport {
    /// The operator.
    #[serde(flatten)]
    pub operator: OperatorSummary,
    /// The density of its eigenvalues.
    #[serde(flatten)]
    pub density: Density,
    /// Where the time went, that of the operator included.
    pub seconds: Phases,
}

/// Estimates the density of all eigenvalues of an operator, on a graph of any size.
pub fn density(
    built: &BuiltOperator,
    config: &DensityConfig,
    progress: &dyn Progress,
) -> Result<DensityReport, Error> {
    let mut seconds = built.report.seconds.clone();
    let density =
        seconds.time("spectrum", || crate::spectrum::density(&built.operator, config, progress))?;
    Ok(DensityReport { operator: built.report.operator.clone(), density, seconds })
}
