//! Cycles, the charges that they suggest, and the choice.

use crate::figure::draw::escape::Escaped;
use crate::figure::draw::number;
use crate::figure::draw::table::Table;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Why the charge is what it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CycleEvidence {
    /// Cycle lengths looked for.
    pub lengths: Vec<CycleLength>,
    /// Charges considered.
    pub charges: Vec<ChargeCandidate>,
    /// The choice, as `q = 1/3`.
    pub choice: String,
    /// The reason for it, in a sentence.
    pub reason: String,
}

/// Whether directed cycles of one length exist.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CycleLength {
    /// The length.
    pub length: usize,
    /// `yes`, `no` or `not settled`.
    pub found: String,
    /// How this is known, as the search that was done.
    pub evidence: String,
    /// How many there are, where they were counted.
    pub count: Option<u64>,
    /// A cycle of that length, by its nodes, as `a → b → a`; empty where none is at hand.
    pub witness: String,
}

/// A charge that was considered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChargeCandidate {
    /// The charge q.
    pub charge: f64,
    /// Where it comes from, as `3-cycles`.
    pub origin: String,
    /// Loss on the validation nodes, where it was tried.
    pub val_loss: Option<f64>,
    /// Accuracy on the validation nodes, a share of 1.
    pub val_accuracy: Option<f64>,
    /// The one that was taken.
    pub chosen: bool,
}

/// So many cycles are shown at once; more are folded away.
const FEW: usize = 6;

impl CycleEvidence {
    pub(super) fn html(&self) -> String {
        let mut out = String::new();
        if !self.choice.is_empty() {
            let (choice, reason) = (Escaped(&self.choice), Escaped(&self.reason));
            let _ = writeln!(
                out,
                "<p class=\"choice\"><strong><bdi>{choice}</bdi></strong> <bdi>{reason}</bdi></p>"
            );
        }
        let mut tables = Vec::new();
        if !self.lengths.is_empty() {
            let (folded, witnesses) = (self.lengths().html(), self.witnesses());
            tables.push(format!("<div class=\"block\">{folded}{witnesses}</div>"));
        }
        if !self.charges.is_empty() {
            let chosen = self.charges.iter().position(|candidate| candidate.chosen);
            tables.push(format!("<div class=\"block\">{}</div>", self.charges().marked(chosen)));
        }
        out + &super::pair(tables)
    }

    /// The cycles that were found, written out.
    fn witnesses(&self) -> String {
        let found = self.lengths.iter().filter(|length| !length.witness.is_empty());
        let rows: Vec<Vec<String>> =
            found.map(|length| vec![length.length.to_string(), length.witness.clone()]).collect();
        if rows.is_empty() {
            return String::new();
        }
        let head = ["length", "cycle"].map(str::to_owned).into();
        let open = if rows.len() <= FEW { " open" } else { "" };
        let table = Table { caption: "A cycle of each length".into(), head, rows }.html();
        format!("<details{open}><summary>A cycle of each length</summary>\n{table}</details>\n")
    }

    /// The answers; neighbouring lengths with the same one share a row.
    fn lengths(&self) -> Table {
        let counted = self.lengths.iter().any(|length| length.count.is_some());
        let mut head = vec!["length".to_owned(), "exists".into()];
        if counted {
            head.push("cycles".into());
        }
        head.push("evidence".into());
        let row = |group: &[CycleLength]| {
            let ([length, ..], [.., last]) = (group, group) else { return Vec::new() };
            let lengths = match group.len() {
                1 => length.length.to_string(),
                _ => format!("{}–{}", length.length, last.length),
            };
            let mut row = vec![lengths, length.found.clone()];
            if counted {
                row.push(length.count.map_or_else(dash, |count| number::count(count as usize)));
            }
            row.push(length.evidence.clone());
            row
        };
        let alike = |a: &CycleLength, b: &CycleLength| {
            let answer = |length: &CycleLength| (length.found.clone(), length.evidence.clone());
            b.length == a.length + 1 && answer(a) == answer(b) && a.count == b.count
        };
        let rows = self.lengths.chunk_by(alike).map(row).collect();
        Table { caption: "Directed cycles".into(), head, rows }
    }

    fn charges(&self) -> Table {
        let head = ["q", "from", "validation loss", "validation accuracy", ""];
        let row = |candidate: &ChargeCandidate| {
            vec![
                number::charge(candidate.charge),
                candidate.origin.clone(),
                candidate.val_loss.map_or_else(dash, |loss| number::short(loss, 4)),
                candidate.val_accuracy.map_or_else(dash, number::per_cent),
                if candidate.chosen { "chosen".into() } else { String::new() },
            ]
        };
        Table {
            caption: "Charges considered".into(),
            head: head.map(str::to_owned).into(),
            rows: self.charges.iter().map(row).collect(),
        }
    }
}

/// What stands where a value was not measured.
pub(super) fn dash() -> String {
    "–".to_owned()
}
