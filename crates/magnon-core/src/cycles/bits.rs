//! The search for all cycles through the first node of a component of at most 64 nodes.
//!
//! Johnson's algorithm with sets of nodes as bits of one word: the next edge is the lowest bit that
//! is still to be looked at and leads to a node that is neither on the path nor blocked.

use super::component::Component;

/// Most nodes that fit.
pub(super) const MOST: usize = 64;

/// The state of a search; [`advance_within`](Self::advance_within) moves to the next cycle.
pub(super) struct BitSearch {
    /// Targets and sources of each node.
    forth: Vec<u64>,
    back: Vec<u64>,
    path: Vec<u32>,
    /// For each node of the path, the edges that are still to be looked at.
    left: Vec<u64>,
    /// For each node of the path, as bits, whether a cycle was found from it.
    found: u64,
    on_path: u64,
    blocked: u64,
    root: usize,
    /// Edges taken.
    pub steps: u64,
}

impl BitSearch {
    /// A search for all cycles through the first node.
    pub fn new(component: &Component) -> Self {
        let bits = |nodes: &[u32]| nodes.iter().fold(0, |bits, &node| bits | 1u64 << node);
        let transpose = component.back();
        let nodes = 0..component.size();
        let forth: Vec<u64> = nodes.clone().map(|u| bits(component.graph.targets(u))).collect();
        Self {
            back: nodes.map(|u| bits(transpose.targets(u))).collect(),
            path: vec![0],
            left: vec![forth[0]],
            forth,
            found: 0,
            on_path: 1,
            blocked: 0,
            root: 0,
            steps: 0,
        }
    }

    /// Restricts the search to cycles that start with node 0 and `prefix`.
    pub fn start_with(&mut self, prefix: &[u32]) {
        prefix.iter().for_each(|&node| self.enter(node));
        self.root = prefix.len();
    }

    /// The path: the cycle that was found.
    pub fn path(&self) -> &[u32] {
        &self.path
    }

    /// Goes to the next cycle and says whether there is one; `None` when more than `most` edges
    /// have been taken since the search began.
    pub fn advance_within(&mut self, most: u64) -> Option<bool> {
        while let Some(left) = self.left.last_mut() {
            if self.steps > most {
                return None;
            }
            self.steps += 1;
            if *left & 1 == 1 {
                *left &= !1;
                self.found |= 1 << (self.path.len() - 1);
                return Some(true);
            }
            let open = *left & !(self.on_path | self.blocked);
            if open != 0 {
                let node = open.trailing_zeros();
                // Edges before this one lead nowhere now, and are not come back to.
                *left &= u64::MAX.checked_shl(node + 1).unwrap_or(0);
                self.enter(node);
            } else if self.path.len() - 1 == self.root {
                self.path.clear();
                self.left.clear();
            } else {
                self.leave();
            }
        }
        Some(false)
    }

    fn enter(&mut self, node: u32) {
        self.on_path |= 1 << node;
        self.found &= !(1 << self.path.len());
        self.path.push(node);
        self.left.push(self.forth[node as usize]);
    }

    fn leave(&mut self) {
        let Some(node) = self.path.pop() else { return };
        self.left.pop();
        self.on_path &= !(1 << node);
        if self.found >> self.path.len() & 1 == 0 {
            self.blocked |= 1 << node;
            return;
        }
        self.found |= 1 << (self.path.len() - 1);
        // What was blocked before a node that leads home may lead home now.
        let mut freed = 1u64 << node;
        while freed != 0 {
            let before = self.back[freed.trailing_zeros() as usize] & self.blocked;
            freed &= freed - 1;
            self.blocked &= !before;
            freed |= before;
        }
    }
}
