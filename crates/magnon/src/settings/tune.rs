//! What a search for better settings of a model is asked for.

#[cfg(feature = "clap")]
use super::value;
use super::{ConfigSettings, DataSettings, refused};
use crate::Error;
use crate::train::RunConfig;
use crate::workflow::tune::{Search, TuneConfig};
use serde::{Deserialize, Serialize};

/// What [`tune`](crate::workflow::tune::tune) is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct TuneSettings {
    /// What is read, and how.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub data: DataSettings,
    /// The configuration of the model.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub config: ConfigSettings,
    /// Most trials
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = TuneConfig::default().trials, help_heading = "Search"))]
    pub trials: usize,
    /// Begin no more trials after so many minutes; what is found then depends on the machine
    #[cfg_attr(feature = "clap", arg(long, value_parser = value::finite, value_name = "M", help_heading = "Search"))]
    pub minutes: Option<f64>,
    /// How trials are cut short
    #[cfg_attr(
        feature = "clap",
        arg(long, value_enum, default_value = "halving", help_heading = "Search")
    )]
    pub search: Search,
    /// Splits whose validation nodes decide
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "N", default_value_t = 1, help_heading = "Search")
    )]
    pub splits: usize,
    /// Seeds of each trial on each split
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "M", default_value_t = 1, help_heading = "Search")
    )]
    pub runs: usize,
}

impl Default for TuneSettings {
    fn default() -> Self {
        let (data, config) = Default::default();
        let TuneConfig { search, trials, minutes, runs, .. } = TuneConfig::default();
        Self { data, config, trials, minutes, search, splits: 1, runs }
    }
}

impl TuneSettings {
    /// What is searched from: a preset or the model's defaults, with what was given on top.
    pub fn base(&self, seed: u64) -> Result<RunConfig, Error> {
        let mut base = self.config.config()?;
        self.data.apply(&mut base.data)?;
        self.config.apply(&mut base)?;
        base.train.seed = seed;
        base.check().map_err(refused)?;
        Ok(base)
    }

    /// How it is searched.
    pub fn config(&self, seed: u64) -> Result<TuneConfig, Error> {
        let (search, trials, minutes, runs) = (self.search, self.trials, self.minutes, self.runs);
        let config = TuneConfig { search, trials, minutes, runs, seed };
        config.check()?;
        Ok(config)
    }
}
