//! `ChainMaps`: products of fixed maps that are gone through at once.

use super::{Engine, Storage};

/// The maps of a `MapChain` of the network, as an engine takes them.
pub struct ChainMaps<'a, S: Storage = Engine> {
    /// The T_k.
    pub tail: Vec<&'a S::Map>,
    /// The M; on the way back only the one that is gone back through.
    pub heads: Vec<&'a S::Map>,
}
