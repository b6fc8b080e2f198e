//! `RunFolder`: the files of a run, each written whole or not at all.

use super::{Known, RunConfig, SavedModel};
use crate::data::DataError;
use crate::data::write::{write_atomic, write_csv};
use crate::tensors::FileError;
use crate::train::{Checkpoints, EpochRecord};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What a run that has come to its end holds beside its recipe.
const FILES: [&str; 5] =
    ["metrics.json", "model.safetensors", "known.safetensors", "history.csv", "report.html"];

/// A folder with `config.json`, `model.safetensors`, `known.safetensors`, `history.csv` and
/// `metrics.json`. While the run is under way it also holds `checkpoints`.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Begins a run in a folder, which is made where it is missing. A folder that holds a run is
    /// refused, unless it is to be overwritten or gone on with.
    pub fn begin(
        path: &Path,
        config: &RunConfig,
        overwrite: bool,
        resume: bool,
    ) -> Result<Self, FileError> {
        let folder = Self { path: path.to_owned() };
        let broken = |problem: &str| {
            Err(FileError::Broken { path: path.to_owned(), problem: problem.to_owned() })
        };
        if resume {
            if folder.file("metrics.json").exists() {
                return broken("the run has come to its end; there is nothing to go on with");
            }
        } else if folder.file("config.json").exists() {
            if !overwrite {
                return broken(
                    "it holds a run already; choose another folder, or use --overwrite or --resume",
                );
            }
            for name in FILES {
                folder.remove(&folder.file(name))?;
            }
            folder.remove(&folder.checkpoint_folder())?;
        } else if path.exists() && std::fs::read_dir(path).is_ok_and(|mut dir| dir.next().is_some())
        {
            return broken("it holds other files, and no run; choose another folder");
        }
        let made = std::fs::create_dir_all(folder.checkpoint_folder());
        made.map_err(|reason| DataError::Io { path: path.to_owned(), action: "make", reason })?;
        if !resume {
            folder.write_json("config.json", config)?;
        }
        Ok(folder)
    }

    /// The folder of a run that has come to its end.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let folder = Self { path: path.to_owned() };
        let broken = |problem: String| Err(FileError::Broken { path: path.to_owned(), problem });
        if !folder.file("config.json").exists() {
            return broken("it is no run folder; make one with `magnon train --out`".to_owned());
        }
        if !folder.file("model.safetensors").exists() {
            let problem = "the run has not come to its end; go on with it: magnon train --resume";
            return broken(format!("{problem} --out {}", path.display()));
        }
        Ok(folder)
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

    /// The recipe.
    pub fn config(&self) -> Result<RunConfig, FileError> {
        let path = self.file("config.json");
        let text = std::fs::read_to_string(&path);
        let text = text.map_err(|reason| FileError::Read { path: path.clone(), reason })?;
        let broken = |error: serde_json::Error| format!("not a recipe of this magnon: {error}");
        serde_json::from_str(&text)
            .map_err(|error| FileError::Broken { path, problem: broken(error) })
    }

    /// The trained model.
    pub fn model(&self) -> Result<SavedModel, FileError> {
        SavedModel::read(&self.file("model.safetensors"))
    }

    /// What the run predicted, where that was kept.
    pub fn known(&self) -> Result<Option<Known>, FileError> {
        let path = self.file("known.safetensors");
        if path.exists() { Known::read(&path).map(Some) } else { Ok(None) }
    }

    /// Writes what came of the run; `metrics.json` comes last and says that all is there.
    pub fn finish(
        &self,
        model: &SavedModel,
        known: &Known,
        history: &[EpochRecord],
        metrics: &impl Serialize,
    ) -> Result<(), FileError> {
        model.write(&self.file("model.safetensors"))?;
        known.write(&self.file("known.safetensors"))?;
        let rows = history.iter().map(EpochRecord::columns);
        write_csv(&self.file("history.csv"), &EpochRecord::COLUMNS, rows)?;
        self.write_json("metrics.json", metrics)?;
        self.remove(&self.checkpoint_folder())
    }

    fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), FileError> {
        let path = self.file(name);
        let text = serde_json::to_string_pretty(value).map_err(|error| FileError::Broken {
            path: path.clone(),
            problem: error.to_string(),
        })?;
        Ok(write_atomic(&path, |out| {
            out.write_all(text.as_bytes())?;
            out.write_all(b"\n")
        })?)
    }

    fn remove(&self, path: &Path) -> Result<(), FileError> {
        let removed = match path.is_dir() {
            true => std::fs::remove_dir_all(path),
            false => std::fs::remove_file(path),
        };
        match removed {
            Err(reason) if reason.kind() != std::io::ErrorKind::NotFound => {
                Err(DataError::Io { path: path.to_owned(), action: "remove", reason }.into())
            }
            _ => Ok(()),
        }
    }
}
