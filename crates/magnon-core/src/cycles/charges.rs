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
    /// Whether the operator has the spectrum that it has at charge 0, because no cycle has a phase:
    /// S_q = D\*S_0D with a diagonal D of phases. Features are filtered to D\*h(S_0)DX, which is not
    /// h(S_0)X, so the charge is no less worth trying.
    pub gauge_equivalent: bool,
}

impl Candidate {
    /// A charge that was given.
    pub fn only(charge: Charge) -> Self {
        Self { charge, length: None, gauge_equivalent: false }
    }
}

/// Candidates, and one of them where nothing else decides.
#[derive(Clone, Debug, PartialEq)]
pub struct ChargeAdvice {
    /// 1/m for every length m that exists, by falling charge, and 0; on a symmetric graph, where
    /// every charge gives the same operator, 0 alone.
    pub candidates: Vec<Candidate>,
    /// The choice without labels.
    pub choice: Charge,
    /// Why.
    pub reason: String,
}

/// The paper's candidates, 1/m for every cycle length m and 0, with a choice among them.
///
/// Without labels the choice is 1/m for the shortest length m ≥ 3 that exists: it makes the most
/// frequent proper cycles resonate. Pairs alone leave q = ½, which tells one-way edges from mutual
/// ones and nothing else. Acyclic and symmetric graphs get 0, as in the paper.
pub fn advise(report: &LengthsReport, flux: &Flux, symmetric: bool) -> ChargeAdvice {
    let existing = report.lengths.iter().filter(|answer| answer.exists == Some(true));
    let mut candidates: Vec<Candidate> = existing
        .filter(|_| !symmetric)
        .filter_map(|answer| {
            let charge = Charge::fraction(1, u32::try_from(answer.length).ok()?).ok()?;
            let gauge_equivalent = flux.is_gauge(charge.value());
            Some(Candidate { charge, length: Some(answer.length), gauge_equivalent })
        })
        .collect();
    let by_length = |candidate: &&Candidate| (candidate.length == Some(2), candidate.length);
    let (choice, reason) = match candidates.iter().min_by_key(by_length) {
        _ if symmetric => (
            Charge::ZERO,
            "the graph is symmetric, so every charge gives the same operator".to_owned(),
        ),
        Some(Candidate { charge, length: Some(2), .. }) => {
            (*charge, "pairs joined both ways are the only cycles that were found".to_owned())
        }
        Some(Candidate { charge, length: Some(length), .. }) => {
            (*charge, shortest(report, *length))
        }
        _ if report.acyclic => {
            let other = match flux.free {
                true => "another would turn phases and leave the spectrum as it is",
                false => "it does carry flux, so another charge may serve",
            };
            (Charge::ZERO, format!("the graph is acyclic, for which the paper takes 0; {other}"))
        }
        _ => (Charge::ZERO, "no length of a directed cycle is known".to_owned()),
    };
    candidates.push(Candidate { charge: Charge::ZERO, length: None, gauge_equivalent: true });
    ChargeAdvice { candidates, choice, reason }
}

/// Says that `length` is the shortest from 3 on, as far as that is known.
fn shortest(report: &LengthsReport, length: usize) -> String {
    let open = |answer: &&super::LengthAnswer| answer.exists.is_none() && answer.length >= 3;
    match report.lengths.iter().find(open) {
        Some(answer) if answer.length < length => format!(
            "{length} is the shortest cycle length from 3 on that was found, with {} undecided",
            answer.length
        ),
        _ => format!("{length} is the shortest cycle length from 3 on"),
    }
}
