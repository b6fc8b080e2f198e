//! Which cycle lengths exist, with evidence.

use super::component::Component;
use super::enumerate::Cycles;
use super::period::period;
use super::walks::{find, walks_to};
use crate::graph::DiGraph;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Recipe of a length analysis.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `max_length` | 20 | longest length asked about | 2 to 63 |
/// | `budget` | 300 million | edges looked at before a length is left undecided | |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthsConfig {
    /// Longest length asked about; larger values count as 63.
    pub max_length: usize,
    /// Edges looked at before a length is left undecided.
    pub budget: u64,
}

impl Default for LengthsConfig {
    fn default() -> Self {
        Self { max_length: 20, budget: 300_000_000 }
    }
}

/// How an answer is known, the cheapest argument first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// The graph has no directed cycle at all.
    Acyclic,
    /// No strong component has that many nodes.
    ComponentSize,
    /// The period of every large enough component rules the length out.
    Period,
    /// Every pair or triangle was looked at.
    Scan,
    /// There is not even a closed walk of that length.
    ClosedWalks,
    /// A search for all cycles of that length came to its end.
    Exhausted,
    /// A cycle of that length is at hand.
    Witness,
    /// The budget ran out first: nothing is known.
    Budget,
}

/// The answer for one length.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LengthAnswer {
    /// Number of edges m.
    pub length: usize,
    /// Whether there is an m-cycle; `None` where it is undecided.
    pub exists: Option<bool>,
    /// How that is known.
    pub evidence: Evidence,
    /// The nodes of an m-cycle, where one exists.
    pub witness: Option<Vec<u32>>,
}

/// The answers for all lengths from 2 on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LengthsReport {
    /// Whether there is no directed cycle at all.
    pub acyclic: bool,
    /// An answer for each length.
    pub lengths: Vec<LengthAnswer>,
}

/// Says for each length up to `max_length` whether a directed cycle of that length exists.
///
/// Cheap arguments come first: component sizes, periods, pairs and triangles; then searches that
/// are cut off when `stop` is set or the budget is spent. The budget counts edges, not time, so the
/// answers are the same everywhere.
pub fn cycle_lengths(graph: &DiGraph, config: &LengthsConfig, stop: &AtomicBool) -> LengthsReport {
    let components = Component::all(graph);
    let max = config.max_length.clamp(2, 63);
    let mut analysis = Analysis {
        witness: vec![None; max + 1],
        open: components.iter().map(|_| vec![true; max + 1]).collect(),
        evidence: vec![Evidence::Acyclic; max + 1],
        max,
        budget: config.budget,
        stop,
    };
    for (c, component) in components.iter().enumerate() {
        analysis.by_size_and_period(c, component);
        analysis.by_scan(c, component);
    }
    // Small components first: their searches end, and what they find others need not look for.
    let mut order: Vec<usize> = (0..components.len()).collect();
    order.sort_by_key(|&c| components[c].size());
    for &c in &order {
        analysis.by_enumeration(c, &components[c], 4_000_000);
    }
    for &c in order.iter().rev() {
        analysis.by_guided_search(c, &components[c]);
    }
    for &c in &order {
        analysis.by_closed_walks(c, &components[c]);
        analysis.by_enumeration(c, &components[c], u64::MAX);
    }
    analysis.report(components.is_empty())
}

struct Analysis<'a> {
    /// A cycle of each length, once one is known.
    witness: Vec<Option<Vec<u32>>>,
    /// Whether component c may still have a cycle of length m.
    open: Vec<Vec<bool>>,
    /// The strongest argument that was needed against each length.
    evidence: Vec<Evidence>,
    max: usize,
    budget: u64,
    stop: &'a AtomicBool,
}

impl Analysis<'_> {
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

    fn spent(&self) -> bool {
        self.budget == 0 || self.stop.load(Relaxed)
    }

    fn by_size_and_period(&mut self, c: usize, component: &Component) {
        let period = period(component);
        for m in 2..=self.max {
            if m > component.size() {
                self.rule_out(c, m, Evidence::ComponentSize);
            } else if m % period != 0 {
                self.rule_out(c, m, Evidence::Period);
            }
        }
    }

    /// Pairs and triangles are few enough to look at all of them.
    fn by_scan(&mut self, c: usize, component: &Component) {
        let graph = &component.graph;
        if self.wanted(c, 2) {
            let pair = graph.iter().find(|&(u, v)| u < v && graph.has_edge(v as usize, u));
            match pair {
                Some((u, v)) => self.witness[2] = Some(component.named(&[u, v])),
                None => self.rule_out(c, 2, Evidence::Scan),
            }
        }
        if self.max >= 3 && self.wanted(c, 3) {
            match triangle(graph) {
                Some(path) => self.witness[3] = Some(component.named(&path)),
                None => self.rule_out(c, 3, Evidence::Scan),
            }
        }
    }

    /// Looks at all cycles of the component, as far as `most` edges and the budget go.
    fn by_enumeration(&mut self, c: usize, component: &Component, most: u64) {
        let Some(longest) = (2..=self.max).rev().find(|&m| self.wanted(c, m)) else { return };
        if self.spent() {
            return;
        }
        let most = most.min(self.budget);
        let mut cycles = Cycles::of(vec![component.clone()], Some(longest));
        let ended = loop {
            // A cycle that is handed over costs more than an edge that is looked at.
            match cycles.next_within(most) {
                Some(Some(cycle)) => {
                    let m = cycle.len();
                    if self.witness[m].is_none() {
                        self.witness[m] = Some(cycle);
                        if !self.any_wanted(c) {
                            break true;
                        }
                    }
                }
                Some(None) => break true,
                None => break false,
            }
            if self.stop.load(Relaxed) {
                break false;
            }
        };
        self.budget = self.budget.saturating_sub(cycles.steps());
        if ended {
            for m in 2..=longest {
                if self.witness[m].is_none() {
                    self.rule_out(c, m, Evidence::Exhausted);
                }
            }
        }
    }

    /// Looks for cycles of exact length through a few promising nodes.
    fn by_guided_search(&mut self, c: usize, component: &Component) {
        const HOMES: usize = 24;
        let size = component.size() as u32;
        let mut homes: Vec<u32> = (0..size).collect();
        let transpose = component.back();
        let ways =
            |&u: &u32| component.graph.out_degree(u as usize).min(transpose.out_degree(u as usize));
        // Half of them where many ways cross, half spread over the component.
        homes.sort_by_key(|u| std::cmp::Reverse(ways(u)));
        homes.truncate(HOMES / 2);
        homes.extend((0..HOMES as u32 / 2).map(|i| i * size / (HOMES as u32 / 2)));
        for home in homes {
            if !self.any_wanted(c) || self.spent() {
                return;
            }
            self.through(c, component, home, 200_000);
        }
    }

    /// Looks for cycles through `home`; says which lengths have closed walks there.
    fn through(&mut self, c: usize, component: &Component, home: u32, most: u64) -> u64 {
        let walks = walks_to(component, home, self.max);
        let cost = (component.graph.edges() * self.max) as u64;
        self.budget = self.budget.saturating_sub(cost);
        for m in 2..=self.max {
            if !self.wanted(c, m) {
                continue;
            }
            let mut budget = most.min(self.budget);
            let before = budget;
            let found = find(component, home, &walks, m, &mut budget);
            self.budget -= before - budget;
            if let Ok(Some(path)) = found {
                // From the smallest node on, as cycles are written everywhere.
                let start = (0..path.len()).min_by_key(|&i| path[i]).unwrap_or(0);
                let path = [&path[start..], &path[..start]].concat();
                self.witness[m] = Some(component.named(&path));
            }
        }
        walks[home as usize]
    }

    /// Rules out lengths that no closed walk has, where looking from every node is affordable.
    fn by_closed_walks(&mut self, c: usize, component: &Component) {
        let cost = (component.size() as u64)
            .saturating_mul(component.graph.edges() as u64)
            .saturating_mul(self.max as u64);
        if cost > self.budget / 2 {
            return;
        }
        let mut closed = 0u64;
        for home in 0..component.size() as u32 {
            if !self.any_wanted(c) || self.spent() {
                return;
            }
            closed |= self.through(c, component, home, 20_000);
        }
        for m in 2..=self.max {
            if closed >> m & 1 == 0 {
                self.rule_out(c, m, Evidence::ClosedWalks);
            }
        }
    }

    fn report(mut self, acyclic: bool) -> LengthsReport {
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

/// A directed triangle, if there is one.
fn triangle(graph: &DiGraph) -> Option<[u32; 3]> {
    let transpose = graph.transpose();
    let mut leads_back = vec![u32::MAX; graph.nodes()];
    for u in 0..graph.nodes() as u32 {
        for &w in transpose.targets(u as usize) {
            leads_back[w as usize] = u;
        }
        // Each triangle is met at its smallest node.
        for &v in graph.targets(u as usize).iter().filter(|&&v| v > u) {
            let third = |&&w: &&u32| w > u && leads_back[w as usize] == u;
            if let Some(&w) = graph.targets(v as usize).iter().find(third) {
                return Some([u, v, w]);
            }
        }
    }
    None
}
