//! `report.html`: a run told on one page.

use crate::commands::cycles::{evidence as evidence_words, show};
use crate::date::today;
use crate::figures;
use crate::report::grouped;
use crate::run_spectra;
use magnon::data::Dataset;
use magnon::model::InputShare;
use magnon::operator::{Charge, Kind, OperatorConfig};
use magnon::spectrum::{EigenmapConfig, SpectrumConfig, SpectrumError, eigenmap};
use magnon::train::{RunConfig, Summary};
use magnon::workflow::{ChoiceRow, CycleFindings, KeptRun, TrainReport, run_spectra};
use magnon_report::{
    ChargeCandidate, ConfusionFigure, Control, CycleEvidence, CycleLength, Fact, Report,
    ReportTable, SharesFigure,
};

/// Graphs of up to so many nodes get a map.
const MAPPED: usize = 20_000;

/// Gathers everything about a run. What cannot be drawn becomes a remark.
pub fn report(run: &KeptRun, command: String) -> Report {
    let KeptRun { config, dataset, report: figures, .. } = run;
    let mut remarks = dataset.remarks.clone();
    let name = &dataset.name;
    let (mut spectrum, mut map) = (None, None);
    let charge = figures.charge_text.as_ref().and_then(|text| text.parse::<Charge>().ok());
    if let Some(charge) = charge {
        match run_spectra(run, charge) {
            Ok(found) => spectrum = found.map(run_spectra::figure),
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
    let over_runs = format!("95 % confidence interval of the mean over {runs} runs");
    let title = config.model.info().title;
    let note = match (runs, figures.interval_words()) {
        (1, Some(words)) => format!("{title}: {words}"),
        (_, Some(words)) => format!("{over_runs}; {title}: {words}"),
        (1, None) => "one run".to_owned(),
        (_, None) => over_runs,
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
        cycles: run.cycles.as_ref().map(|cycles| evidence(cycles, run)),
        spectrum,
        training: Some(training),
        confusion: Some(confusion),
        eigenmap: map,
        command,
        configuration: serde_json::to_value(config).ok(),
        made_by: format!("magnon {} on {}", env!("CARGO_PKG_VERSION"), today()),
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

/// What was chosen for the model.
fn chosen(config: &RunConfig, figures: &TrainReport) -> Vec<Fact> {
    let fact = |name: &str, value: String| Fact { name: name.to_owned(), value };
    let mut facts = Vec::new();
    if let Some(charge) = &figures.charge_text {
        let how = if figures.charge_candidates.len() > 1 { ", chosen" } else { "" };
        facts.push(fact("Charge", format!("q = {charge}{how}")));
    }
    if let Some(filter) = &config.filter {
        let order = filter.effective_order().map(|k| format!(" of order {k}"));
        facts.push(fact("Filter", format!("{}{}", filter.kind.name(), order.unwrap_or_default())));
    }
    facts.extend(figures.pass.as_ref().map(|pass| fact("Pass", pass.clone())));
    facts
}

fn facts(run: &KeptRun) -> Vec<Fact> {
    let KeptRun { config, dataset, report: figures, .. } = run;
    let fact = |name: &str, value: String| Fact { name: name.to_owned(), value };
    let measures = magnon::graph::measure(&dataset.graph);
    let mut facts = vec![fact("Model", config.model.info().summary.to_owned())];
    facts.extend(chosen(config, figures));
    facts.extend([
        fact("Nodes", grouped(dataset.graph.nodes())),
        fact("Edges", grouped(dataset.graph.edges())),
        fact("Reciprocity", format!("{:.3}", measures.reciprocity)),
    ]);
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
    let sizes = parts.map(|part| grouped(part.confusion.iter().flatten().sum()));
    facts.push(fact("Training / validation / test nodes", sizes.join(" / ")));
    let settings = config.model.settings();
    if let Some(hidden) = settings.get("hidden") {
        facts.push(fact("Hidden units", hidden.to_string()));
    }
    facts.push(fact("Parameters", grouped(figures.parameters)));
    let kept = &figures.kept.figures;
    facts.push(fact("Epochs", format!("{}, best {}", kept.epochs, kept.best_epoch)));
    facts.push(fact("Fingerprint of the data", magnon::workflow::fingerprint(dataset)));
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

fn evidence(cycles: &CycleFindings, run: &KeptRun) -> CycleEvidence {
    let figures = &run.report;
    let names = run.dataset.node_names.as_ref();
    let lengths = cycles.lengths.lengths.iter().map(|answer| {
        let found = match answer.exists {
            Some(true) => "yes",
            Some(false) => "no",
            None => "undecided",
        };
        let witness = answer.witness.as_ref().map(|cycle| show(cycle, names, usize::MAX));
        CycleLength {
            length: answer.length,
            found: found.to_owned(),
            evidence: evidence_words(answer.evidence).to_owned(),
            witness: witness.unwrap_or_default(),
            count: None,
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

/// The nodes on a map by the leading eigenvectors of the magnetic Laplacian.
fn nodes_on_a_map(
    dataset: &Dataset,
    charge: Charge,
) -> Result<Option<magnon_report::EigenmapFigure>, SpectrumError> {
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
