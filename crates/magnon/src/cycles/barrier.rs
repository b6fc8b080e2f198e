//! The search for all cycles through the first node of a component, of any size and with any bound.
//!
//! A path grows from node 0. Every node v off the path has a barrier bar(v): a lower bound of the
//! number of edges from v back to node 0 along nodes off the path, ∞ when there is no way back. A
//! node is entered only if the barrier leaves room within the bound on the length.
//!
//! Barriers obey bar(v) ≤ bar(w) + 1 for every edge v → w between nodes off the path, and bar(v) = 1
//! next to node 0, which makes them lower bounds. To keep it so, a node that leaves the path gets
//! the distance that was found from it or, if none was, one more than the least barrier of its
//! successors; and what that is too small for its predecessors is lowered, and so on backwards.
//! Failing costs nothing twice and nothing is ever blocked that could lead home. Without a bound on
//! the length only ∞ matters, and this is Johnson's algorithm, its blocked nodes those at ∞.

use super::component::Component;
use crate::graph::DiGraph;
use std::sync::Arc;

const FAR: u32 = u32::MAX;

/// The state of a search; [`advance_within`](Self::advance_within) moves to the next cycle.
pub(super) struct BarrierSearch {
    component: Arc<Component>,
    back: Arc<DiGraph>,
    /// Largest length that is looked for; `None` for all.
    bound: Option<u32>,
    path: Vec<u32>,
    /// For each node of the path, the next edge to look at.
    next: Vec<usize>,
    /// For each node of the path, the least number of edges back to node 0 found from it.
    found: Vec<u32>,
    on_path: Vec<bool>,
    barrier: Vec<u32>,
    lowered: Vec<u32>,
    /// The path never becomes shorter than this.
    root: usize,
    /// Edges looked at.
    pub steps: u64,
}

impl BarrierSearch {
    /// A search for all cycles through the first node, of at most `bound` edges.
    pub fn new(component: Arc<Component>, bound: Option<usize>) -> Self {
        let n = component.size();
        let back = component.back();
        let bound = bound.map(|bound| u32::try_from(bound).unwrap_or(FAR - 1));
        // A bound that no simple cycle can exceed is none.
        let bound = bound.filter(|&bound| (bound as usize) < n);
        let mut search = Self {
            bound,
            path: vec![0],
            next: vec![0],
            found: vec![FAR],
            on_path: vec![false; n],
            barrier: vec![1; n],
            lowered: Vec::new(),
            root: 0,
            steps: 0,
            component,
            back,
        };
        search.on_path[0] = true;
        if bound.is_some() {
            search.barrier.fill(FAR);
            search.barrier[0] = 0;
            search.lower_predecessors(0);
        }
        search
    }

    /// Restricts the search to cycles that start with node 0 and `prefix`.
    pub fn start_with(&mut self, prefix: &[u32]) {
        for &node in prefix {
            if !self.fits(node) {
                return self.path.clear();
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
    /// have been looked at since the search began.
    pub fn advance_within(&mut self, most: u64) -> Option<bool> {
        while let Some(&node) = self.path.last() {
            if self.steps > most {
                return None;
            }
            let top = self.path.len() - 1;
            let targets = self.component.graph.targets(node as usize);
            let mut entered = None;
            while let Some(&target) = targets.get(self.next[top]) {
                self.next[top] += 1;
                self.steps += 1;
                if target == 0 {
                    self.found[top] = 1;
                    return Some(true);
                }
                if !self.on_path[target as usize] && self.fits(target) {
                    entered = Some(target);
                    break;
                }
            }
            match entered {
                Some(target) => self.enter(target),
                None if top == self.root => self.path.clear(),
                None => self.leave(),
            }
        }
        Some(false)
    }

    /// Whether the bound leaves room for a way back from `node`, entered next.
    fn fits(&self, node: u32) -> bool {
        let barrier = self.barrier[node as usize];
        match self.bound {
            None => barrier != FAR,
            Some(bound) => barrier <= bound.saturating_sub(self.path.len() as u32),
        }
    }

    fn enter(&mut self, node: u32) {
        self.on_path[node as usize] = true;
        self.path.push(node);
        self.next.push(0);
        self.found.push(FAR);
    }

    fn leave(&mut self) {
        let (Some(node), Some(distance)) = (self.path.pop(), self.found.pop()) else { return };
        self.next.pop();
        self.on_path[node as usize] = false;
        if let Some(above) = self.found.last_mut() {
            *above = (*above).min(distance.saturating_add(1));
        }
        let barrier = if distance != FAR { distance } else { self.least_beyond(node) };
        self.barrier[node as usize] =
            if self.bound.is_none() && barrier != FAR { 1 } else { barrier };
        if barrier <= self.bound.unwrap_or(FAR - 1) {
            self.lower_predecessors(node);
        }
    }

    /// One more than the least barrier of the successors off the path.
    fn least_beyond(&self, node: u32) -> u32 {
        let successors = self.component.graph.targets(node as usize).iter();
        let off_path = successors.filter(|&&w| !self.on_path[w as usize]);
        off_path.map(|&w| self.barrier[w as usize].saturating_add(1)).min().unwrap_or(FAR)
    }

    /// Lowers the barriers before `node` to what its own allows.
    fn lower_predecessors(&mut self, node: u32) {
        self.lowered.push(node);
        while let Some(node) = self.lowered.pop() {
            let reach = match self.bound {
                None => 1,
                Some(_) => self.barrier[node as usize].saturating_add(1),
            };
            for &before in self.back.targets(node as usize) {
                let barrier = &mut self.barrier[before as usize];
                let higher = match self.bound {
                    None => *barrier == FAR,
                    Some(_) => *barrier > reach,
                };
                if higher && !self.on_path[before as usize] {
                    *barrier = reach;
                    self.lowered.push(before);
                }
            }
        }
    }
}
