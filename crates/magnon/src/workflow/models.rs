//! `models` and `model`: what can be trained, and the settings of each.

use crate::Error;
use crate::model::{MODELS, ModelConfig, ModelInfo};
use crate::train::RunConfig;
use serde::Serialize;

/// All models.
#[derive(Clone, Debug, Serialize)]
pub struct ModelList {
    /// One entry per model.
    pub models: Vec<ModelSummary>,
}

/// What a model is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelSummary {
    /// The name, as on the command line.
    pub name: &'static str,
    /// The name as its paper writes it.
    pub title: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// The paper.
    pub source: &'static str,
    /// What it makes of the direction of edges, in words.
    pub direction: &'static str,
    /// Whether it takes an operator.
    pub operator: bool,
    /// The filter that it takes, unless told otherwise.
    pub filter: Option<&'static str>,
}

/// A model with its settings.
#[derive(Clone, Debug, Serialize)]
pub struct ModelReport {
    /// What it is.
    #[serde(flatten)]
    pub model: ModelSummary,
    /// How it is trained unless told otherwise.
    pub config: RunConfig,
}

impl ModelSummary {
    fn new(info: &ModelInfo) -> Self {
        Self {
            name: info.name,
            title: info.title,
            summary: info.summary,
            source: info.source,
            direction: info.direction.words(),
            operator: info.operator.is_some(),
            filter: info.filter.map(|need| need.kind.name()),
        }
    }
}

/// Lists the models.
pub fn models() -> ModelList {
    ModelList { models: MODELS.iter().map(ModelSummary::new).collect() }
}

/// The model of a name, with how it is trained unless told otherwise.
pub fn model(name: &str) -> Result<ModelReport, Error> {
    let model = ModelConfig::named(name)?;
    Ok(ModelReport { model: ModelSummary::new(model.info()), config: RunConfig::of(model) })
}
