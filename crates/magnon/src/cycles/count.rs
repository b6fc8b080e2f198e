//! Counting cycles by length on all threads.

use super::component::Component;
use super::search::Search;
use crate::graph::DiGraph;
use rayon::Scope;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Cycles by length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleCounts {
    /// Number of cycles of each length that occurs.
    pub by_length: BTreeMap<usize, u64>,
    /// Whether all were counted.
    pub complete: bool,
}

impl CycleCounts {
    /// Number of cycles.
    pub fn total(&self) -> u64 {
        self.by_length.values().sum()
    }
}

/// Counts all cycles, or those of at most `max_length` edges, until `stop` is set.
///
/// Work is shared by the first two edges; a complete count does not depend on the number of threads.
pub fn count_cycles(graph: &DiGraph, max_length: Option<usize>, stop: &AtomicBool) -> CycleCounts {
    let count = Count {
        max_length,
        cut: AtomicBool::new(false),
        stop,
        by_length: Mutex::new(BTreeMap::new()),
    };
    rayon::scope(|scope| {
        for component in Component::all(graph) {
            scope.spawn(|scope| count.component(component, scope));
        }
    });
    let by_length = count.by_length.into_inner().unwrap_or_default();
    CycleCounts { by_length, complete: !count.cut.into_inner() }
}

struct Count<'a> {
    max_length: Option<usize>,
    cut: AtomicBool,
    stop: &'a AtomicBool,
    by_length: Mutex<BTreeMap<usize, u64>>,
}

/// Components up to this size (nodes × edges) are taken apart ahead of the searches; larger ones wait
/// for theirs, so that memory stays within a few times that of the graph.
const AHEAD: usize = 50_000_000;

impl Count<'_> {
    fn component<'s>(&'s self, component: Component, scope: &Scope<'s>) {
        let mut waiting = vec![component];
        while let Some(component) = waiting.pop() {
            if self.ended() {
                return;
            }
            let small = component.size().saturating_mul(component.graph.edges()) <= AHEAD;
            let component = Arc::new(component);
            if small {
                self.branches(&component, scope);
            } else {
                rayon::scope(|inner| self.branches(&component, inner));
            }
            for rest in component.without_first() {
                if small {
                    scope.spawn(|scope| self.component(rest, scope));
                } else {
                    waiting.push(rest);
                }
            }
        }
    }

    /// Searches for each choice of the first two edges.
    fn branches<'s>(&'s self, component: &Arc<Component>, scope: &Scope<'s>) {
        let graph = &component.graph;
        for &first in graph.targets(0) {
            let seconds = graph.targets(first as usize);
            if seconds.first() == Some(&0) && self.max_length.is_none_or(|bound| bound >= 2) {
                self.add(&[0, 0, 1]);
            }
            for &second in seconds.iter().filter(|&&second| second != 0) {
                let component = component.clone();
                scope.spawn(move |_| {
                    self.branch(Search::new(component, self.max_length, &[first, second]));
                });
            }
        }
    }

    fn branch(&self, mut search: Search) {
        let mut counts: Vec<u64> = Vec::new();
        while !self.ended() && search.advance_within(u64::MAX) == Some(true) {
            let length = search.path().len();
            if counts.len() <= length {
                counts.resize(length + 1, 0);
            }
            counts[length] += 1;
        }
        self.add(&counts);
    }

    /// Adds counts by length.
    fn add(&self, counts: &[u64]) {
        if let Ok(mut by_length) = self.by_length.lock() {
            for (length, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                *by_length.entry(length).or_default() += count;
            }
        }
    }

    fn ended(&self) -> bool {
        if self.stop.load(Relaxed) {
            self.cut.store(true, Relaxed);
        }
        self.cut.load(Relaxed)
    }
}
