//! Data sets from generated graphs: the blocks are the labels, features are drawn per block.

use super::{Dataset, Features, Labels, Reading, Scaling, Split};
use magnon_core::graph::BuildReport;
use magnon_core::graph::generate::{GenerateError, GeneratorConfig, GeneratorKind, generate};
use magnon_core::matrix::Matrix;
use magnon_core::memory;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Configuration of a generated data set.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `graph` | cyclic block model | the generator | |
/// | `columns` | 16 | feature columns | 0 to 65536 |
/// | `noise` | 1 | standard deviation around the block's mean, which is itself standard normal | ≥ 0 |
/// | `seed` | 0 | seed of graph, features and split | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SyntheticConfig {
    /// The generator.
    pub graph: GeneratorConfig,
    /// Number of feature columns.
    pub columns: usize,
    /// Standard deviation of the features around their block's mean.
    pub noise: f64,
    /// Seed of everything drawn.
    pub seed: u64,
}

impl Default for SyntheticConfig {
    fn default() -> Self {
        Self { graph: GeneratorConfig::default(), columns: 16, noise: 1.0, seed: 0 }
    }
}

/// Why a text describes no generated data set.
#[derive(Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum SyntheticError {
    /// Unknown generator, or a value out of range.
    #[error(transparent)]
    Generate(#[from] GenerateError),
    /// A part that is not `key=value`.
    #[error("'{0}' is not of the form key=value")]
    Syntax(String),
    /// An unknown key.
    #[error(
        "a generator has no '{0}'; its keys are nodes, blocks, density, within, mutual, direction, \
         columns and noise"
    )]
    UnknownKey(String),
    /// A key that the generator makes no use of.
    #[error("a {kind} graph has no {key}; it takes {keys}")]
    Unused {
        /// The generator.
        kind: &'static str,
        /// The key.
        key: String,
        /// What it takes.
        keys: String,
    },
    /// A value that is no number of the right kind.
    #[error("'{value}' is not a number that {key} can have")]
    BadValue {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
}

/// `demo`, or the name of a generator with optional values: `cyclic:nodes=500,blocks=5`.
impl FromStr for SyntheticConfig {
    type Err = SyntheticError;

    fn from_str(text: &str) -> Result<Self, SyntheticError> {
        let (name, values) = text.split_once(':').unwrap_or((text, ""));
        let mut config = match name {
            "demo" => Self::demo(),
            _ => Self::default(),
        };
        if name != "demo" {
            config.graph.kind = name.parse::<GeneratorKind>()?;
        }
        for part in values.split(',').filter(|part| !part.is_empty()) {
            let Some((key, value)) = part.split_once('=') else {
                return Err(SyntheticError::Syntax(part.to_owned()));
            };
            config.set(key.trim(), value.trim())?;
        }
        config.check()?;
        Ok(config)
    }
}

const KEYS: [&str; 8] =
    ["nodes", "blocks", "density", "within", "mutual", "direction", "columns", "noise"];

fn number<T: FromStr>(key: &str, value: &str) -> Result<T, SyntheticError> {
    let bad = |_| SyntheticError::BadValue { key: key.to_owned(), value: value.to_owned() };
    value.parse().map_err(bad)
}

impl SyntheticConfig {
    /// The built-in demonstration graph: three blocks in a ring, edges both ways inside a block and
    /// one way round between blocks, at the same density everywhere.
    ///
    /// Without its directions it is one homogeneous random graph, so an undirected filter can only
    /// blur the noisy features; the directions alone tell the blocks apart.
    pub fn demo() -> Self {
        let graph = GeneratorConfig { mutual: 1.0, ..Default::default() };
        Self { graph, noise: 8.0, ..Default::default() }
    }

    /// Sets one value by its name.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), SyntheticError> {
        let (kind, own) = (self.graph.kind, ["columns", "noise"]);
        if KEYS.contains(&key) && !kind.takes().contains(&key) && !own.contains(&key) {
            let keys = [kind.takes(), &own].concat().join(", ");
            return Err(SyntheticError::Unused { kind: kind.name(), key: key.to_owned(), keys });
        }
        match key {
            "nodes" => self.graph.nodes = number(key, value)?,
            "blocks" => self.graph.blocks = number(key, value)?,
            "density" => self.graph.density = number(key, value)?,
            "within" => self.graph.within = Some(number(key, value)?),
            "mutual" => self.graph.mutual = number(key, value)?,
            "direction" => self.graph.direction = number(key, value)?,
            "columns" => self.columns = number(key, value)?,
            "noise" => self.noise = number(key, value)?,
            _ => return Err(SyntheticError::UnknownKey(key.to_owned())),
        }
        Ok(())
    }

    /// Checks every range.
    pub fn check(&self) -> Result<(), GenerateError> {
        self.graph.check()?;
        let out = |name, value, range| Err(GenerateError::OutOfRange { name, value, range });
        if self.columns > 65_536 {
            return out("columns", self.columns as f64, "at most 65536");
        }
        let cells = self.columns as f64 * self.graph.nodes as f64;
        if cells > 4e9 {
            return out("number of features (nodes × columns)", cells, "at most 4e9");
        }
        if !(self.noise >= 0.0 && self.noise.is_finite()) {
            return out("noise", self.noise, "a finite number, at least 0");
        }
        Ok(())
    }

    /// Generates the data set, with a random 60/20/20 split per block.
    ///
    /// Graphs without blocks have no labels and no split, and features of mean zero.
    pub fn dataset(&self, name: &str) -> Result<Dataset, GenerateError> {
        self.check()?;
        if !memory::is_granted(self.bytes() as usize) {
            return Err(self.graph.out_of_memory(self.bytes()));
        }
        let generated = generate(&self.graph, self.seed)?;
        let labels = generated.blocks.map(|blocks| Labels {
            names: (0..self.graph.blocks).map(|b| b.to_string()).collect(),
            classes: blocks.into_iter().map(Some).collect(),
        });
        let features = match self.columns {
            0 => None,
            _ => Some(self.features(labels.as_ref())?),
        };
        let splits = labels.iter().map(|l| Split::random(l, [60.0, 20.0, 20.0], self.seed));
        Ok(Dataset {
            name: name.to_owned(),
            report: BuildReport { given: generated.graph.edges(), ..Default::default() },
            splits: splits.collect(),
            graph: generated.graph,
            features,
            scaling: Scaling::None,
            labels,
            node_names: None,
            reading: Reading { format: "generated".to_owned(), ..Reading::default() },
            remarks: Vec::new(),
        })
    }

    /// Bytes for all that a data set holds while it is made.
    fn bytes(&self) -> f64 {
        let (nodes, columns) = (self.graph.nodes as f64, self.columns as f64);
        let blocks = if self.graph.has_blocks() { self.graph.blocks as f64 } else { 0.0 };
        // Features and their means; names, members and split of the blocks.
        let features = 4.0 * nodes * columns + 8.0 * blocks * columns;
        let labels = if blocks > 0.0 { 16.0 * nodes + 64.0 * blocks } else { 0.0 };
        self.graph.bytes() + features + labels
    }

    fn features(&self, labels: Option<&Labels>) -> Result<Features, GenerateError> {
        // A stream of its own, so that the graph does not depend on the feature width.
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(1);
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        let classes = labels.map_or(0, |l| l.names.len());
        let refused = || self.graph.out_of_memory(self.bytes());
        let mut means = Matrix::<f64>::try_zeros(classes, self.columns).ok_or_else(refused)?;
        means.as_mut_slice().fill_with(&mut normal);
        let features = Matrix::<f32>::try_zeros(self.graph.nodes, self.columns);
        let mut features = features.ok_or_else(refused)?;
        for (node, row) in features.as_mut_slice().chunks_exact_mut(self.columns).enumerate() {
            let mean = labels.and_then(|l| l.classes[node]).map(|c| means.row(c as usize));
            for (j, x) in row.iter_mut().enumerate() {
                *x = (mean.map_or(0.0, |m| m[j]) + self.noise * normal()) as f32;
            }
        }
        Ok(Features::Dense(features))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_parsed() {
        assert_eq!("demo".parse(), Ok(SyntheticConfig::demo()));
        let config: SyntheticConfig = "ordered:nodes=50,blocks=5,noise=0".parse().unwrap();
        assert_eq!(config.graph.kind, GeneratorKind::Ordered);
        assert_eq!((config.graph.nodes, config.graph.blocks, config.noise), (50, 5, 0.0));
        for bad in ["cube", "cyclic:nodes", "cyclic:nodes=x", "cyclic:size=3", "cyclic:nodes=0"] {
            assert!(bad.parse::<SyntheticConfig>().is_err(), "{bad}");
        }
    }

    #[test]
    fn features_have_the_stated_noise() {
        let config = SyntheticConfig { noise: 0.0, ..Default::default() };
        let dataset = config.dataset("demo").unwrap();
        let Some(Features::Dense(x)) = &dataset.features else { panic!("dense features") };
        assert_eq!(x.row(0), x.row(199));
        assert_ne!(x.row(0), x.row(200));
        assert_eq!(dataset.splits[0].train.len(), 360);
    }
}
