//! The search for all cycles through one node after the other, of any size and with any bound.
//!
//! A path grows from a node, the home, among the nodes behind it in order. Every node v off the path
//! has a barrier bar(v): a lower bound of the number of edges from v back home along nodes off the
//! path. With a bound k on the length, a node is entered behind a path of p nodes only if
//! p + bar(v) ≤ k. (Gupta and Suzumura, Finding All Bounded-Length Simple Cycles in a Directed Graph,
//! 2021, whose locks are k + 1 − bar.)
//!
//! Nodes that are too far from the home, there and back together, have bar(v) = ∞ and are left out from
//! the beginning; of the others barriers are at first the distances home. What makes them lower bounds
//! is bar(v) ≤ bar(w) + 1 for every edge v → w between nodes off the path, and bar(v) = 1 next to the
//! home. A node that leaves the path keeps it so:
//!
//! - No cycle was found from v: there is no way back of k − p edges, and bar(v) becomes k − p + 1.
//!   Each successor was refused or has failed in turn, so its barrier is at least k − p; predecessors
//!   were within bar(v) + 1 already before v was entered.
//! - The shortest way found from v has d edges. All ways were looked at, so d is the distance of v
//!   and bar(v) becomes d; barriers of its predecessors that are above d + 1 are lowered to that, and
//!   so on backwards.
//!
//! **What it costs.** Lowering looks at every edge at most once (see `lower_predecessors`). After a
//! cycle only the k nodes of its path can leave by the second way before the next one is found, which
//! makes k times n + e. Between two of those lowerings each failure raises the barrier of a node,
//! which has k values: k failures a node, so k times e. From one cycle to the next, and from the last
//! to the end, at most (k + 1)²·(n + e) edges are looked at, where n and e count what was not left out.
//!
//! Without a bound only bar(v) = ∞ matters, and this is Johnson's algorithm, its blocked nodes those
//! at ∞, with O(n + e) between two cycles. It needs a component that is strong without the nodes
//! before the home, so it has one home, the first node, and the rest is taken apart.

use super::component::Component;
use super::nearby_nodes::Near;
use crate::graph::DiGraph;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The barrier of nodes from which there is no way back.
const FAR: u32 = u32::MAX;
/// What stands in its place on the path, one line of memory fewer to wait for than a list apart.
const ON_PATH: u32 = FAR - 1;

/// The state of a search; [`advance_within`](Self::advance_within) moves to the next cycle.
pub(super) struct BarrierSearch<'a> {
    component: Arc<Component>,
    back: Arc<DiGraph>,
    /// Where cycles start; nodes before it are left out.
    home: u32,
    /// Largest length that is looked for; `None` for all.
    bound: Option<u32>,
    near: Option<Near>,
    path: Vec<u32>,
    /// For each node of the path, the next edge to look at.
    next: Vec<usize>,
    /// For each node of the path, the least number of edges back home found from it.
    found: Vec<u32>,
    barrier: Vec<u32>,
    /// Nodes whose predecessors are to be lowered, first come, first served.
    lowered: Vec<u32>,
    /// With a bound, the nodes that are not left out, whose barriers go back to ∞ for the next home.
    touched: Vec<u32>,
    /// The path never becomes shorter than this.
    root: usize,
    stop: &'a AtomicBool,
    /// Whether barriers were left half lowered, and say nothing any more.
    cut: bool,
    /// Edges looked at.
    pub steps: u64,
}

impl<'a> BarrierSearch<'a> {
    /// A search for all cycles of at most `bound` edges, which starts with those through the first
    /// node.
    pub fn new(component: Arc<Component>, bound: Option<usize>, stop: &'a AtomicBool) -> Self {
        let n = component.size();
        let bound = bound.map(|bound| u32::try_from(bound).unwrap_or(ON_PATH - 1));
        // A bound that no simple cycle can exceed is none.
        let bound = bound.filter(|&bound| (bound as usize) < n);
        let mut search = Self {
            home: 0,
            bound,
            near: bound.map(|_| Near::new(component.clone())),
            path: Vec::new(),
            next: Vec::new(),
            found: Vec::new(),
            barrier: vec![if bound.is_some() { FAR } else { 1 }; n],
            lowered: Vec::new(),
            touched: Vec::new(),
            root: 0,
            stop,
            cut: false,
            steps: 0,
            back: component.back(),
            component,
        };
        search.start_at(0);
        search
    }

    /// The node that cycles start from.
    pub fn home(&self) -> u32 {
        self.home
    }

    /// Whether cycles through other nodes than the first are found.
    pub fn has_more_homes(&self) -> bool {
        self.bound.is_some()
    }

    /// Turns to the next home that may have cycles; says whether there is one.
    pub fn next_home(&mut self) -> bool {
        let nodes = if self.has_more_homes() { self.component.size() as u32 } else { 0 };
        (self.home + 1..nodes).any(|home| self.start_at(home))
    }

    /// Turns to the cycles through `home`, with a bound, unless it is plain that there are none: few
    /// nodes of a large component have both a way out and a way in by nodes behind them.
    pub fn start_at(&mut self, home: u32) -> bool {
        self.steps += 1;
        let behind = |list: &[u32]| list.last().is_some_and(|&node| node > home);
        let ways = [&self.component.graph, &*self.back].map(|g| behind(g.targets(home as usize)));
        if ways != [true; 2] {
            return false;
        }
        self.end();
        self.touched.drain(..).for_each(|node| self.barrier[node as usize] = FAR);
        self.root = 0;
        self.home = home;
        if let (Some(bound), Some(near)) = (self.bound, &mut self.near) {
            let (barrier, list) = (&mut self.barrier, &mut self.touched);
            self.cut |= near.measure(home, bound, barrier, list, self.stop).is_none();
            self.steps += std::mem::take(&mut near.steps);
        }
        self.enter(home);
        true
    }

    /// Restricts the search to cycles that start with the home and `prefix`.
    pub fn start_with(&mut self, prefix: &[u32]) {
        for &node in prefix {
            if !self.fits(node) {
                return self.end();
            }
            self.enter(node);
        }
        self.root = prefix.len();
    }

    /// The path: the cycle that was found.
    pub fn path(&self) -> &[u32] {
        &self.path
    }

    /// Goes to the next cycle and says whether there is one; `None` when more than `most` edges
    /// have been looked at since the search began, or it is stopped.
    pub fn advance_within(&mut self, most: u64) -> Option<bool> {
        loop {
            if self.cut || self.steps > most || self.stop.load(Relaxed) {
                return None;
            }
            let Some(&node) = self.path.last() else { return Some(false) };
            let top = self.path.len() - 1;
            let targets = self.component.graph.targets(node as usize);
            let mut entered = None;
            while let Some(&target) = targets.get(self.next[top]) {
                self.next[top] += 1;
                self.steps += 1;
                if target == self.home {
                    self.found[top] = 1;
                    return Some(true);
                }
                if target > self.home && self.fits(target) {
                    entered = Some(target);
                    break;
                }
            }
            match entered {
                Some(target) => self.enter(target),
                None if top == self.root => self.end(),
                None => self.leave(),
            }
        }
    }

    /// Whether `node` is off the path and the bound leaves room for a way back from it, entered next.
    fn fits(&self, node: u32) -> bool {
        let barrier = self.barrier[node as usize];
        match self.bound {
            None => barrier < ON_PATH,
            Some(bound) => barrier <= bound.saturating_sub(self.path.len() as u32),
        }
    }

    fn enter(&mut self, node: u32) {
        self.barrier[node as usize] = ON_PATH;
        self.path.push(node);
        self.next.push(0);
        self.found.push(FAR);
    }

    /// Leaves the path altogether, and the barriers as they are: this home is done with.
    fn end(&mut self) {
        self.path.clear();
        self.next.clear();
        self.found.clear();
    }

    fn leave(&mut self) {
        let (Some(node), Some(distance)) = (self.path.pop(), self.found.pop()) else { return };
        self.next.pop();
        if distance == FAR {
            let room = self.bound.map(|bound| bound.saturating_sub(self.path.len() as u32));
            self.barrier[node as usize] = room.map_or(FAR, |room| room + 1);
            return;
        }
        if let Some(above) = self.found.last_mut() {
            *above = (*above).min(distance + 1);
        }
        self.barrier[node as usize] = if self.bound.is_some() { distance } else { 1 };
        self.lower_predecessors(node);
    }

    /// Lowers the barriers before `node` to what its own allows.
    ///
    /// A search in breadth: barriers leave the queue in ascending order. A node that is lowered to b
    /// is reached from one at b − 1, and all that come later are at b − 1 or above, so that none
    /// lowers it again. Every node is queued at most once and every edge looked at at most once.
    fn lower_predecessors(&mut self, node: u32) {
        self.lowered.clear();
        self.lowered.push(node);
        let mut first = 0;
        while let Some(&node) = self.lowered.get(first) {
            first += 1;
            if self.stop.load(Relaxed) {
                self.cut = true;
                return;
            }
            let reach = match self.bound {
                None => 1,
                Some(_) => self.barrier[node as usize] + 1,
            };
            let sources = self.back.targets(node as usize);
            self.steps += sources.len() as u64;
            for &before in sources {
                let barrier = &mut self.barrier[before as usize];
                let higher = match self.bound {
                    None => *barrier == FAR,
                    Some(_) => *barrier > reach && *barrier < ON_PATH,
                };
                if higher {
                    *barrier = reach;
                    self.lowered.push(before);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate::{GeneratorConfig, GeneratorKind, generate};

    /// From one cycle to the next at most (k + 1)²·(n + e) edges are looked at; measuring distances and
    /// lowering look at each edge once, whatever the order of the nodes.
    #[test]
    fn the_work_between_cycles_is_bounded() {
        let stop = AtomicBool::new(false);
        for seed in 0..60 {
            let config = GeneratorConfig {
                kind: GeneratorKind::ErdosRenyi,
                nodes: 20 + 3 * seed as usize,
                density: 2.5 / (20 + 3 * seed) as f64,
                ..Default::default()
            };
            let graph = generate(&config, seed).unwrap().graph;
            for component in Component::all(&graph, &stop).unwrap() {
                let size = (component.size() + component.graph.edges()) as u64;
                for k in [2, 3, 5, 8, 11] {
                    let mut search = BarrierSearch::new(component.clone(), Some(k), &stop);
                    let most = (k as u64 + 1).pow(2) * size;
                    assert!(search.steps <= 2 * size, "{} {size}", search.steps);
                    let last = if search.has_more_homes() { component.size() as u32 } else { 1 };
                    for home in 0..last {
                        search.steps = 0;
                        assert!(search.start_at(home) || home > 0);
                        while search.advance_within(u64::MAX) == Some(true) {
                            assert!(search.steps <= 2 * size + most, "{} {size}", search.steps);
                            search.steps = 0;
                        }
                        assert!(search.steps <= 2 * size + most);
                    }
                }
            }
        }
    }
}
