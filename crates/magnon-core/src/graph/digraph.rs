//! `DiGraph`: an immutable directed graph in compressed sparse rows.

use super::{GraphError, Merged};
use crate::memory::Slab;
use std::ops::Range;
use std::sync::Arc;

/// An immutable directed graph. Row = source, column = target; targets ascend within a row and
/// appear once. Without weights every edge weighs 1.
///
/// ```
/// use magnon_core::graph::GraphBuilder;
/// let graph = GraphBuilder::new(3).edges([(0, 1), (1, 2), (2, 0)]).build()?.graph;
/// assert_eq!(graph.targets(1), &[2]);
/// assert_eq!(graph.transpose().targets(1), &[0]);
/// # Ok::<(), magnon_core::graph::GraphError>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiGraph {
    offsets: Slab<usize>,
    targets: Slab<u32>,
    weights: Option<Slab<f32>>,
    /// The graph with its transpose, where it is known already, as that of a packed graph is.
    merged: Option<Arc<Merged>>,
}

impl PartialEq for DiGraph {
    fn eq(&self, other: &Self) -> bool {
        self.offsets == other.offsets
            && self.targets == other.targets
            && self.weights == other.weights
    }
}

impl DiGraph {
    /// Takes arrays that already obey the invariants; only the builder and the transpose make them.
    pub(super) fn from_parts(
        offsets: Vec<usize>,
        targets: Vec<u32>,
        weights: Option<Vec<f32>>,
    ) -> Self {
        debug_assert_eq!(offsets.last(), Some(&targets.len()));
        debug_assert!(weights.as_ref().is_none_or(|w| w.len() == targets.len()));
        Self::from_slabs(offsets.into(), targets.into(), weights.map(Slab::from), None)
    }

    /// The same of arrays that may lie in a file, with what is known of the graph and its transpose.
    pub fn from_slabs(
        offsets: Slab<usize>,
        targets: Slab<u32>,
        weights: Option<Slab<f32>>,
        merged: Option<Arc<Merged>>,
    ) -> Self {
        Self { offsets, targets, weights, merged }
    }

    /// The graph merged with its transpose, where it came so.
    pub fn merged(&self) -> Option<&Arc<Merged>> {
        self.merged.as_ref()
    }

    /// Takes compressed sparse rows as they are, without copying: `offsets` has where the edges of each node
    /// begin in `targets`, and where the last ones end; targets ascend within a node, each once.
    ///
    /// ```
    /// use magnon_core::graph::DiGraph;
    /// let graph = DiGraph::from_csr(vec![0, 1, 2, 3], vec![1, 2, 0], None)?;
    /// assert_eq!(graph.offsets(), [0, 1, 2, 3]);
    /// assert!(DiGraph::from_csr(vec![0, 1], vec![1], None).is_err());
    /// # Ok::<(), magnon_core::graph::GraphError>(())
    /// ```
    pub fn from_csr(
        offsets: Vec<usize>,
        targets: Vec<u32>,
        weights: Option<Vec<f32>>,
    ) -> Result<Self, GraphError> {
        let nodes = offsets.len().saturating_sub(1);
        if nodes == 0 {
            return Err(GraphError::Empty);
        }
        if nodes > u32::MAX as usize {
            return Err(GraphError::TooManyNodes(nodes));
        }
        crate::compressed::check(&offsets, &targets, nodes, weights.as_deref())?;
        Ok(Self::from_parts(offsets, targets, weights))
    }

    /// Adds `count` nodes without edges behind the others.
    pub fn add_isolated(&mut self, count: usize) -> Result<(), GraphError> {
        let nodes = self.nodes().saturating_add(count);
        if nodes > u32::MAX as usize {
            return Err(GraphError::TooManyNodes(nodes));
        }
        let mut offsets = std::mem::replace(&mut self.offsets, Vec::new().into()).into_vec();
        offsets.resize(nodes + 1, self.targets.len());
        self.offsets = offsets.into();
        self.merged = None;
        Ok(())
    }

    /// Where the edges of each node begin in [`all_targets`](Self::all_targets), and where the last ones end.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The targets of all edges, node after node.
    pub fn all_targets(&self) -> &[u32] {
        &self.targets
    }

    /// The weights of all edges, node after node; `None` when the graph is unweighted.
    pub fn all_weights(&self) -> Option<&[f32]> {
        self.weights.as_deref()
    }

    /// Number of nodes n.
    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of edges, self loops included.
    pub fn edges(&self) -> usize {
        self.targets.len()
    }

    /// Whether edges carry weights other than an implied 1.
    pub fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    fn span(&self, node: usize) -> Range<usize> {
        self.offsets[node]..self.offsets[node + 1]
    }

    /// The targets of the edges that leave `node`, ascending.
    pub fn targets(&self, node: usize) -> &[u32] {
        &self.targets[self.span(node)]
    }

    /// The weights of the edges that leave `node`, in the order of [`targets`](Self::targets);
    /// `None` when the graph is unweighted.
    pub fn weights(&self, node: usize) -> Option<&[f32]> {
        self.weights.as_ref().map(|weights| &weights[self.span(node)])
    }

    /// Number of edges that leave `node`.
    pub fn out_degree(&self, node: usize) -> usize {
        self.span(node).len()
    }

    /// Whether the edge `source → target` exists.
    pub fn has_edge(&self, source: usize, target: u32) -> bool {
        self.targets(source).binary_search(&target).is_ok()
    }

    /// Every edge as `(source, target)`, by source and then by target.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.nodes()).flat_map(|u| self.targets(u).iter().map(move |&v| (u as u32, v)))
    }

    /// The subgraph on `nodes`, which ascend, without weights and self loops; node `i` of it is
    /// `nodes[i]`.
    ///
    /// `place` has a number for each node of the whole graph, all `u32::MAX`, and is left so: taking
    /// a graph apart costs no more than its size, however many its parts are.
    pub(crate) fn induced(&self, nodes: &[u32], place: &mut [u32]) -> Self {
        const OUTSIDE: u32 = u32::MAX;
        for (i, &node) in nodes.iter().enumerate() {
            place[node as usize] = i as u32;
        }
        let (mut offsets, mut targets) = (Vec::with_capacity(nodes.len() + 1), Vec::new());
        offsets.push(0);
        for &node in nodes {
            let inside = self.targets(node as usize).iter().filter(|&&v| v != node);
            targets.extend(inside.map(|&v| place[v as usize]).filter(|&v| v != OUTSIDE));
            offsets.push(targets.len());
        }
        nodes.iter().for_each(|&node| place[node as usize] = OUTSIDE);
        Self::from_parts(offsets, targets, None)
    }

    /// The graph with every edge there both ways; of two weights the larger is taken.
    pub fn symmetrised(&self) -> Self {
        let transpose = self.transpose();
        let (mut offsets, mut targets) = (vec![0], Vec::new());
        let mut weights = self.weights.as_ref().map(|_| Vec::new());
        for u in 0..self.nodes() {
            let own = self.targets(u).iter().enumerate().map(|(k, &v)| (v, self.weight(u, k)));
            let back = transpose.targets(u).iter().enumerate();
            let back = back.map(|(k, &v)| (v, transpose.weight(u, k)));
            let mut row: Vec<(u32, f32)> = own.chain(back).collect();
            row.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
            row.dedup_by_key(|edge| edge.0);
            targets.extend(row.iter().map(|edge| edge.0));
            if let Some(weights) = &mut weights {
                weights.extend(row.iter().map(|edge| edge.1));
            }
            offsets.push(targets.len());
        }
        Self::from_parts(offsets, targets, weights)
    }

    /// Weight of the `k`-th edge that leaves `node`.
    fn weight(&self, node: usize, k: usize) -> f32 {
        self.weights(node).map_or(1.0, |weights| weights[k])
    }

    /// Whether every edge has a reverse of the same weight; self loops are their own.
    pub fn is_symmetric(&self) -> bool {
        if let Some(merged) = &self.merged {
            return !merged.directed;
        }
        // Sources ascend, so the reverse of the next edge into v is the next edge out of v.
        let mut next = self.offsets.to_vec();
        let weight = |e: usize| self.weights.as_ref().map_or(1.0, |weights| weights[e]);
        (0..self.nodes()).all(|u| {
            self.span(u).all(|e| {
                let v = self.targets[e] as usize;
                let back = next[v];
                next[v] += 1;
                back < self.offsets[v + 1]
                    && self.targets[back] as usize == u
                    && weight(back) == weight(e)
            })
        })
    }

    /// The graph with every edge turned round.
    pub fn transpose(&self) -> Self {
        let n = self.nodes();
        let mut offsets = vec![0usize; n + 1];
        for &target in self.targets.iter() {
            offsets[target as usize + 1] += 1;
        }
        for i in 0..n {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut sources = vec![0u32; self.edges()];
        let mut weights = self.weights.as_ref().map(|w| vec![0f32; w.len()]);
        for u in 0..n {
            for e in self.span(u) {
                let slot = &mut next[self.targets[e] as usize];
                sources[*slot] = u as u32;
                if let (Some(to), Some(from)) = (&mut weights, &self.weights) {
                    to[*slot] = from[e];
                }
                *slot += 1;
            }
        }
        Self::from_parts(offsets, sources, weights)
    }
}
