//! `magnon train`: fit a model, and leave a run folder.

mod describe;

pub use describe::named;

use crate::args::{Common, ConfigArgs, DataArgs, RunsArgs, find_cycles};
use crate::data::read_dataset;
use crate::interrupt::{interrupted, stoppable};
use crate::progress::Watcher;
use crate::report::{Bar, Clock, Report, usage};
use crate::run_report;
use anyhow::{Context, anyhow};
use clap::Args;
use magnon::data::{Dataset, FeatureNorm};
use magnon::model::{ChargeChoice, MappedRows};
use magnon::run::{FileError, PredictionCache, RunFolder, SavedModel};
use magnon::train::{Experiment, Outcome, RunConfig, TrainError};
use magnon::workflow::generator;
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct TrainArgs {
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub config: ConfigArgs,
    #[command(flatten)]
    pub runs: RunsArgs,
    /// Take the filtered features from this .npy file of `magnon propagate`, read row by row and not loaded
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
    /// The configuration: a preset, an earlier run or the model's defaults, with the flags on top.
    fn config(&self, common: &Common) -> anyhow::Result<RunConfig> {
        let stored = match (&self.out, self.resume) {
            (Some(out), true) => Some(RunFolder::begun_config(out)?),
            _ => None,
        };
        let mut config = match &stored {
            Some(stored) => stored.clone(),
            None => self.config.config()?,
        };
        if let (None, Some(name)) = (&self.data.data, &self.config.preset)
            && !Path::new(name).is_file()
        {
            return Err(usage(format!(
                "the preset {name} has hyper-parameters only; name the data too, as in: \
                 magnon train DATA --preset {name}"
            )));
        }
        if stored.is_some() {
            self.config.model.choose(&mut config)?;
        }
        self.data.apply(&mut config.data, common)?;
        config.data.filtered = self.filtered.clone().or(config.data.filtered.take());
        self.config.apply(&mut config)?;
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
        config.check().map_err(usage)?;
        if let Some(stored) = stored
            && stored != config
        {
            return Err(usage(
                "--resume goes on with the configuration that the run was begun with; leave out the \
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

/// Trains as the configuration says, writes the run folder and reports.
pub fn train(config: &RunConfig, options: &Options, common: &Common) -> anyhow::Result<()> {
    let mut clock = Clock::default();
    let dataset = clock.phase("load", || read_dataset(&config.data, config.train.seed, common))?;
    let experiment = Experiment::new(&dataset, config)?;
    let charge = config.operator.map(|operator| operator.charge);
    let mut experiment = match (&config.data.filtered, charge) {
        (Some(path), None) => {
            let name = config.model.info().name;
            return Err(usage(format!("{}: {name} takes no filtered features", path.display())));
        }
        (Some(path), Some(ChargeChoice::Auto)) => {
            return Err(usage(format!(
                "{}: features are filtered with one charge; name it with --charge",
                path.display()
            )));
        }
        (Some(path), Some(ChargeChoice::Fixed(charge))) => {
            experiment.with_filtered(charge, MappedRows::open(path)?)?
        }
        (None, _) => experiment,
    };
    if !common.quiet {
        experiment.remarks().iter().for_each(|remark| remark!("note: {remark}"));
    }
    let folder = match &options.out {
        Some(out) => {
            let begun = RunFolder::begin(out, config, options.overwrite, options.resume);
            let folder = begun.map_err(|error| match error {
                FileError::Occupied { .. } => {
                    anyhow!("{error}, or replace the run with --overwrite, or go on with --resume")
                }
                error => error.into(),
            })?;
            experiment =
                experiment.with_checkpoints(folder.checkpoints(options.every, options.resume));
            Some(folder)
        }
        None => None,
    };
    let cycles = match experiment.chooses_charge() {
        true => Some(clock.phase("cycles", || find_cycles(&dataset.graph))?),
        false => None,
    };
    let advice = cycles.as_ref().map(|cycles| &cycles.advice);
    let outcome = stoppable(|stop| {
        let watcher = Watcher::new(common, stop, config.train.patience);
        experiment.run(advice, &watcher)
    });
    let outcome = match outcome {
        Err(TrainError::Stopped(epoch)) if interrupted() => {
            match &folder {
                Some(folder) => remark!(
                    "stopped at epoch {epoch}; go on with: magnon train --resume --out {}",
                    folder.path().display()
                ),
                None => remark!("stopped at epoch {epoch}; nothing was kept, for want of --out"),
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
    describe::describe(config, &dataset, &outcome, advice, &mut report);
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
                remark!("note: there is no report.html: {error}");
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
        model: config.model.clone(),
        operator: outcome.operator(config),
        filter: config.filter.clone(),
        feature_norm: if dataset.scaled { FeatureNorm::Row } else { FeatureNorm::None },
        width: features.cols(),
        classes: labels.names.clone(),
        weights: best.weights.clone(),
    };
    let predictions =
        PredictionCache::new(&dataset.graph, features, best.log_probabilities.clone());
    let mut metrics = report.keys().clone();
    metrics.insert("seconds".to_owned(), clock.seconds());
    let [train, val, test] = &best.metrics;
    metrics.insert("parts".to_owned(), json!({ "train": train, "val": val, "test": test }));
    clock
        .phase("write", || folder.finish(config, &saved, &predictions, &best.history, &metrics))?;
    Ok(())
}
