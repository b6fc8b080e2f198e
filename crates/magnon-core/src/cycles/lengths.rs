//! Which cycle lengths exist, with evidence.

use super::analysis::Analysis;
use super::component::Component;
use crate::graph::DiGraph;
use crate::progress::Progress;
use serde::Serialize;

/// Configuration of a length analysis.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `max_length` | 20 | longest length asked about | 2 to 63 |
/// | `budget` | 100 million | edges looked at before a length is left undecided | |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthsConfig {
    /// Longest length asked about; larger values count as 63.
    pub max_length: usize,
    /// Edges looked at before a length is left undecided.
    pub budget: u64,
}

impl Default for LengthsConfig {
    fn default() -> Self {
        Self { max_length: 20, budget: 100_000_000 }
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
    /// The budget ran out first, or the search was stopped: nothing is known.
    Budget,
}

impl Evidence {
    /// The argument, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Acyclic => "the graph is acyclic",
            Self::ComponentSize => "no strong component has so many nodes",
            Self::Period => "the period of the components forbids it",
            Self::Scan => "all were looked at",
            Self::ClosedWalks => "there is not even a closed walk",
            Self::Exhausted => "the search came to its end",
            Self::Witness => "a cycle of that length was found",
            Self::Budget => "the budget ran out",
        }
    }
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
    /// Whether it is known that there is no directed cycle at all.
    pub acyclic: bool,
    /// An answer for each length.
    pub lengths: Vec<LengthAnswer>,
}

/// Says for each length up to `max_length` whether a directed cycle of that length exists.
///
/// Cheap arguments come first: component sizes, periods and pairs, which take a few passes over the
/// graph; then triangles and searches, whose edges the budget counts. What it leaves undecided is left
/// so, hence the time is at most proportional to the size of the graph and the budget together. The
/// budget counts edges, not time, so the answers are the same everywhere, unless `stop` is set, which
/// ends the analysis with what is known by then.
pub fn cycle_lengths(
    graph: &DiGraph,
    config: &LengthsConfig,
    progress: &dyn Progress,
) -> LengthsReport {
    let stop = progress.stop_flag();
    let max = config.max_length.clamp(2, 63);
    let Some(components) = Component::all(graph, stop) else {
        return Analysis::new(1, max, config.budget, stop).report(false);
    };
    let mut analysis = Analysis::new(components.len(), max, config.budget, stop);
    for (c, component) in components.iter().enumerate() {
        analysis.by_size_and_period(c, component);
        analysis.by_scan(c, component);
    }
    // Small components first: their searches end, and what they find others need not look for.
    let mut order: Vec<usize> = (0..components.len()).collect();
    order.sort_by_key(|&c| components[c].size());
    for &c in &order {
        // What these may take grows with the size, so that cost and answers do not depend on it.
        let edges = components[c].graph.edges() as u64;
        analysis.by_enumeration(c, &components[c], max, (1_000_000 + 2 * edges, 16 * edges));
        analysis.by_deepening(c, &components[c], 4_000_000.max(40 * edges));
    }
    for &c in order.iter().rev() {
        analysis.by_guided_search(c, &components[c]);
    }
    for &c in &order {
        analysis.by_closed_walks(c, &components[c]);
        analysis.by_deepening(c, &components[c], u64::MAX);
        analysis.by_enumeration(c, &components[c], max, (u64::MAX, u64::MAX));
    }
    analysis.report(components.is_empty())
}
