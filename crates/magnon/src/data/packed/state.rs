//! The folder in which a graph is packed, and how far packing has come.

use super::PackConfig;
use crate::data::DataError;
use crate::data::store::io_error;
use crate::data::write::write_atomic;
use crate::disk;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// How the nodes of the text are called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Ids {
    /// By numbers of 32 bits.
    #[default]
    Narrow,
    /// By numbers of 64 bits.
    Wide,
    /// By names, numbered as they come.
    Names,
    /// By the numbers of nodes, of a graph that was read whole.
    Nodes,
}

/// How far the text is read. Files hold at least what is counted here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ScanState {
    pub ids: Ids,
    /// Bytes of text, unpacked, that were read.
    pub text: u64,
    /// Lines of it.
    pub lines: u64,
    /// Edges found.
    pub edges: u64,
    /// Bytes of names found.
    pub names: u64,
    pub weighted: bool,
    /// Whether single precision has changed a weight.
    pub rounded: bool,
    /// Edges of weight 0, which are none.
    pub zeros: u64,
    /// Sum of |w| and number of weights, in the order of the text.
    pub weight_sum: f64,
    pub remarks: Vec<String>,
    pub done: bool,
    /// Number of nodes, where a graph was read whole.
    pub nodes: u64,
}

/// How far the rows are built.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct BuildState {
    /// Number of nodes.
    pub nodes: u64,
    /// The first row of each bucket, and the end of the last.
    pub bounds: Vec<u32>,
    /// Records in each bucket.
    pub records: Vec<u64>,
    /// Whether they were in memory, and are to be distributed again.
    pub held: bool,
    /// Buckets that are built.
    pub done: usize,
    /// Entries and edges in them.
    pub stored: u64,
    pub edges: u64,
    pub self_loops: u64,
    pub duplicates: u64,
    pub directed: bool,
    /// Whether any weight is other than 1.
    pub unlike: bool,
}

/// All that is known of packing under way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    /// Of what it is: the file, its size and time, the configuration.
    pub key: String,
    pub scan: ScanState,
    /// Once the records are distributed.
    pub build: Option<BuildState>,
}

/// The folder, locked, with its state.
pub(super) struct Work {
    pub folder: PathBuf,
    pub output: PathBuf,
    pub state: State,
    pub resumed: bool,
    _lock: File,
}

/// What tells one packing from another.
fn key(source: &Path, config: &PackConfig) -> Result<String, DataError> {
    let meta = std::fs::metadata(source).map_err(|reason| io_error(source, "read", reason))?;
    let time = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let whole = std::fs::canonicalize(source).unwrap_or_else(|_| source.to_owned());
    let words =
        (whole.display().to_string(), meta.len(), time.map(|time| time.as_nanos() as u64), config);
    serde_json::to_string(&words)
        .map_err(|error| DataError::format(source.display().to_string(), error.to_string()))
}

impl Work {
    /// Opens the folder beside `output`, and goes on with what it holds where that is the same work.
    pub fn open(source: &Path, output: &Path, config: &PackConfig) -> Result<Self, DataError> {
        let key = key(source, config)?;
        let mut name = output.file_name().unwrap_or_default().to_owned();
        name.push(".packing");
        let folder = output.with_file_name(name);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |reason| io_error(&path, "write", reason)
        };
        disk::make_folder(&folder).map_err(failed(&folder))?;
        let lock = folder.join("lock");
        let file = disk::open_lock(&lock).map_err(failed(&lock))?;
        if !disk::lock(&file).map_err(failed(&lock))? {
            let problem =
                "another process is packing into it; wait for its end, or choose another file";
            return Err(DataError::format(output.display().to_string(), problem));
        }
        let state: Option<State> = disk::read(&folder.join("state.json"))
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok())
            .filter(|state: &State| state.key == key);
        // Rows that are built lie in this file. It is gone where it already got its final name: all begins again.
        let rows = disk::exists(&folder.join("graph")).map_err(failed(&folder))?;
        let state =
            state.filter(|state| rows || state.build.as_ref().is_none_or(|build| build.done == 0));
        let resumed = state.is_some();
        let state = state.unwrap_or(State { key, ..State::default() });
        Ok(Self { folder, output: output.to_owned(), state, resumed, _lock: file })
    }

    /// A file of the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The records of a bucket.
    pub fn bucket(&self, index: usize) -> PathBuf {
        self.folder.join(format!("bucket-{index}"))
    }

    /// Writes down how far packing has come; what it counts is on the disk before.
    pub fn save(&self) -> Result<(), DataError> {
        let path = self.path("state.json");
        let text = serde_json::to_vec(&self.state)
            .map_err(|error| DataError::format(path.display().to_string(), error.to_string()))?;
        write_atomic(&path, |target| target.write_all(&text))
    }

    /// Removes a file of the folder that is not needed any more.
    pub fn remove(&self, path: &Path) -> Result<(), DataError> {
        disk::remove(path).map_err(|reason| io_error(path, "write", reason))
    }

    /// Removes the folder with all that is in it.
    pub fn clear(self) -> Result<(), DataError> {
        let failed = |reason| io_error(&self.folder, "write", reason);
        for path in disk::list(&self.folder).map_err(failed)?.unwrap_or_default() {
            disk::remove(&path).map_err(failed)?;
        }
        disk::remove_folder(&self.folder).map_err(failed)
    }
}
