//! What `magnon train` prints.

use crate::report::{Report, grouped};
use magnon::cycles::ChargeAdvice;
use magnon::data::Dataset;
use magnon::train::{CandidateResult, Outcome, RunConfig, Summary, TrialResult};
use serde_json::{Map, Value, json};

/// Charges that are shown.
const SHOWN: usize = 5;

/// Describes a run in lines for people and keys for scripts.
pub fn describe(
    config: &RunConfig,
    dataset: &Dataset,
    outcome: &Outcome,
    advice: Option<&ChargeAdvice>,
    report: &mut Report,
) {
    let Some(best) = outcome.best() else { return };
    keys(config, dataset, outcome, best, advice, report);
    let sizes = format!(
        "{} nodes, {} edges",
        grouped(dataset.graph.nodes()),
        grouped(dataset.graph.edges())
    );
    report.line("data", format!("{}: {sizes}", dataset.name));
    report.line("model", model(config, outcome));
    charges(outcome, report);
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
    report.line("test", format!("{name:<31} {}", spread(Outcome::summary(&outcome.runs))));
    for control in &outcome.controls {
        report
            .line("", format!("{:<31} {}", control.name, spread(Outcome::summary(&control.runs))));
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
pub fn named(config: &RunConfig, outcome: &Outcome) -> String {
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

fn keys(
    config: &RunConfig,
    dataset: &Dataset,
    outcome: &Outcome,
    best: &TrialResult,
    advice: Option<&ChargeAdvice>,
    report: &mut Report,
) {
    report.key("model", config.model.info().name);
    report.key("dataset", dataset.name.as_str());
    report.key("nodes", dataset.graph.nodes());
    report.key("edges", dataset.graph.edges());
    report.key("charge", outcome.charge.map(|charge| charge.value()));
    report.key("charge_text", outcome.charge.map(|charge| charge.to_string()));
    report.key("charge_candidates", candidates(outcome));
    let untried: Vec<String> = outcome.untried.iter().map(|charge| charge.to_string()).collect();
    report.key("charges_untried", untried);
    report.key("charge_reason", advice.map(|advice| advice.reason.clone()));
    report.key("pass", outcome.pass.map(|pass| pass.name()));
    report.key("train_homophily", outcome.pass.and_then(|pass| pass.homophily));
    report.key("chance_homophily", outcome.pass.and_then(|pass| pass.chance));
    report.key("filter", config.filter.as_ref().map(|filter| filter.kind.name()));
    let order = config.filter.as_ref().and_then(|filter| filter.effective_order());
    report.key("order", order);
    report.key("product_order", json!(outcome.order));
    report.key("parameters", best.parameters);
    report.key("training_bytes", best.bytes);
    match &outcome.runs[..] {
        [run] => figures(run, &mut |name, value| report.key(name, value)),
        runs => {
            // Figures of all runs; those of the run that was kept stand apart.
            let summary = |of: &dyn Fn(&TrialResult) -> f64| {
                json!(Summary::of(&runs.iter().map(of).collect::<Vec<_>>()))
            };
            report.key("epochs", summary(&|run| run.history.len() as f64));
            report.key("train_accuracy", summary(&|run| run.metrics[0].accuracy));
            report.key("val_accuracy", summary(&|run| run.metrics[1].accuracy));
            report.key("test_accuracy", summary(&|run| run.metrics[2].accuracy));
            report.key("val_loss", summary(&|run| run.best.val_loss));
            report.key("runs", runs.iter().map(run_json).collect::<Vec<_>>());
        }
    }
    report.key("kept", run_json(best));
    let controls: Map<String, Value> = outcome
        .controls
        .iter()
        .map(|control| (control.key.to_owned(), json!(Outcome::summary(&control.runs))))
        .collect();
    report.key("controls", controls);
}

fn candidates(outcome: &Outcome) -> Value {
    let list = outcome.candidates.iter().map(|result| {
        json!({
            "charge": result.candidate.charge.value(),
            "charge_text": result.candidate.charge.to_string(),
            "length": result.candidate.length,
            "same_spectrum_as_zero": result.candidate.gauge_equivalent,
            "val_loss": result.val_loss,
            "val_accuracy": result.val_accuracy,
            "dropped_after": result.dropped_after,
        })
    });
    list.collect()
}

/// The figures of one run.
fn figures(run: &TrialResult, put: &mut dyn FnMut(&str, Value)) {
    let [train, val, test] = &run.metrics;
    put("epochs", json!(run.history.len()));
    put("best_epoch", json!(run.best.epoch));
    put("train_accuracy", json!(train.accuracy));
    put("val_accuracy", json!(val.accuracy));
    put("test_accuracy", json!(test.accuracy));
    put("val_loss", json!(run.best.val_loss));
}

fn run_json(run: &TrialResult) -> Value {
    let mut map = Map::new();
    map.insert("seed".to_owned(), json!(run.trial.seed));
    map.insert("split".to_owned(), json!(run.trial.split));
    figures(run, &mut |name, value| {
        map.insert(name.to_owned(), value);
    });
    Value::Object(map)
}

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// Mean with its confidence interval, or the one value.
fn spread(summary: Option<Summary>) -> String {
    match summary {
        Some(Summary { mean, ci95: Some(half), n, .. }) => {
            format!("{:.2} ± {:.2} % (95 % interval, {n} runs)", 100.0 * mean, 100.0 * half)
        }
        Some(Summary { mean, .. }) => percent(mean),
        None => String::new(),
    }
}
