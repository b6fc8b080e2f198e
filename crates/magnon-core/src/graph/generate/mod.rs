//! Random and regular directed graphs, one generator per file.
//!
//! | name | graph | blocks |
//! |---|---|---|
//! | `cycle` | one directed cycle through all nodes | none |
//! | `cyclic` | block model, edges run from block c to block c + 1, around | the blocks |
//! | `ordered` | block model, edges run from lower to higher blocks | the blocks |
//! | `noisy` | `cyclic`, and edges of random direction between all other blocks | the blocks |
//! | `feed-forward` | layers, edges run to later layers only: acyclic | the layers |
//! | `erdos-renyi` | every ordered pair of nodes with the same probability | none |

mod block_model;
mod cycle;
mod erdos_renyi;
mod feed_forward;
mod pairs;
mod size;

use super::{DiGraph, GraphBuilder};
use crate::memory;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The kinds of graphs that can be generated; see the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum GeneratorKind {
    /// One directed cycle.
    Cycle,
    /// Directed stochastic block model on a cycle of blocks.
    Cyclic,
    /// Directed stochastic block model on a line of blocks.
    Ordered,
    /// Cyclic block model with undirected noise between the other blocks.
    Noisy,
    /// Layered acyclic graph.
    FeedForward,
    /// Directed Erdős–Rényi graph.
    ErdosRenyi,
}

impl GeneratorKind {
    /// Every kind with its name.
    pub const ALL: [(&'static str, Self); 6] = [
        ("cycle", Self::Cycle),
        ("cyclic", Self::Cyclic),
        ("ordered", Self::Ordered),
        ("noisy", Self::Noisy),
        ("feed-forward", Self::FeedForward),
        ("erdos-renyi", Self::ErdosRenyi),
    ];

    /// The parameters that the kind takes.
    pub fn takes(self) -> &'static [&'static str] {
        match self {
            Self::Cycle => &["nodes"],
            Self::ErdosRenyi => &["nodes", "density"],
            Self::FeedForward => &["nodes", "blocks", "density"],
            _ => &["nodes", "blocks", "density", "within", "mutual", "direction"],
        }
    }

    /// The name, as on the command line.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

impl FromStr for GeneratorKind {
    type Err = GenerateError;

    fn from_str(text: &str) -> Result<Self, GenerateError> {
        let found = Self::ALL.iter().find(|(name, _)| *name == text);
        found.map(|(_, kind)| *kind).ok_or_else(|| GenerateError::UnknownKind(text.to_owned()))
    }
}

/// Why no graph could be generated.
#[derive(Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum GenerateError {
    /// The name is not one of [`GeneratorKind::ALL`].
    #[error(
        "'{0}' is not a generator; there are cycle, cyclic, ordered, noisy, feed-forward and \
         erdos-renyi"
    )]
    UnknownKind(String),
    /// A parameter is outside of its range.
    #[error("the generator's {name} is {value}, but must be {range}")]
    OutOfRange {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        range: &'static str,
    },
    /// The graph would be larger than memory allows.
    #[error("the graph would have about {0:.0} edges; lower the density or the number of nodes")]
    TooLarge(f64),
    /// There is no memory for the graph or its features.
    #[error(
        "out of memory: {bytes:.0} bytes are needed for {nodes} nodes and about {edges:.0} edges; \
         lower the number of nodes, of columns or the density"
    )]
    OutOfMemory {
        /// Number of nodes.
        nodes: usize,
        /// Expected number of edges.
        edges: f64,
        /// Bytes that are needed at a time.
        bytes: f64,
    },
}

/// Configuration of a generated graph.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `kind` | `cyclic` | which generator | |
/// | `nodes` | 600 | number of nodes | 1 to 2³⁰ |
/// | `blocks` | 3 | blocks or layers | 1 to `nodes` |
/// | `density` | 0.03 | probability of an edge between nodes of joined blocks | 0 to 1 |
/// | `within` | `density` | probability of an edge inside a block | 0 to 1 |
/// | `mutual` | 0 | probability that an edge inside a block runs both ways | 0 to 1 |
/// | `direction` | 0.95 | probability that an edge follows the direction of its blocks | 0 to 1 |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeneratorConfig {
    /// Which generator.
    pub kind: GeneratorKind,
    /// Number of nodes.
    pub nodes: usize,
    /// Number of blocks or layers.
    pub blocks: usize,
    /// Probability of an edge between two nodes of joined blocks.
    pub density: f64,
    /// Probability of an edge between two nodes of one block, whose direction is random; `density`
    /// where not given.
    pub within: Option<f64>,
    /// Probability that an edge inside a block runs both ways instead of in a random direction.
    pub mutual: f64,
    /// Probability that an edge between blocks follows the meta-graph.
    pub direction: f64,
}

impl Default for GeneratorConfig {
    fn default() -> Self {
        Self {
            kind: GeneratorKind::Cyclic,
            nodes: 600,
            blocks: 3,
            density: 0.03,
            within: None,
            mutual: 0.0,
            direction: 0.95,
        }
    }
}

impl GeneratorConfig {
    /// Checks every range.
    pub fn check(&self) -> Result<(), GenerateError> {
        let range = |name, value, ok, range| match ok {
            true => Ok(()),
            false => Err(GenerateError::OutOfRange { name, value, range }),
        };
        let (nodes, blocks) = (self.nodes, self.blocks);
        range("nodes", nodes as f64, (1..=1 << 30).contains(&nodes), "from 1 to 2^30")?;
        if self.has_blocks() {
            range("blocks", blocks as f64, (1..=nodes).contains(&blocks), "from 1 to the nodes")?;
        }
        for (name, value) in [
            ("density", self.density),
            ("within", self.within()),
            ("mutual", self.mutual),
            ("direction", self.direction),
        ] {
            range(name, value, (0.0..=1.0).contains(&value), "from 0 to 1")?;
        }
        let most = self.density.max(self.within()) * (nodes as f64).powi(2);
        match self.kind {
            GeneratorKind::Cycle => Ok(()),
            _ if most > 1e9 => Err(GenerateError::TooLarge(most)),
            _ => Ok(()),
        }
    }

    fn within(&self) -> f64 {
        self.within.unwrap_or(self.density)
    }

    /// Whether the graph is made of blocks.
    pub fn has_blocks(&self) -> bool {
        !matches!(self.kind, GeneratorKind::Cycle | GeneratorKind::ErdosRenyi)
    }

    /// The block of a node: blocks are runs of consecutive nodes, equal in size up to one.
    fn block(&self, node: usize) -> usize {
        node * self.blocks / self.nodes
    }
}

/// A generated graph and the block of each node, where the generator has blocks.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The graph.
    pub graph: DiGraph,
    /// The block or layer of each node.
    pub blocks: Option<Vec<u32>>,
}

/// Generates a graph; the same `config` and `seed` give the same graph.
pub fn generate(config: &GeneratorConfig, seed: u64) -> Result<Generated, GenerateError> {
    config.check()?;
    if !memory::is_granted(config.bytes() as usize) {
        return Err(config.out_of_memory(config.bytes()));
    }
    let rng = &mut ChaCha8Rng::seed_from_u64(seed);
    let (mut edges, spans) = (config.room()?, block_model::spans(config)?);
    match config.kind {
        GeneratorKind::Cycle => cycle::edges(config.nodes, &mut edges),
        GeneratorKind::ErdosRenyi => erdos_renyi::edges(config, rng, &mut edges),
        GeneratorKind::FeedForward => feed_forward::edges(config, &spans, rng, &mut edges),
        GeneratorKind::Cyclic | GeneratorKind::Ordered | GeneratorKind::Noisy => {
            block_model::edges(config, &spans, rng, &mut edges);
        }
    }
    let built = GraphBuilder::new(config.nodes).edges(edges).build();
    // The generators name existing nodes only, and `check` has bounded their number.
    let graph = built.map_err(|_| config.out_of_memory(config.bytes()))?.graph;
    let blocks = match config.has_blocks() {
        true => {
            let blocks = (0..config.nodes).map(|u| config.block(u) as u32);
            let bytes = config.nodes as f64 * size_of::<u32>() as f64;
            Some(memory::try_collect(blocks).ok_or_else(|| config.out_of_memory(bytes))?)
        }
        false => None,
    };
    Ok(Generated { graph, blocks })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::measure;

    fn make(kind: GeneratorKind, seed: u64) -> Generated {
        let config = GeneratorConfig { kind, ..Default::default() };
        generate(&config, seed).unwrap()
    }

    /// Edges between blocks: those that follow the meta-graph and those that do not.
    fn directions(g: &Generated, follows: impl Fn(i64, i64) -> bool) -> (f64, f64) {
        let blocks = g.blocks.as_ref().unwrap();
        let between = g
            .graph
            .iter()
            .map(|(u, v)| (i64::from(blocks[u as usize]), i64::from(blocks[v as usize])));
        let between: Vec<_> = between.filter(|(a, b)| a != b).collect();
        let along = between.iter().filter(|&&(a, b)| follows(a, b)).count();
        (along as f64, (between.len() - along) as f64)
    }

    #[test]
    fn seeds_decide() {
        for (_, kind) in GeneratorKind::ALL {
            assert_eq!(make(kind, 1).graph, make(kind, 1).graph);
            if kind != GeneratorKind::Cycle {
                assert_ne!(make(kind, 1).graph, make(kind, 2).graph);
            }
        }
    }

    #[test]
    fn block_models_have_the_stated_density_and_direction() {
        let g = make(GeneratorKind::Cyclic, 5);
        let (along, against) = directions(&g, |a, b| b == (a + 1) % 3);
        assert!((along / (along + against) - 0.95).abs() < 0.01);
        // 3 · 200² pairs between blocks at density 0.03
        assert!(((along + against) / 3600.0 - 1.0).abs() < 0.1);
        // 3 · C(200, 2) pairs within
        let within = g.graph.edges() as f64 - along - against;
        assert!((within / 1791.0 - 1.0).abs() < 0.1);
        assert_eq!(measure(&g.graph).two_cycles, 0);

        let g = make(GeneratorKind::Ordered, 5);
        let (along, against) = directions(&g, |a, b| a < b);
        assert!((along / (along + against) - 0.95).abs() < 0.01);
    }

    #[test]
    fn noise_joins_the_other_blocks_without_direction() {
        let config =
            GeneratorConfig { kind: GeneratorKind::Noisy, blocks: 5, ..Default::default() };
        let g = generate(&config, 5).unwrap();
        let (far, near) = directions(&g, |a, b| (a - b).rem_euclid(5) == 2);
        let (far_back, _) = directions(&g, |a, b| (b - a).rem_euclid(5) == 2);
        assert!((far / far_back - 1.0).abs() < 0.15);
        assert!(near > far);
    }

    #[test]
    fn feed_forward_graphs_are_acyclic() {
        let m = measure(&make(GeneratorKind::FeedForward, 5).graph);
        assert!(m.acyclic && m.reciprocity == 0.0);
    }

    #[test]
    fn erdos_renyi_has_the_stated_density() {
        let edges = make(GeneratorKind::ErdosRenyi, 5).graph.edges() as f64;
        assert!((edges / (600.0 * 599.0 * 0.03) - 1.0).abs() < 0.05);
    }

    #[test]
    fn tiny_densities_and_graphs_are_fine() {
        let kind = GeneratorKind::ErdosRenyi;
        let config = GeneratorConfig { kind, nodes: 1000, density: 1e-17, ..Default::default() };
        assert_eq!(generate(&config, 1).unwrap().graph.edges(), 0);
        for kind in [GeneratorKind::ErdosRenyi, GeneratorKind::Cycle] {
            let config = GeneratorConfig { kind, nodes: 1, ..Default::default() };
            assert_eq!(generate(&config, 1).unwrap().graph.nodes(), 1);
        }
    }

    #[test]
    fn bad_parameters_are_named() {
        let config = GeneratorConfig { density: 1.5, ..Default::default() };
        assert!(matches!(
            generate(&config, 0),
            Err(GenerateError::OutOfRange { name: "density", .. })
        ));
        let config = GeneratorConfig { blocks: 601, ..Default::default() };
        assert!(generate(&config, 0).is_err());
    }
}
