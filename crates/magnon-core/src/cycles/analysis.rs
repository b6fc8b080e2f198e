//! The arguments by which [`cycle_lengths`](super::cycle_lengths) decides on lengths.

use super::allowance::Allowance;
use super::component::Component;
use super::enumerate::Cycles;
use super::lengths::{Evidence, LengthAnswer, LengthsReport};
use super::period::period;
use super::scan::{pair, triangle};
use super::walks::{find, walks_to};
use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What is known so far.
pub(super) struct Analysis<'a> {
    /// A cycle of each length, once found.
    witness: Vec<Option<Vec<u32>>>,
    /// For each component and length, whether a cycle is not yet ruled out.
    open: Vec<Vec<bool>>,
    /// The dearest argument that was needed against each length.
    evidence: Vec<Evidence>,
    max: usize,
    allowance: Allowance<'a>,
}

impl<'a> Analysis<'a> {
    /// Nothing is known of lengths up to `max` in so many components.
    pub fn new(components: usize, max: usize, budget: u64, stop: &'a AtomicBool) -> Self {
        Self {
            witness: vec![None; max + 1],
            open: vec![vec![true; max + 1]; components],
            evidence: vec![Evidence::Acyclic; max + 1],
            max,
            allowance: Allowance { left: budget, stop },
        }
    }

    /// Whether it is worth looking for length m in component c.
    fn wanted(&self, c: usize, m: usize) -> bool {
        self.open[c][m] && self.witness[m].is_none()
    }

    fn any_wanted(&self, c: usize) -> bool {
        (2..=self.max).any(|m| self.wanted(c, m))
    }

    fn rule_out(&mut self, c: usize, m: usize, evidence: Evidence) {
        if std::mem::take(&mut self.open[c][m]) {
            self.evidence[m] = self.evidence[m].max(evidence);
        }
    }

    pub fn by_size_and_period(&mut self, c: usize, component: &Component) {
        let Some(period) = period(component, self.allowance.stop) else { return };
        for m in 2..=self.max {
            if m > component.size() {
                self.rule_out(c, m, Evidence::ComponentSize);
            } else if m % period != 0 {
                self.rule_out(c, m, Evidence::Period);
            }
        }
    }

    /// Looks at all pairs and triangles.
    pub fn by_scan(&mut self, c: usize, component: &Component) {
        if self.wanted(c, 2) {
            match pair(component, self.allowance.stop) {
                Some(Some(path)) => self.witness[2] = Some(component.named(&path)),
                Some(None) => self.rule_out(c, 2, Evidence::Scan),
                None => return,
            }
        }
        if self.max >= 3 && self.wanted(c, 3) {
            match triangle(component, &mut self.allowance) {
                Some(Some(path)) => self.witness[3] = Some(component.named(&path)),
                Some(None) => self.rule_out(c, 3, Evidence::Scan),
                None => {}
            }
        }
    }

    /// Looks for each length that is left, the shortest first: short cycles may be few, but they lie
    /// close to their home, and longer ones are soon met where there are many. Each may look at `most`
    /// edges and take half of what is left.
    pub fn by_deepening(&mut self, c: usize, component: &Arc<Component>, most: u64) {
        for m in 2..=self.max {
            if self.wanted(c, m) {
                let most = most.min(self.allowance.left / 2);
                self.by_enumeration(c, component, m, (most, most));
            }
        }
    }

    /// Looks at all cycles of the component of at most `longest` edges, as far as `most` edges looked
    /// at and the budget go; beyond `first` edges only while it is on course to come to its end.
    pub fn by_enumeration(
        &mut self,
        c: usize,
        component: &Arc<Component>,
        longest: usize,
        (first, most): (u64, u64),
    ) {
        let Some(longest) = (2..=longest).rev().find(|&m| self.wanted(c, m)) else { return };
        if self.allowance.spent() {
            return;
        }
        let most = most.min(self.allowance.left);
        let mut within = first.min(most);
        let mut cycles = Cycles::of(vec![component.clone()], Some(longest), self.allowance.stop);
        let ended = loop {
            match cycles.next_within(within) {
                Some(Some(cycle)) => {
                    let m = cycle.len();
                    if self.witness[m].is_none() {
                        self.witness[m] = Some(cycle);
                        if (2..=longest).all(|m| !self.wanted(c, m)) {
                            break true;
                        }
                    }
                }
                Some(None) => break true,
                None if within < most && cycles.ends_within(most) => within = most,
                None => break false,
            }
        };
        self.allowance.left = self.allowance.left.saturating_sub(cycles.steps());
        if ended {
            for m in 2..=longest {
                if self.witness[m].is_none() {
                    self.rule_out(c, m, Evidence::Exhausted);
                }
            }
        }
    }

    /// Looks for cycles of exact length through a few promising nodes, for a quarter of what is left.
    pub fn by_guided_search(&mut self, c: usize, component: &Component) {
        const HOMES: usize = 24;
        if !self.any_wanted(c) || self.allowance.spent() {
            return;
        }
        let size = component.size() as u32;
        let mut homes: Vec<u32> = (0..size).collect();
        let back = component.back();
        let ways = |u: u32| component.graph.out_degree(u as usize).min(back.out_degree(u as usize));
        // Half of them where many ways cross, half spread over the component.
        let many_first = |&u: &u32| (Reverse(ways(u)), u);
        if homes.len() > HOMES / 2 {
            homes.select_nth_unstable_by_key(HOMES / 2, many_first);
            homes.truncate(HOMES / 2);
        }
        homes.sort_by_key(many_first);
        let step = |i: u64| (i * u64::from(size) / (HOMES as u64 / 2)) as u32;
        homes.extend((0..HOMES as u64 / 2).map(step));
        let reserve = self.allowance.left - self.allowance.left / 4;
        self.allowance.left -= reserve;
        for home in homes {
            if !self.any_wanted(c) || self.through(c, component, home, 200_000).is_none() {
                break;
            }
        }
        self.allowance.left += reserve;
    }

    /// Looks for cycles through `home`, `most` edges for each length; says which lengths have closed
    /// walks there, or `None` where the budget does not go so far.
    fn through(&mut self, c: usize, component: &Component, home: u32, most: u64) -> Option<u64> {
        let walks = walks_to(component, home, self.max, &mut self.allowance)?;
        for m in 2..=self.max {
            if !self.wanted(c, m) {
                continue;
            }
            let mut budget = most.min(self.allowance.left);
            let before = budget;
            let found = find(component, home, &walks, m, &mut budget);
            self.allowance.left -= before - budget;
            if let Ok(Some(path)) = found {
                // From the smallest node on, as cycles are written everywhere.
                let start = (0..path.len()).min_by_key(|&i| path[i]).unwrap_or(0);
                let path = [&path[start..], &path[..start]].concat();
                self.witness[m] = Some(component.named(&path));
            }
        }
        Some(walks[home as usize])
    }

    /// Rules out lengths that no closed walk has, where looking from every node is affordable.
    pub fn by_closed_walks(&mut self, c: usize, component: &Component) {
        let cost = (component.size() as u64)
            .saturating_mul(component.graph.edges() as u64)
            .saturating_mul(self.max as u64);
        if cost > self.allowance.left / 2 {
            return;
        }
        let mut closed = 0u64;
        for home in 0..component.size() as u32 {
            if !self.any_wanted(c) {
                return;
            }
            let Some(lengths) = self.through(c, component, home, 20_000) else { return };
            closed |= lengths;
        }
        for m in 2..=self.max {
            if closed >> m & 1 == 0 {
                self.rule_out(c, m, Evidence::ClosedWalks);
            }
        }
    }

    pub fn report(mut self, acyclic: bool) -> LengthsReport {
        let lengths = (2..=self.max)
            .map(|length| {
                let witness = self.witness[length].take();
                let open = self.open.iter().any(|open| open[length]);
                let (exists, evidence) = match (&witness, open) {
                    (Some(_), _) => (Some(true), Evidence::Witness),
                    (None, true) => (None, Evidence::Budget),
                    (None, false) => (Some(false), self.evidence[length]),
                };
                LengthAnswer { length, exists, evidence, witness }
            })
            .collect();
        LengthsReport { acyclic, lengths }
    }
}
