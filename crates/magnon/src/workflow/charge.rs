//! Which cycles a graph has, and the charges that they suggest.

use super::Progress;
use crate::Error;
use crate::cycles::{ChargeAdvice, LengthsConfig, LengthsReport, advise, cycle_lengths, flux};
use crate::graph::DiGraph;

/// What was found out about the cycles of a graph.
#[derive(Clone, Debug)]
pub struct CycleFindings {
    /// Which lengths exist.
    pub lengths: LengthsReport,
    /// The charges that they suggest.
    pub advice: ChargeAdvice,
}

/// Looks for cycles of the lengths that charges come from.
pub fn find_cycles(graph: &DiGraph, progress: &dyn Progress) -> Result<CycleFindings, Error> {
    let stop = progress.stop_flag();
    let lengths = cycle_lengths(graph, &LengthsConfig::default(), stop);
    let flux = flux(graph, stop).ok_or(Error::Stopped)?;
    if progress.is_stopped() {
        return Err(Error::Stopped);
    }
    let advice = advise(&lengths, &flux, graph.is_symmetric());
    Ok(CycleFindings { lengths, advice })
}
