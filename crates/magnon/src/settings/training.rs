//! How a model is trained.

use super::{refused, value};
use crate::Error;
use crate::compute::Device;
use crate::nn::{Decay, Schedule};
use crate::train::TrainConfig;
use serde::{Deserialize, Serialize};

/// How a model is trained; what is not given stays as a configuration has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Training"))]
pub struct TrainingSettings {
    /// Most epochs [default: 10000]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub epochs: Option<usize>,
    /// Stop after so many epochs without a better validation loss [default: the model's]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub patience: Option<usize>,
    /// Rows per step [default: all training rows]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub batch: Option<usize>,
    /// Learning rate [default: the model's]
    #[cfg_attr(feature = "clap", arg(long, value_parser = value::finite, value_name = "R", allow_negative_numbers = true))]
    pub rate: Option<f64>,
    /// Strength of the weight decay [default: the model's]
    #[cfg_attr(feature = "clap", arg(long, value_parser = value::finite, value_name = "L", allow_negative_numbers = true))]
    pub weight_decay: Option<f64>,
    /// How the decay acts [default: l2]
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub decay: Option<Decay>,
    /// Largest norm of the gradient [default: none]
    #[cfg_attr(feature = "clap", arg(long, value_parser = value::finite, value_name = "C", allow_negative_numbers = true))]
    pub clip: Option<f64>,
    /// How the rate changes: constant, step:EVERY,FACTOR or cosine:EPOCHS,LEAST [default: constant]
    #[cfg_attr(feature = "clap", arg(long, value_name = "S"))]
    #[serde(deserialize_with = "value::text", serialize_with = "value::as_text")]
    pub schedule: Option<Schedule>,
    /// Where it runs: cpu, cuda, cuda:1 or auto [default: cpu]
    #[cfg_attr(feature = "clap", arg(long, value_name = "D"))]
    pub device: Option<Device>,
    /// Start from the paper's hyper-parameters for a data set, or from a file such as the
    /// config.json of a run; flags given beside it come first
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME", help_heading = "Training"))]
    pub preset: Option<String>,
}

impl TrainingSettings {
    /// Puts what was given in place of what a configuration has.
    pub fn apply(&self, config: &mut TrainConfig) -> Result<(), Error> {
        config.epochs = self.epochs.unwrap_or(config.epochs);
        config.patience = self.patience.unwrap_or(config.patience);
        config.batch = self.batch.or(config.batch);
        config.device = self.device.unwrap_or(config.device);
        let optimiser = &mut config.optimiser;
        optimiser.rate = self.rate.unwrap_or(optimiser.rate);
        optimiser.weight_decay = self.weight_decay.unwrap_or(optimiser.weight_decay);
        optimiser.decay = self.decay.unwrap_or(optimiser.decay);
        optimiser.clip = self.clip.or(optimiser.clip);
        optimiser.schedule = self.schedule.unwrap_or(optimiser.schedule);
        config.check().map_err(refused)
    }
}
