//! What a generator is asked for.

use super::refused;
#[cfg(feature = "clap")]
use super::value;
use crate::Error;
use crate::data::SyntheticConfig;
use crate::graph::generate::GeneratorKind;
use serde::{Deserialize, Serialize};

/// What [`generate`](crate::workflow::generate) is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct GenerateSettings {
    /// cycle, cyclic, ordered, noisy, feed-forward or erdos-renyi
    #[cfg_attr(feature = "clap", arg(default_value = "cyclic"))]
    pub kind: GeneratorKind,
    /// Number of nodes [default: 600]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub nodes: Option<usize>,
    /// Number of blocks or layers [default: 3]
    #[cfg_attr(feature = "clap", arg(long, value_name = "B"))]
    pub blocks: Option<usize>,
    /// Probability of an edge between nodes of joined blocks [default: 0.03]
    #[cfg_attr(feature = "clap", arg(long, value_parser = value::finite, value_name = "P", allow_negative_numbers = true))]
    pub density: Option<f64>,
    /// Probability of an edge inside a block [default: the density]
    #[cfg_attr(feature = "clap", arg(long, value_parser = value::finite, value_name = "P", allow_negative_numbers = true))]
    pub within: Option<f64>,
    /// Probability that an edge inside a block runs both ways [default: 0]
    #[cfg_attr(feature = "clap", arg(long, value_parser = value::finite, value_name = "P", allow_negative_numbers = true))]
    pub mutual: Option<f64>,
    /// Probability that an edge follows the direction of its blocks [default: 0.95]
    #[cfg_attr(feature = "clap", arg(long, value_parser = value::finite, value_name = "P", allow_negative_numbers = true))]
    pub direction: Option<f64>,
    /// Number of feature columns; 0 for none [default: 16]
    #[cfg_attr(feature = "clap", arg(long, value_name = "F"))]
    pub columns: Option<usize>,
    /// Standard deviation of features around the mean of their block [default: 1]
    #[cfg_attr(feature = "clap", arg(long, value_parser = value::finite, value_name = "S", allow_negative_numbers = true))]
    pub noise: Option<f64>,
}

impl Default for GenerateSettings {
    fn default() -> Self {
        let (nodes, blocks, columns) = (None, None, None);
        let (density, within, mutual, direction, noise) = (None, None, None, None, None);
        let kind = GeneratorKind::Cyclic;
        Self { kind, nodes, blocks, density, within, mutual, direction, columns, noise }
    }
}

impl GenerateSettings {
    /// The defaults of the generator with what was given on top; what it makes no use of is refused.
    pub fn config(&self, seed: u64) -> Result<SyntheticConfig, Error> {
        let mut config = SyntheticConfig { seed, ..Default::default() };
        config.graph.kind = self.kind;
        let text = |number: Option<f64>| number.map(|number| number.to_string());
        let count = |number: Option<usize>| number.map(|number| number.to_string());
        for (key, value) in [
            ("nodes", count(self.nodes)),
            ("blocks", count(self.blocks)),
            ("density", text(self.density)),
            ("within", text(self.within)),
            ("mutual", text(self.mutual)),
            ("direction", text(self.direction)),
            ("columns", count(self.columns)),
            ("noise", text(self.noise)),
        ] {
            if let Some(value) = value {
                config.set(key, &value).map_err(refused)?;
            }
        }
        Ok(config)
    }
}
