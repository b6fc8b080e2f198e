//! `Merged`: a graph and its transpose in one, as operators need it.

use crate::memory::Slab;

/// The entries (u, v) for which u → v or v → u is an edge, by rows, columns ascending, as a
/// [`Pattern`](crate::operator::Pattern) has them.
#[derive(Clone, Debug)]
pub struct Merged {
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
