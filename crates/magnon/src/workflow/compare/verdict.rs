//! What the figures of a comparison carry, in words.

use super::result::{Comparison, ModelRow};
use crate::train::Difference;
use serde::Serialize;

/// Differences with a smaller p-value count as shown.
pub(super) const LEVEL: f64 = 0.05;

/// An answer to one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// Yes, beyond chance.
    Helps,
    /// The control does better, beyond chance.
    Hurts,
    /// The figures do not show it either way.
    NotShown,
    /// It cannot, whatever the figures.
    Cannot,
    /// Nothing was trained that could tell.
    Untested,
}

/// A finding, in words.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The finding.
    pub answer: Finding,
    /// The model that was held against its controls: the best on validation nodes.
    pub model: Option<String>,
    /// The finding with its figures.
    pub text: String,
}

/// What the comparison says.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// Does the graph help?
    pub graph: Answer,
    /// Does its direction help?
    pub direction: Answer,
    /// Models that cannot be told from the one that validation would take, that one included.
    pub alike: Vec<String>,
    /// All in words.
    pub text: String,
}

/// A control, what it is called, and how the model differs from it.
pub(super) struct Against {
    pub control: &'static str,
    pub difference: Option<Difference>,
}

/// A question is answered with yes only where the model does better than all controls, each beyond
/// chance: a false alarm then needs the least likely of them.
pub(super) fn answer(what: &str, model: &str, against: &[Against]) -> Answer {
    let figures: Vec<String> = against.iter().filter_map(described).collect();
    let judged: Vec<Difference> = against.iter().filter_map(|of| of.difference).collect();
    let shown = |of: &Difference| of.p < LEVEL;
    let better = |of: &Difference| shown(of) && of.mean > 0.0;
    let worse = |of: &Difference| shown(of) && of.mean < 0.0;
    let figures = figures.join(", ");
    let (answer, text) = if judged.is_empty() || judged.len() < against.len() {
        (Finding::Untested, format!("whether {what} helps was not tested: a control failed"))
    } else if judged.iter().all(better) {
        (Finding::Helps, format!("{what} helps: {model} is {figures}"))
    } else if judged.iter().any(worse) {
        (Finding::Hurts, format!("{what} does not help: {model} is {figures}"))
    } else {
        (Finding::NotShown, format!("there is no evidence that {what} helps: {model} is {figures}"))
    };
    Answer { answer, model: Some(model.to_owned()), text }
}

fn described(of: &Against) -> Option<String> {
    let Difference { mean, ci95, p } = of.difference?;
    let half = ci95.map_or(String::new(), |half| format!(" ± {:.1}", 100.0 * half));
    let side = if mean < 0.0 { "below" } else { "above" };
    let points = format!("{:.1}{half} points {side} {}", 100.0 * mean.abs(), of.control);
    let sign = if p < 0.001 { "" } else { "= " };
    Some(format!("{points} (p {sign}{})", p_text(p)))
}

/// A p-value as it is printed.
pub(super) fn p_text(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

/// The models that cannot be told from the reference.
pub(super) fn alike(models: &[ModelRow], reference: Option<&str>) -> Vec<String> {
    let same = |row: &&ModelRow| {
        Some(row.model.as_str()) == reference
            || row.difference.as_ref().is_some_and(|of| of.p_holm >= LEVEL)
    };
    models.iter().filter(same).map(|row| row.model.clone()).collect()
}

/// All sentences in one text.
pub(super) fn text(comparison: &Comparison, alike: &[String]) -> String {
    let sentence = |text: &str| {
        let mut letters = text.chars();
        let first = letters.next().map(|letter| letter.to_uppercase().collect::<String>());
        format!("{}{}.", first.unwrap_or_default(), letters.as_str())
    };
    let verdict = &comparison.verdict;
    let mut parts = vec![sentence(&verdict.graph.text), sentence(&verdict.direction.text)];
    let compared = comparison.models.iter().filter(|row| row.error.is_none()).count();
    if let (Some(reference), true) = (&comparison.reference, compared > 1) {
        let others: Vec<&str> =
            alike.iter().filter(|name| *name != reference).map(String::as_str).collect();
        let reference = format!("validation would take {reference}");
        parts.push(sentence(&match &others[..] {
            [] => format!("{reference}, which differs from all others beyond chance"),
            [.., last] if others.len() > 1 => {
                let first = others[..others.len() - 1].join(", ");
                format!("{reference}; {first} and {last} cannot be told from it")
            }
            [only, ..] => format!("{reference}; {only} cannot be told from it"),
        }));
    }
    parts.join(" ")
}
