//! `RunConfig`: everything that makes a run, in one place.
//!
//! The flags of `magnon train`, the presets and a run's `config.json` are this struct.

use crate::data::{LoadConfig, SplitChoice};
use crate::filter::FilterConfig;
use crate::model::ModelConfig;
use crate::train::{OperatorChoice, TrainConfig, TrainError};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Which data, and how they are read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DataConfig {
    /// Folder, file or generator.
    pub source: String,
    /// How it is read.
    pub load: LoadConfig,
    /// Features in place of those of the source.
    pub features: Option<PathBuf>,
    /// Labels in place of those of the source.
    pub labels: Option<PathBuf>,
    /// Filtered features of `magnon propagate`, mapped in place of those computed.
    pub filtered: Option<PathBuf>,
    /// Which split.
    pub split: SplitChoice,
    /// Seed of a random split; the run's own where there is none.
    pub split_seed: Option<u64>,
}

impl Default for DataConfig {
    fn default() -> Self {
        Self {
            source: "demo".to_owned(),
            load: LoadConfig::default(),
            features: None,
            labels: None,
            filtered: None,
            split: SplitChoice::default(),
            split_seed: None,
        }
    }
}

/// What changes from one of several runs to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Vary {
    /// The seed of weights, dropout and batches
    #[default]
    Seeds,
    /// The split: the next one of the data, or the next seed of a random one
    Splits,
    /// Both
    Both,
}

/// How often a model is trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunsConfig {
    /// Number of runs.
    pub count: usize,
    /// What changes from one to the next.
    pub vary: Vary,
    /// Whether the controls are trained too: a network without the graph, and one without
    /// direction.
    pub controls: bool,
}

impl Default for RunsConfig {
    fn default() -> Self {
        Self { count: 1, vary: Vary::Seeds, controls: false }
    }
}

impl RunsConfig {
    /// Checks every range.
    pub fn check(&self) -> Result<(), TrainError> {
        if (1..=100_000).contains(&self.count) {
            return Ok(());
        }
        let (name, value) = ("number of runs", self.count as f64);
        Err(TrainError::OutOfRange { name, value, range: "from 1 to 100000" })
    }
}

/// Everything that makes a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunConfig {
    /// Which data.
    pub data: DataConfig,
    /// Which operator.
    pub operator: OperatorChoice,
    /// Which filter.
    pub filter: FilterConfig,
    /// Which model.
    pub model: ModelConfig,
    /// How it is trained.
    pub train: TrainConfig,
    /// How often.
    pub runs: RunsConfig,
}
