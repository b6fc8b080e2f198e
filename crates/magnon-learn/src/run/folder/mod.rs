//! `RunFolder`: the files of a run, all of one run or none.

mod finish;
mod load;

use super::checksums::Checksums;
use super::lock::Lock;
use super::under_way::{UnderWay, failed, remove_all};
use crate::tensors::FileError;
use crate::train::{Checkpoints, RunConfig};
use magnon_data::Fingerprint;
use magnon_data::disk::{self, is_temporary};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const CONFIG: &str = "config.json";
const MODEL: &str = "model.safetensors";
const PREDICTIONS: &str = "predictions.safetensors";
const HISTORY: &str = "history.csv";
const METRICS: &str = "metrics.json";
const REPORT: &str = "report.html";

/// A folder with `config.json`, `model.safetensors`, `predictions.safetensors`, `history.csv`,
/// `checksums.json` and `metrics.json`; the crate `magnon` adds `report.html`.
///
/// A run is whole when `metrics.json` is there, the last file to get its name. While a run is under way,
/// its configuration and its checkpoints are in `checkpoints`, and nothing else changes: a run that is to
/// be replaced stays whole until the new one has come to its end. Then all new files are written
/// under temporary names; the old `metrics.json` goes; the new files take their names, `metrics.json`
/// last; and `checkpoints` goes. Each step is on the disk before the next. So whatever ends the
/// process, the folder holds the old run, the new one, or one to go on with, and never a mixture.
///
/// `checksums.json` has the checksum of every other file but the report, and one of itself. They are
/// held against the files on reading, those of the small files when the folder is opened.
///
/// One process at a time writes: it holds a lock on `.magnon.lock`, which goes when the run is finished and
/// the folder is dropped. Who only reads takes no lock. Temporary files that a kill has left are removed
/// when the next run begins or finishes.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// Whether the folder was made for this run.
    fresh: bool,
    /// Held by a run that is under way.
    lock: Option<Arc<Lock>>,
    /// What the files were when the folder was opened.
    opened: Option<Checksums>,
}

impl RunFolder {
    fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), fresh: false, lock: None, opened: None }
    }

    /// Begins a run in a folder, which is made where it is missing. A folder that holds a run is
    /// refused, unless it is to be overwritten or gone on with; so is one that another process writes
    /// in, and one that holds anything else.
    pub fn begin(
        path: &Path,
        config: &RunConfig,
        data: &Fingerprint,
        overwrite: bool,
        resume: bool,
    ) -> Result<Self, FileError> {
        let mut folder = Self::at(path);
        if resume {
            Self::begun_config(path)?;
        } else {
            folder.refuse_others()?;
            let there = disk::exists(path);
            folder.fresh = !there.map_err(|reason| failed(path, "read", reason))?;
        }
        folder.lock = Some(Arc::new(Lock::take(path)?));
        let begun = match resume {
            true => folder.go_on(config, data),
            false => folder.start(config, data, overwrite),
        };
        match begun {
            Ok(()) => Ok(folder),
            Err(error) => {
                // What failed is told; this is for tidiness alone.
                let _ = folder.under_way().remove_empty();
                folder.leave();
                Err(error)
            }
        }
    }

    /// Begins anew.
    fn start(
        &self,
        config: &RunConfig,
        data: &Fingerprint,
        overwrite: bool,
    ) -> Result<(), FileError> {
        if (self.under_way().is_begun()? || self.is_whole()?) && !overwrite {
            return Err(FileError::Occupied { path: self.path.clone() });
        }
        self.sweep()?;
        self.under_way().begin(config, data)
    }

    /// Resumes the run that is under way, which may have become another one by now. Checkpoints of a run on other
    /// data are refused: they have seen other training nodes.
    fn go_on(&self, config: &RunConfig, data: &Fingerprint) -> Result<(), FileError> {
        let (begun, was) = self.under_way().read()?;
        if begun != *config {
            let problem = "the run was begun with another configuration: resume it with that one, \
                           or begin anew with --overwrite (overwrite=True)";
            return Err(self.broken(problem));
        }
        let changed = was.differences(data);
        if !changed.is_empty() {
            return Err(self.broken(&format!(
                "the data have changed since the run was begun ({}): restore them, or begin anew \
                 with --overwrite (overwrite=True)",
                changed.join(", ")
            )));
        }
        self.sweep()
    }

    /// The configuration of the run that is under way in a folder.
    pub fn begun_config(path: &Path) -> Result<RunConfig, FileError> {
        let folder = Self::at(path);
        match (folder.under_way().is_begun()?, folder.is_whole()?) {
            (true, _) => folder.under_way().read().map(|(config, _)| config),
            (false, true) => {
                Err(folder.broken("the run has come to its end; there is nothing to go on with"))
            }
            (false, false) => Err(folder.broken("there is no run to go on with")),
        }
    }

    /// Whether a run has come to its end here.
    fn is_whole(&self) -> Result<bool, FileError> {
        for name in [CONFIG, MODEL, METRICS] {
            let path = self.file(name);
            let there = disk::exists(&path);
            if !there.map_err(|reason| FileError::Read { path, reason })? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Refuses a folder that holds other files, and no run.
    fn refuse_others(&self) -> Result<(), FileError> {
        // In this order: a run that comes to its end meanwhile is seen as one of the two.
        if self.under_way().is_begun()? || self.is_whole()? || self.is_bare()? {
            return Ok(());
        }
        Err(self.broken("it holds other files, and no run; choose another folder"))
    }

    /// Whether there is nothing in the folder but what a run that was killed early leaves, and what tells
    /// git to pass it by.
    fn is_bare(&self) -> Result<bool, FileError> {
        let known = [UnderWay::NAME, Lock::NAME, ".gitignore"].map(|name| self.file(name));
        let ours = |path: &PathBuf| is_temporary(path) || known.contains(path);
        Ok(self.list()?.iter().all(ours))
    }

    fn list(&self) -> Result<Vec<PathBuf>, FileError> {
        let listed = disk::list(&self.path);
        Ok(listed.map_err(|reason| failed(&self.path, "list", reason))?.unwrap_or_default())
    }

    /// Removes temporary files that a kill has left.
    fn sweep(&self) -> Result<(), FileError> {
        let mut stray = self.list()?;
        stray.retain(|path| is_temporary(path));
        remove_all(&stray)
    }

    /// Leaves the folder as it was before a run that has failed; one that has checkpoints stays to
    /// be gone on with.
    pub fn abandon(&self) {
        let under_way = self.under_way();
        // An end in the midst of replacing a run leaves parts of it, which only a run under way is to
        // put in order; what cannot be looked at stays, too.
        let lone = || Ok::<_, FileError>(self.is_whole()? || self.is_bare()?);
        if matches!(under_way.has_checkpoints(), Ok(false)) && matches!(lone(), Ok(true)) {
            // The run's own failure is told; this is for tidiness alone.
            let _ = under_way.discard();
        }
        self.leave();
    }

    /// Removes the lock's file, and the folder where it was made for nothing.
    fn leave(&self) {
        if let Some(lock) = &self.lock {
            lock.release();
        }
        if self.fresh {
            // Another program may have put something there; then the folder stays.
            let _ = disk::remove_folder(&self.path);
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

    fn under_way(&self) -> UnderWay {
        UnderWay::of(&self.path)
    }

    /// Where unfinished trials are kept.
    pub fn checkpoints(&self, every: usize, resume: bool) -> Checkpoints {
        Checkpoints { folder: self.under_way().path, every, resume }
    }

    fn broken(&self, problem: &str) -> FileError {
        FileError::Broken { path: self.path.clone(), problem: problem.to_owned() }
    }
}
