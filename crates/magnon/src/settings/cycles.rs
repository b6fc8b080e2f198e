//! What a search for cycles is asked for.

use super::{DataSettings, requires};
use crate::Error;
use crate::cycles::LengthsConfig;
use serde::{Deserialize, Serialize};

/// What [`cycles`](crate::workflow::cycles) is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct CyclesSettings {
    /// What is read, and how.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub data: DataSettings,
    /// Longest length asked about, from 2 to 63 [default: 20]; also bounds --enumerate where given
    #[cfg_attr(feature = "clap", arg(long, value_name = "M", help_heading = "Cycles"))]
    pub max_length: Option<usize>,
    /// Count all cycles by length; there may be exponentially many
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Cycles"))]
    pub enumerate: bool,
    /// Stop after the first N cycles, in the order of their smallest node
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "N", requires = "enumerate", help_heading = "Cycles")
    )]
    pub limit: Option<usize>,
    /// Edges looked at before a length is left undecided
    #[cfg_attr(feature = "clap", arg(long, value_name = "B", default_value_t = LengthsConfig::default().budget, help_heading = "Cycles"))]
    pub budget: u64,
}

impl Default for CyclesSettings {
    fn default() -> Self {
        let (data, max_length, enumerate, limit) = Default::default();
        Self { data, max_length, enumerate, limit, budget: LengthsConfig::default().budget }
    }
}

impl CyclesSettings {
    /// The library's configuration.
    pub fn config(&self) -> Result<LengthsConfig, Error> {
        requires(("limit", self.limit.is_some()), ("enumerate", self.enumerate))?;
        let max_length = self.max_length.unwrap_or(LengthsConfig::default().max_length);
        match max_length {
            2..=63 => Ok(LengthsConfig { max_length, budget: self.budget }),
            _ => Err(Error::parameter("max_length", "must be from 2 to 63")),
        }
    }
}
