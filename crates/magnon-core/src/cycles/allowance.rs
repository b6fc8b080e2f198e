//! What a search may still spend.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Edges that may still be looked at, until somebody says stop.
pub(super) struct Allowance<'a> {
    pub left: u64,
    pub stop: &'a AtomicBool,
}

impl Allowance<'_> {
    /// Whether nothing is left, of edges or of patience.
    pub fn spent(&self) -> bool {
        self.left == 0 || self.stop.load(Relaxed)
    }

    /// Pays for `edges`; `None` when that is more than there is, or it is time to stop.
    pub fn pay(&mut self, edges: usize) -> Option<()> {
        let left = self.left.checked_sub(edges as u64);
        self.left = left.unwrap_or(0);
        (left.is_some() && !self.stop.load(Relaxed)).then_some(())
    }
}
