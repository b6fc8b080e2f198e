//! `RunFolder`: the files of a run, each written whole or not at all.

use super::{PredictionCache, SavedModel};
use crate::data::DataError;
use crate::data::write::{write_atomic, write_csv};
use crate::tensors::{FileError, format_of};
use crate::train::{Checkpoints, EpochRecord, RunConfig, checkpoint};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A folder with `config.json`, `model.safetensors`, `predictions.safetensors`, `history.csv` and
/// `metrics.json`, the last to be written.
///
/// While a run is under way, its configuration and its checkpoints are in `checkpoints`, and nothing else
/// changes: a run that is to be replaced stays whole until the new one has come to its end.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// Whether the folder was made for this run.
    fresh: bool,
}

impl RunFolder {
    /// Begins a run in a folder, which is made where it is missing. A folder that holds a run is
    /// refused, unless it is to be overwritten or gone on with; one that holds anything else is
    /// refused in any case.
    pub fn begin(
        path: &Path,
        config: &RunConfig,
        overwrite: bool,
        resume: bool,
    ) -> Result<Self, FileError> {
        let folder = Self { path: path.to_owned(), fresh: !path.exists() };
        let broken = |problem: &str| {
            Err(FileError::Broken { path: path.to_owned(), problem: problem.to_owned() })
        };
        if resume {
            return Self::begun_config(path).map(|_| folder);
        }
        let whole = folder.is_whole();
        let begun = folder.begun().exists();
        if (whole || begun) && !overwrite {
            return Err(FileError::Occupied { path: path.to_owned() });
        }
        let empty = !path.exists()
            || std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        if !empty && !whole && !begun {
            return broken("it holds other files, and no run; choose another folder");
        }
        folder.discard_checkpoints()?;
        let made = std::fs::create_dir_all(folder.checkpoint_folder());
        made.map_err(|reason| DataError::Io { path: path.to_owned(), action: "make", reason })?;
        write_json(&folder.begun(), config)?;
        Ok(folder)
    }

    /// The configuration of the run that is under way in a folder.
    pub fn begun_config(path: &Path) -> Result<RunConfig, FileError> {
        let folder = Self { path: path.to_owned(), fresh: false };
        if !folder.begun().exists() {
            let problem = match folder.is_whole() {
                true => "the run has come to its end; there is nothing to go on with",
                false => "there is no run to go on with",
            };
            let (path, problem) = (path.to_owned(), problem.to_owned());
            return Err(FileError::Broken { path, problem });
        }
        RunConfig::read(&folder.begun())
    }

    /// The folder of a run that has come to its end.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let folder = Self { path: path.to_owned(), fresh: false };
        let broken = |problem: String| Err(FileError::Broken { path: path.to_owned(), problem });
        if folder.is_whole() {
            return Ok(folder);
        }
        if folder.begun().exists() {
            return Err(FileError::Unfinished { path: path.to_owned() });
        }
        broken("it is no run folder; train a model into one first".to_owned())
    }

    /// Whether a run has come to its end here.
    fn is_whole(&self) -> bool {
        let ours = |name: &str| self.file(name).exists();
        ours("config.json") && ours("model.safetensors") && ours("metrics.json")
    }

    /// The configuration of the run that is under way.
    fn begun(&self) -> PathBuf {
        self.checkpoint_folder().join("config.json")
    }

    /// Leaves the folder as it was before a run that has failed; one that has checkpoints stays to
    /// be gone on with.
    pub fn abandon(&self) {
        let kept = std::fs::read_dir(self.checkpoint_folder())
            .is_ok_and(|entries| entries.flatten().any(|entry| is_checkpoint(&entry.path())));
        if !kept && self.discard_checkpoints().is_ok() && self.fresh {
            // Another program may have put something there; then the folder stays.
            let _ = std::fs::remove_dir(&self.path);
        }
    }

    /// Removes what a run under way has left, and nothing that is not ours.
    fn discard_checkpoints(&self) -> Result<(), FileError> {
        let folder = self.checkpoint_folder();
        let Ok(entries) = std::fs::read_dir(&folder) else { return Ok(()) };
        for path in entries.flatten().map(|entry| entry.path()) {
            if is_checkpoint(&path) || is_unfinished(&path) || path == self.begun() {
                remove(&path)?;
            }
        }
        match std::fs::remove_dir(&folder) {
            Err(reason) if reason.kind() == std::io::ErrorKind::DirectoryNotEmpty => {
                let problem = "it holds other files than checkpoints; move them away".to_owned();
                Err(FileError::Broken { path: folder, problem })
            }
            _ => Ok(()),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where one of its files is.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn checkpoint_folder(&self) -> PathBuf {
        self.file("checkpoints")
    }

    /// Where unfinished trials are kept.
    pub fn checkpoints(&self, every: usize, resume: bool) -> Checkpoints {
        Checkpoints { folder: self.checkpoint_folder(), every, resume }
    }

    /// The configuration.
    pub fn config(&self) -> Result<RunConfig, FileError> {
        RunConfig::read(&self.file("config.json"))
    }

    /// The trained model.
    pub fn model(&self) -> Result<SavedModel, FileError> {
        SavedModel::read(&self.file("model.safetensors"))
    }

    /// What the run predicted, where that was kept.
    pub fn predictions(&self) -> Result<Option<PredictionCache>, FileError> {
        let path = self.file("predictions.safetensors");
        if path.exists() { PredictionCache::read(&path).map(Some) } else { Ok(None) }
    }

    /// Writes what came of the run; `metrics.json` comes last and says that all is there.
    pub fn finish(
        &self,
        config: &RunConfig,
        model: &SavedModel,
        predictions: &PredictionCache,
        history: &[EpochRecord],
        metrics: &impl Serialize,
    ) -> Result<(), FileError> {
        // Without metrics the folder counts as unfinished, so that an end in the middle of this
        // leaves a run to go on with.
        remove(&self.file("metrics.json"))?;
        model.write(&self.file("model.safetensors"))?;
        predictions.write(&self.file("predictions.safetensors"))?;
        let rows = history.iter().map(EpochRecord::columns);
        write_csv(&self.file("history.csv"), &EpochRecord::COLUMNS, rows)?;
        write_json(&self.file("config.json"), config)?;
        remove(&self.file("report.html"))?;
        write_json(&self.file("metrics.json"), metrics)?;
        self.discard_checkpoints()
    }
}

/// Whether a file is a checkpoint, by its format.
fn is_checkpoint(path: &Path) -> bool {
    format_of(path).is_some_and(|format| format == checkpoint::FORMAT)
}

/// Whether a file is one that a kill has left half written, by the name that such files have.
fn is_unfinished(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".tmp"))
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), FileError> {
    let broken = |error: serde_json::Error| FileError::Broken {
        path: path.to_owned(),
        problem: error.to_string(),
    };
    let text = serde_json::to_string_pretty(value).map_err(broken)?;
    Ok(write_atomic(path, |out| {
        out.write_all(text.as_bytes())?;
        out.write_all(b"\n")
    })?)
}

fn remove(path: &Path) -> Result<(), FileError> {
    match std::fs::remove_file(path) {
        Err(reason) if reason.kind() != std::io::ErrorKind::NotFound => {
            Err(DataError::Io { path: path.to_owned(), action: "remove", reason }.into())
        }
        _ => Ok(()),
    }
}
