//! How settings are searched before models are compared, and what is found.

use crate::train::RunConfig;
use serde::{Deserialize, Serialize};

/// How long settings are searched, for each model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TuneBudget {
    /// Most trials on each split.
    pub trials: usize,
    /// Minutes for each model, over all splits; what is found then depends on the machine.
    pub minutes: Option<f64>,
}

/// The settings that a model was given on a split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuned {
    /// Model, split, seed and budget.
    pub key: String,
    /// The configuration that did best on the validation nodes of the split.
    pub config: RunConfig,
}
