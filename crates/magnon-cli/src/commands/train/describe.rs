//! What `magnon train` prints.

use crate::report::{Report, grouped};
use magnon::model::InputShare;
use magnon::train::{CandidateResult, Outcome, RunConfig, Summary};
use magnon::workflow::{TrainReport, Trained};

/// Charges that are shown.
const SHOWN: usize = 5;

/// Describes a run in lines for people.
pub fn describe(config: &RunConfig, trained: &Trained, report: &mut Report) {
    let Trained { outcome, dataset, .. } = trained;
    let Some(best) = outcome.best() else { return };
    let sizes = format!(
        "{} nodes, {} edges",
        grouped(dataset.graph.nodes()),
        grouped(dataset.graph.edges())
    );
    report.line("data", format!("{}: {sizes}", dataset.name));
    report.line("model", model(config, outcome));
    charges(outcome, report);
    inputs(&trained.report, report);
    let kept = match outcome.runs.len() {
        1 => String::new(),
        _ => format!("kept seed {}, split {}: ", best.trial.seed, best.trial.split),
    };
    report.line(
        "training",
        format!(
            "{}{} epochs, the best was {}: validation loss {:.4}, accuracy {}",
            kept,
            best.history.len(),
            best.best.epoch,
            best.best.val_loss,
            percent(best.best.val_accuracy)
        ),
    );
    let name = named(config, outcome);
    let interval = trained.report.interval_words().map(|words| format!(" ({words})"));
    let accuracy = mean(Outcome::summary(&outcome.runs));
    report.line("test", format!("{name:<31} {accuracy}{}", interval.unwrap_or_default()));
    for control in &outcome.controls {
        let difference = trained.report.controls.get(control.key).and_then(|row| row.difference);
        let difference = difference.map(|d| match d.ci95 {
            Some(half) => format!(" (difference {:+.1} ± {:.1})", 100.0 * d.mean, 100.0 * half),
            None => format!(" (difference {:+.1})", 100.0 * d.mean),
        });
        let accuracy = mean(Outcome::summary(&control.runs));
        let line = format!("{:<31} {accuracy}{}", control.name, difference.unwrap_or_default());
        report.line("", line);
    }
    // Accuracy and interval stand above; the rest of the verdict follows them.
    if let Some((_, rest)) = trained.report.verdict.split_once("%. ") {
        report.line("verdict", rest);
    }
    if let Some(folder) = &trained.folder {
        report.line("run", format!("{}/", folder.path().display()));
    }
}

/// The model with what was chosen for it.
fn model(config: &RunConfig, outcome: &Outcome) -> String {
    let mut parts = vec![config.model.info().name.to_owned()];
    parts.extend(outcome.charge.map(|charge| format!("q = {charge}")));
    if let Some(filter) = &config.filter {
        parts.push(filter.kind.name().to_owned());
        parts.extend(filter.effective_order().map(|k| format!("order {k}")));
    }
    if let Some(pass) = outcome.pass {
        let evidence = pass.words().map(|words| format!(" ({words})"));
        parts.push(format!("{} pass{}", pass.name(), evidence.unwrap_or_default()));
    }
    parts.join(", ")
}

/// The model's title with its charge.
fn named(config: &RunConfig, outcome: &Outcome) -> String {
    let title = config.model.info().title;
    outcome.charge.map_or(title.to_owned(), |charge| format!("{title}, q = {charge}"))
}

/// The charges that were tried: those trained to the end, the best first, and those that fell behind.
fn charges(outcome: &Outcome, report: &mut Report) {
    let rank =
        |result: &CandidateResult| result.dropped_after.map_or(0, |epochs| usize::MAX - epochs);
    let mut tried: Vec<&CandidateResult> = outcome.candidates.iter().collect();
    tried.sort_by(|a, b| rank(a).cmp(&rank(b)).then(a.val_loss.total_cmp(&b.val_loss)));
    for (i, result) in tried.iter().take(SHOWN).enumerate() {
        let CandidateResult { candidate, val_loss, val_accuracy, dropped_after, .. } = result;
        let why = candidate.length.map_or("no direction".to_owned(), |m| format!("cycles of {m}"));
        let mark = match dropped_after {
            None if Some(candidate.charge) == outcome.charge => "  ← taken".to_owned(),
            None => String::new(),
            Some(epochs) => format!(", behind after {epochs} epochs"),
        };
        let charge = candidate.charge.to_string();
        let figures = format!("validation loss {val_loss:.4}, accuracy {}", percent(*val_accuracy));
        let name = if i == 0 { "charges" } else { "" };
        report.line(name, format!("q = {charge:<5} {why:<13} {figures}{mark}"));
    }
    let hidden = tried.len().saturating_sub(SHOWN);
    let mut rest = Vec::new();
    if hidden > 0 {
        rest.push(match hidden {
            1 => "one more was tried and fell behind".to_owned(),
            _ => format!("{hidden} more were tried and fell behind"),
        });
    }
    if !outcome.untried.is_empty() {
        let names: Vec<String> = outcome.untried.iter().map(|charge| charge.to_string()).collect();
        rest.push(format!("not tried, away from the best: {}", names.join(", ")));
    }
    if !rest.is_empty() {
        report.line("", rest.join("; "));
    }
}

/// The configurations that were tried, and what the one that was kept takes from its inputs.
fn inputs(figures: &TrainReport, report: &mut Report) {
    let runs = figures.runs();
    for (i, choice) in figures.choices.iter().enumerate() {
        let taken = match choice.taken_by {
            0 => String::new(),
            all if all == runs => "  ← taken".to_owned(),
            some => format!("  ← taken by {some} of {runs} runs"),
        };
        let (loss, accuracy) = (choice.val_loss, percent(choice.val_accuracy));
        let name = if i == 0 { "tried" } else { "" };
        let figures = format!("validation loss {loss:.4}, accuracy {accuracy}{taken}");
        report.line(name, format!("{}: {figures}", choice.words()));
    }
    let mut shares: Vec<&InputShare> = figures.shares.iter().collect();
    shares.sort_by(|a, b| b.share.total_cmp(&a.share));
    for (i, InputShare { name, words, share }) in shares.iter().enumerate() {
        let label = if i == 0 { "weights" } else { "" };
        report.line(label, format!("{:>5.1} %  {name}: {words}", 100.0 * share));
    }
}

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// The mean of the runs.
fn mean(summary: Option<Summary>) -> String {
    summary.map_or(String::new(), |summary| percent(summary.mean))
}
