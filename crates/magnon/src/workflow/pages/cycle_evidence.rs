//! Cycles, the charges that they suggest, and the choice of a run.

use crate::workflow::{CycleFindings, KeptRun, cycle_text};
use magnon_report::{ChargeCandidate, CycleEvidence, CycleLength};

/// Which cycle lengths exist, and the charges that were tried.
pub(super) fn cycle_evidence(cycles: &CycleFindings, run: &KeptRun) -> CycleEvidence {
    let report = &run.report;
    let names = run.dataset.node_names.as_ref();
    let lengths = cycles.lengths.lengths.iter().map(|answer| {
        let found = match answer.exists {
            Some(true) => "yes",
            Some(false) => "no",
            None => "undecided",
        };
        let witness = answer.witness.as_ref().map(|cycle| cycle_text(cycle, names, usize::MAX));
        CycleLength {
            length: answer.length,
            found: found.to_owned(),
            evidence: answer.evidence.words().to_owned(),
            witness: witness.unwrap_or_default(),
            count: None,
        }
    });
    let charges = report.charge_candidates.iter().map(|tried| {
        let origin = tried.length.map_or("no direction".to_owned(), |m| {
            let same = if tried.same_spectrum_as_zero { ", same spectrum as 0" } else { "" };
            format!("cycles of {m}{same}")
        });
        let dropped = tried.dropped_after.map(|n| format!(", behind after {n} epochs"));
        let finished = tried.dropped_after.is_none();
        ChargeCandidate {
            charge: tried.charge,
            origin: origin + &dropped.unwrap_or_default(),
            val_loss: finished.then_some(tried.val_loss),
            val_accuracy: finished.then_some(tried.val_accuracy),
            chosen: Some(&tried.charge_text) == report.charge_text.as_ref(),
        }
    });
    let choice = report.charge_text.as_ref();
    let choice = choice.map_or(String::new(), |charge| format!("q = {charge}"));
    let reason = "the smallest validation loss of the charges trained to the end".to_owned();
    let (lengths, charges) = (lengths.collect(), charges.collect());
    CycleEvidence { lengths, charges, choice, reason }
}
