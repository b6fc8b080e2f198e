//! `Neighbourhood`: the nodes that some targets can see, nearest first.

use super::edge_list::EdgeList;
use super::edge_matrix::Along;
use super::pattern::{COLUMN, PADDING, Pattern, Weights};
use std::sync::{Arc, OnceLock};

/// The nodes within a number of steps of some targets, in the order of their distance, with the
/// entries of the pattern among them.
///
/// The targets come first, then the nodes one step away, and so on, so that the nodes within k steps
/// are the first [`size(k)`](Self::size) of them. A layer of a network whose result is wanted on the
/// first n rows then reads a prefix of its input and writes a prefix of its output, and the way back
/// needs no other structure: columns ascend within a row, so that the entries towards a prefix are a
/// prefix of the row.
#[derive(Clone, Debug)]
pub struct Neighbourhood {
    /// Rows in local numbers; the outermost nodes hold only their entries towards inner ones.
    pattern: Arc<Pattern>,
    /// Local number to node; `None` where the numbers are the nodes.
    nodes: Option<Vec<u32>>,
    /// Nodes within k steps.
    sizes: Vec<usize>,
    /// The edges out and in, once they were asked for.
    edges: [OnceLock<Arc<EdgeList>>; 2],
}

impl Neighbourhood {
    /// Follows the pattern for `steps` steps from `targets`, each of which is named once.
    pub fn new(pattern: &Arc<Pattern>, targets: &[u32], steps: usize) -> Self {
        let n = pattern.nodes();
        let everyone = targets.len() == n && targets.iter().zip(0..).all(|(&u, v)| u == v);
        if everyone {
            return Self::from_parts(pattern.clone(), None, vec![n; steps + 1]);
        }
        const UNSEEN: u32 = u32::MAX;
        let mut local = vec![UNSEEN; n];
        let mut nodes = targets.to_vec();
        for (at, &u) in targets.iter().enumerate() {
            local[u as usize] = at as u32;
        }
        let mut sizes = vec![nodes.len()];
        let mut start = 0;
        for _ in 0..steps {
            let end = nodes.len();
            for at in start..end {
                let u = nodes[at] as usize;
                for packed in &pattern.columns[pattern.offsets[u]..pattern.offsets[u + 1]] {
                    let v = packed & COLUMN;
                    if local[v as usize] == UNSEEN {
                        local[v as usize] = nodes.len() as u32;
                        nodes.push(v);
                    }
                }
            }
            sizes.push(nodes.len());
            start = end;
        }
        let inner = if steps == 0 { 0 } else { sizes[steps - 1] };
        let pattern = Arc::new(pattern.relabelled(&nodes, &local, inner));
        Self::from_parts(pattern, Some(nodes), sizes)
    }

    /// All nodes of a pattern, in their own order.
    pub fn everyone(pattern: &Arc<Pattern>) -> Self {
        Self::from_parts(pattern.clone(), None, vec![pattern.nodes()])
    }

    fn from_parts(pattern: Arc<Pattern>, nodes: Option<Vec<u32>>, sizes: Vec<usize>) -> Self {
        Self { pattern, nodes, sizes, edges: Default::default() }
    }

    /// The same nodes in the same order, with the entries of another pattern among them, which reach
    /// no further.
    pub fn over(&self, pattern: &Arc<Pattern>) -> Self {
        let Some(nodes) = &self.nodes else {
            return Self::from_parts(pattern.clone(), None, self.sizes.clone());
        };
        let mut local = vec![u32::MAX; pattern.nodes()];
        nodes.iter().zip(0..).for_each(|(&u, at)| local[u as usize] = at);
        let steps = self.steps();
        let inner = if steps == 0 { 0 } else { self.sizes[steps - 1] };
        let pattern = Arc::new(pattern.relabelled(nodes, &local, inner));
        Self::from_parts(pattern, self.nodes.clone(), self.sizes.clone())
    }

    /// Number of nodes within `steps` steps of the targets.
    pub fn size(&self, steps: usize) -> usize {
        let last = self.sizes.len() - 1;
        self.sizes[steps.min(last)]
    }

    /// Steps that were followed.
    pub fn steps(&self) -> usize {
        self.sizes.len() - 1
    }

    /// The node behind a local number.
    pub fn node(&self, local: usize) -> usize {
        self.nodes.as_ref().map_or(local, |nodes| nodes[local] as usize)
    }

    /// All nodes, nearest first.
    pub fn nodes(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.size(self.steps())).map(|local| self.node(local))
    }

    /// The rows in local numbers.
    pub(crate) fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// The edges one way, in local numbers.
    pub(crate) fn edges(&self, along: Along) -> &Arc<EdgeList> {
        let list = &self.edges[usize::from(along == Along::In)];
        list.get_or_init(|| Arc::new(EdgeList::new(&self.pattern, along)))
    }
}

impl Pattern {
    /// The pattern in the order of `nodes`, where `local` has the place of each. Nodes from `inner`
    /// on keep only their entries towards those before.
    fn relabelled(&self, nodes: &[u32], local: &[u32], inner: usize) -> Self {
        let mut offsets = vec![0];
        let mut columns: Vec<u32> = Vec::new();
        let mut weights: Vec<[f32; 2]> = Vec::new();
        let mut row: Vec<(u32, usize)> = Vec::new();
        for (at, &u) in nodes.iter().enumerate() {
            row.clear();
            for e in self.offsets[u as usize]..self.offsets[u as usize + 1] {
                let place = local[(self.columns[e] & COLUMN) as usize];
                if place != u32::MAX && (at < inner || (place as usize) < inner) {
                    row.push((place, e));
                }
            }
            row.sort_unstable();
            for &(place, e) in &row {
                columns.push(place | (self.columns[e] & !COLUMN));
                if let Weights::Explicit(explicit) = &self.weights {
                    weights.push(explicit[e]);
                }
            }
            offsets.push(columns.len());
        }
        columns.resize(columns.len() + PADDING, 0);
        let weights = match &self.weights {
            Weights::Unit => Weights::Unit,
            Weights::Explicit(_) => {
                weights.resize(columns.len(), [0.0; 2]);
                Weights::Explicit(weights.into())
            }
        };
        Self::from_arrays(offsets, columns, weights, self.directed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    /// A path 0 → 1 → 2 → 3 → 4 with 4 → 0 missing.
    fn path() -> Arc<Pattern> {
        let edges = [(0, 1), (1, 2), (2, 3), (3, 4)];
        let graph = GraphBuilder::new(5).edges(edges).build().unwrap().graph;
        Arc::new(Pattern::new(&graph).unwrap())
    }

    #[test]
    fn nodes_come_by_distance() {
        let seen = Neighbourhood::new(&path(), &[2], 2);
        assert_eq!((seen.size(0), seen.size(1), seen.size(2)), (1, 3, 5));
        assert_eq!(seen.nodes().collect::<Vec<_>>(), [2, 1, 3, 0, 4]);
        let row = |u: usize| seen.pattern().row(u).map(|(v, ..)| v).collect::<Vec<_>>();
        assert_eq!((row(0), row(1), row(2)), (vec![1, 2], vec![0, 3], vec![0, 4]));
        // The outermost nodes know the way inwards, and nothing else.
        assert_eq!((row(3), row(4)), (vec![1], vec![2]));
        // Classes keep their sense: 1 → 2 is an edge towards the target.
        let entry = seen.pattern().row(0).next().unwrap();
        assert_eq!(entry, (1, 0.0, 1.0));
    }

    #[test]
    fn all_nodes_share_the_pattern() {
        let pattern = path();
        let seen = Neighbourhood::new(&pattern, &[0, 1, 2, 3, 4], 3);
        assert!(Arc::ptr_eq(seen.pattern(), &pattern));
        assert_eq!((seen.size(0), seen.size(7), seen.node(3)), (5, 5, 3));
    }
}
