//! Directed cycles, the flux of all cycles, and the charges that they suggest.
//!
//! The paper sets q = 1/m where the graph has a directed m-cycle, m ≥ 2. Which lengths exist is
//! answered with evidence by [`cycle_lengths`]; [`Cycles`] lists the cycles themselves and
//! [`count_cycles`] counts them on all threads. [`flux()`] looks at every cycle of the underlying
//! graph, which tells which charges have the same spectrum. A self loop is no cycle here: it carries no
//! phase, and the paper's lengths start at 2.

mod allowance;
mod analysis;
mod barrier;
mod bits;
mod charges;
mod component;
mod count;
mod enumerate;
mod flux;
mod lengths;
mod nearby_nodes;
mod period;
mod scan;
mod search;
mod walks;

pub use charges::{Candidate, ChargeAdvice, advise};
pub use count::{CycleCounts, count_cycles};
pub use enumerate::Cycles;
pub use flux::{Flux, flux};
pub use lengths::{Evidence, LengthAnswer, LengthsConfig, LengthsReport, cycle_lengths};
