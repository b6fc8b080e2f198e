//! Homophily: how often neighbours share a label.

use super::DiGraph;
use serde::Serialize;

/// Both indices; `None` where no pair of labelled neighbours exists.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Homophily {
    /// The paper's node index H_node = mean over u of |{v ∈ N_u : Y_v = Y_u}| / |N_u|.
    pub node: Option<f64>,
    /// Standard error of the node index, from its spread over the nodes.
    pub node_error: Option<f64>,
    /// Share of neighbouring pairs that share a label.
    pub edge: Option<f64>,
}

/// Measures homophily over the underlying undirected graph.
///
/// A node is not its own neighbour, nodes without neighbours are left out of the mean, and nodes
/// without a label are looked away from altogether. Restrict `classes` to the training nodes to
/// measure without touching other labels.
pub fn homophily(graph: &DiGraph, classes: &[Option<u32>]) -> Homophily {
    let transpose = graph.transpose();
    let class = |u: usize| classes.get(u).copied().flatten();
    let (mut sum, mut squares, mut nodes) = (0.0, 0.0, 0usize);
    let (mut same_ends, mut ends) = (0usize, 0usize);
    let mut neighbours = Vec::new();
    for u in 0..graph.nodes() {
        let Some(own) = class(u) else { continue };
        neighbours.clear();
        neighbours.extend_from_slice(graph.targets(u));
        neighbours.extend_from_slice(transpose.targets(u));
        neighbours.sort_unstable();
        neighbours.dedup();
        let others = neighbours.iter().map(|&v| v as usize).filter(|&v| v != u);
        let (mut same, mut count) = (0usize, 0usize);
        for other in others.filter_map(class) {
            count += 1;
            same += usize::from(other == own);
        }
        if count > 0 {
            let share = same as f64 / count as f64;
            sum += share;
            squares += share * share;
            nodes += 1;
        }
        same_ends += same;
        ends += count;
    }
    let n = nodes as f64;
    let variance = (squares - sum * sum / n).max(0.0) / (n - 1.0);
    Homophily {
        node: (nodes > 0).then(|| sum / n),
        node_error: (nodes > 1).then(|| (variance / n).sqrt()),
        edge: (ends > 0).then(|| same_ends as f64 / ends as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    #[test]
    fn both_indices_by_hand() {
        // 0–1 (both ways), 1–2, 2–3; node 4 alone, node 3 unlabelled.
        let edges = [(0, 1), (1, 0), (1, 2), (3, 2)];
        let graph = GraphBuilder::new(5).edges(edges).build().unwrap().graph;
        let h = homophily(&graph, &[Some(0), Some(0), Some(1), None, Some(1)]);
        assert_eq!(h.node, Some((1.0 + 0.5 + 0.0) / 3.0));
        assert_eq!(h.edge, Some(0.5));
        // Shares 1, ½ and 0: a standard deviation of ½ over three nodes.
        assert!((h.node_error.unwrap() - 0.5 / 3f64.sqrt()).abs() < 1e-12);
        let none = Homophily { node: None, node_error: None, edge: None };
        assert_eq!(homophily(&graph, &[None; 5]), none);
    }
}
