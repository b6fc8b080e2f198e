//! `Cycles`: an iterator over elementary directed cycles.

use super::component::Component;
use super::search::Search;
use crate::graph::DiGraph;
use crate::progress::Progress;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What a search looks at that nobody stops.
static NEVER: AtomicBool = AtomicBool::new(false);

/// Elementary directed cycles of two or more nodes, each once, as node lists that start at their
/// smallest node.
///
/// Cycles come in the order of that node; those with the same one in the order in which a search
/// over ascending edges meets them. Between two cycles with the same smallest node the work is at most
/// proportional to the size of the component (Johnson), (k + 1)² times that with a bound k on the
/// length, and memory to the size of the graph.
///
/// ```
/// use magnon_core::cycles::Cycles;
/// use magnon_core::graph::GraphBuilder;
/// let graph = GraphBuilder::new(3).edges([(0, 1), (1, 0), (1, 2), (2, 0)]).build()?.graph;
/// let cycles: Vec<_> = Cycles::new(&graph, None).collect();
/// assert_eq!(cycles, [vec![0, 1], vec![0, 1, 2]]);
/// # Ok::<(), magnon_core::graph::GraphError>(())
/// ```
pub struct Cycles<'a> {
    max_length: Option<usize>,
    /// What waits for its turn, by the smallest node of its next cycles.
    waiting: BTreeMap<Reverse<u32>, Waiting<'a>>,
    search: Option<Search<'a>>,
    stop: &'a AtomicBool,
    /// Whether it was stopped where it cannot go on.
    cut: bool,
    steps: u64,
}

enum Waiting<'a> {
    /// A component that was not looked at.
    Component(Arc<Component>),
    /// A search that was turned to its next home.
    Search(Box<Search<'a>>),
}

impl Cycles<'static> {
    /// All cycles of `graph`, or those of at most `max_length` edges.
    pub fn new(graph: &DiGraph, max_length: Option<usize>) -> Self {
        Self::until(graph, max_length, &NEVER)
    }
}

impl<'a> Cycles<'a> {
    /// The same, which ends where `stop` is set before the last cycle is found.
    pub fn until(graph: &DiGraph, max_length: Option<usize>, progress: &'a dyn Progress) -> Self {
        let stop = progress.stop_flag();
        let components = Component::all(graph, stop);
        let cut = components.is_none();
        Self { cut, ..Self::of(components.unwrap_or_default(), max_length, stop) }
    }

    pub(super) fn of(
        components: Vec<Arc<Component>>,
        max_length: Option<usize>,
        stop: &'a AtomicBool,
    ) -> Self {
        let waiting = BTreeMap::new();
        let mut cycles = Self { max_length, waiting, search: None, stop, cut: false, steps: 0 };
        cycles.wait(components);
        cycles
    }

    fn wait(&mut self, components: Vec<Arc<Component>>) {
        let keyed = |c: Arc<Component>| (Reverse(c.names[0]), Waiting::Component(c));
        self.waiting.extend(components.into_iter().map(keyed));
    }

    /// Edges looked at so far.
    pub(super) fn steps(&self) -> u64 {
        self.steps + self.search.as_ref().map_or(0, Search::steps)
    }

    /// Whether a search of one component will have looked at no more than `most` edges at its end, if it goes on as it
    /// began.
    pub(super) fn ends_within(&self, most: u64) -> bool {
        let share = self.search.as_ref().map_or(1.0, Search::share_done);
        self.steps() as f64 <= share * most as f64
    }

    /// The next cycle, unless more than `most` edges have been looked at in all or it is stopped:
    /// then `None`, and `Some(None)` at the end.
    pub(super) fn next_within(&mut self, most: u64) -> Option<Option<Vec<u32>>> {
        let found = self.advance_within(most)?;
        Some(found.then(|| {
            let mut nodes = Vec::new();
            self.append_found(&mut nodes);
            nodes
        }))
    }

    /// Appends the nodes of the next cycle to `nodes`; `false` where there is none. Many cycles then share one list.
    pub fn next_into(&mut self, nodes: &mut Vec<u32>) -> bool {
        let found = self.advance_within(u64::MAX) == Some(true);
        if found {
            self.append_found(nodes);
        }
        found
    }

    /// Appends the nodes of the cycle that was found last.
    fn append_found(&self, nodes: &mut Vec<u32>) {
        if let Some(search) = &self.search {
            let names = &search.component().names;
            nodes.extend(search.path().iter().map(|&node| names[node as usize]));
        }
    }

    /// Goes on to the next cycle: whether there is one, or `None` as for [`next_within`](Self::next_within).
    fn advance_within(&mut self, most: u64) -> Option<bool> {
        loop {
            if self.cut || self.stop.load(Relaxed) {
                return None;
            }
            if let Some(search) = &mut self.search {
                let left = most.checked_sub(self.steps)?;
                match search.advance_within(left) {
                    Some(true) => return Some(true),
                    Some(false) => {}
                    None => return None,
                }
                self.turn()?;
                if self.search.is_some() {
                    continue;
                }
            }
            self.search = match self.waiting.pop_last() {
                None => return Some(false),
                Some((_, Waiting::Search(search))) => Some(*search),
                Some((_, Waiting::Component(component))) => {
                    Some(Search::new(component, self.max_length, &[], self.stop))
                }
            };
        }
    }

    /// Turns a search that has come to its end to what there is behind its home; where others are to
    /// be searched before that, it waits.
    fn turn(&mut self) -> Option<()> {
        let Some(search) = &mut self.search else { return Some(()) };
        self.steps += search.take_steps();
        if search.has_more_homes() {
            let next = search.next_home().then(|| search.home());
            let waits = self.waiting.last_key_value().map_or(u32::MAX, |(Reverse(home), _)| *home);
            match next {
                None => self.search = None,
                Some(home) if home > waits => {
                    let search = self.search.take().map(Box::new).map(Waiting::Search);
                    self.waiting.extend(search.map(|search| (Reverse(home), search)));
                }
                Some(_) => {}
            }
            return Some(());
        }
        // Taking a component apart costs as much as looking at its edges.
        self.steps += search.component().graph.edges() as u64;
        let rest = search.component().without_first(self.stop);
        self.search = None;
        self.cut = rest.is_none();
        self.wait(rest?);
        Some(())
    }
}

impl Iterator for Cycles<'_> {
    type Item = Vec<u32>;

    fn next(&mut self) -> Option<Vec<u32>> {
        self.next_within(u64::MAX).flatten()
    }
}
