//! `RunConfig`: everything that makes a run, in one place.
//!
//! The flags of `magnon train`, the presets and a run's `config.json` are this struct.

use crate::model::{ModelConfig, OperatorChoice};
use crate::tensors::FileError;
use crate::train::{TrainConfig, TrainError};
use magnon_core::filter::FilterConfig;
use magnon_data::{LoadConfig, MadeFeatures, SplitChoice};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

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
    /// Features that are made from the graph, in place of those of the source.
    pub made: Option<MadeFeatures>,
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
            made: None,
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
#[non_exhaustive]
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

/// Everything that makes a run. In a file, what is left out is as the model has it by default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value")]
pub struct RunConfig {
    /// Which data.
    pub data: DataConfig,
    /// Which model.
    pub model: ModelConfig,
    /// Which operator, where the model takes one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<OperatorChoice>,
    /// Which filter, where the model takes one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<FilterConfig>,
    /// How it is trained.
    pub train: TrainConfig,
    /// How often.
    pub runs: RunsConfig,
}

/// The fields of a [`RunConfig`], as they are written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    data: DataConfig,
    model: ModelConfig,
    #[serde(default)]
    operator: Option<OperatorChoice>,
    #[serde(default)]
    filter: Option<FilterConfig>,
    train: TrainConfig,
    runs: RunsConfig,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self::of(ModelConfig::default())
    }
}

impl TryFrom<Value> for RunConfig {
    type Error = serde_json::Error;

    fn try_from(given: Value) -> Result<Self, serde_json::Error> {
        let model = given.get("model").cloned().unwrap_or(Value::Object(Map::new()));
        let mut whole = serde_json::to_value(Self::of(serde_json::from_value(model)?))?;
        put_on_top(&mut whole, given);
        let Written { data, model, operator, filter, train, runs } = serde_json::from_value(whole)?;
        Ok(Self { data, model, operator, filter, train, runs })
    }
}

/// Puts the values of one object in place of those of another, key by key.
fn put_on_top(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (key, value) in over {
                put_on_top(under.entry(key).or_insert(Value::Null), value);
            }
        }
        (under, over) => *under = over,
    }
}

impl RunConfig {
    /// The defaults of a model.
    pub fn of(model: ModelConfig) -> Self {
        let info = model.info();
        Self {
            data: DataConfig::default(),
            operator: info.operator.map(|need| need.default_choice()),
            filter: info.filter.map(|need| need.default_config()),
            train: info.training.into(),
            runs: RunsConfig::default(),
            model,
        }
    }

    /// Reads a configuration strictly: an unknown key is an error that names the nearest one.
    pub fn from_json(text: &str) -> Result<Self, String> {
        crate::strict::from_json(text)
    }

    /// Reads a configuration from a file, such as the `config.json` of a run.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|reason| FileError::Read { path: path.to_owned(), reason })?;
        Self::parse(path, &text)
    }

    /// The same of the text of the file.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self, FileError> {
        Self::from_json(text).map_err(|problem| FileError::Broken {
            path: path.to_owned(),
            problem: format!("not a configuration of this magnon: {problem}"),
        })
    }

    /// Checks every range, and that the model takes what is given.
    pub fn check(&self) -> Result<(), TrainError> {
        let info = self.model.info();
        let unused = |what: &str, advice: String| {
            Err(TrainError::Unused { model: info.name, what: what.to_owned(), advice })
        };
        self.train.check()?;
        self.runs.check()?;
        self.model.check()?;
        match (&self.operator, info.operator) {
            (Some(_), None) => return unused("operator", "leave its settings out".to_owned()),
            (Some(given), Some(need)) => {
                let closed = need.default_choice().differences(given);
                let closed = closed.into_iter().find(|name| !need.open.contains(name));
                if let Some(name) = closed {
                    let open = match need.open {
                        [] => "it is part of its definition".to_owned(),
                        open => format!("of its operator, {} may be chosen", open.join(", ")),
                    };
                    return unused(&format!("other {name}"), open);
                }
            }
            _ => (),
        }
        match (&self.filter, info.filter) {
            (Some(_), None) => unused("filter", "leave its settings out".to_owned()),
            _ => Ok(()),
        }
    }
}
