//! `generate`: a synthetic data set.

use super::{DataInfo, Phases, info};
use crate::Error;
use crate::data::{Dataset, SyntheticConfig};
use serde::Serialize;

/// What [`generate`] made.
#[derive(Clone, Debug, Serialize)]
pub struct GenerateReport {
    /// What the data set looks like.
    #[serde(flatten)]
    pub info: DataInfo,
    /// The seed that it was drawn with.
    pub seed: u64,
    /// Where the time went.
    pub seconds: Phases,
}

/// A generated data set, with what is told of it.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The data set.
    pub dataset: Dataset,
    /// What is told of it.
    pub report: GenerateReport,
}

/// Generates a data set called `name`, and measures it.
pub fn generate(config: &SyntheticConfig, name: &str) -> Result<Generated, Error> {
    let mut seconds = Phases::default();
    let dataset = seconds.time("generate", || config.dataset(name))?;
    let info = seconds.time("measure", || info(&dataset, dataset.splits.first()))?;
    let report = GenerateReport { info, seed: config.seed, seconds };
    Ok(Generated { dataset, report })
}
