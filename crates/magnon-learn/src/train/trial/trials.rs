//! `Trials`: what the trials of an experiment have in common.

use super::monitor::{Monitor, ResultHook};
use super::{Repeat, Variant};
use crate::model::{MappedRows, PassEvidence, SharedInputs};
use crate::train::{Checkpoints, RunConfig, Seconds, Targets};
use magnon_core::compute::Engine;
use magnon_core::graph::DiGraph;
use magnon_core::matrix::Features;
use magnon_core::operator::{Charge, Pattern};
use magnon_data::{Labels, Split};
use std::sync::Arc;
use std::time::Instant;

/// The data, the configuration, and the splits and seeds of trials.
pub(in crate::train) struct Trials<'a> {
    pub config: &'a RunConfig,
    pub graph: &'a DiGraph,
    pub features: &'a Features,
    pub labels: &'a Labels,
    pub splits: Vec<Split>,
    pub repeats: Vec<Repeat>,
    pub pass: Option<PassEvidence>,
    /// Filtered features from a file, in place of those computed, and the charge that they are of.
    pub mapped: Option<(Charge, MappedRows)>,
    pub checkpoints: Option<Checkpoints>,
    /// What other experiments on the same data have computed.
    pub shared: Option<&'a SharedInputs>,
    /// Whether a single run leaves the other threads alone.
    pub one_thread: bool,
    pub on_result: Option<ResultHook<'a>>,
}

impl Trials<'_> {
    /// The model at a charge.
    pub fn variant(&self, charge: Option<Charge>) -> Variant {
        Variant { model: self.config.model.clone(), charge, choice: 0, symmetrised: false }
    }

    /// Training and validation nodes of a split.
    pub fn targets(&self, split: &Split) -> [Targets; 2] {
        [&split.train, &split.val].map(|nodes| Targets::of(nodes, self.labels))
    }

    /// The runs of each split, by number.
    pub fn by_split(&self) -> Vec<Vec<usize>> {
        let numbered = || self.repeats.iter().enumerate();
        let of = |split: usize| {
            let own = numbered().filter(move |(_, repeat)| repeat.split == split);
            own.map(|(run, _)| run).collect::<Vec<_>>()
        };
        (0..self.splits.len()).map(of).filter(|group| !group.is_empty()).collect()
    }
}

/// What all trials of a call work with.
pub(in crate::train) struct TrialContext<'s> {
    pub engine: &'s Engine,
    pub pattern: &'s Arc<Pattern>,
    pub monitor: &'s Monitor<'s>,
    pub seconds: &'s mut Seconds,
}

/// Runs `work` and adds its time.
pub(in crate::train) fn timed<T>(seconds: &mut f64, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *seconds += start.elapsed().as_secs_f64();
    result
}
