//! `Lane`: the history of one model, and early stopping.

use super::{EpochRecord, History, State, Watch};
use crate::train::{TrainConfig, TrainError};

/// Epochs that memory is set aside for at first.
const RECORDS: usize = 1 << 14;

/// Loss and accuracy.
#[derive(Clone, Copy)]
pub(crate) struct Score {
    pub loss: f64,
    pub accuracy: f64,
}

/// What is known of one model while it is trained.
pub(super) struct Lane<'w> {
    pub watch: &'w mut dyn Watch,
    pub config: &'w TrainConfig,
    pub history: History,
    pub best: Option<EpochRecord>,
    pub over: bool,
    /// Why training ended early, where it failed.
    pub failed: Option<TrainError>,
}

impl<'w> Lane<'w> {
    pub fn new(watch: &'w mut dyn Watch, config: &'w TrainConfig, state: Option<&State>) -> Self {
        let mut history = Vec::with_capacity(config.epochs.min(RECORDS));
        history.extend(state.iter().flat_map(|state| &state.history));
        let best = state.and_then(|state| Some(state.best.as_ref()?.record));
        Self { watch, config, history, best, over: false, failed: None }
    }

    /// Takes the scores of one more epoch, and returns whether it is the best so far. Training is over
    /// after `patience` epochs without a lower validation loss.
    pub fn record(&mut self, epoch: usize, [train, val]: [Score; 2]) -> bool {
        let record = match EpochRecord::new(self.config, epoch, train, val) {
            Ok(record) => record,
            Err(error) => {
                (self.failed, self.over) = (Some(error), true);
                return false;
            }
        };
        self.history.push(record);
        let better = self.best.is_none_or(|best| record.val_loss < best.val_loss);
        let best = if better { record } else { self.best.unwrap_or(record) };
        self.best = Some(best);
        self.watch.epoch(&record, &best);
        let TrainConfig { patience, epochs, .. } = *self.config;
        self.over = epoch - best.epoch >= patience || epoch >= epochs;
        better
    }
}
