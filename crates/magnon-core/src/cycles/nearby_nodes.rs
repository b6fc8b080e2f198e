//! The nodes near enough to a home to be on a short cycle through it, and their distances back.

use super::component::Component;
use crate::graph::DiGraph;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

const FAR: u32 = u32::MAX;

/// Lists and numbers that are used again for every home.
pub(super) struct Near {
    component: Arc<Component>,
    back: Arc<DiGraph>,
    /// Distance from the home, as far as it was measured; `FAR` for all between two homes.
    ahead: Vec<u32>,
    queue: Vec<u32>,
    /// Edges looked at.
    pub steps: u64,
}

impl Near {
    pub fn new(component: Arc<Component>) -> Self {
        let (ahead, back) = (vec![FAR; component.size()], component.back());
        Self { component, back, ahead, queue: Vec::new(), steps: 0 }
    }

    /// Puts the distance home into `distance`, and the node into `list`, for every node behind `home`
    /// that may be on a cycle of at most `bound` edges through it: a there and b back with
    /// a + b ≤ `bound`. `None` when `stop` is set on the way.
    ///
    /// Distances back up to half of the bound are taken as they are; beyond, a is less than half of it
    /// and was measured before. So two searches go half of the way each and meet.
    pub fn measure(
        &mut self,
        home: u32,
        bound: u32,
        distance: &mut [u32],
        list: &mut Vec<u32>,
        stop: &AtomicBool,
    ) -> Option<()> {
        let half = bound / 2;
        distance[home as usize] = 0;
        list.push(home);
        self.ahead[home as usize] = 0;
        self.queue.push(home);
        let forth = self.forth(home, bound.saturating_sub(half + 1), stop);
        let mut next = 0;
        while let Some(&node) = list.get(next) {
            next += 1;
            let back = distance[node as usize] + 1;
            if forth.is_none() || stop.load(Relaxed) {
                return None;
            }
            if back >= bound {
                break;
            }
            let sources = self.back.targets(node as usize);
            self.steps += sources.len() as u64;
            for &before in sources.iter().filter(|&&before| before > home) {
                let far = back > half && self.ahead[before as usize] > bound - back;
                if distance[before as usize] == FAR && !far {
                    distance[before as usize] = back;
                    list.push(before);
                }
            }
        }
        self.queue.drain(..).for_each(|node| self.ahead[node as usize] = FAR);
        Some(())
    }

    /// Measures distances from the home up to `most`.
    fn forth(&mut self, home: u32, most: u32, stop: &AtomicBool) -> Option<()> {
        let mut next = 0;
        while let Some(&node) = self.queue.get(next) {
            next += 1;
            let ahead = self.ahead[node as usize] + 1;
            if stop.load(Relaxed) {
                return None;
            }
            if ahead > most {
                break;
            }
            let targets = self.component.graph.targets(node as usize);
            self.steps += targets.len() as u64;
            for &target in targets.iter().filter(|&&target| target > home) {
                if self.ahead[target as usize] == FAR {
                    self.ahead[target as usize] = ahead;
                    self.queue.push(target);
                }
            }
        }
        Some(())
    }
}
