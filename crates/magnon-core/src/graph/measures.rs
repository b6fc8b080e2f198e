//! What a graph looks like, in a few numbers.

use super::{DiGraph, GraphError, strong_components, weak_components};
use crate::matrix::Matrix;
use crate::memory;
use serde::Serialize;

/// Smallest, mean and largest degree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DegreeStats {
    /// Smallest degree.
    pub min: usize,
    /// Mean degree.
    pub mean: f64,
    /// Median degree (the lower one of two).
    pub median: usize,
    /// Largest degree.
    pub max: usize,
}

impl DegreeStats {
    fn of(mut degrees: Vec<usize>) -> Self {
        let n = degrees.len().max(1);
        let sum: usize = degrees.iter().sum();
        let middle = (n - 1) / 2;
        let min = degrees.iter().copied().min().unwrap_or(0);
        let max = degrees.iter().copied().max().unwrap_or(0);
        let median = if degrees.is_empty() { 0 } else { *degrees.select_nth_unstable(middle).1 };
        Self { min, mean: sum as f64 / n as f64, median, max }
    }
}

/// Measures of a graph; self loops are looked away from in all of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measures {
    /// Share of edges whose reverse is an edge too; 0 without edges.
    pub reciprocity: f64,
    /// Pairs of nodes joined in both directions.
    pub two_cycles: usize,
    /// Whether every edge has a reverse of the same weight.
    pub symmetric: bool,
    /// Whether there is no directed cycle.
    pub acyclic: bool,
    /// Number of weak components.
    pub weak_components: usize,
    /// Number of strong components.
    pub strong_components: usize,
    /// Nodes in the largest strong component.
    pub largest_strong_component: usize,
    /// Nodes without any neighbour.
    pub isolated: usize,
    /// Edges out of a node.
    pub out_degree: DegreeStats,
    /// Edges into a node.
    pub in_degree: DegreeStats,
}

/// ln(1 + d) of the degrees in and out, one row per node.
pub fn log_degrees(graph: &DiGraph) -> Matrix<f32> {
    let mut degrees = Matrix::zeros(graph.nodes(), 2);
    let values = degrees.as_mut_slice();
    for (u, v) in graph.iter() {
        values[2 * v as usize] += 1.0;
        values[2 * u as usize + 1] += 1.0;
    }
    values.iter_mut().for_each(|degree: &mut f32| *degree = degree.ln_1p());
    degrees
}

/// Measures `graph`, or says how much memory that needs where there is too little.
pub fn try_measure(graph: &DiGraph) -> Result<Measures, GraphError> {
    let (nodes, edges) = (graph.nodes(), graph.edges());
    // The turned graph, both degrees, and the components with what finding them takes.
    let bytes = nodes.saturating_mul(64).saturating_add(edges.saturating_mul(8));
    match memory::is_granted(bytes) {
        true => Ok(measure(graph)),
        false => Err(GraphError::OutOfMemory { nodes, edges, bytes }),
    }
}

/// Measures `graph`.
pub fn measure(graph: &DiGraph) -> Measures {
    let n = graph.nodes();
    let transpose = graph.transpose();
    let (mut edges, mut returned) = (0usize, 0usize);
    let mut symmetric = true;
    let (mut out, mut inward) = (Vec::with_capacity(n), vec![0usize; n]);
    for u in 0..n {
        let mut leaving = 0;
        let back = transpose.targets(u);
        let mut at = 0;
        for (e, &v) in graph.targets(u).iter().enumerate() {
            if v as usize == u {
                continue;
            }
            edges += 1;
            leaving += 1;
            inward[v as usize] += 1;
            while at < back.len() && back[at] < v {
                at += 1;
            }
            let found = at < back.len() && back[at] == v;
            let weight = |g: &DiGraph, e: usize| g.weights(u).map_or(1.0, |w| w[e]);
            returned += usize::from(found);
            symmetric &= found && weight(graph, e) == weight(&transpose, at);
        }
        out.push(leaving);
    }
    let strong = strong_components(graph);
    Measures {
        reciprocity: if edges == 0 { 0.0 } else { returned as f64 / edges as f64 },
        two_cycles: returned / 2,
        symmetric,
        acyclic: strong.count() == n,
        weak_components: weak_components(graph).count(),
        strong_components: strong.count(),
        largest_strong_component: strong.largest(),
        isolated: out.iter().zip(&inward).filter(|&(o, i)| o + i == 0).count(),
        out_degree: DegreeStats::of(out),
        in_degree: DegreeStats::of(inward),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphBuilder, SelfLoops};

    #[test]
    fn self_loops_do_not_count() {
        let edges = [(0, 1), (1, 0), (1, 2), (2, 2), (4, 4)];
        let builder = GraphBuilder::new(5).edges(edges).self_loops(SelfLoops::Keep);
        let m = measure(&builder.build().unwrap().graph);
        assert_eq!(m.reciprocity, 2.0 / 3.0);
        assert_eq!((m.two_cycles, m.symmetric, m.acyclic), (1, false, false));
        assert_eq!((m.weak_components, m.strong_components, m.isolated), (3, 4, 2));
        assert_eq!(m.out_degree, DegreeStats { min: 0, mean: 0.6, median: 0, max: 2 });
    }

    #[test]
    fn symmetry_looks_at_weights() {
        let same = GraphBuilder::new(2).weighted_edges([(0, 1, 2.0), (1, 0, 2.0)]);
        let same = same.build().unwrap().graph;
        assert!(measure(&same).symmetric && same.is_symmetric());
        let other = GraphBuilder::new(2).weighted_edges([(0, 1, 2.0), (1, 0, 3.0)]);
        let other = other.build().unwrap().graph;
        assert!(!measure(&other).symmetric && !other.is_symmetric());
    }
}
