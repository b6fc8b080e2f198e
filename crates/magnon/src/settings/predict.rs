//! What a prediction is asked for.

use super::DataSettings;
use crate::Error;
use crate::compute::Device;
use crate::train::DataConfig;
use crate::workflow::run_data;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What [`predict`](crate::workflow::predict) is asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct PredictSettings {
    /// What is read, and how.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub data: DataSettings,
    /// Compute every row, even those that the run has predicted and no change can reach
    #[cfg_attr(feature = "clap", arg(long, display_order = 900, help_heading = "Output"))]
    pub full: bool,
    /// Where it runs: cpu, cuda, cuda:1 or auto
    #[cfg_attr(feature = "clap", arg(long, value_name = "D", default_value_t))]
    pub device: Device,
}

impl PredictSettings {
    /// The data whose nodes are classified: those of the run, with what was given on top.
    pub fn data(&self, run: &Path) -> Result<DataConfig, Error> {
        let DataSettings { data, feature_norm, split, split_seed, .. } = &self.data;
        if feature_norm.is_some() {
            let problem = "would have no effect: features are scaled as the model's were";
            return Err(Error::parameter("feature_norm", problem));
        }
        if split.is_some() || split_seed.is_some() {
            let name = if split.is_some() { "split" } else { "split_seed" };
            let problem =
                "would have no effect: all nodes are classified, which makes no use of a split";
            return Err(Error::parameter(name, problem));
        }
        let mut config = run_data(run, data.is_some())?;
        self.data.apply(&mut config)?;
        Ok(config)
    }
}
