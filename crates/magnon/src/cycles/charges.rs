//! From cycle lengths to charges.

use super::{Flux, LengthsReport};
use crate::operator::Charge;

/// A charge worth trying, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The charge.
    pub charge: Charge,
    /// The cycle length that suggests it; `None` for charge 0.
    pub length: Option<usize>,
    /// Whether the charge acts as 0 does on this graph, up to local phases.
    pub trivial: bool,
}

impl Candidate {
    /// A charge that was given.
    pub(crate) fn only(charge: Charge) -> Self {
        Self { charge, length: None, trivial: false }
    }
}

/// Candidates, and one of them where nothing else decides.
#[derive(Clone, Debug, PartialEq)]
pub struct ChargeAdvice {
    /// 0, and 1/m for every length m that exists, by falling charge.
    pub candidates: Vec<Candidate>,
    /// The choice without labels.
    pub choice: Charge,
    /// Why.
    pub reason: String,
}

/// The paper's candidates, 1/m for every cycle length m and 0, with a choice among them.
///
/// Without labels the choice is the shortest length from 3 on whose charge does something: it makes
/// the most frequent proper cycles resonate. Pairs alone leave q = ½, which tells one-way edges from
/// mutual ones and nothing else. Acyclic and symmetric graphs get 0, as in the paper.
pub fn advise(report: &LengthsReport, flux: &Flux, symmetric: bool) -> ChargeAdvice {
    let zero = Candidate { charge: Charge::ZERO, length: None, trivial: true };
    let existing = report.lengths.iter().filter(|answer| answer.exists == Some(true));
    let mut candidates: Vec<Candidate> = existing
        .filter_map(|answer| {
            let charge = Charge::fraction(1, u32::try_from(answer.length).ok()?).ok()?;
            let trivial = symmetric || flux.is_trivial(charge.value());
            Some(Candidate { charge, length: Some(answer.length), trivial })
        })
        .collect();
    let useful = candidates.iter().filter(|candidate| !candidate.trivial);
    let by_length = |candidate: &&Candidate| (candidate.length == Some(2), candidate.length);
    let chosen = useful.min_by_key(by_length).cloned();
    let (choice, reason) = match chosen {
        _ if symmetric => {
            (Charge::ZERO, "the graph is symmetric, so the charge has no effect".to_owned())
        }
        _ if flux.free => {
            (Charge::ZERO, "no cycle carries flux, so every charge is equivalent to 0".to_owned())
        }
        _ if report.acyclic => (
            Charge::ZERO,
            "the graph is acyclic, for which the paper takes 0; it does carry flux, so another \
             charge may serve"
                .to_owned(),
        ),
        Some(Candidate { charge, length: Some(length), .. }) => {
            (charge, format!("{length} is the shortest cycle length whose charge has an effect"))
        }
        _ => (Charge::ZERO, "every candidate is equivalent to 0 on this graph".to_owned()),
    };
    candidates.push(zero);
    ChargeAdvice { candidates, choice, reason }
}
