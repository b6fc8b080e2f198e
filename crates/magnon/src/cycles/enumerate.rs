//! `Cycles`: an iterator over elementary directed cycles.

use super::component::Component;
use super::search::Search;
use crate::graph::DiGraph;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Elementary directed cycles of two or more nodes, each once, as node lists that start at their
/// smallest node.
///
/// Cycles come in the order of that node; those with the same one in the order in which a search
/// over ascending edges meets them. Between two cycles the work is at most proportional to the size
/// of the component (Johnson), and memory to that of the graph.
///
/// ```
/// use magnon::cycles::Cycles;
/// use magnon::graph::GraphBuilder;
/// let graph = GraphBuilder::new(3).edges([(0, 1), (1, 0), (1, 2), (2, 0)]).build()?.graph;
/// let cycles: Vec<_> = Cycles::new(&graph, None).collect();
/// assert_eq!(cycles, [vec![0, 1], vec![0, 1, 2]]);
/// # Ok::<(), magnon::graph::GraphError>(())
/// ```
pub struct Cycles {
    max_length: Option<usize>,
    /// Components that wait, by their smallest node.
    waiting: BTreeMap<Reverse<u32>, Component>,
    search: Option<Search>,
    steps: u64,
}

impl Cycles {
    /// All cycles of `graph`, or those of at most `max_length` edges.
    pub fn new(graph: &DiGraph, max_length: Option<usize>) -> Self {
        Self::of(Component::all(graph), max_length)
    }

    pub(super) fn of(components: Vec<Component>, max_length: Option<usize>) -> Self {
        let mut cycles = Self { max_length, waiting: BTreeMap::new(), search: None, steps: 0 };
        cycles.wait(components);
        cycles
    }

    fn wait(&mut self, components: Vec<Component>) {
        self.waiting.extend(components.into_iter().map(|c| (Reverse(c.names[0]), c)));
    }

    /// Edges looked at so far.
    pub(super) fn steps(&self) -> u64 {
        self.steps + self.search.as_ref().map_or(0, Search::steps)
    }
}

impl Cycles {
    /// The next cycle, unless more than `most` edges have been looked at in all: then `None`, and
    /// `Some(None)` at the end.
    pub(super) fn next_within(&mut self, most: u64) -> Option<Option<Vec<u32>>> {
        loop {
            if let Some(search) = &mut self.search {
                let left = most.checked_sub(self.steps)?;
                match search.advance_within(left) {
                    Some(true) => return Some(Some(search.component().named(search.path()))),
                    Some(false) => {}
                    None => return None,
                }
                // Taking a component apart costs as much as looking at its edges.
                self.steps += search.steps() + search.component().graph.edges() as u64;
                let rest = search.component().without_first();
                self.search = None;
                self.wait(rest);
            }
            let Some((_, component)) = self.waiting.pop_last() else { return Some(None) };
            self.search = Some(Search::new(Arc::new(component), self.max_length, &[]));
        }
    }
}

impl Iterator for Cycles {
    type Item = Vec<u32>;

    fn next(&mut self) -> Option<Vec<u32>> {
        self.next_within(u64::MAX).flatten()
    }
}
