//! `Merged`: a graph and its transpose in one, as operators need it.

use crate::memory::Slab;

/// The columns of a pattern run this many entries past its end, so that the product may prefetch
/// ahead without asking where the end is.
pub(crate) const PADDING: usize = 192;

/// Bits of a packed column that hold the node.
pub(crate) const COLUMN: u32 = (1 << 30) - 1;

/// Edges in both directions: no phase.
pub(crate) const BOTH: u32 = 0;
/// Only u → v: phase e^{i2πq}.
pub(crate) const FORWARD: u32 = 1;
/// Only v → u: phase e^{−i2πq}.
pub(crate) const BACKWARD: u32 = 2;

/// The entries (u, v) for which u → v or v → u is an edge, by rows, columns ascending, as a
/// [`Pattern`](crate::operator::Pattern) has them.
#[derive(Clone, Debug)]
pub(crate) struct Merged {
    /// Where each row starts, and where the last one ends.
    pub offsets: Slab<usize>,
    /// Columns with the phase class in two upper bits, and what a pattern has behind them.
    pub columns: Slab<u32>,
    /// `[A(u,v), A(v,u)]` of each entry, where edges have weights.
    pub weights: Option<Slab<[f32; 2]>>,
    /// Number of edges out of and into each node.
    pub degrees: Slab<[u32; 2]>,
    /// Whether any edge has no reverse of the same weight.
    pub directed: bool,
}

/// Cuts the rows into blocks of about equal work; the cuts depend on the pattern alone.
pub(crate) fn balance(offsets: &[usize]) -> Vec<usize> {
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
