//! The end of a run: its files take the place of the old ones.

use super::{CONFIG, HISTORY, METRICS, MODEL, PREDICTIONS, REPORT, RunFolder};
use crate::run::checksums::Checksums;
use crate::run::under_way::{failed, remove_all};
use crate::run::{PredictionCache, SavedModel};
use crate::tensors::FileError;
use crate::train::{EpochRecord, RunConfig};
use magnon_data::disk::{self, WriteSeek};
use magnon_data::write::{Prepared, csv};
use serde::Serialize;

impl RunFolder {
    /// Writes what came of the run; `metrics.json` comes last and says that all is there.
    pub fn finish(
        &self,
        config: &RunConfig,
        model: &SavedModel,
        predictions: &PredictionCache,
        history: &[EpochRecord],
        metrics: &impl Serialize,
    ) -> Result<(), FileError> {
        let mut sums = Checksums::default();
        let mut prepare = |name: &str, parts: &[&[u8]]| {
            sums.add(name, parts);
            self.prepare(name, parts)
        };
        let rows = history.iter().map(EpochRecord::columns);
        let rows = csv(&EpochRecord::COLUMNS, rows);
        let rows = rows.map_err(|reason| failed(&self.file(HISTORY), "write", reason))?;
        let mut files = vec![
            prepare(MODEL, &model.encode(&self.file(MODEL))?.parts())?,
            prepare(PREDICTIONS, &predictions.encode(&self.file(PREDICTIONS))?.parts())?,
            prepare(HISTORY, &[&rows])?,
            prepare(CONFIG, &[self.json(CONFIG, config)?.as_bytes()])?,
        ];
        let metrics = prepare(METRICS, &[self.json(METRICS, metrics)?.as_bytes()])?;
        let text = sums.text().map_err(|error| self.broken(&error.to_string()))?;
        files.push(self.prepare(Checksums::NAME, &[text.as_bytes()])?);

        // Without metrics the folder counts as unfinished, so that an end in the middle of this
        // leaves a run to go on with.
        // The report goes first: where it cannot, the old run stays whole.
        remove_all(&[self.file(REPORT), self.file(METRICS)])?;
        disk::sync_folder(&self.path).map_err(|reason| failed(&self.path, "write", reason))?;
        files.into_iter().try_for_each(Prepared::commit)?;
        metrics.commit()?;
        self.under_way().discard()?;
        self.sweep()
    }

    fn prepare(&self, name: &str, parts: &[&[u8]]) -> Result<Prepared, FileError> {
        let write = |out: &mut dyn WriteSeek| parts.iter().try_for_each(|part| out.write_all(part));
        Ok(Prepared::own(&self.file(name), write)?)
    }

    fn json(&self, name: &str, value: &impl Serialize) -> Result<String, FileError> {
        let text = serde_json::to_string_pretty(value).map_err(|error| FileError::Broken {
            path: self.file(name),
            problem: error.to_string(),
        });
        Ok(text? + "\n")
    }
}
