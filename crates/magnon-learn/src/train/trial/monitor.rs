//! `Monitor`: counts trials, and reports what they do.

use super::{Trial, TrialResult};
use crate::train::EpochRecord;
use magnon_core::progress::{Epoch, Progress};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Called with the result of each trial as soon as it is known, perhaps from several threads at once.
pub type ResultHook<'a> = &'a (dyn Fn(&TrialResult) + Sync);

/// Watches the trials of one call.
pub(in crate::train) struct Monitor<'a> {
    pub progress: &'a dyn Progress,
    on_result: Option<ResultHook<'a>>,
    trials: AtomicUsize,
    done: AtomicUsize,
}

impl<'a> Monitor<'a> {
    pub fn new(progress: &'a dyn Progress, on_result: Option<ResultHook<'a>>) -> Self {
        let [trials, done] = [0, 0].map(AtomicUsize::new);
        Self { progress, on_result, trials, done }
    }

    /// So many more trials are going to be trained.
    pub fn begin(&self, trials: usize) {
        self.trials.fetch_add(trials, Relaxed);
    }

    pub fn epoch(&self, trial: &Trial, record: &EpochRecord, best: &EpochRecord) {
        self.progress.epoch(&Epoch {
            trial,
            done: self.done.load(Relaxed),
            trials: self.trials.load(Relaxed),
            epoch: record.epoch,
            best: best.epoch,
            train_loss: record.train_loss,
            train_accuracy: record.train_accuracy,
            val_loss: record.val_loss,
            val_accuracy: record.val_accuracy,
            best_val_accuracy: best.val_accuracy,
        });
    }

    pub fn done(&self, result: &TrialResult) {
        self.done.fetch_add(1, Relaxed);
        if let Some(on_result) = self.on_result {
            on_result(result);
        }
    }
}
