//! `propagate_file`: features that stay on disk are filtered a block of columns at a time.
//!
//! Columns never mix, so blocks depend on nothing but their own columns, and all numbers are those of
//! [`propagate`](super::propagate()) bit for bit. A block that is done lies in a file of its own in the folder
//! `OUTPUT.blocks`; the same call goes on behind those that a kill has left. When all are there, they are joined
//! into the output, which appears whole or not at all. On a card, blocks are cut further to what its memory
//! takes, and all numbers are those of [`propagate_on`](super::propagate_on).

use super::filter::build;
use super::precision::{Precision, write_filtered};
use super::{BuiltOperator, FilterSummary, OperatorSummary, Phases, Progress};
use crate::Error;
use crate::data::write::write_atomic;
use crate::data::{DataError, FeatureFile, FeatureNorm};
use crate::disk;
use crate::filter::{Filter, FilterConfig, FilterError, Propagated, bytes_for, columns_within};
use crate::nn::{Device, Engine, EngineWork, Propagator};
use serde::Serialize;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

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
    let work = OnDisk { built, features, file, filter: &filter, config, progress };
    file.device.run(work).map_err(FilterError::from)?
}

/// The work on whichever engine the device has.
struct OnDisk<'a> {
    built: &'a BuiltOperator,
    features: &'a FeatureFile,
    file: &'a FilteredFile,
    filter: &'a Filter,
    config: &'a FilterConfig,
    progress: &'a dyn Progress,
}

impl EngineWork for OnDisk<'_> {
    type Output = Result<FileReport, Error>;

    fn run<E: Engine<Real = f32>>(self, engine: &E) -> Self::Output {
        let Self { built, features, file, filter, config, progress } = self;
        let propagate = engine.propagator(&built.operator, filter)?;
        filter_file(built, (features, file), (filter, config), &propagate, progress)
    }
}

fn filter_file(
    built: &BuiltOperator,
    (features, file): (&FeatureFile, &FilteredFile),
    (filter, config): (&Filter, &FilterConfig),
    propagate: &Propagator,
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
    let (real, precision) = (operator.is_real(), file.precision);
    let mut work = Blocks { folder: PathBuf::new(), width, cols, nodes, real, precision, known: 0 };
    let span = |block: usize| block * width..((block + 1) * width).min(cols);
    let filtered = |block: usize, scaling: &_, seconds: &mut Phases| -> Result<Propagated, Error> {
        let part = seconds.time("read", || features.columns(span(block), scaling))?;
        let told = |done: usize, total: usize| {
            progress.step(block * total + done, blocks * total, "propagate");
            !progress.is_stopped()
        };
        Ok(seconds.time("propagate", || propagate(&part, &told))?)
    };
    if blocks <= 1 {
        // All at once: the scaling is found in memory, and the result is written as it is.
        let whole = seconds.time("read", || features.columns(0..cols, &Default::default()))?;
        let mut whole = whole;
        tell(progress, file.feature_norm.apply(&mut whole).words());
        let told = super::progress::steps(progress, "propagate");
        let result = seconds.time("propagate", || propagate(&whole, &told))?;
        drop(whole);
        seconds.time("write", || write_filtered(&file.output, &result, file.precision))?;
    } else {
        let _lock = work.open(built, filter, (features, file))?;
        let scaling = seconds.time("read", || features.survey(file.feature_norm, width))?;
        tell(progress, scaling.words());
        for block in 0..blocks {
            if work.is_done(block)? {
                work.known += 1;
                continue;
            }
            let result = filtered(block, &scaling, &mut seconds)?;
            precision.check(&result, span(block), &file.output)?;
            seconds.time("write", || work.keep(block, &result))?;
        }
        seconds.time("write", || work.join(&file.output))?;
        work.clear()?;
    }
    Ok(FileReport {
        operator: built.report.operator.clone(),
        filter: FilterSummary::new(filter, config),
        columns: cols,
        dtype: precision.dtype(real).to_owned(),
        blocks,
        known_blocks: work.known,
        block_bytes: bytes_for(operator, filter, width.min(cols)),
        seconds,
    })
}

fn tell(progress: &dyn Progress, words: Option<&str>) {
    if let Some(words) = words {
        progress.remark(words);
    }
}

/// The blocks that are done, each in a file.
struct Blocks {
    folder: PathBuf,
    width: usize,
    cols: usize,
    nodes: usize,
    real: bool,
    precision: Precision,
    known: usize,
}

/// Bytes of a block that are read at once when blocks are joined.
const PIECE: usize = 4 << 20;

impl Blocks {
    fn failed(&self, action: &'static str) -> impl Fn(io::Error) -> DataError + use<> {
        let path = self.folder.clone();
        move |reason| DataError::Io { path: path.clone(), action, reason }
    }

    /// Opens the folder beside the output. Blocks of other work are removed.
    fn open(
        &mut self,
        built: &BuiltOperator,
        filter: &Filter,
        (features, file): (&FeatureFile, &FilteredFile),
    ) -> Result<File, DataError> {
        let mut name = file.output.file_name().unwrap_or_default().to_owned();
        name.push(".blocks");
        self.folder = file.output.with_file_name(name);
        disk::make_folder(&self.folder).map_err(self.failed("write"))?;
        let lock = disk::open_lock(&self.folder.join("lock")).map_err(self.failed("write"))?;
        if !disk::lock(&lock).map_err(self.failed("write"))? {
            let problem =
                "another process is filtering into it; wait for its end, or choose another file";
            return Err(DataError::format(file.output.display().to_string(), problem));
        }
        let meta = std::fs::metadata(features.path()).map_err(self.failed("read"))?;
        let key = format!(
            "{:?}",
            (
                env!("CARGO_PKG_VERSION"),
                built.operator.config(),
                built.operator.pattern().checksum(),
                filter,
                (features, meta.len(), meta.modified().ok(), file.feature_norm),
                (self.width, self.precision),
            )
        );
        // Numbers of a card are rounded otherwise.
        let key = match file.device.describe() {
            Ok(card) if !file.device.is_cpu() => format!("{key} on {card}"),
            _ => key,
        };
        let path = self.folder.join("key");
        if disk::read(&path).ok().as_deref() != Some(key.as_bytes()) {
            for block in disk::list(&self.folder).map_err(self.failed("write"))?.unwrap_or_default()
            {
                if !block.ends_with("lock") {
                    disk::remove(&block).map_err(self.failed("write"))?;
                }
            }
            write_atomic(&path, |target| target.write_all(key.as_bytes()))?;
        }
        Ok(lock)
    }

    fn path(&self, block: usize) -> PathBuf {
        self.folder.join(format!("block-{block}"))
    }

    fn width(&self, block: usize) -> usize {
        self.width.min(self.cols - block * self.width)
    }

    /// Whether a block lies there whole; it has its name only then.
    fn is_done(&self, block: usize) -> Result<bool, DataError> {
        let bytes = self.nodes * self.width(block) * self.precision.bytes(self.real);
        let found = disk::metadata(&self.path(block)).map_err(self.failed("read"))?;
        Ok(found.is_some_and(|meta| meta.len() == bytes as u64))
    }

    fn keep(&self, block: usize, result: &Propagated) -> Result<(), DataError> {
        write_atomic(&self.path(block), |target| self.precision.put(result, target))
    }

    /// Puts the blocks side by side, in a file among them that then gets its name: what a kill leaves behind lies
    /// in the folder, which goes in the end.
    fn join(&self, output: &Path) -> Result<(), DataError> {
        let blocks = self.cols.div_ceil(self.width);
        let open = |block: usize| disk::open(&self.path(block));
        let files: io::Result<Vec<File>> = (0..blocks).map(open).collect();
        let mut files = files.map_err(self.failed("read"))?;
        let bytes = self.precision.bytes(self.real);
        let row = self.cols * bytes;
        let many = (PIECE / row.max(1)).clamp(1, self.nodes.max(1));
        let mut rows = vec![0u8; many * row];
        let mut part = vec![0u8; many * self.width * bytes];
        let joined = self.folder.join("joined.npy");
        self.precision.write_rows(&joined, self.real, [self.nodes, self.cols], |target| {
            for first in (0..self.nodes).step_by(many) {
                let count = many.min(self.nodes - first);
                for (block, file) in files.iter_mut().enumerate() {
                    let width = self.width(block) * bytes;
                    let part = &mut part[..count * width];
                    file.read_exact(part)?;
                    let places = rows.chunks_exact_mut(row);
                    for (row, cells) in places.zip(part.chunks_exact(width)) {
                        row[block * self.width * bytes..][..width].copy_from_slice(cells);
                    }
                }
                target.write_all(&rows[..count * row])?;
            }
            Ok(())
        })?;
        let folder = match output.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        disk::rename(&joined, output)
            .and_then(|()| disk::sync_folder(folder))
            .map_err(|reason| DataError::Io { path: output.to_owned(), action: "write", reason })
    }

    /// Removes the folder; its blocks are in the output now.
    fn clear(&self) -> Result<(), DataError> {
        for path in disk::list(&self.folder).map_err(self.failed("write"))?.unwrap_or_default() {
            disk::remove(&path).map_err(self.failed("write"))?;
        }
        disk::remove_folder(&self.folder).map_err(self.failed("write"))
    }
}
