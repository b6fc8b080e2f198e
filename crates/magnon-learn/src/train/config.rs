//! `TrainConfig`: the configuration of the loop.

use super::TrainError;
use crate::model::TrainingDefaults;
use crate::nn::{AdamConfig, Schedule};
use magnon_core::compute::Device;
use serde::{Deserialize, Serialize};

/// Configuration of a training run.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `epochs` | 10000 | most epochs | 1 to 10⁸ |
/// | `patience` | 50 | epochs without a better validation loss before it stops | ≥ 1 |
/// | `batch` | none | rows per step; none for all of them | ≥ 1 |
/// | `optimiser` | Adam | see [`AdamConfig`] | |
/// | `seed` | 0 | of weights, dropout and batches | |
/// | `device` | `cpu` | where it runs | `cpu`, `cuda`, `cuda:1`, `auto` |
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainConfig {
    /// Most epochs.
    pub epochs: usize,
    /// Epochs without a better validation loss before it stops.
    pub patience: usize,
    /// Rows per step; `None` for all of them.
    pub batch: Option<usize>,
    /// The optimiser.
    pub optimiser: AdamConfig,
    /// Seed of weights, dropout and batches.
    pub seed: u64,
    /// Where it runs.
    #[serde(skip_serializing_if = "Device::is_cpu")]
    pub device: Device,
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            epochs: 10_000,
            patience: 50,
            batch: None,
            optimiser: AdamConfig::default(),
            seed: 0,
            device: Device::Cpu,
        }
    }
}

impl From<TrainingDefaults> for TrainConfig {
    fn from(defaults: TrainingDefaults) -> Self {
        let TrainingDefaults { rate, weight_decay, epochs, patience } = defaults;
        let optimiser = AdamConfig { rate, weight_decay, ..Default::default() };
        Self { epochs, patience, optimiser, ..Default::default() }
    }
}

impl TrainConfig {
    /// Checks every range.
    pub fn check(&self) -> Result<(), TrainError> {
        let out = |name, value, range| Err(TrainError::OutOfRange { name, value, range });
        let AdamConfig { rate, weight_decay, clip, schedule, .. } = self.optimiser;
        if !(1..=100_000_000).contains(&self.epochs) {
            return out("number of epochs", self.epochs as f64, "from 1 to 100000000");
        }
        if self.patience == 0 {
            return out("patience", 0.0, "at least 1");
        }
        if self.batch == Some(0) {
            return out("batch", 0.0, "at least 1");
        }
        if !(rate > 0.0 && rate.is_finite()) {
            return out("learning rate", rate, "above 0 and finite");
        }
        if !(weight_decay >= 0.0 && weight_decay.is_finite()) {
            return out("weight decay", weight_decay, "at least 0 and finite");
        }
        if let Some(clip) = clip
            && !(clip > 0.0 && clip.is_finite())
        {
            return out("gradient clip", clip, "above 0 and finite");
        }
        match schedule {
            Schedule::Step { every: 0, .. } => out("schedule's step", 0.0, "at least 1 epoch"),
            Schedule::Step { factor, .. } if !(factor > 0.0 && factor <= 1.0) => {
                out("schedule's factor", factor, "above 0 and at most 1")
            }
            Schedule::Cosine { epochs: 0, .. } => out("schedule's length", 0.0, "at least 1 epoch"),
            Schedule::Cosine { least, .. } if !(0.0..=1.0).contains(&least) => {
                out("schedule's least factor", least, "from 0 to 1")
            }
            _ => Ok(()),
        }
    }
}
