//! `report.html`: a run told on one page.

use crate::figures;
use crate::report::grouped;
use magnon::data::Dataset;
use magnon::model::InputShare;
use magnon::operator::{Charge, Kind, MagneticOperator, OperatorConfig, Pattern};
use magnon::spectrum::{
    DensityConfig, EigenmapConfig, SpectrumConfig, SpectrumError, density, eigenmap, spectrum,
};
use magnon::train::{RunConfig, Summary};
use magnon::workflow::{ChoiceRow, CycleFindings, KeptRun, TrainReport};
use magnon_plot::{
    ChargeCandidate, ConfusionFigure, Control, CycleEvidence, CycleLength, Fact, Report,
    ReportTable, SharesFigure, SpectrumCurve, SpectrumFigure,
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
pub fn report(run: &KeptRun, command: String) -> Report {
    let KeptRun { config, dataset, report: figures, .. } = run;
    let mut remarks = dataset.remarks.clone();
    let name = &dataset.name;
    let (mut spectrum, mut map) = (None, None);
    let charge = figures.charge_text.as_ref().and_then(|text| text.parse::<Charge>().ok());
    if let Some(charge) = charge {
        match spectra(run, charge) {
            Ok(figure) => spectrum = figure,
            Err(error) => remarks.push(format!("no spectrum: {error}")),
        }
        match nodes_on_a_map(dataset, charge) {
            Ok(figure) => map = figure,
            Err(error) => remarks.push(format!("no map: {error}")),
        }
    }
    let test = &figures.parts.test;
    let counts = |row: &Vec<usize>| row.iter().map(|&count| count as u64).collect();
    let confusion = ConfusionFigure {
        title: format!("Test nodes of {name}"),
        class_names: test.classes.iter().map(|class| class.class.clone()).collect(),
        counts: test.confusion.iter().map(counts).collect(),
    };
    let kept = &figures.kept;
    let training = figures::training(
        format!("Training on {name}, seed {}", kept.seed),
        &run.history,
        kept.figures.best_epoch,
    );
    let runs = figures.runs();
    let note = match (runs, figures.interval_words()) {
        (_, Some(words)) => format!("of the model: {words}"),
        (1, None) => "one run".to_owned(),
        (_, None) => format!("95 % confidence interval over {runs} runs"),
    };
    Report {
        title: format!("{} on {name}", config.model.info().title),
        subtitle: figures.verdict.clone(),
        facts: facts(run),
        remarks,
        controls: controls(config, figures),
        controls_note: note,
        shares: shares(figures),
        tables: choices(figures),
        cycles: run.cycles.as_ref().map(|cycles| evidence(cycles, figures)),
        spectrum,
        training: Some(training),
        confusion: Some(confusion),
        eigenmap: map,
        command,
        configuration: serde_json::to_value(config).ok(),
        made_by: format!("magnon {}", env!("CARGO_PKG_VERSION")),
        ..Default::default()
    }
}

/// How much the model takes from each of its inputs.
fn shares(figures: &TrainReport) -> Option<SharesFigure> {
    let list = |of: fn(&InputShare) -> String| figures.shares.iter().map(of).collect::<Vec<_>>();
    (!figures.shares.is_empty()).then(|| SharesFigure {
        title: "Weights of the channels".to_owned(),
        label: "share of the hidden layer, as the softmax weighs it".to_owned(),
        names: list(|input| input.name.clone()),
        shares: figures.shares.iter().map(|input| input.share).collect(),
        notes: list(|input| input.words.clone()),
    })
}

/// The configurations that were tried, where the model leaves something open.
fn choices(figures: &TrainReport) -> Vec<ReportTable> {
    let row = |tried: &ChoiceRow| {
        let taken = if tried.taken_by > 0 { tried.taken_by.to_string() } else { String::new() };
        let (loss, accuracy) = (tried.val_loss, 100.0 * tried.val_accuracy);
        vec![tried.words(), format!("{loss:.4}"), format!("{accuracy:.2} %"), taken]
    };
    let head = ["settings", "validation loss", "validation accuracy", "runs that took it"];
    let table = ReportTable {
        title: "Configurations tried".to_owned(),
        setting: "each trained to the end; the lowest validation loss is taken".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows: figures.choices.iter().map(row).collect(),
        notes: Vec::new(),
    };
    if table.rows.is_empty() { Vec::new() } else { vec![table] }
}

/// The model with what was chosen for it.
fn described(config: &RunConfig, figures: &TrainReport) -> String {
    let mut parts = Vec::new();
    parts.extend(figures.charge_text.as_ref().map(|charge| format!("charge q = {charge}")));
    if let Some(filter) = &config.filter {
        let order = filter.effective_order().map(|k| format!(" of order {k}"));
        parts.push(format!("{}{}", filter.kind.name(), order.unwrap_or_default()));
    }
    parts.extend(figures.pass.as_ref().map(|pass| format!("{pass} pass")));
    let summary = config.model.info().summary;
    match parts.is_empty() {
        true => summary.to_owned(),
        false => format!("{summary}: {}", parts.join(", ")),
    }
}

fn facts(run: &KeptRun) -> Vec<Fact> {
    let KeptRun { config, dataset, report: figures, .. } = run;
    let fact = |name: &str, value: String| Fact { name: name.to_owned(), value };
    let measures = magnon::graph::measure(&dataset.graph);
    let mut facts = vec![
        fact("Model", described(config, figures)),
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
    let parts = [&figures.parts.train, &figures.parts.val, &figures.parts.test];
    let sizes = parts.map(|part| part.confusion.iter().flatten().sum::<usize>().to_string());
    facts.push(fact("Training / validation / test nodes", sizes.join(" / ")));
    let settings = config.model.settings();
    if let Some(hidden) = settings.get("hidden") {
        facts.push(fact("Hidden units", hidden.to_string()));
    }
    facts.push(fact("Parameters", grouped(figures.parameters)));
    let kept = &figures.kept.figures;
    facts.push(fact("Epochs", format!("{}, best {}", kept.epochs, kept.best_epoch)));
    facts
}

fn controls(config: &RunConfig, figures: &TrainReport) -> Vec<Control> {
    let row = |name: &str, tells: &str, of: Summary, main: bool| {
        let (name, note) = (name.to_owned(), tells.to_owned());
        Control { name, accuracy: of.mean, half_width: of.ci95, runs: of.n, note, main }
    };
    let title = config.model.info().title;
    let name = figures.charge_text.as_ref();
    let name = name.map_or(title.to_owned(), |charge| format!("{title}, q = {charge}"));
    let own = figures.test_accuracy().map(|of| row(&name, "", of, true));
    // Without direction first: it is the nearer one.
    let others = figures.controls.values().rev();
    let others =
        others.map(|control| row(&control.name, &control.tells, control.test_accuracy, false));
    own.into_iter().chain(others).collect()
}

fn evidence(cycles: &CycleFindings, figures: &TrainReport) -> CycleEvidence {
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
    let charges = figures.charge_candidates.iter().map(|tried| {
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
            chosen: Some(&tried.charge_text) == figures.charge_text.as_ref(),
        }
    });
    let choice = figures.charge_text.as_ref();
    let choice = choice.map_or(String::new(), |charge| format!("q = {charge}"));
    let reason = "the smallest validation loss of the charges trained to the end".to_owned();
    let (lengths, charges) = (lengths.collect(), charges.collect());
    CycleEvidence { lengths, charges, choice, reason }
}

/// Spectra of the model's operator at several charges, with the filter's response.
fn spectra(run: &KeptRun, taken: Charge) -> Result<Option<SpectrumFigure>, SpectrumError> {
    let KeptRun { config, dataset, report: figures, .. } = run;
    let (Some(pass), Some(choice)) = (&figures.pass, &config.operator) else { return Ok(None) };
    let high = pass == "high";
    let pattern = Pattern::new(&dataset.graph).map_err(magnon::operator::OperatorError::from)?;
    let pattern = Arc::new(pattern);
    let mut charges = vec![taken, Charge::ZERO];
    if pattern.is_directed() {
        charges.extend((2..=6).filter_map(|m| Charge::fraction(1, m).ok()));
    }
    charges.sort_by(|a, b| a.value().total_cmp(&b.value()));
    charges.dedup_by(|a, b| a.value() == b.value());
    let mut curves = Vec::new();
    let mut response = None;
    for charge in charges {
        let operator_config = choice.config(charge, high);
        let operator = MagneticOperator::from_pattern(pattern.clone(), &operator_config)?;
        let eigenvalues = match dataset.graph.nodes() <= EXACT {
            true => spectrum(&operator, &SpectrumConfig::default(), &|_, _| true)?.eigenvalues,
            false => quantiles(&operator)?,
        };
        curves.push(SpectrumCurve {
            charge: charge.value(),
            eigenvalues,
            approximation: Vec::new(),
        });
        if charge == taken
            && let Some(of) = &config.filter
            && let Ok(filter) = of.build(operator.bounds(), operator.config().kind)
        {
            let name = of.kind.name().to_owned();
            response = Some(figures::response(name, &filter, operator.bounds()));
        }
    }
    let how = if dataset.graph.nodes() <= EXACT { "" } else { ", from their density" };
    let title = format!("Eigenvalues of the operator{how}, and the filter's response");
    Ok(Some(SpectrumFigure { title, curves, response }))
}

/// About where the eigenvalues are, in equal shares, from their density.
fn quantiles(operator: &MagneticOperator) -> Result<Vec<f64>, SpectrumError> {
    let config = DensityConfig { points: 2000, ..Default::default() };
    let found = density(operator, &config, &|_, _| true)?;
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
    charge: Charge,
) -> Result<Option<magnon_plot::EigenmapFigure>, SpectrumError> {
    if dataset.graph.nodes() > MAPPED || dataset.graph.nodes() < 3 {
        return Ok(None);
    }
    let kind = Kind::Laplacian;
    let operator_config = OperatorConfig { charge, kind, self_loops: false, ..Default::default() };
    let solver = SpectrumConfig { tolerance: 1e-4, ..Default::default() };
    let config = EigenmapConfig { solver, ..Default::default() };
    let map = eigenmap(&dataset.graph, &operator_config, &config, &|_, _| true)?;
    let title = format!("{} by eigenvectors of its magnetic Laplacian, q = {charge}", dataset.name);
    Ok(Some(figures::eigenmap(title, &map, dataset)))
}

/// The command line, with quotes where a shell needs them.
pub fn command() -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+%@".contains(c);
    let quoted = |word: String| match word.chars().all(plain) && !word.is_empty() {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    let words = crate::words().map(quoted);
    std::iter::once("magnon".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}
