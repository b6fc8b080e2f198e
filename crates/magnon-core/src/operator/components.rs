//! Weakly connected parts of a pattern: an operator is block diagonal over them.

use super::{MagneticOperator, OperatorError};
use crate::compute::pattern::{COLUMN, PADDING, Pattern, Weights};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

impl Pattern {
    /// The nodes of each weakly connected component, ascending; components by their smallest node.
    pub(crate) fn components(&self) -> Vec<Vec<u32>> {
        let mut seen = vec![false; self.nodes()];
        let mut components = Vec::new();
        for start in 0..self.nodes() {
            if seen[start] {
                continue;
            }
            seen[start] = true;
            let mut nodes = vec![start as u32];
            let mut next = 0;
            while let Some(&u) = nodes.get(next) {
                next += 1;
                let row = self.offsets[u as usize]..self.offsets[u as usize + 1];
                for packed in &self.columns[row] {
                    let v = packed & COLUMN;
                    if !std::mem::replace(&mut seen[v as usize], true) {
                        nodes.push(v);
                    }
                }
            }
            nodes.sort_unstable();
            components.push(nodes);
        }
        components
    }

    /// All nodes within so many steps of some, ascending.
    pub fn within(&self, nodes: &[u32], steps: usize) -> Vec<u32> {
        let mut nodes = nodes.to_vec();
        let mut seen = vec![false; self.nodes()];
        nodes.iter().for_each(|&u| seen[u as usize] = true);
        let mut start = 0;
        for _ in 0..steps {
            let end = nodes.len();
            if start == end {
                break;
            }
            for at in start..end {
                let u = nodes[at] as usize;
                for packed in &self.columns[self.offsets[u]..self.offsets[u + 1]] {
                    let v = packed & COLUMN;
                    if !std::mem::replace(&mut seen[v as usize], true) {
                        nodes.push(v);
                    }
                }
            }
            start = end;
        }
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// The pattern on `nodes`, a union of weakly connected components.
    pub(crate) fn on(self: &Arc<Self>, nodes: &[u32]) -> Arc<Self> {
        if nodes.len() == self.nodes() { self.clone() } else { Arc::new(self.among(nodes)) }
    }

    /// A number that two patterns share which are the same.
    pub(crate) fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.offsets.hash(&mut hasher);
        self.columns.hash(&mut hasher);
        if let Weights::Explicit(weights) = &self.weights {
            weights.iter().flatten().for_each(|weight| weight.to_bits().hash(&mut hasher));
        }
        hasher.finish()
    }

    /// A checksum of the entries, quick enough for patterns of any size.
    pub fn checksum(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(bytemuck::cast_slice(&self.offsets));
        hasher.update(bytemuck::cast_slice(&self.columns));
        if let Weights::Explicit(weights) = &self.weights {
            hasher.update(bytemuck::cast_slice(weights));
        }
        hasher.finalize()
    }

    /// Whether all entries are the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let weights = match (&self.weights, &other.weights) {
            (Weights::Unit, Weights::Unit) => true,
            (Weights::Explicit(a), Weights::Explicit(b)) => a == b,
            _ => false,
        };
        weights && self.offsets == other.offsets && self.columns == other.columns
    }

    /// The pattern of `nodes`, which ascend: their entries among themselves; node `i` of it is
    /// `nodes[i]`.
    fn among(&self, nodes: &[u32]) -> Self {
        let mut offsets = vec![0];
        let mut columns = Vec::new();
        let mut weights = Vec::new();
        for &u in nodes {
            for e in self.offsets[u as usize]..self.offsets[u as usize + 1] {
                let (class, old) = (self.columns[e] & !COLUMN, self.columns[e] & COLUMN);
                let Ok(new) = nodes.binary_search(&old) else { continue };
                columns.push(new as u32 | class);
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
        let mut part = Self::from_arrays(offsets, columns, weights, false);
        part.directed =
            (0..nodes.len()).any(|u| part.row(u).any(|(_, forward, back)| forward != back));
        part
    }
}

impl MagneticOperator {
    /// The block of the operator on `nodes`, a union of weakly connected components.
    pub(crate) fn on(&self, nodes: &[u32]) -> Result<Self, OperatorError> {
        if nodes.len() == self.nodes() {
            return Ok(self.clone());
        }
        Self::from_pattern(self.pattern().on(nodes), self.config())
    }
}

impl MagneticOperator {
    /// The rows and columns of the operator that belong to `nodes`, which ascend. Degrees stay those
    /// of the whole graph, so that entries are those of the whole operator.
    pub fn among(&self, nodes: &[u32]) -> Self {
        let mut part = self.clone();
        part.pattern = Arc::new(self.pattern().among(nodes));
        part.degrees = nodes.iter().map(|&u| self.degrees[u as usize]).collect();
        if self.is_directed() {
            part.in_degrees = nodes.iter().map(|&u| self.in_degrees[u as usize]).collect();
        }
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;
    use crate::operator::{Charge, Kind, OperatorConfig};

    #[test]
    fn blocks_are_what_stands_on_the_diagonal() {
        let edges = [(0, 5, 2.0), (5, 3, 0.5), (3, 5, 1.0), (1, 4, 1.5), (6, 6, 3.0)];
        let builder = GraphBuilder::new(7).self_loops(crate::graph::SelfLoops::Keep);
        let graph = builder.weighted_edges(edges).build().unwrap().graph;
        let charge = Charge::fraction(1, 5).unwrap();
        let config = OperatorConfig { charge, kind: Kind::Laplacian, ..Default::default() };
        let operator = MagneticOperator::new(&graph, &config).unwrap();
        let parts = operator.pattern().components();
        assert_eq!(parts, [vec![0, 3, 5], vec![1, 4], vec![2], vec![6]]);
        for part in parts {
            let block = operator.on(&part).unwrap();
            for (i, &u) in part.iter().enumerate() {
                let expected: Vec<_> = operator.row(u as usize).collect();
                let actual: Vec<_> =
                    block.row(i).map(|(v, value)| (part[v] as usize, value)).collect();
                assert_eq!(actual, expected);
            }
        }
    }
}
