//! The search for all cycles through one node after the other, by the method that fits the component.

use super::barrier::BarrierSearch;
use super::bits::{BitSearch, MOST};
use super::component::Component;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A search for the cycles through one node, the home, and nodes behind it; it stands at a cycle, before
/// the first or behind the last.
pub(super) struct Search<'a> {
    component: Arc<Component>,
    method: Method<'a>,
    stop: &'a AtomicBool,
}

enum Method<'a> {
    /// Up to 64 nodes, no bound on the length.
    Bits(BitSearch),
    /// Any component, any bound.
    Barrier(BarrierSearch<'a>),
}

/// Edges that are taken bit by bit, a few nanoseconds each, before the stop flag is looked at.
const STRIDE: u64 = 1 << 20;

impl<'a> Search<'a> {
    /// A search for all cycles through the first node, of at most `bound` edges, that start with
    /// that node and `prefix`, until `stop` is set. Without a prefix it can be turned to other nodes.
    pub fn new(
        component: Arc<Component>,
        bound: Option<usize>,
        prefix: &[u32],
        stop: &'a AtomicBool,
    ) -> Self {
        let size = component.size();
        let unbounded = bound.is_none_or(|bound| bound >= size);
        let method = if unbounded && size <= MOST {
            let mut search = BitSearch::new(&component);
            search.start_with(prefix);
            Method::Bits(search)
        } else {
            let mut search = BarrierSearch::new(component.clone(), bound, stop);
            search.start_with(prefix);
            Method::Barrier(search)
        };
        Self { component, method, stop }
    }

    /// The component that is searched.
    pub fn component(&self) -> &Component {
        &self.component
    }

    /// The home by its name in the whole graph.
    pub fn home(&self) -> u32 {
        match &self.method {
            Method::Bits(_) => self.component.names[0],
            Method::Barrier(search) => self.component.names[search.home() as usize],
        }
    }

    /// About the share of the work that is done. A home is searched among the nodes behind it: where a share r of
    /// them is left, among r² of the edges.
    pub fn share_done(&self) -> f64 {
        match &self.method {
            Method::Bits(_) => 0.0,
            Method::Barrier(search) => {
                let done = f64::from(search.home()) / self.component.size().max(1) as f64;
                1.0 - (1.0 - done).powi(3)
            }
        }
    }

    /// Whether this search can be turned to other homes: where the length is bounded. Where it is not,
    /// what is left without the first node is searched anew.
    pub fn has_more_homes(&self) -> bool {
        matches!(&self.method, Method::Barrier(search) if search.has_more_homes())
    }

    /// Turns to the cycles through `home`, where there are [more homes](Self::has_more_homes), unless
    /// it is plain that there are none.
    pub fn start_at(&mut self, home: u32) -> bool {
        match &mut self.method {
            Method::Bits(_) => false,
            Method::Barrier(search) => search.start_at(home),
        }
    }

    /// Turns to the next home that may have cycles; says whether there is one.
    pub fn next_home(&mut self) -> bool {
        match &mut self.method {
            Method::Bits(_) => false,
            Method::Barrier(search) => search.next_home(),
        }
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

    /// The same, which counts from 0 again afterwards.
    pub fn take_steps(&mut self) -> u64 {
        match &mut self.method {
            Method::Bits(search) => std::mem::take(&mut search.steps),
            Method::Barrier(search) => std::mem::take(&mut search.steps),
        }
    }

    /// Goes to the next cycle and says whether there is one; `None` when more than `most` edges
    /// have been looked at since the search began, or it is stopped.
    pub fn advance_within(&mut self, most: u64) -> Option<bool> {
        let search = match &mut self.method {
            Method::Bits(search) => search,
            Method::Barrier(search) => return search.advance_within(most),
        };
        while !self.stop.load(Relaxed) && search.steps <= most {
            let found = search.advance_within(most.min(search.steps + STRIDE));
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate::{GeneratorConfig, GeneratorKind, generate};

    /// Both methods list the same cycles in the same order; `tests/library/cycles.rs` holds the one with
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
            let stop = AtomicBool::new(false);
            for component in Component::all(&graph, &stop).unwrap() {
                let mut bits = BitSearch::new(&component);
                let mut barrier = BarrierSearch::new(component, None, &stop);
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
