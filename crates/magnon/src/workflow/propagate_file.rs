//! `propagate_file`: features that stay on disk are filtered a block of columns at a time.
//!
//! Columns never mix, so blocks depend on nothing but their own columns, and all numbers are those of
//! [`propagate`](super::propagate()) bit for bit. A block that is done lies in a file of its own in the folder
//! `OUTPUT.blocks`; the same call resumes behind those that a kill has left. When all are there, they are joined
//! into the output, which appears whole or not at all. On a card, blocks are cut further to what its memory
//! takes, and all numbers are those of [`propagate_on`](super::propagate_on).

use super::blocks::{Blocks, Shape};
use super::filter::build;
use super::precision::{Precision, write_filtered};
use super::{BuiltOperator, FilterSummary, OperatorSummary, Phases, Progress};
use crate::Error;
use crate::compute::Device;
use crate::data::{DataError, FeatureFile, FeatureNorm};
use crate::filter::Propagator;
use crate::filter::{Filter, FilterConfig, FilterError, Propagated, bytes_for, columns_within};
use crate::progress::Part;
use serde::Serialize;
use std::path::PathBuf;

/// What becomes of features on disk.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FilteredFile {
    /// How they are scaled.
    pub feature_norm: FeatureNorm,
    /// The `.npy` file of the result.
    pub output: PathBuf,
    /// The precision that it is written in.
    pub precision: Precision,
    /// Bytes that may be used beside the pattern, which is mapped.
    pub memory: u64,
    /// Where they are filtered.
    #[serde(skip_serializing_if = "Device::is_cpu")]
    pub device: Device,
}

/// What [`propagate_file`] did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FileReport {
    /// The operator.
    #[serde(flatten)]
    pub operator: OperatorSummary,
    /// The filter.
    #[serde(flatten)]
    pub filter: FilterSummary,
    /// Columns of the result; it has one row per node.
    pub columns: usize,
    /// Type of its numbers, see [`Precision::dtype`].
    pub dtype: String,
    /// Blocks that the columns were filtered in.
    pub blocks: usize,
    /// Blocks that were there from an earlier call.
    pub known_blocks: usize,
    /// Bytes that a block needs, the pattern aside.
    pub block_bytes: usize,
    /// Where the time went, that of the operator included.
    pub seconds: Phases,
}

/// Applies a filter of the operator to features on disk, within a budget of memory.
pub fn propagate_file(
    built: &BuiltOperator,
    features: &FeatureFile,
    file: &FilteredFile,
    config: &FilterConfig,
    progress: &dyn Progress,
) -> Result<FileReport, Error> {
    let filter = build(built, config)?;
    let engine = file.device.engine().map_err(FilterError::from)?;
    let propagator = Propagator::new(&engine, &built.operator, &filter)?;
    filter_file(built, (features, file), (&filter, config), &propagator, progress)
}

fn filter_file(
    built: &BuiltOperator,
    (features, file): (&FeatureFile, &FilteredFile),
    (filter, config): (&Filter, &FilterConfig),
    propagator: &Propagator,
    progress: &dyn Progress,
) -> Result<FileReport, Error> {
    let operator = &built.operator;
    let (rows, nodes, cols) = (features.rows(), operator.nodes(), features.cols());
    if rows != nodes {
        let problem = format!("the features have {rows} rows, but the graph has {nodes} nodes");
        return Err(DataError::format(features.path().display().to_string(), problem).into());
    }
    let width = columns_within(operator, filter, cols, file.memory)?.max(1);
    let blocks = cols.div_ceil(width);
    features.remarks().iter().for_each(|remark| progress.remark(remark));
    let mut seconds = built.report.seconds.clone();
    let mut known = 0;
    let (real, precision) = (operator.is_real(), file.precision);
    let span = |block: usize| block * width..((block + 1) * width).min(cols);
    let filtered = |block: usize, scaling: &_, seconds: &mut Phases| -> Result<Propagated, Error> {
        let part = seconds.time("read", || features.columns(span(block), scaling))?;
        let told = Part { whole: progress, part: block, parts: blocks };
        Ok(seconds.time("propagate", || propagator.run(&part, &told))?)
    };
    if blocks <= 1 {
        // All at once: the scaling is found in memory, and the result is written as it is.
        let whole = seconds.time("read", || features.columns(0..cols, &Default::default()))?;
        let mut whole = whole;
        tell(progress, file.feature_norm.apply(&mut whole).words());
        let result = seconds.time("propagate", || propagator.run(&whole, progress))?;
        drop(whole);
        seconds.time("write", || write_filtered(&file.output, &result, file.precision))?;
    } else {
        let shape = Shape { width, cols, nodes, bytes: precision.bytes(real) };
        let work = Blocks::open(shape, built, filter, (features, file))?;
        let scaling = seconds.time("read", || features.survey(file.feature_norm, width))?;
        tell(progress, scaling.words());
        for block in 0..blocks {
            if work.is_done(block)? {
                known += 1;
                continue;
            }
            let result = filtered(block, &scaling, &mut seconds)?;
            precision.check(&result, span(block), &file.output)?;
            seconds.time("write", || work.keep(block, &result, precision))?;
        }
        seconds.time("write", || {
            precision.write_rows(&file.output, real, [nodes, cols], |target| work.join(target))
        })?;
        work.folder.clear()?;
    }
    Ok(FileReport {
        operator: built.report.operator.clone(),
        filter: FilterSummary::new(filter, config),
        columns: cols,
        dtype: precision.dtype(real).to_owned(),
        blocks,
        known_blocks: known,
        block_bytes: bytes_for(operator, filter, width.min(cols)),
        seconds,
    })
}

fn tell(progress: &dyn Progress, words: Option<&str>) {
    if let Some(words) = words {
        progress.remark(words);
    }
}
