//! Reading a run that has come to its end.

use super::{CONFIG, HISTORY, METRICS, MODEL, PREDICTIONS, RunFolder};
use crate::run::checksums::Checksums;
use crate::run::{PredictionCache, SavedModel};
use crate::tensors::{FileError, bytes_of};
use crate::train::{EpochRecord, History, RunConfig};
use magnon_data::disk;
use serde::de::DeserializeOwned;
use std::path::Path;

impl RunFolder {
    /// The folder of a run that has come to its end.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let mut folder = Self::at(path);
        if folder.is_whole()? {
            folder.opened = Some(Checksums::read(path)?);
            for name in [CONFIG, HISTORY, METRICS] {
                folder.read(name)?;
            }
            return Ok(folder);
        }
        if folder.under_way().is_begun()? {
            return Err(FileError::Unfinished { path: path.to_owned() });
        }
        Err(folder.broken("it is no run folder; train a model into one first"))
    }

    /// The configuration.
    pub fn config(&self) -> Result<RunConfig, FileError> {
        let text = self.read(CONFIG)?;
        RunConfig::parse(&self.file(CONFIG), &String::from_utf8_lossy(&text))
    }

    /// The figures of the run, as some struct.
    pub fn metrics<T: DeserializeOwned>(&self) -> Result<T, FileError> {
        let bytes = self.read(METRICS)?;
        serde_json::from_slice(&bytes).map_err(|error| FileError::Broken {
            path: self.file(METRICS),
            problem: format!("not the figures of a run of this magnon: {error}"),
        })
    }

    /// What happened, epoch by epoch.
    pub fn history(&self) -> Result<History, FileError> {
        let bytes = self.read(HISTORY)?;
        let text = String::from_utf8_lossy(&bytes);
        let record = |line: &str| {
            let row: Result<Vec<f64>, _> = line.split(',').map(str::parse).collect();
            row.ok()?.try_into().ok().map(|row: [f64; 6]| EpochRecord::from_columns(&row))
        };
        let records: Option<History> = text.lines().skip(1).map(record).collect();
        records.ok_or_else(|| FileError::Broken {
            path: self.file(HISTORY),
            problem: "not the history of a run".to_owned(),
        })
    }

    /// The trained model.
    pub fn model(&self) -> Result<SavedModel, FileError> {
        let bytes = bytes_of(&self.file(MODEL))?;
        // A file of another version is called that first.
        let model = SavedModel::parse(&self.file(MODEL), &bytes)?;
        self.check(MODEL, &bytes).map(|()| model)
    }

    /// What the run predicted, where that was kept.
    pub fn predictions(&self) -> Result<Option<PredictionCache>, FileError> {
        let path = self.file(PREDICTIONS);
        match disk::exists(&path) {
            Ok(false) => return Ok(None),
            Ok(true) => (),
            Err(reason) => return Err(FileError::Read { path, reason }),
        }
        let bytes = bytes_of(&path)?;
        let predictions = PredictionCache::parse(&path, &bytes)?;
        self.check(PREDICTIONS, &bytes).map(|()| Some(predictions))
    }

    /// A file that is still what it was.
    fn read(&self, name: &str) -> Result<Vec<u8>, FileError> {
        let bytes = bytes_of(&self.file(name))?;
        self.check(name, &bytes).map(|()| bytes)
    }

    /// Refuses a file that has changed since it was written.
    fn check(&self, name: &str, bytes: &[u8]) -> Result<(), FileError> {
        let now = Checksums::read(&self.path)?;
        match &self.opened {
            Some(opened) if *opened != now => {
                Err(self.broken("the run was replaced while it was read; read it again"))
            }
            _ if now.knows(name, bytes) => Ok(()),
            _ => Err(FileError::Changed { path: self.file(name) }),
        }
    }
}
