//! Building a `DiGraph` from edges in any order.

use super::DiGraph;
use super::rows::{Rows, place};
use crate::memory;
use serde::{Deserialize, Serialize};

/// Why no graph could be built.
#[derive(Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum GraphError {
    /// The graph has no node.
    #[error("the graph is empty: it has no nodes")]
    Empty,
    /// Arrays that are no compressed sparse rows.
    #[error(transparent)]
    Rows(#[from] crate::RowsError),
    /// Node ids are `u32`.
    #[error("{0} nodes are more than the {max} that 32-bit node ids can number", max = u32::MAX)]
    TooManyNodes(usize),
    /// An edge names a node that does not exist.
    #[error(
        "edge {index} ({source_node} → {target}) names a node outside of 0..{nodes}: \
         node indices count from 0 and must be below the number of nodes"
    )]
    OutOfRange {
        /// Position of the edge in the input.
        index: usize,
        /// Source of the edge.
        source_node: u32,
        /// Target of the edge.
        target: u32,
        /// Number of nodes of the graph.
        nodes: usize,
    },
    /// The same edge twice, under [`Duplicates::Error`].
    #[error(
        "the edge {source_node} → {target} appears more than once; \
         choose duplicates sum or max to merge such edges"
    )]
    Duplicate {
        /// Source of the edge.
        source_node: u32,
        /// Target of the edge.
        target: u32,
    },
    /// There is no memory for the graph.
    #[error(
        "out of memory: {bytes} bytes are needed for a graph of {nodes} nodes and {edges} edges; \
         use a smaller graph or a larger machine"
    )]
    OutOfMemory {
        /// Number of nodes.
        nodes: usize,
        /// Number of edges.
        edges: usize,
        /// Bytes that were asked for.
        bytes: usize,
    },
    /// A weight is NaN or infinite.
    #[error(
        "edge {index} ({source_node} → {target}) has the weight {weight} in single precision; weights must \
         be finite there, below about 3.4e38"
    )]
    BadWeight {
        /// Position of the edge in the input.
        index: usize,
        /// Source of the edge.
        source_node: u32,
        /// Target of the edge.
        target: u32,
        /// The weight at fault.
        weight: f32,
    },
}

/// What becomes of an edge that is given more than once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum Duplicates {
    /// Weights add up. Edges without weights merge into one edge of weight 1.
    #[default]
    Sum,
    /// The largest weight stays.
    Max,
    /// An error that names the edge.
    Error,
}

/// What becomes of edges `u → u`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SelfLoops {
    /// They are left out, and counted.
    #[default]
    Drop,
    /// They stay.
    Keep,
}

/// What the builder met on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BuildReport {
    /// Edges given.
    pub given: usize,
    /// Distinct self loops among them, whether kept or dropped.
    pub self_loops: usize,
    /// Edges that repeat an earlier one and were merged into it.
    pub duplicates: usize,
}

/// A graph and what was met while building it.
#[derive(Clone, Debug)]
pub struct Built {
    /// The graph.
    pub graph: DiGraph,
    /// What was met.
    pub report: BuildReport,
}

/// Collects edges in any order and builds a [`DiGraph`].
///
/// Weights that all equal 1 after merging are forgotten, so that the graph counts as unweighted.
#[derive(Clone, Debug)]
pub struct GraphBuilder {
    nodes: usize,
    edges: Vec<(u32, u32)>,
    weights: Option<Vec<f32>>,
    duplicates: Duplicates,
    self_loops: SelfLoops,
}

impl GraphBuilder {
    /// A builder for a graph of `nodes` nodes.
    pub fn new(nodes: usize) -> Self {
        Self {
            nodes,
            edges: Vec::new(),
            weights: None,
            duplicates: Duplicates::default(),
            self_loops: SelfLoops::default(),
        }
    }

    /// Sets the edges, each of weight 1.
    pub fn edges(mut self, edges: impl IntoIterator<Item = (u32, u32)>) -> Self {
        self.edges = edges.into_iter().collect();
        self.weights = None;
        self
    }

    /// Sets edges `(source, target, weight)`.
    pub fn weighted_edges(mut self, edges: impl IntoIterator<Item = (u32, u32, f32)>) -> Self {
        let (pairs, weights) = edges.into_iter().map(|(u, v, w)| ((u, v), w)).unzip();
        self.edges = pairs;
        self.weights = Some(weights);
        self
    }

    /// Sets edges, and their weights where there are any, as lists that are not copied.
    pub fn lists(mut self, edges: Vec<(u32, u32)>, weights: Option<Vec<f32>>) -> Self {
        self.edges = edges;
        self.weights = weights;
        self
    }

    /// What to do with repeated edges; the default is [`Duplicates::Sum`].
    pub fn duplicates(mut self, rule: Duplicates) -> Self {
        self.duplicates = rule;
        self
    }

    /// What to do with self loops; the default is [`SelfLoops::Drop`].
    pub fn self_loops(mut self, rule: SelfLoops) -> Self {
        self.self_loops = rule;
        self
    }

    /// Builds the graph.
    pub fn build(self) -> Result<Built, GraphError> {
        self.check()?;
        let Self { nodes, edges, weights, duplicates, self_loops } = self;
        let given = edges.len();
        let refused = |bytes| GraphError::OutOfMemory { nodes, edges: given, bytes };

        // Counting sort by source: one pass counts, one pass places.
        let mut offsets = memory::try_zeroed::<usize>(nodes + 1)
            .ok_or_else(|| refused((nodes + 1) * size_of::<usize>()))?;
        for &(u, _) in &edges {
            offsets[u as usize + 1] += 1;
        }
        for i in 0..nodes {
            offsets[i + 1] += offsets[i];
        }
        let mut rows = if edges.is_sorted_by_key(|edge| edge.0) {
            // Files mostly list edges by source; then every edge is in its place already.
            let targets = memory::try_collect(edges.iter().map(|edge| edge.1));
            let targets = targets.ok_or_else(|| refused(given * size_of::<u32>()))?;
            Rows { offsets, targets, weights }
        } else {
            place(offsets, &edges, weights).map_err(refused)?
        };
        drop(edges);
        rows.sort();
        let report = rows.merge(duplicates, self_loops)?;
        rows.check_sums()?;
        let Rows { offsets, targets, mut weights } = rows;
        if weights.as_ref().is_some_and(|w| w.iter().all(|&w| w == 1.0)) {
            weights = None;
        }
        let graph = DiGraph::from_parts(offsets, targets, weights);
        Ok(Built { graph, report: BuildReport { given, ..report } })
    }

    fn check(&self) -> Result<(), GraphError> {
        let nodes = self.nodes;
        if nodes == 0 {
            return Err(GraphError::Empty);
        }
        if nodes > u32::MAX as usize {
            return Err(GraphError::TooManyNodes(nodes));
        }
        let bad = |&(u, v): &(u32, u32)| u.max(v) as usize >= nodes;
        if let Some(index) = self.edges.iter().position(bad) {
            let (source_node, target) = self.edges[index];
            return Err(GraphError::OutOfRange { index, source_node, target, nodes });
        }
        let weights = self.weights.as_deref().unwrap_or_default();
        if let Some(index) = weights.iter().position(|w| !w.is_finite()) {
            let (source_node, target) = self.edges[index];
            return Err(GraphError::BadWeight {
                index,
                source_node,
                target,
                weight: weights[index],
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_follow_the_rule() {
        let edges = [(1, 0, 2.0), (0, 1, 1.5), (0, 1, 0.5), (0, 0, 9.0), (0, 0, 9.0)];
        let build = |rule| GraphBuilder::new(2).weighted_edges(edges).duplicates(rule).build();
        let sum = build(Duplicates::Sum).unwrap();
        assert_eq!(sum.graph.weights(0), Some(&[2.0][..]));
        assert_eq!(sum.report, BuildReport { given: 5, self_loops: 1, duplicates: 2 });
        assert_eq!(build(Duplicates::Max).unwrap().graph.weights(0), Some(&[1.5][..]));
        assert!(matches!(build(Duplicates::Error), Err(GraphError::Duplicate { .. })));
    }

    #[test]
    fn unit_weights_are_forgotten() {
        let built = GraphBuilder::new(2).weighted_edges([(0, 1, 1.0)]).build().unwrap();
        assert!(!built.graph.is_weighted());
    }

    #[test]
    fn self_loops_can_stay() {
        let builder = GraphBuilder::new(1).edges([(0, 0), (0, 0)]).self_loops(SelfLoops::Keep);
        let built = builder.build().unwrap();
        assert_eq!(built.graph.targets(0), &[0]);
        assert_eq!(built.report, BuildReport { given: 2, self_loops: 1, duplicates: 1 });
    }

    #[test]
    fn lists_are_taken_as_they_are() {
        let lists = || GraphBuilder::new(2).lists(vec![(1, 0), (0, 1)], Some(vec![2.0, 3.0]));
        let graph = lists().build().unwrap().graph;
        assert_eq!((graph.weights(0), graph.weights(1)), (Some(&[3.0][..]), Some(&[2.0][..])));
    }

    #[test]
    fn bad_edges_are_named() {
        let error = GraphBuilder::new(2).edges([(0, 1), (0, 2)]).build().unwrap_err();
        assert!(matches!(error, GraphError::OutOfRange { index: 1, target: 2, nodes: 2, .. }));
        assert_eq!(GraphBuilder::new(0).build().unwrap_err(), GraphError::Empty);
        let nan = GraphBuilder::new(2).weighted_edges([(0, 1, f32::NAN)]).build();
        assert!(matches!(nan, Err(GraphError::BadWeight { index: 0, .. })));
        let sum = GraphBuilder::new(2).weighted_edges([(1, 0, 3e38), (1, 0, 3e38)]).build();
        assert!(matches!(sum, Err(GraphError::BadWeight { source_node: 1, target: 0, .. })));
    }
}
