//! `magnon train`: fit a model, and leave a run folder.

use crate::args::{
    Common, DataArgs, FilterArgs, ModelArgs, OperatorArgs, RunsArgs, TrainFlags, find_cycles,
};
use crate::data::{generator, read_dataset};
use crate::interrupt::{interrupted, stoppable};
use crate::presets::preset;
use crate::progress::Watcher;
use crate::report::{Bar, Clock, Report, grouped, usage};
use crate::run_report;
use anyhow::Context;
use clap::Args;
use magnon::cycles::ChargeAdvice;
use magnon::data::{Dataset, FeatureNorm};
use magnon::model::ModelKind;
use magnon::nn::Field;
use magnon::run::{Known, RunConfig, RunFolder, SavedModel};
use magnon::train::{
    CandidateResult, ChargeChoice, Experiment, MappedRows, Outcome, Summary, TrainError,
    TrialResult,
};
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Args)]
pub struct TrainArgs {
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub operator: OperatorArgs,
    #[command(flatten)]
    pub filter: FilterArgs,
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub train: TrainFlags,
    #[command(flatten)]
    pub runs: RunsArgs,
    /// Start from the paper's hyper-parameters for a data set, or from a file such as the
    /// config.json of a run; flags given beside it come first
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    pub preset: Option<String>,
    /// Take the filtered features from this .npy file of `magnon propagate`, mapped and not loaded
    #[arg(long, value_name = "F.npy", help_heading = "Training")]
    pub filtered: Option<PathBuf>,
    /// Write model, history and metrics to this folder
    #[arg(long, value_name = "RUN", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Replace the run that --out holds
    #[arg(long, requires = "out", help_heading = "Output")]
    pub overwrite: bool,
    /// Go on with the interrupted run that --out holds
    #[arg(long, requires = "out", conflicts_with_all = ["overwrite", "preset"], help_heading = "Output")]
    pub resume: bool,
    /// Leave out report.html, whose spectra and map take a while on large graphs
    #[arg(long, help_heading = "Output")]
    pub no_report: bool,
    /// Epochs between two checkpoints in --out
    #[arg(long, value_name = "N", default_value_t = 500, help_heading = "Output")]
    pub checkpoint_every: usize,
}

impl TrainArgs {
    /// The recipe: a preset, an earlier run or the defaults, with the flags on top.
    fn config(&self, common: &Common) -> anyhow::Result<RunConfig> {
        let stored = match (&self.out, self.resume) {
            (Some(out), true) => Some(RunFolder::begun_config(out)?),
            _ => None,
        };
        let mut config = match (&stored, &self.preset) {
            (Some(stored), _) => stored.clone(),
            (None, Some(name)) => {
                let config = preset(name)?;
                if self.data.data.is_none() && !std::path::Path::new(name).is_file() {
                    return Err(usage(format!(
                        "the preset {name} has hyper-parameters only; name the data too, as in: \
                         magnon train DATA --preset {name}"
                    )));
                }
                config
            }
            (None, None) => RunConfig::default(),
        };
        self.data.apply(&mut config.data);
        config.data.filtered = self.filtered.clone().or(config.data.filtered.take());
        self.operator.apply(&mut config.operator)?;
        self.filter.apply(&mut config.filter)?;
        self.model.apply(&mut config.model)?;
        self.train.apply(&mut config.train)?;
        self.runs.apply(&mut config.runs)?;
        // On the built-in graph the controls are what there is to see.
        config.runs.controls |= stored.is_none() && config.data.source == "demo";
        config.train.seed = common.seed.unwrap_or(config.train.seed);
        if config.data.source.is_empty() {
            return Err(usage("DATA is empty; name a folder, a file or a generator"));
        }
        absolute(&mut config)?;
        if self.checkpoint_every == 0 {
            return Err(usage("--checkpoint-every must be at least 1"));
        }
        if let Some(stored) = stored
            && stored != config
        {
            return Err(usage(
                "--resume goes on with the recipe that the run was begun with; leave out the \
                 flags that change it, or begin a new run",
            ));
        }
        Ok(config)
    }
}

/// Makes paths independent of the folder that the command was called in.
fn absolute(config: &mut RunConfig) -> anyhow::Result<()> {
    let data = &mut config.data;
    if generator(&data.source).is_none() {
        let source = std::path::absolute(&data.source)?;
        data.source = source.to_string_lossy().into_owned();
    }
    let files = [&mut data.features, &mut data.labels, &mut data.filtered];
    for path in files.into_iter().flatten() {
        *path = std::path::absolute(&path)?;
    }
    Ok(())
}

pub fn run(args: &TrainArgs, common: &Common) -> anyhow::Result<()> {
    let config = args.config(common)?;
    let options = Options {
        out: args.out.clone(),
        overwrite: args.overwrite,
        resume: args.resume,
        every: args.checkpoint_every,
        report: !args.no_report,
    };
    train(&config, &options, common)
}

/// Where a run goes, and where it comes from.
pub struct Options {
    pub out: Option<PathBuf>,
    pub overwrite: bool,
    pub resume: bool,
    pub every: usize,
    /// Whether the run gets a `report.html`.
    pub report: bool,
}

/// Trains as the recipe says, writes the run folder and reports.
pub fn train(config: &RunConfig, options: &Options, common: &Common) -> anyhow::Result<()> {
    let mut clock = Clock::default();
    let dataset = clock.phase("load", || read_dataset(&config.data, config.train.seed, common))?;
    let experiment = Experiment::new(&dataset, config)?;
    let mut experiment = match (&config.data.filtered, config.operator.charge) {
        (Some(path), ChargeChoice::Auto) => {
            return Err(usage(format!(
                "{}: features are filtered with one charge; name it with --charge",
                path.display()
            )));
        }
        (Some(path), ChargeChoice::Fixed(charge)) => {
            experiment.with_filtered(charge, MappedRows::open(path)?)?
        }
        (None, _) => experiment,
    };
    let unseen = experiment.unseen_classes();
    if !unseen.is_empty() && !common.quiet {
        let names = unseen.join(", ");
        eprintln!("note: no training node is of class {names}; it will hardly be predicted");
    }
    let folder = match &options.out {
        Some(out) => {
            let folder = RunFolder::begin(out, config, options.overwrite, options.resume)?;
            experiment =
                experiment.with_checkpoints(folder.checkpoints(options.every, options.resume));
            Some(folder)
        }
        None => None,
    };
    let auto = config.operator.charge == ChargeChoice::Auto && config.model.kind == ModelKind::Mgc;
    let cycles = auto.then(|| clock.phase("cycles", || find_cycles(&dataset.graph)));
    let advice = cycles.as_ref().map(|cycles| &cycles.advice);
    let outcome = stoppable(|stop| {
        let watcher = Watcher::new(common, stop, config.train.patience);
        experiment.run(advice, &watcher)
    });
    let outcome = match outcome {
        Err(TrainError::Stopped(epoch)) if interrupted() => {
            match &folder {
                Some(folder) => eprintln!(
                    "stopped at epoch {epoch}; go on with: magnon train --resume --out {}",
                    folder.path().display()
                ),
                None => eprintln!("stopped at epoch {epoch}; nothing was kept, for want of --out"),
            }
            std::process::exit(130);
        }
        Err(error) => {
            if let Some(folder) = &folder {
                folder.abandon();
            }
            return Err(error.into());
        }
        Ok(outcome) => outcome,
    };
    clock.add("operator", outcome.seconds.operator);
    clock.add("propagate", outcome.seconds.propagate);
    clock.add("train", outcome.seconds.train);

    let mut report = Report::default();
    describe(config, &dataset, &outcome, advice, &mut report);
    if let Some(folder) = folder {
        report.key("out", folder.path().display().to_string());
        save(&folder, config, &dataset, &outcome, &report, &mut clock)?;
        if options.report {
            // The model is safe; a page that cannot be drawn is no reason to fail.
            let bar = Bar::open_ended("report", common);
            let page = clock.phase("report", || {
                run_report::report(config, &dataset, &outcome, cycles.as_ref())
            });
            drop(bar);
            let saved = page.map(|page| page.save(folder.file("report.html")));
            if let Some(Err(error)) = saved {
                eprintln!("note: there is no report.html: {error}");
            }
        }
        report.line("run", format!("{}/", folder.path().display()));
    }
    report.print(common, clock)
}

/// Writes what came of the run into its folder.
fn save(
    folder: &RunFolder,
    config: &RunConfig,
    dataset: &Dataset,
    outcome: &Outcome,
    report: &Report,
    clock: &mut Clock,
) -> anyhow::Result<()> {
    let best = outcome.best().context("there is at least one run")?;
    let labels = dataset.labels.as_ref().context("there are labels")?;
    let features = dataset.features.as_ref().context("there are features")?;
    let saved = SavedModel {
        model: config.model,
        operator: config.operator.config(outcome.charge, outcome.pass.high),
        filter: config.filter.clone(),
        feature_norm: if dataset.scaled { FeatureNorm::Row } else { FeatureNorm::None },
        width: features.cols(),
        complex: best.weights.first().is_some_and(|(_, shape, _)| shape.field == Field::Complex),
        classes: labels.names.clone(),
        weights: best.weights.clone(),
    };
    let known = Known::new(&dataset.graph, features, best.log_probabilities.clone());
    let mut metrics = report.keys().clone();
    metrics.insert("seconds".to_owned(), clock.seconds());
    let [train, val, test] = &best.metrics;
    metrics.insert("parts".to_owned(), json!({ "train": train, "val": val, "test": test }));
    clock.phase("write", || folder.finish(config, &saved, &known, &best.history, &metrics))?;
    Ok(())
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

fn describe(
    config: &RunConfig,
    dataset: &Dataset,
    outcome: &Outcome,
    advice: Option<&ChargeAdvice>,
    report: &mut Report,
) {
    let Some(best) = outcome.best() else { return };
    let mgc = config.model.kind == ModelKind::Mgc;
    report.key("model", config.model.kind.name());
    report.key("dataset", dataset.name.as_str());
    report.key("nodes", dataset.graph.nodes());
    report.key("edges", dataset.graph.edges());
    report.key("charge", if mgc { json!(outcome.charge.value()) } else { Value::Null });
    report.key("charge_text", if mgc { json!(outcome.charge.to_string()) } else { Value::Null });
    report.key("charge_candidates", candidates(outcome));
    report.key("charge_reason", advice.map(|advice| advice.reason.clone()));
    report.key("pass", if mgc { json!(outcome.pass.name()) } else { Value::Null });
    report.key("train_homophily", outcome.pass.homophily);
    report.key("chance_homophily", outcome.pass.chance);
    report.key("filter", if mgc { json!(config.filter.kind.name()) } else { Value::Null });
    report.key("order", if mgc { json!(config.filter.effective_order()) } else { Value::Null });
    report.key("plan", json!(outcome.plan));
    report.key("kept", json!({ "seed": best.trial.seed, "split": best.trial.split }));
    keys_of(best, &mut |name, value| report.key(name, value));
    if outcome.runs.len() > 1 {
        let runs: Vec<Value> = outcome.runs.iter().map(run_json).collect();
        report.key("runs", runs);
        report.key("test_accuracy", json!(Outcome::summary(&outcome.runs)));
    }
    let controls: serde_json::Map<String, Value> = outcome
        .controls
        .iter()
        .map(|control| {
            let name = control.runs.first().map_or("", |run| match run.trial.model {
                ModelKind::Mlp => "mlp",
                ModelKind::Mgc => "undirected",
            });
            (name.to_owned(), json!(Outcome::summary(&control.runs)))
        })
        .collect();
    report.key("controls", controls);

    let sizes = format!(
        "{} nodes, {} edges",
        grouped(dataset.graph.nodes()),
        grouped(dataset.graph.edges())
    );
    report.line("data", format!("{}: {sizes}", dataset.name));
    if mgc {
        let order = config.filter.effective_order().map(|k| format!(", order {k}"));
        let evidence = outcome.pass.words().map(|words| format!(" ({words})"));
        report.line(
            "model",
            format!(
                "mgc, q = {}, {}{}, {} pass{}",
                outcome.charge,
                config.filter.kind.name(),
                order.unwrap_or_default(),
                outcome.pass.name(),
                evidence.unwrap_or_default()
            ),
        );
    } else {
        report.line("model", config.model.kind.name());
    }
    // The best first; on graphs with many cycles there may be twenty.
    let mut candidates: Vec<_> = outcome.candidates.iter().collect();
    let loss = |c: &CandidateResult| c.val_loss.unwrap_or(f64::INFINITY);
    candidates.sort_by(|a, b| loss(a).total_cmp(&loss(b)));
    let most = 4;
    for (i, candidate) in candidates.iter().take(most).enumerate() {
        let why = candidate
            .candidate
            .length
            .map_or("no direction".to_owned(), |m| format!("cycles of {m}"));
        let result = match (candidate.val_loss, candidate.val_accuracy) {
            (Some(loss), Some(accuracy)) => {
                format!("validation loss {loss:.4}, accuracy {}", percent(accuracy))
            }
            _ => "acts as 0 does on this graph".to_owned(),
        };
        let mark = if candidate.candidate.charge == outcome.charge { "  ← taken" } else { "" };
        let charge = candidate.candidate.charge.to_string();
        let name = if i == 0 { "charges" } else { "" };
        report.line(name, format!("q = {charge:<5} {why:<13} {result}{mark}"));
    }
    if candidates.len() > most {
        report.line("", format!("and {} others, with larger losses", candidates.len() - most));
    }
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
    let name = if mgc { format!("MGC, q = {}", outcome.charge) } else { "MLP".to_owned() };
    report.line("test", format!("{name:<28} {}", spread(Outcome::summary(&outcome.runs))));
    for control in &outcome.controls {
        report
            .line("", format!("{:<28} {}", control.name, spread(Outcome::summary(&control.runs))));
    }
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
        })
    });
    list.collect()
}

/// The keys of one run.
fn keys_of(run: &TrialResult, put: &mut dyn FnMut(&str, Value)) {
    let [train, val, test] = &run.metrics;
    put("epochs", json!(run.history.len()));
    put("best_epoch", json!(run.best.epoch));
    put("train_accuracy", json!(train.accuracy));
    put("val_accuracy", json!(val.accuracy));
    put("test_accuracy", json!(test.accuracy));
    put("val_loss", json!(run.best.val_loss));
}

fn run_json(run: &TrialResult) -> Value {
    let mut map = serde_json::Map::new();
    map.insert("seed".to_owned(), json!(run.trial.seed));
    map.insert("split".to_owned(), json!(run.trial.split));
    keys_of(run, &mut |name, value| {
        map.insert(name.to_owned(), value);
    });
    Value::Object(map)
}
