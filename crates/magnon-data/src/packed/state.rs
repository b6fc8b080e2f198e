//! The folder in which a graph is packed, and how far packing has come.

use super::PackConfig;
use super::spill::Written;
use crate::DataError;
use crate::disk::{self, Kind, TargetFile, Version, WorkFolder, is_numbered, seal, unseal};
use crate::store::{Store, io_error};
use crate::write::write_own;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

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
    /// Of what it is: the files with their versions, the configuration.
    pub key: String,
    pub scan: ScanState,
    /// Once the records are distributed.
    pub build: Option<BuildState>,
    /// What of the work lies on the disk.
    pub written: Vec<Written>,
}

/// The folder, with its state.
pub(super) struct Work {
    folder: WorkFolder,
    /// The file to write, links resolved.
    pub target: TargetFile,
    /// The file as it was named.
    pub output: PathBuf,
    pub state: State,
    pub resumed: bool,
    /// Whether what an earlier call has left was damaged, so that all began anew.
    pub damaged: bool,
}

static KIND: Kind = Kind { suffix: ".packing", work: "packing", is_ours };

/// Whether a file of the folder is one that packing writes.
fn is_ours(name: &str) -> bool {
    const NAMES: [&str; 8] =
        ["state.json", "pairs", "weights", "names", "graph", "targets", "values", "out_values"];
    NAMES.contains(&name) || is_numbered(name, BUCKETS)
}

/// What tells one packing from another.
fn key(source: &Path, target: &Path, config: &PackConfig) -> Result<String, DataError> {
    // Of a folder, its files: its own time does not change with theirs.
    let mut paths = Store::open(source)?.files();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        let meta = std::fs::metadata(&path).map_err(|reason| io_error(&path, "read", reason))?;
        // An earlier result may lie in the folder.
        if std::fs::canonicalize(&path).is_ok_and(|path| path == target) {
            continue;
        }
        files.push((path.display().to_string(), Version::of(&meta)));
    }
    let whole = std::fs::canonicalize(source).unwrap_or_else(|_| source.to_owned());
    serde_json::to_string(&(whole.display().to_string(), files, config))
        .map_err(|error| DataError::format(source.display().to_string(), error.to_string()))
}

impl Work {
    /// Opens the folder beside `output`, and resumes what it holds where that is the same work.
    pub fn open(source: &Path, output: &Path, config: &PackConfig) -> Result<Self, DataError> {
        let failed = |reason| io_error(output, "write", reason);
        let target = TargetFile::of(output).map_err(failed)?;
        let key = key(source, &target.path, config)?;
        let folder = WorkFolder::beside(&target.path, &KIND)?;
        let state = disk::read(&folder.path(STATE)).ok();
        let state = state.and_then(|text| unseal(&text));
        let state: Option<State> = state.and_then(|state| serde_json::from_value(state).ok());
        let state = state.filter(|state| state.key == key);
        let whole = |state: &State| state.written.iter().all(|file| file.is_there(folder.root()));
        let resumed = state.as_ref().is_some_and(whole);
        // Where the graph is not there, it has its final name already.
        let named =
            |state: &State| state.written.iter().any(|file| !folder.path(&file.file).exists());
        let damaged = !resumed && state.as_ref().is_some_and(|state| !named(state));
        let state = match state.filter(|_| resumed) {
            Some(state) => state,
            None => {
                folder.empty()?;
                State { key, ..State::default() }
            }
        };
        Ok(Self { folder, target, output: output.to_owned(), state, resumed, damaged })
    }

    /// A file of the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        self.folder.root()
    }

    /// What of a stretch lies on the disk, or `new` where that is not known.
    pub fn written(&self, new: Written) -> Written {
        self.state.written.iter().find(|known| known.name == new.name).cloned().unwrap_or(new)
    }

    /// Notes what lies on the disk; [`save`](Self::save) writes it down.
    pub fn note(&mut self, written: Written) {
        self.state.written.retain(|known| known.name != written.name);
        self.state.written.push(written);
    }

    /// Forgets the stretches of such names.
    pub fn forget(&mut self, name: impl Fn(&str) -> bool) {
        self.state.written.retain(|known| !name(&known.name));
    }

    /// Writes down how far packing has come; what it counts is on the disk before.
    pub fn save(&self) -> Result<(), DataError> {
        let path = self.path(STATE);
        let text = seal(&self.state)
            .map_err(|error| DataError::format(path.display().to_string(), error.to_string()))?;
        write_own(&path, |target| target.write_all(text.as_bytes()))
    }

    /// Removes a file of the folder that is not needed any more.
    pub fn remove(&self, name: &str) -> Result<(), DataError> {
        let path = self.path(name);
        disk::remove(&path).map_err(|reason| io_error(&path, "write", reason))
    }

    /// Removes the folder with the files of the work.
    pub fn clear(self) -> Result<(), DataError> {
        self.folder.clear()
    }
}

/// The file of the state.
const STATE: &str = "state.json";

/// How the names of the buckets' files begin.
pub(super) const BUCKETS: &str = "bucket-";

/// The name of a bucket's file.
pub(super) fn bucket(index: usize) -> String {
    format!("{BUCKETS}{index}")
}
