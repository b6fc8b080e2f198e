//! `report.html`: a run told on one page.

use crate::args::CycleFindings;
use crate::figures;
use crate::report::grouped;
use magnon::data::Dataset;
use magnon::model::ModelKind;
use magnon::operator::{Charge, Kind, MagneticOperator, OperatorConfig, Pattern};
use magnon::run::RunConfig;
use magnon::spectrum::{
    DensityConfig, EigenmapConfig, SpectrumConfig, SpectrumError, density, eigenmap, spectrum,
};
use magnon::train::{CandidateResult, Outcome, Summary, TrialResult};
use magnon_plot::{
    ChargeCandidate, ConfusionFigure, Control, CycleEvidence, CycleLength, Fact, Report,
    SpectrumCurve, SpectrumFigure,
};
use std::sync::Arc;

/// Graphs of up to so many nodes get exact eigenvalues in the report, larger ones quantiles of
/// their density.
const EXACT: usize = 700;
/// Graphs of up to so many nodes get a map.
const MAPPED: usize = 20_000;
/// Points of a curve from quantiles.
const QUANTILES: usize = 400;

/// Gathers everything about a run. What cannot be drawn becomes a remark.
pub fn report(
    config: &RunConfig,
    dataset: &Dataset,
    outcome: &Outcome,
    cycles: Option<&CycleFindings>,
) -> Option<Report> {
    let best = outcome.best()?;
    let mgc = config.model.kind == ModelKind::Mgc;
    let mut remarks = dataset.remarks.clone();
    let name = &dataset.name;
    let (mut spectrum, mut map) = (None, None);
    if mgc {
        match spectra(config, dataset, outcome) {
            Ok(figure) => spectrum = Some(figure),
            Err(error) => remarks.push(format!("no spectrum: {error}")),
        }
        match nodes_on_a_map(dataset, outcome) {
            Ok(figure) => map = figure,
            Err(error) => remarks.push(format!("no map: {error}")),
        }
    }
    let confusion = ConfusionFigure {
        title: format!("Test nodes of {name}"),
        class_names: best.metrics[2].classes.iter().map(|class| class.class.clone()).collect(),
        counts: best.metrics[2]
            .confusion
            .iter()
            .map(|row| row.iter().map(|&count| count as u64).collect())
            .collect(),
    };
    let training = figures::training(
        format!("Training on {name}, seed {}", best.trial.seed),
        &best.history,
        best.best.epoch,
    );
    let several = outcome.runs.len() > 1;
    let note = format!("95 % confidence interval over {} runs", outcome.runs.len());
    Some(Report {
        title: format!("{} on {name}", config.model.kind.name().to_uppercase()),
        subtitle: subtitle(config, outcome),
        facts: facts(config, dataset, best),
        remarks,
        controls: controls(config, outcome),
        controls_note: if several { note } else { "one run".to_owned() },
        cycles: cycles.map(|cycles| evidence(cycles, outcome)),
        spectrum,
        training: Some(training),
        confusion: Some(confusion),
        eigenmap: map,
        command: command(),
        configuration: serde_json::to_value(config).ok(),
        made_by: format!("magnon {}", env!("CARGO_PKG_VERSION")),
        ..Default::default()
    })
}

fn subtitle(config: &RunConfig, outcome: &Outcome) -> String {
    if config.model.kind == ModelKind::Mlp {
        return "A network on the features alone, blind to the graph".to_owned();
    }
    let order = config.filter.effective_order().map(|k| format!(" of order {k}"));
    format!(
        "Charge q = {}, {}{}, {} pass",
        outcome.charge,
        config.filter.kind.name(),
        order.unwrap_or_default(),
        outcome.pass.name()
    )
}

fn facts(config: &RunConfig, dataset: &Dataset, best: &TrialResult) -> Vec<Fact> {
    let fact = |name: &str, value: String| Fact { name: name.to_owned(), value };
    let measures = magnon::graph::measure(&dataset.graph);
    let mut facts = vec![
        fact("Nodes", grouped(dataset.graph.nodes())),
        fact("Edges", grouped(dataset.graph.edges())),
        fact("Reciprocity", format!("{:.3}", measures.reciprocity)),
    ];
    if let Some(features) = &dataset.features {
        facts.push(fact("Feature columns", grouped(features.cols())));
    }
    if let Some(labels) = &dataset.labels {
        facts.push(fact("Classes", labels.names.len().to_string()));
        let homophily = magnon::graph::homophily(&dataset.graph, &labels.classes);
        if let Some(node) = homophily.node {
            facts.push(fact("Node homophily", format!("{node:.3}")));
        }
    }
    let sizes: Vec<String> = best
        .metrics
        .iter()
        .map(|part| part.confusion.iter().flatten().sum::<usize>().to_string())
        .collect();
    facts.push(fact("Training / validation / test nodes", sizes.join(" / ")));
    facts.push(fact("Hidden units", config.model.hidden.to_string()));
    facts.push(fact("Epochs", format!("{}, best {}", best.history.len(), best.best.epoch)));
    facts
}

fn controls(config: &RunConfig, outcome: &Outcome) -> Vec<Control> {
    let row = |name: String, runs: &[TrialResult], main: bool| {
        let Summary { mean, ci95, n, .. } = Outcome::summary(runs)?;
        let note = match (main, runs.first()?.trial.model) {
            (true, _) => "",
            (false, ModelKind::Mgc) => "how much is left without direction",
            (false, ModelKind::Mlp) => "how much the features tell by themselves",
        };
        let note = note.to_owned();
        Some(Control { name, accuracy: mean, half_width: ci95, runs: n, note, main })
    };
    let name = match config.model.kind {
        ModelKind::Mgc => format!("MGC, q = {}", outcome.charge),
        ModelKind::Mlp => "MLP".to_owned(),
    };
    let own = row(name, &outcome.runs, true);
    let others = outcome.controls.iter();
    let others = others.filter_map(|control| row(control.name.to_owned(), &control.runs, false));
    own.into_iter().chain(others).collect()
}

fn evidence(cycles: &CycleFindings, outcome: &Outcome) -> CycleEvidence {
    let lengths = cycles.lengths.lengths.iter().map(|answer| {
        let evidence = serde_json::to_value(answer.evidence).ok();
        let evidence = evidence.and_then(|value| value.as_str().map(str::to_owned));
        CycleLength {
            length: answer.length as _,
            found: match answer.exists {
                Some(true) => "yes",
                Some(false) => "no",
                None => "undecided",
            }
            .to_owned(),
            evidence: evidence.unwrap_or_default(),
            ..Default::default()
        }
    });
    let charges = outcome.candidates.iter().map(|result: &CandidateResult| {
        let origin = result.candidate.length.map_or("no direction".to_owned(), |m| {
            let trivial =
                if result.candidate.gauge_equivalent { ", same spectrum as 0" } else { "" };
            format!("cycles of {m}{trivial}")
        });
        ChargeCandidate {
            charge: result.candidate.charge.value(),
            origin,
            val_loss: result.val_loss,
            val_accuracy: result.val_accuracy,
            chosen: result.candidate.charge == outcome.charge,
        }
    });
    let choice = format!("q = {}", outcome.charge);
    let reason = "the smallest validation loss of the charges tried".to_owned();
    let (lengths, charges) = (lengths.collect(), charges.collect());
    CycleEvidence { lengths, charges, choice, reason }
}

/// Spectra of the model's operator at several charges, with the filter's response.
fn spectra(
    config: &RunConfig,
    dataset: &Dataset,
    outcome: &Outcome,
) -> Result<SpectrumFigure, SpectrumError> {
    let pattern = Pattern::new(&dataset.graph).map_err(magnon::operator::OperatorError::from)?;
    let pattern = Arc::new(pattern);
    let mut charges = vec![outcome.charge, Charge::ZERO];
    if pattern.is_directed() {
        charges.extend((2..=6).filter_map(|m| Charge::fraction(1, m).ok()));
    }
    charges.sort_by(|a, b| a.value().total_cmp(&b.value()));
    charges.dedup_by(|a, b| a.value() == b.value());
    let mut curves = Vec::new();
    let mut response = None;
    for charge in charges {
        let recipe = config.operator.config(charge, outcome.pass.high);
        let operator = MagneticOperator::from_pattern(pattern.clone(), &recipe)?;
        let eigenvalues = match dataset.graph.nodes() <= EXACT {
            true => spectrum(&operator, &SpectrumConfig::default(), &|_, _| ())?.eigenvalues,
            false => quantiles(&operator)?,
        };
        curves.push(SpectrumCurve {
            charge: charge.value(),
            eigenvalues,
            approximation: Vec::new(),
        });
        if charge == outcome.charge
            && let Ok(filter) = config.filter.build(operator.bounds(), operator.config().kind)
        {
            let name = config.filter.kind.name().to_owned();
            response = Some(figures::response(name, &filter, operator.bounds()));
        }
    }
    let how = if dataset.graph.nodes() <= EXACT { "" } else { ", from their density" };
    let title = format!("Eigenvalues of the operator{how}, and the filter's response");
    Ok(SpectrumFigure { title, curves, response })
}

/// About where the eigenvalues are, in equal shares, from their density.
fn quantiles(operator: &MagneticOperator) -> Result<Vec<f64>, SpectrumError> {
    let config = DensityConfig { points: 2000, ..Default::default() };
    let found = density(operator, &config, &|_, _| ())?;
    let mut at = 0;
    let value = |k: usize| {
        let share = (k as f64 + 0.5) / QUANTILES as f64;
        while at + 1 < found.lambda.len() && found.cumulative[at] < share {
            at += 1;
        }
        found.lambda[at]
    };
    Ok((0..QUANTILES).map(value).collect())
}

/// The nodes on a map by the leading eigenvectors of the magnetic Laplacian.
fn nodes_on_a_map(
    dataset: &Dataset,
    outcome: &Outcome,
) -> Result<Option<magnon_plot::EigenmapFigure>, SpectrumError> {
    if dataset.graph.nodes() > MAPPED || dataset.graph.nodes() < 3 {
        return Ok(None);
    }
    let charge = outcome.charge;
    let kind = Kind::Laplacian;
    let recipe = OperatorConfig { charge, kind, self_loops: false, ..Default::default() };
    let solver = SpectrumConfig { tolerance: 1e-4, ..Default::default() };
    let config = EigenmapConfig { solver, ..Default::default() };
    let map = eigenmap(&dataset.graph, &recipe, &config, &|_, _| ())?;
    let title = format!("{} by eigenvectors of its magnetic Laplacian, q = {charge}", dataset.name);
    Ok(Some(figures::eigenmap(title, &map, dataset)))
}

/// The command line, with quotes where a shell needs them.
fn command() -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+%@".contains(c);
    let quoted = |word: String| match word.chars().all(plain) && !word.is_empty() {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    let words = std::env::args().skip(1).map(quoted);
    std::iter::once("magnon".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}
