//! How often a model is trained.

use super::refused;
use crate::Error;
use crate::train::{RunsConfig, Vary};
use serde::{Deserialize, Serialize};

/// How often a model is trained; what is not given stays as a configuration has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Runs"))]
pub struct RunsSettings {
    /// Train so many times, several at once, and give mean and confidence interval [default: 1]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub runs: Option<usize>,
    /// What changes from one run to the next [default: seeds]
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub vary: Option<Vary>,
    /// Train the controls too: a network without the graph, and one without direction
    #[cfg_attr(feature = "clap", arg(long))]
    pub controls: bool,
}

impl RunsSettings {
    /// Puts what was given in place of what a configuration has.
    pub fn apply(&self, config: &mut RunsConfig) -> Result<(), Error> {
        config.count = self.runs.unwrap_or(config.count);
        config.vary = self.vary.unwrap_or(config.vary);
        config.controls |= self.controls;
        config.check().map_err(refused)
    }
}
