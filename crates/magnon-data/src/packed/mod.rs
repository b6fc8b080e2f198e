//! Packed graphs: a graph merged with its transpose in one file, which is mapped and not read.
//!
//! `pack` makes one of an edge list of any size by an external sort within a budget of memory; `open` maps one.
//! Where the parts of the file lie, and how they are checked, is in [`mod@format`].

mod bucket;
mod build;
mod cut;
mod distribute;
mod finish;
mod format;
mod ids;
mod limits;
mod open;
mod part;
mod scan;
mod spill;
mod state;

pub use cut::{PartReport, cut, part_file};
pub(crate) use format::is_packed;
pub(crate) use open::{Packed, open};
pub use part::GraphPart;

use super::{DataError, LoadConfig};
use magnon_core::progress::Progress;
use serde::{Deserialize, Serialize};
use state::Work;
use std::io::{self, ErrorKind};
use std::path::Path;

/// How a graph is packed.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `load` | as `load` has it | how the edges are read |
/// | `memory` | 2 GiB | bytes that packing may use |
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PackConfig {
    /// How the edges are read.
    pub load: LoadConfig,
    /// Bytes that packing may use.
    pub memory: u64,
}

impl Default for PackConfig {
    fn default() -> Self {
        Self { load: LoadConfig::default(), memory: 2 << 30 }
    }
}

/// What came of packing.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PackReport {
    /// Nodes.
    pub nodes: u64,
    /// Edges, each direction by itself.
    pub edges: u64,
    /// Entries of the symmetric pattern.
    pub stored: u64,
    /// Self loops of the data.
    pub self_loops: u64,
    /// Edges that were there more than once.
    pub duplicates: u64,
    /// Whether edges have weights.
    pub weighted: bool,
    /// Whether any edge has no reverse of the same weight.
    pub directed: bool,
    /// Bytes of text that were read.
    pub text_bytes: u64,
    /// Bytes of the packed graph.
    pub bytes: u64,
    /// Parts that the edges were sorted in.
    pub buckets: usize,
    /// Whether an earlier command had begun.
    pub resumed: bool,
    /// What a user should know about the reading.
    pub remarks: Vec<String>,
}

/// Packs the graph at `source` into the file `output`, within a budget of memory.
///
/// All that is not done yet lies in the folder `OUTPUT.packing`; the file appears when it is whole. The same call goes
/// on from what a kill has left there.
pub fn pack(
    source: &Path,
    output: &Path,
    config: &PackConfig,
    progress: &dyn Progress,
) -> Result<PackReport, DataError> {
    let run = || {
        limits::check(output, config)?;
        let mut work = Work::open(source, output, config)?;
        let scanned = scan::run(&mut work, source, config, progress)?;
        build::run(&mut work, &scanned, config, progress)?;
        finish::run(work, &scanned, config, progress)
    };
    run().map_err(|error| with_place(error, output))
}

/// Says of a full disk what fills it.
fn with_place(error: DataError, output: &Path) -> DataError {
    match error {
        DataError::Io { path, action, reason }
            if matches!(reason.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) =>
        {
            let problem = format!(
                "{reason}; packing keeps its work beside the output, in {}.packing, and the same \
                 command goes on from there",
                output.display()
            );
            DataError::Io { path, action, reason: io::Error::new(reason.kind(), problem) }
        }
        error => error,
    }
}
