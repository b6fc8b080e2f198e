//! What lanes of an engine have of their own.

/// Other places than their own that draws have for the nodes of a graph and for the numbers that their features
/// store: those which they have in a view of some nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Relabelling {
    /// The place of each node.
    pub nodes: Vec<u32>,
    /// The place of each number that sparse features store; empty for dense ones.
    pub entries: Vec<u32>,
}

/// What a lane has of its own beside its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneConfig {
    /// The seed of its draws.
    pub seed: u64,
    /// The rate of its dropouts, in place of that which an operation names.
    pub dropout: Option<f64>,
}
