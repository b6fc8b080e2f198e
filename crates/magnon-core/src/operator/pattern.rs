//! The pattern of a graph.

use crate::compute::pattern::{BACKWARD, BOTH, FORWARD, PADDING, Pattern, Weights, balance};
use crate::graph::{DiGraph, Merged as Known};
use crate::memory;
use rayon::prelude::*;

/// Why a graph has no pattern.
#[derive(Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum PatternError {
    /// Columns are packed into 30 bits.
    #[error("the graph has {0} nodes; the operator holds at most 2^30")]
    TooManyNodes(usize),
    /// There is no memory for it.
    #[error(
        "out of memory: {bytes} bytes are needed for the operator of {nodes} nodes and {edges} edges; \
         use a larger machine, or a part of the graph"
    )]
    OutOfMemory {
        /// Nodes of the graph.
        nodes: usize,
        /// Edges of the graph.
        edges: usize,
        /// Bytes that are needed, at the most.
        bytes: usize,
    },
}

/// Refuses a graph whose pattern and transpose are more than the system grants, before the work begins.
fn check_memory(graph: &DiGraph) -> Result<(), PatternError> {
    let (nodes, edges) = (graph.nodes(), graph.edges());
    let weight = if graph.is_weighted() { size_of::<f32>() } else { 0 };
    let edge = size_of::<u32>() + weight;
    // The transpose has each edge once, and needs two lists of offsets while it is made; the pattern has each
    // edge at most twice, with the weights of both directions.
    let bytes = (3 * size_of::<usize>()).saturating_mul(nodes + 1);
    let bytes = bytes.saturating_add((edge + 2 * (edge + weight)).saturating_mul(edges));
    match memory::is_granted(bytes) {
        true => Ok(()),
        false => Err(PatternError::OutOfMemory { nodes, edges, bytes }),
    }
}

/// One entry of the merged row of a node.
struct Merged {
    column: u32,
    out: f32,
    back: f32,
}

impl Pattern {
    /// Merges the graph with its transpose.
    pub fn new(graph: &DiGraph) -> Result<Self, PatternError> {
        let n = graph.nodes();
        if n > 1 << 30 {
            return Err(PatternError::TooManyNodes(n));
        }
        if let Some(merged) = graph.merged() {
            return Ok(Self::from_merged(merged));
        }
        check_memory(graph)?;
        let transpose = graph.transpose();
        let mut offsets = vec![0usize; n + 1];
        offsets[1..].par_iter_mut().enumerate().with_min_len(1024).for_each(|(u, count)| {
            *count = union_len(graph.targets(u), transpose.targets(u));
        });
        for u in 0..n {
            offsets[u + 1] += offsets[u];
        }
        let stored = offsets[n];
        let blocks = balance(&offsets);
        let mut columns = vec![0u32; stored + PADDING];
        let values = if graph.is_weighted() { stored + PADDING } else { 0 };
        let mut explicit = vec![[0f32; 2]; values];
        let tasks = split_at_blocks(&blocks, &offsets, &mut columns, &mut explicit);
        let directed = tasks
            .into_par_iter()
            .map(|(rows, columns, explicit)| {
                let mut at = 0;
                let mut directed = false;
                for u in rows {
                    for entry in merge(graph, &transpose, u) {
                        let class = match (entry.out != 0.0, entry.back != 0.0) {
                            (true, false) => FORWARD,
                            (false, true) => BACKWARD,
                            _ => BOTH,
                        };
                        directed |= entry.out != entry.back;
                        if explicit.is_empty() {
                            columns[at] = entry.column | class << 30;
                        } else {
                            columns[at] = entry.column;
                            explicit[at] = [entry.out, entry.back];
                        }
                        at += 1;
                    }
                }
                directed
            })
            .reduce(|| false, |a, b| a | b);
        let weights = match graph.is_weighted() {
            true => Weights::Explicit(explicit.into()),
            false => Weights::Unit,
        };
        Ok(Self::from_arrays(offsets, columns, weights, directed))
    }

    /// The pattern of a graph that came merged with its transpose: nothing is copied.
    fn from_merged(merged: &Known) -> Self {
        let Known { offsets, columns, weights, degrees, directed } = merged.clone();
        let counts = weights.is_none().then_some(degrees);
        let weights = weights.map_or(Weights::Unit, Weights::Explicit);
        Self::from_slabs(offsets, columns, weights, counts, directed)
    }
}

/// Number of distinct values in two ascending lists.
fn union_len(a: &[u32], b: &[u32]) -> usize {
    let (mut i, mut j, mut both) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        both += usize::from(a[i] == b[j]);
        let (x, y) = (a[i], b[j]);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    a.len() + b.len() - both
}

/// The entries of row `u` of graph and transpose, merged by column.
fn merge<'a>(
    graph: &'a DiGraph,
    transpose: &'a DiGraph,
    u: usize,
) -> impl Iterator<Item = Merged> + 'a {
    let (out, back) = (graph.targets(u), transpose.targets(u));
    let (out_weights, back_weights) = (graph.weights(u), transpose.weights(u));
    let (mut i, mut j) = (0, 0);
    std::iter::from_fn(move || {
        let (x, y) = (out.get(i), back.get(j));
        let column = match (x, y) {
            (Some(&x), Some(&y)) => x.min(y),
            (Some(&x), None) | (None, Some(&x)) => x,
            (None, None) => return None,
        };
        let mut entry = Merged { column, out: 0.0, back: 0.0 };
        if x == Some(&column) {
            entry.out = out_weights.map_or(1.0, |w| w[i]);
            i += 1;
        }
        if y == Some(&column) {
            entry.back = back_weights.map_or(1.0, |w| w[j]);
            j += 1;
        }
        Some(entry)
    })
}

type BlockTask<'a> = (std::ops::Range<usize>, &'a mut [u32], &'a mut [[f32; 2]]);

/// Hands each block of rows its part of the entry arrays.
fn split_at_blocks<'a>(
    blocks: &[usize],
    offsets: &[usize],
    mut columns: &'a mut [u32],
    mut explicit: &'a mut [[f32; 2]],
) -> Vec<BlockTask<'a>> {
    let mut tasks = Vec::with_capacity(blocks.len());
    for rows in blocks.windows(2) {
        let len = offsets[rows[1]] - offsets[rows[0]];
        let (head, tail) = columns.split_at_mut(len);
        let (weights, rest) = explicit.split_at_mut(len.min(explicit.len()));
        tasks.push((rows[0]..rows[1], head, weights));
        (columns, explicit) = (tail, rest);
    }
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    #[test]
    fn classes_say_which_edges_exist() {
        let graph = GraphBuilder::new(4).edges([(0, 1), (1, 0), (1, 2)]).build().unwrap().graph;
        let pattern = Pattern::new(&graph).unwrap();
        let row = |u| pattern.row(u).collect::<Vec<_>>();
        assert_eq!(row(0), [(1, 1.0, 1.0)]);
        assert_eq!(row(1), [(0, 1.0, 1.0), (2, 1.0, 0.0)]);
        assert_eq!(row(2), [(1, 0.0, 1.0)]);
        assert_eq!(row(3), []);
        assert_eq!((pattern.stored(), pattern.is_directed()), (4, true));
    }

    #[test]
    fn weights_of_both_directions_are_kept() {
        let builder = GraphBuilder::new(2).weighted_edges([(0, 1, 2.0), (1, 0, 3.0)]);
        let pattern = Pattern::new(&builder.build().unwrap().graph).unwrap();
        assert_eq!(pattern.row(0).collect::<Vec<_>>(), [(1, 2.0, 3.0)]);
        assert_eq!(pattern.row(1).collect::<Vec<_>>(), [(0, 3.0, 2.0)]);
    }
}
