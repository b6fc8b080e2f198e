//! `checkpoints`: the part of a run folder that a run under way writes in.

use crate::tensors::{FileError, bytes_of, format_of};
use crate::train::{RunConfig, checkpoint};
use magnon_data::disk::{self, is_temporary, seal, unseal};
use magnon_data::write::write_own;
use magnon_data::{DataError, Fingerprint};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The folder: a sealed `config.json`, which says that a run is under way and on which data, and its checkpoints.
#[derive(Clone, Debug)]
pub(super) struct UnderWay {
    pub path: PathBuf,
}

impl UnderWay {
    /// The folder's name.
    pub const NAME: &str = "checkpoints";

    /// That of a run folder.
    pub fn of(run: &Path) -> Self {
        Self { path: run.join(Self::NAME) }
    }

    fn config_file(&self) -> PathBuf {
        self.path.join("config.json")
    }

    /// Refuses a link of the folder's name: what it leads to is not ours to write in, or to remove.
    fn refuse_link(&self) -> Result<(), FileError> {
        match std::fs::symlink_metadata(&self.path) {
            Ok(meta) if meta.is_symlink() => Err(FileError::Broken {
                path: self.path.clone(),
                problem: "it is a link, where a run keeps its checkpoints; move it away".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Whether a run is under way.
    pub fn is_begun(&self) -> Result<bool, FileError> {
        self.refuse_link()?;
        let path = self.config_file();
        disk::exists(&path).map_err(|reason| FileError::Read { path, reason })
    }

    /// The configuration of the run that is under way, and what its data were.
    pub fn read(&self) -> Result<(RunConfig, Fingerprint), FileError> {
        let path = self.config_file();
        let changed = || FileError::Changed { path: path.clone() };
        let mut content = unseal(&bytes_of(&path)?).ok_or_else(changed)?;
        let data = content.get_mut("data").map(Value::take).ok_or_else(changed)?;
        let data = serde_json::from_value(data).map_err(|_| changed())?;
        let config = content.get("config").ok_or_else(changed)?;
        Ok((RunConfig::parse(&path, &config.to_string())?, data))
    }

    /// Begins a run. What another run has left is removed first, but for its configuration, which
    /// is replaced in one step: at no time is there no run to go on with where there was one.
    pub fn begin(&self, config: &RunConfig, data: &Fingerprint) -> Result<(), FileError> {
        let Found { ours, others } = self.look()?;
        if let Some(other) = others.first() {
            let name = other.file_name().unwrap_or_default().display();
            let problem = format!("it holds other files than checkpoints ({name}); move them away");
            return Err(FileError::Broken { path: self.path.clone(), problem });
        }
        remove_all(&ours)?;
        make_folder(&self.path)?;
        let path = self.config_file();
        let broken = |error: serde_json::Error| FileError::Broken {
            path: path.clone(),
            problem: error.to_string(),
        };
        let text = seal(&json!({ "config": config, "data": data })).map_err(broken)?;
        Ok(write_own(&path, |out| out.write_all(text.as_bytes()))?)
    }

    /// Removes what the run has left, and nothing that is not ours. The configuration goes first, so
    /// that nothing goes on with a part of it.
    pub fn discard(&self) -> Result<(), FileError> {
        remove_all(&[self.config_file()])?;
        remove_all(&self.look()?.ours)?;
        self.remove_empty()
    }

    /// Removes the folder where nothing is in it.
    pub fn remove_empty(&self) -> Result<(), FileError> {
        disk::remove_folder(&self.path).map_err(|reason| failed(&self.path, "remove", reason))
    }

    /// Whether there are checkpoints to go on from.
    pub fn has_checkpoints(&self) -> Result<bool, FileError> {
        Ok(self.look()?.ours.iter().any(|path| !is_temporary(path)))
    }

    fn look(&self) -> Result<Found, FileError> {
        self.refuse_link()?;
        let mut found = Found::default();
        let listed = disk::list(&self.path).map_err(|reason| failed(&self.path, "list", reason))?;
        for path in listed.unwrap_or_default() {
            if path == self.config_file() {
                continue;
            }
            let ours = is_temporary(&path) || is_checkpoint(&path)?;
            if ours { found.ours.push(path) } else { found.others.push(path) }
        }
        Ok(found)
    }
}

/// What is in the folder beside the configuration.
#[derive(Default)]
struct Found {
    /// Checkpoints, and what a kill has left of them.
    ours: Vec<PathBuf>,
    others: Vec<PathBuf>,
}

/// Makes a folder, with its name on the disk.
fn make_folder(path: &Path) -> Result<(), FileError> {
    let made = disk::make_folder(path).and_then(|()| match path.parent() {
        Some(parent) => disk::sync_folder(parent),
        None => Ok(()),
    });
    made.map_err(|reason| failed(path, "make", reason))
}

/// Whether a file is a checkpoint, by its format.
fn is_checkpoint(path: &Path) -> Result<bool, FileError> {
    let format = format_of(path);
    let format = format.map_err(|reason| FileError::Read { path: path.to_owned(), reason })?;
    Ok(format.is_some_and(|format| format == checkpoint::FORMAT))
}

/// Removes files, where they are there.
pub(super) fn remove_all(paths: &[PathBuf]) -> Result<(), FileError> {
    paths
        .iter()
        .try_for_each(|path| disk::remove(path).map_err(|reason| failed(path, "remove", reason)))
}

pub(super) fn failed(path: &Path, action: &'static str, reason: std::io::Error) -> FileError {
    DataError::Io { path: path.to_owned(), action, reason }.into()
}
