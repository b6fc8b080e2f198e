//! The search for all cycles through the first node of a component, by the method that fits it.

use super::barrier::BarrierSearch;
use super::bits::{BitSearch, MOST};
use super::component::Component;
use std::sync::Arc;

/// A search that stands at a cycle, before the first or behind the last.
pub(super) struct Search {
    component: Arc<Component>,
    method: Method,
}

enum Method {
    /// Up to 64 nodes, no bound on the length.
    Bits(BitSearch),
    /// Any component, any bound.
    Barrier(BarrierSearch),
}

impl Search {
    /// A search for all cycles through the first node, of at most `bound` edges, that start with
    /// that node and `prefix`.
    pub fn new(component: Arc<Component>, bound: Option<usize>, prefix: &[u32]) -> Self {
        let size = component.size();
        let unbounded = bound.is_none_or(|bound| bound >= size);
        let method = if unbounded && size <= MOST {
            let mut search = BitSearch::new(&component);
            search.start_with(prefix);
            Method::Bits(search)
        } else {
            let mut search = BarrierSearch::new(component.clone(), bound);
            search.start_with(prefix);
            Method::Barrier(search)
        };
        Self { component, method }
    }

    /// The component that is searched.
    pub fn component(&self) -> &Component {
        &self.component
    }

    /// The cycle that was found, from the first node on.
    pub fn path(&self) -> &[u32] {
        match &self.method {
            Method::Bits(search) => search.path(),
            Method::Barrier(search) => search.path(),
        }
    }

    /// Edges looked at.
    pub fn steps(&self) -> u64 {
        match &self.method {
            Method::Bits(search) => search.steps,
            Method::Barrier(search) => search.steps,
        }
    }

    /// Goes to the next cycle and says whether there is one; `None` when more than `most` edges
    /// have been looked at since the search began.
    pub fn advance_within(&mut self, most: u64) -> Option<bool> {
        match &mut self.method {
            Method::Bits(search) => search.advance_within(most),
            Method::Barrier(search) => search.advance_within(most),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate::{GeneratorConfig, GeneratorKind, generate};

    /// Both methods list the same cycles in the same order; `tests/cycles.rs` holds the one with
    /// bits against brute force.
    #[test]
    fn methods_agree() {
        let mut cycles = 0;
        for seed in 0..300 {
            let config = GeneratorConfig {
                kind: GeneratorKind::ErdosRenyi,
                nodes: 5 + seed as usize % 12,
                density: 0.2,
                ..Default::default()
            };
            let graph = generate(&config, seed).unwrap().graph;
            for component in Component::all(&graph) {
                let mut bits = BitSearch::new(&component);
                let mut barrier = BarrierSearch::new(Arc::new(component), None);
                loop {
                    let found = bits.advance_within(u64::MAX);
                    assert_eq!(found, barrier.advance_within(u64::MAX));
                    if found == Some(false) {
                        break;
                    }
                    assert_eq!(bits.path(), barrier.path());
                    cycles += 1;
                }
            }
        }
        assert!(cycles > 1000, "{cycles}");
    }
}
