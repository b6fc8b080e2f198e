//! Counting cycles by length on all threads.

use super::component::Component;
use super::search::Search;
use crate::graph::DiGraph;
use crate::progress::Progress;
use rayon::Scope;
use rayon::prelude::*;
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
/// Work is shared by the first two edges, in large components and with a bound by the first node; a
/// complete count does not depend on the number of threads.
pub fn count_cycles(
    graph: &DiGraph,
    max_length: Option<usize>,
    progress: &dyn Progress,
) -> CycleCounts {
    let stop = progress.stop_flag();
    let count = Count {
        max_length,
        cut: AtomicBool::new(false),
        stop,
        by_length: Mutex::new(BTreeMap::new()),
    };
    let components = Component::all(graph, stop).unwrap_or_default();
    rayon::scope(|scope| {
        for component in components {
            scope.spawn(|scope| count.component(component, scope));
        }
    });
    count.ended(); // before the first search, perhaps
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
    fn component<'s>(&'s self, component: Arc<Component>, scope: &Scope<'s>) {
        let mut waiting = vec![component];
        while let Some(component) = waiting.pop() {
            if self.ended() {
                return;
            }
            let small = component.size().saturating_mul(component.graph.edges()) <= AHEAD;
            if !small && self.max_length.is_some_and(|bound| bound < component.size()) {
                self.homes(&component);
                continue;
            }
            if small {
                self.branches(&component, scope);
            } else {
                rayon::scope(|inner| self.branches(&component, inner));
            }
            for rest in component.without_first(self.stop).unwrap_or_default() {
                if small {
                    scope.spawn(|scope| self.component(rest, scope));
                } else {
                    waiting.push(rest);
                }
            }
        }
    }

    /// Searches for each home of a large component, of which a bounded search sees a small part.
    fn homes(&self, component: &Arc<Component>) {
        let search = || Search::new(component.clone(), self.max_length, &[], self.stop);
        let homes = (0..component.size() as u32).into_par_iter().with_min_len(64);
        homes.for_each_init(search, |search, home| {
            if search.start_at(home) {
                self.search(search);
            }
        });
    }

    /// Searches for each choice of the first two edges. Those with the same first wait for it, so that
    /// a hub does not fill the memory with tasks.
    fn branches<'s>(&'s self, component: &Arc<Component>, scope: &Scope<'s>) {
        for &first in component.graph.targets(0) {
            let component = component.clone();
            scope.spawn(move |scope| {
                let seconds = component.graph.targets(first as usize);
                if seconds.first() == Some(&0) && self.max_length.is_none_or(|bound| bound >= 2) {
                    self.add(&[0, 0, 1]);
                }
                for &second in seconds.iter().filter(|&&second| second != 0) {
                    let component = component.clone();
                    scope.spawn(move |_| self.branch(component, &[first, second]));
                }
            });
        }
    }

    fn branch(&self, component: Arc<Component>, prefix: &[u32]) {
        if self.ended() {
            return;
        }
        self.search(&mut Search::new(component, self.max_length, prefix, self.stop));
    }

    fn search(&self, search: &mut Search) {
        let mut counts: Vec<u64> = Vec::new();
        while !self.ended() && search.advance_within(u64::MAX) == Some(true) {
            let length = search.path().len();
            if counts.len() <= length {
                counts.resize(length + 1, 0);
            }
            counts[length] += 1;
        }
        if !counts.is_empty() {
            self.add(&counts);
        }
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
