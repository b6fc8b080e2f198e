//! `Pattern`: the symmetric sparsity of a directed graph, stored once for every charge.

use crate::memory::Slab;

/// The columns of a pattern run this many entries past its end, so that the product may prefetch
/// ahead without asking where the end is.
pub const PADDING: usize = 192;

/// Bits of a packed column that hold the node.
pub const COLUMN: u32 = (1 << 30) - 1;

/// Edges in both directions: no phase.
pub const BOTH: u32 = 0;
/// Only u → v: phase e^{i2πq}.
pub const FORWARD: u32 = 1;
/// Only v → u: phase e^{−i2πq}.
pub const BACKWARD: u32 = 2;

/// What each entry of the pattern weighs.
#[derive(Clone, Debug)]
pub(crate) enum Weights {
    /// Every edge weighs 1; the class in the column's two upper bits says which edges exist.
    Unit,
    /// `[A(u,v), A(v,u)]` for each entry.
    Explicit(Slab<[f32; 2]>),
}

/// The entries (u, v) for which u → v or v → u is an edge, by rows, columns ascending.
///
/// On a graph without weights an entry is one `u32`: the column in 30 bits and in two bits which
/// of the two edges exist. That is all that any charge, symmetrisation or normalisation needs.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub(crate) offsets: Slab<usize>,
    /// Packed columns, followed by [`PADDING`] zeros.
    pub(crate) columns: Slab<u32>,
    pub(crate) weights: Weights,
    /// Number of edges out of and into each node, where they are known and no edge has a weight.
    pub(crate) counts: Option<Slab<[u32; 2]>>,
    /// Row boundaries of blocks of similar work, for sharing between threads.
    pub(crate) blocks: Vec<usize>,
    /// Whether any edge has no reverse of the same weight.
    pub(crate) directed: bool,
}

impl Pattern {
    /// A pattern of arrays in memory.
    pub(crate) fn from_arrays(
        offsets: Vec<usize>,
        columns: Vec<u32>,
        weights: Weights,
        directed: bool,
    ) -> Self {
        Self::from_slabs(offsets.into(), columns.into(), weights, None, directed)
    }

    /// A pattern of arrays in memory or in a mapped file.
    pub(crate) fn from_slabs(
        offsets: Slab<usize>,
        columns: Slab<u32>,
        weights: Weights,
        counts: Option<Slab<[u32; 2]>>,
        directed: bool,
    ) -> Self {
        let blocks = balance(&offsets);
        Self { offsets, columns, weights, counts, blocks, directed }
    }

    /// Number of nodes n.
    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of stored entries; each undirected pair counts twice.
    pub fn stored(&self) -> usize {
        self.offsets[self.nodes()]
    }

    /// Whether any edge has no reverse of the same weight. If not, every charge gives the same
    /// operator.
    pub fn is_directed(&self) -> bool {
        self.directed
    }

    /// Whether node `u` has no neighbour, itself included.
    pub fn is_isolated(&self, u: usize) -> bool {
        self.offsets[u] == self.offsets[u + 1]
    }

    /// Number of entries of row `u`.
    pub(crate) fn row_len(&self, u: usize) -> usize {
        self.offsets[u + 1] - self.offsets[u]
    }

    /// Whether row `u` has an entry for the node itself.
    pub(crate) fn has_diagonal(&self, u: usize) -> bool {
        let row = &self.columns[self.offsets[u]..self.offsets[u + 1]];
        row.binary_search_by_key(&(u as u32), |packed| packed & COLUMN).is_ok()
    }

    /// The entries of row `u`: column, A(u,v) and A(v,u).
    pub fn row(&self, u: usize) -> impl Iterator<Item = (usize, f64, f64)> + Clone + '_ {
        (self.offsets[u]..self.offsets[u + 1]).map(|e| {
            let column = (self.columns[e] & COLUMN) as usize;
            match &self.weights {
                Weights::Explicit(weights) => {
                    (column, f64::from(weights[e][0]), f64::from(weights[e][1]))
                }
                Weights::Unit => match self.columns[e] >> 30 {
                    FORWARD => (column, 1.0, 0.0),
                    BACKWARD => (column, 0.0, 1.0),
                    _ => (column, 1.0, 1.0),
                },
            }
        })
    }
}

/// Cuts the rows into blocks of about equal work; the cuts depend on the pattern alone.
pub fn balance(offsets: &[usize]) -> Vec<usize> {
    const WORK: usize = 1 << 15;
    let n = offsets.len() - 1;
    let mut blocks = vec![0];
    let mut last = 0;
    for u in 1..n {
        // A row costs its entries and a little for itself.
        if offsets[u] - offsets[last] + 4 * (u - last) >= WORK {
            blocks.push(u);
            last = u;
        }
    }
    blocks.push(n);
    blocks
}
