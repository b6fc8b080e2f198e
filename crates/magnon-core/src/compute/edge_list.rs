//! `EdgeList`: the entries of a pattern that are edges one way.

use super::edge_matrix::Along;
use super::pattern::{BACKWARD, COLUMN, FORWARD, PADDING, Pattern, Weights};

/// For each node of a pattern the nodes that it points to, or those that point to it, ascending.
///
/// A pattern has the edges of both ways. A product with A alone would multiply those of the other way by zero.
#[derive(Debug)]
pub(crate) struct EdgeList {
    /// Where each row starts, and where the last one ends.
    pub offsets: Vec<usize>,
    /// The nodes at the other end, followed by [`PADDING`] zeros.
    pub columns: Vec<u32>,
}

impl EdgeList {
    /// The edges of `pattern` one way.
    pub fn new(pattern: &Pattern, along: Along) -> Self {
        let mut list = Self { offsets: vec![0], columns: Vec::new() };
        for u in 0..pattern.nodes() {
            let entries = pattern.offsets[u]..pattern.offsets[u + 1];
            let edges = entries.filter(|&e| is_edge(pattern, along, e));
            list.columns.extend(edges.map(|e| pattern.columns[e] & COLUMN));
            list.offsets.push(list.columns.len());
        }
        list.columns.resize(list.columns.len() + PADDING, 0);
        list
    }

    /// Number of edges.
    pub fn len(&self) -> usize {
        self.columns.len() - PADDING
    }

    /// Of one value for each entry of `pattern`, those of the edges.
    pub fn select<V: Copy>(pattern: &Pattern, along: Along, values: &[V]) -> Vec<V> {
        (0..pattern.stored()).filter(|&e| is_edge(pattern, along, e)).map(|e| values[e]).collect()
    }
}

fn is_edge(pattern: &Pattern, along: Along, e: usize) -> bool {
    match (&pattern.weights, along) {
        (Weights::Unit, Along::Out) => pattern.columns[e] >> 30 != BACKWARD,
        (Weights::Unit, Along::In) => pattern.columns[e] >> 30 != FORWARD,
        (Weights::Explicit(weights), Along::Out) => weights[e][0] != 0.0,
        (Weights::Explicit(weights), Along::In) => weights[e][1] != 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphBuilder, SelfLoops};

    #[test]
    fn rows_are_those_of_the_graph() {
        let edges = [(0, 1, 2.0), (1, 0, 3.0), (1, 2, 0.5), (3, 1, 1.5), (2, 2, 1.0)];
        for weighted in [false, true] {
            let edges = edges.map(|(u, v, w)| (u, v, if weighted { w } else { 1.0 }));
            let builder = GraphBuilder::new(4).weighted_edges(edges).self_loops(SelfLoops::Keep);
            let graph = builder.build().unwrap().graph;
            let pattern = Pattern::new(&graph).unwrap();
            let transpose = graph.transpose();
            for (along, graph) in [(Along::Out, &graph), (Along::In, &transpose)] {
                let list = EdgeList::new(&pattern, along);
                for u in 0..4 {
                    let row = list.offsets[u]..list.offsets[u + 1];
                    assert_eq!(list.columns[row], *graph.targets(u), "{along:?} {u}");
                }
            }
        }
    }
}
