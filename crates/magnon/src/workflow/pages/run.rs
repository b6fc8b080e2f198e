//! `report.html`: a run told on one page.

use super::cycle_evidence::cycle_evidence;
use super::date::today;
use super::run_facts::facts;
use super::save;
use crate::Error;
use crate::data::Dataset;
use crate::data::write::file_in;
use crate::model::InputShare;
use crate::operator::{Charge, Kind, OperatorConfig};
use crate::progress::Quiet;
use crate::spectrum::{EigenmapConfig, SpectrumConfig, eigenmap};
use crate::train::{RunConfig, Summary};
use crate::workflow::{ChoiceRow, KeptRun, Progress, TrainReport, figures, run_spectra};
use magnon_report::{ConfusionFigure, Control, EigenmapFigure, Report, ReportTable, SharesFigure};
use std::path::Path;

/// Graphs of up to so many nodes get a map.
const MAPPED: usize = 20_000;

/// Writes `report.html` into the folder of a run; `command` is the command line that the page shows, if any.
pub fn save_run(
    run: &KeptRun,
    folder: &Path,
    command: String,
    progress: &dyn Progress,
) -> Result<(), Error> {
    let page = self::run(run, command, progress)?;
    save(&page, &file_in(folder, "report.html")?)
}

/// The page of a run: everything about it. What cannot be drawn becomes a remark; only a progress that stops the call
/// makes it fail. `command` is the command line that the page shows, if any.
pub fn run(run: &KeptRun, command: String, progress: &dyn Progress) -> Result<Report, Error> {
    let KeptRun { config, dataset, report, .. } = run;
    let mut remarks = dataset.remarks.clone();
    let name = &dataset.name;
    let (mut spectrum, mut map) = (None, None);
    let charge = report.charge_text.as_ref().and_then(|text| text.parse::<Charge>().ok());
    if let Some(charge) = charge {
        match run_spectra(run, charge, progress) {
            Ok(found) => spectrum = found.map(figures::run_spectra),
            Err(Error::Stopped) => return Err(Error::Stopped),
            Err(error) => remarks.push(format!("no spectrum: {error}")),
        }
        match nodes_on_a_map(dataset, charge, progress) {
            Ok(figure) => map = figure,
            Err(Error::Stopped) => return Err(Error::Stopped),
            Err(error) => remarks.push(format!("no map: {error}")),
        }
    }
    let test = &report.parts.test;
    let counts = |row: &Vec<usize>| row.iter().map(|&count| count as u64).collect();
    let confusion = ConfusionFigure {
        title: format!("Test nodes of {name}"),
        class_names: test.classes.iter().map(|class| class.class.clone()).collect(),
        counts: test.confusion.iter().map(counts).collect(),
    };
    let kept = &report.kept;
    let training = figures::training(
        format!("Training on {name}, seed {}", kept.seed),
        &run.history,
        kept.figures.best_epoch,
    );
    let runs = report.runs();
    let over_runs = format!("95 % confidence interval of the mean over {runs} runs");
    let title = config.model.info().title;
    let note = match (runs, report.interval_words()) {
        (1, Some(words)) => format!("{title}: {words}"),
        (_, Some(words)) => format!("{over_runs}; {title}: {words}"),
        (1, None) => "one run".to_owned(),
        (_, None) => over_runs,
    };
    Ok(Report {
        title: format!("{title} on {name}"),
        subtitle: report.verdict.clone(),
        facts: facts(run),
        remarks,
        controls: controls(config, report),
        controls_note: note,
        shares: shares(report),
        tables: choices(report),
        cycles: run.cycles.as_ref().map(|cycles| cycle_evidence(cycles, run)),
        spectrum,
        training: Some(training),
        confusion: Some(confusion),
        eigenmap: map,
        command,
        configuration: serde_json::to_value(config).ok(),
        made_by: format!("magnon {} on {}", env!("CARGO_PKG_VERSION"), today()),
        ..Default::default()
    })
}

/// How much the model takes from each of its inputs.
fn shares(report: &TrainReport) -> Option<SharesFigure> {
    let list = |of: fn(&InputShare) -> String| report.shares.iter().map(of).collect::<Vec<_>>();
    (!report.shares.is_empty()).then(|| SharesFigure {
        title: "Weights of the channels".to_owned(),
        label: "share of the hidden layer, as the softmax weighs it".to_owned(),
        names: list(|input| input.name.clone()),
        shares: report.shares.iter().map(|input| input.share).collect(),
        notes: list(|input| input.words.clone()),
    })
}

/// The configurations that were tried, where the model leaves something open.
fn choices(report: &TrainReport) -> Vec<ReportTable> {
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
        rows: report.choices.iter().map(row).collect(),
        notes: Vec::new(),
    };
    if table.rows.is_empty() { Vec::new() } else { vec![table] }
}

/// The model and the controls beside it.
fn controls(config: &RunConfig, report: &TrainReport) -> Vec<Control> {
    let row = |name: &str, tells: &str, of: Summary, main: bool| {
        let (name, note) = (name.to_owned(), tells.to_owned());
        Control { name, accuracy: of.mean, half_width: of.ci95, runs: of.n, note, main }
    };
    let title = config.model.info().title;
    let name = report.charge_text.as_ref();
    let name = name.map_or(title.to_owned(), |charge| format!("{title}, q = {charge}"));
    let own = report.test_accuracy().map(|of| row(&name, "", of, true));
    // Without direction first: it is the nearer one.
    let others = report.controls.values().rev();
    let others =
        others.map(|control| row(&control.name, &control.tells, control.test_accuracy, false));
    own.into_iter().chain(others).collect()
}

/// The nodes on a map by the leading eigenvectors of the magnetic Laplacian.
fn nodes_on_a_map(
    dataset: &Dataset,
    charge: Charge,
    progress: &dyn Progress,
) -> Result<Option<EigenmapFigure>, Error> {
    if dataset.graph.nodes() > MAPPED || dataset.graph.nodes() < 3 {
        return Ok(None);
    }
    let kind = Kind::Laplacian;
    let operator_config = OperatorConfig { charge, kind, self_loops: false, ..Default::default() };
    let solver = SpectrumConfig { tolerance: 1e-4, ..Default::default() };
    let config = EigenmapConfig { solver, ..Default::default() };
    let map = eigenmap(&dataset.graph, &operator_config, &config, &Quiet(progress))?;
    let title = figures::eigenmap_title(&dataset.name, &charge.to_string());
    let (labels, names) = (dataset.labels.as_ref(), dataset.node_names.as_ref());
    Ok(Some(figures::map(title, &map, labels, names)))
}
