//! `propagate`: filtered features.

use super::filter::build;
use super::{BuiltOperator, FilterSummary, OperatorSummary, Phases, Progress};
use crate::Error;
use crate::compute::Device;
use crate::filter::{FilterConfig, FilterError, Propagated};
use crate::matrix::Features;
use serde::{Deserialize, Serialize};

/// What [`propagate`] did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PropagateReport {
    /// The operator.
    #[serde(flatten)]
    pub operator: OperatorSummary,
    /// The filter.
    #[serde(flatten)]
    pub filter: FilterSummary,
    /// Columns of the result; it has one row per node.
    pub columns: usize,
    /// Type of its numbers: `complex64`, or `float32` of a real operator.
    pub dtype: String,
    /// Where the time went, that of the operator included.
    pub seconds: Phases,
}

/// Filtered features, with what is told of them.
#[derive(Clone, Debug)]
pub struct FilteredFeatures {
    /// h(S)X, one row per node.
    pub features: Propagated,
    /// What is told of them.
    pub report: PropagateReport,
}

/// Applies a filter of the operator to all columns of `features`, h(S)X.
pub fn propagate(
    built: &BuiltOperator,
    features: &Features,
    config: &FilterConfig,
    progress: &dyn Progress,
) -> Result<FilteredFeatures, Error> {
    propagate_on(Device::Cpu, built, features, config, progress)
}

/// [`propagate`] on a device. On a card all sums are made in single precision.
pub fn propagate_on(
    device: Device,
    built: &BuiltOperator,
    features: &Features,
    config: &FilterConfig,
    progress: &dyn Progress,
) -> Result<FilteredFeatures, Error> {
    let filter = build(built, config)?;
    let mut seconds = built.report.seconds.clone();
    let features = seconds.time("propagate", || {
        let engine = device.engine().map_err(FilterError::from)?;
        crate::filter::propagate_on(&engine, &built.operator, &filter, features, progress)
    })?;
    let (columns, dtype) = match &features {
        Propagated::Real(matrix) => (matrix.cols(), "float32"),
        Propagated::Complex(matrix) => (matrix.cols(), "complex64"),
    };
    let report = PropagateReport {
        operator: built.report.operator.clone(),
        filter: FilterSummary::new(&filter, config),
        columns,
        dtype: dtype.to_owned(),
        seconds,
    };
    Ok(FilteredFeatures { features, report })
}
