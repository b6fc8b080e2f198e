//! Which cycles a graph has, and the charges that they suggest.

use super::{Phases, Progress};
use crate::Error;
use crate::cycles::{
    Candidate, ChargeAdvice, CycleCounts, LengthAnswer, LengthsConfig, LengthsReport, advise,
    cycle_lengths, flux,
};
use crate::data::Dataset;
use crate::graph::DiGraph;
use crate::operator::Phase;
use crate::train::RunConfig;
use serde::Serialize;
use std::collections::BTreeMap;

/// What was found out about the cycles of a graph.
#[derive(Clone, Debug)]
pub struct CycleFindings {
    /// Which lengths exist.
    pub lengths: LengthsReport,
    /// The charges that they suggest.
    pub advice: ChargeAdvice,
}

/// What `cycles` found, as it is printed and given to others.
#[derive(Clone, Debug, Serialize)]
pub struct CyclesReport {
    /// The data set.
    pub name: String,
    /// Its nodes.
    pub nodes: usize,
    /// Its edges.
    pub edges: usize,
    /// Whether it is known that there is no directed cycle.
    pub acyclic: bool,
    /// Whether every edge has a reverse of the same weight.
    pub symmetric: bool,
    /// An answer for each length.
    pub lengths: Vec<LengthAnswer>,
    /// Number of cycles of each length, where they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<BTreeMap<usize, u64>>,
    /// Whether all were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete: Option<bool>,
    /// Whether no cycle of the underlying graph has flux.
    pub flux_free: Option<bool>,
    /// Greatest common divisor of all fluxes.
    pub flux_divisor: Option<u64>,
    /// Charges so far apart have the same spectrum.
    pub charge_period: Option<f64>,
    /// The charges that the cycles suggest; `None` where the search was stopped before.
    pub charges: Option<Vec<ChargeRow>>,
    /// The one without labels.
    pub choice: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Whether the search was stopped.
    pub interrupted: bool,
}

/// A charge that cycles suggest.
#[derive(Clone, Debug, Serialize)]
pub struct ChargeRow {
    /// The charge as a fraction.
    pub fraction: String,
    /// The charge.
    pub value: f64,
    /// The length that suggests it.
    pub length: Option<usize>,
    /// Whether the operator has the spectrum that it has at 0.
    pub same_spectrum_as_zero: bool,
}

impl CyclesReport {
    /// Adds what was counted.
    pub fn with_counts(self, counts: &CycleCounts) -> Self {
        let (counts, complete) = (Some(counts.by_length.clone()), Some(counts.complete));
        Self { counts, complete, ..self }
    }
}

/// Which lengths of cycles exist, the flux of all cycles, and the charges that they suggest. A search that
/// is stopped gives what is known by then.
pub fn cycles(
    dataset: &Dataset,
    config: &LengthsConfig,
    seconds: &mut Phases,
    progress: &dyn Progress,
) -> CyclesReport {
    let (graph, stop) = (&dataset.graph, progress.stop_flag());
    let found = seconds.time("cycles", || cycle_lengths(graph, config, stop));
    let flux = seconds.time("flux", || flux(graph, Phase::default(), stop));
    let symmetric = graph.is_symmetric();
    let advice = flux.map(|flux| advise(&found, &flux, symmetric));
    let divisor = flux.and_then(|flux| flux.divisor);
    let row = |candidate: &Candidate| ChargeRow {
        fraction: candidate.charge.to_string(),
        value: candidate.charge.value(),
        length: candidate.length,
        same_spectrum_as_zero: candidate.gauge_equivalent,
    };
    CyclesReport {
        name: dataset.name.clone(),
        nodes: graph.nodes(),
        edges: graph.edges(),
        acyclic: found.acyclic,
        symmetric,
        lengths: found.lengths,
        counts: None,
        complete: None,
        flux_free: flux.map(|flux| flux.free),
        flux_divisor: divisor,
        charge_period: divisor.filter(|&g| g > 0).map(|g| 1.0 / g as f64),
        charges: advice.as_ref().map(|advice| advice.candidates.iter().map(row).collect()),
        choice: advice.as_ref().map(|advice| advice.choice.to_string()),
        reason: advice.map(|advice| advice.reason),
        interrupted: progress.is_stopped(),
    }
}

/// Looks for cycles of the lengths that charges come from; `phase` says what edges gain on the way.
pub fn find_cycles(
    graph: &DiGraph,
    phase: Phase,
    progress: &dyn Progress,
) -> Result<CycleFindings, Error> {
    let stop = progress.stop_flag();
    let lengths = cycle_lengths(graph, &LengthsConfig::default(), stop);
    let flux = flux(graph, phase, stop).ok_or(Error::Stopped)?;
    if progress.is_stopped() {
        return Err(Error::Stopped);
    }
    let advice = advise(&lengths, &flux, graph.is_symmetric());
    Ok(CycleFindings { lengths, advice })
}

/// What edges gain on the way in the operator of a configuration.
pub(super) fn phase_of(config: &RunConfig) -> Phase {
    config.operator.map_or_else(Phase::default, |operator| operator.phase)
}
