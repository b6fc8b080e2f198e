//! What a comparison is asked for.

use super::{DataSettings, excludes, refused, value};
use crate::Error;
use crate::compute::Device;
use crate::model::{MODELS, ModelConfig};
use crate::train::RunConfig;
use crate::workflow::compare::{CompareConfig, Contestant, TuneBudget};
use crate::workflow::preset;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Trials on a split where the time decides.
const MOST_TRIALS: usize = 10_000;
/// What is compared where nothing is named.
const MODELS_BY_DEFAULT: &str = "mgc,gcn,sgc,appnp,magnet,dirgnn,fsgnn,linkx";

/// What [`compare`](crate::workflow::compare::compare) is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct CompareSettings {
    /// What is read, and how.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub data: DataSettings,
    /// Models by name, or configurations in files such as the config.json of a run
    #[cfg_attr(feature = "clap", arg(long, value_name = "A,B,…", value_delimiter = ',', default_value = MODELS_BY_DEFAULT, help_heading = "Comparison"))]
    #[serde(deserialize_with = "value::list")]
    pub models: Vec<String>,
    /// Splits that each model is trained on: those of the data where there are enough, or drawn ones
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "N", default_value_t = 10, help_heading = "Comparison")
    )]
    pub splits: usize,
    /// Seeds on each split
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "M", default_value_t = 1, help_heading = "Comparison")
    )]
    pub runs: usize,
    /// Graphs with the directions of one-way edges drawn by coin, as a control
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "N", default_value_t = 3, help_heading = "Comparison")
    )]
    pub draws: usize,
    /// Search the settings of each model first, for so many minutes each, on the validation nodes of each split
    #[cfg_attr(feature = "clap", arg(long, value_parser = value::finite, value_name = "MINUTES", help_heading = "Comparison"))]
    pub tune: Option<f64>,
    /// Search with so many trials on each split, which gives the same on every machine
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "N", conflicts_with = "tune", help_heading = "Comparison")
    )]
    pub tune_trials: Option<usize>,
    /// Memory that the process may hold, such as 8G; a model that needs more is a row that says so
    #[cfg_attr(feature = "clap", arg(long, value_name = "BYTES", value_parser = value::size, help_heading = "Comparison"))]
    #[serde(deserialize_with = "value::memory")]
    pub memory: Option<u64>,
    /// Where the models are trained: cpu, cuda, cuda:1 or auto [default: cpu]
    #[cfg_attr(feature = "clap", arg(long, value_name = "D", help_heading = "Comparison"))]
    pub device: Option<Device>,
}

impl Default for CompareSettings {
    fn default() -> Self {
        Self {
            data: DataSettings::default(),
            models: MODELS_BY_DEFAULT.split(',').map(str::to_owned).collect(),
            splits: 10,
            runs: 1,
            draws: 3,
            tune: None,
            tune_trials: None,
            memory: None,
            device: None,
        }
    }
}

impl CompareSettings {
    /// The library's configuration.
    pub fn config(&self, seed: u64) -> Result<CompareConfig, Error> {
        excludes(("tune_trials", self.tune_trials.is_some()), &[("tune", self.tune.is_some())])?;
        let (splits, runs, draws, memory) = (self.splits, self.runs, self.draws, self.memory);
        let models = self.models.iter().map(|name| contestant(name));
        let mut models: Vec<Contestant> = models.collect::<Result<_, _>>()?;
        if let Some(device) = self.device {
            models.iter_mut().for_each(|model| model.config.train.device = device);
        }
        let tune = match (self.tune, self.tune_trials) {
            (None, None) => None,
            (minutes, trials) => {
                Some(TuneBudget { trials: trials.unwrap_or(MOST_TRIALS), minutes })
            }
        };
        let config = CompareConfig { models, splits, runs, draws, tune, memory, seed };
        config.check()?;
        Ok(config)
    }
}

/// A model by its name, or a configuration by its file.
fn contestant(name: &str) -> Result<Contestant, Error> {
    if MODELS.iter().any(|info| info.name == name) {
        let config = RunConfig::of(ModelConfig::named(name).map_err(refused)?);
        return Ok(Contestant { name: name.to_owned(), config });
    }
    let path = Path::new(name);
    if !path.is_file() {
        let error = ModelConfig::named(name).err().map(|error| error.to_string());
        return Err(Error::Argument(error.unwrap_or_default()));
    }
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    Ok(Contestant { name: stem.unwrap_or_else(|| name.to_owned()), config: preset(name)? })
}
