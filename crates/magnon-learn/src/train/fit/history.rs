//! What happened, epoch by epoch.

use super::Score;
use crate::train::{TrainConfig, TrainError};
use serde::Serialize;

/// One epoch. Training figures are those of its steps, with dropout; validation figures are taken
/// after them, without.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EpochRecord {
    /// Counted from 1.
    pub epoch: usize,
    /// Learning rate.
    pub rate: f64,
    /// Mean negative log likelihood of the training nodes.
    pub train_loss: f64,
    /// Share of training nodes classified correctly.
    pub train_accuracy: f64,
    /// Mean negative log likelihood of the validation nodes.
    pub val_loss: f64,
    /// Share of validation nodes classified correctly.
    pub val_accuracy: f64,
}

/// All epochs, in order.
pub type History = Vec<EpochRecord>;

impl EpochRecord {
    /// The record of an epoch; scores that are not finite are an error.
    pub(super) fn new(
        config: &TrainConfig,
        epoch: usize,
        train: Score,
        val: Score,
    ) -> Result<Self, TrainError> {
        let optimiser = &config.optimiser;
        let rate = optimiser.rate * optimiser.schedule.factor(epoch - 1);
        for (which, value) in [("training", train.loss), ("validation", val.loss)] {
            if !value.is_finite() {
                return Err(TrainError::NotFinite { which, value, epoch, rate });
            }
        }
        Ok(Self {
            epoch,
            rate,
            train_loss: train.loss,
            train_accuracy: train.accuracy,
            val_loss: val.loss,
            val_accuracy: val.accuracy,
        })
    }

    /// Names of the columns of [`columns`](Self::columns).
    pub const COLUMNS: [&'static str; 6] =
        ["epoch", "rate", "train_loss", "train_accuracy", "val_loss", "val_accuracy"];

    /// The record as a row of numbers.
    pub fn columns(&self) -> [f64; 6] {
        [
            self.epoch as f64,
            self.rate,
            self.train_loss,
            self.train_accuracy,
            self.val_loss,
            self.val_accuracy,
        ]
    }

    /// The record from such a row.
    pub(crate) fn from_columns(row: &[f64; 6]) -> Self {
        let [epoch, rate, train_loss, train_accuracy, val_loss, val_accuracy] = *row;
        let epoch = epoch as usize;
        Self { epoch, rate, train_loss, train_accuracy, val_loss, val_accuracy }
    }
}
