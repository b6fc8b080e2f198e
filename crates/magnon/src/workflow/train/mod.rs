//! `train`: fit a model as a configuration says, and keep it in a run folder.

#[cfg(feature = "report")]
mod page;
mod report;
mod verdict;

pub use report::{
    CandidateRow, ChoiceRow, ControlRow, Figures, Parts, RunFigures, RunRow, TrainReport,
};

use super::charge::phase_of;
use super::{CycleFindings, Phases, Progress, find_cycles, read_training_data};
use crate::Error;
use crate::data::{Dataset, Fingerprint};
use crate::model::{ChargeChoice, MappedRows};
use crate::run::{PredictionCache, RunFolder, SavedModel};
use crate::train::{Experiment, History, Outcome, RunConfig, TrainError, TrialResult};
use std::path::{Path, PathBuf};

/// Where a run is kept, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrainOptions {
    /// The folder that it is kept in; `None` for none.
    pub out: Option<PathBuf>,
    /// Whether a run that the folder holds is replaced.
    pub overwrite: bool,
    /// Whether the interrupted run that the folder holds is gone on with.
    pub resume: bool,
    /// Epochs between two checkpoints.
    pub every: usize,
    /// The command line that `report.html` in the folder shows, which may be empty; `None` for no page.
    #[cfg(feature = "report")]
    pub page: Option<String>,
}

impl Default for TrainOptions {
    fn default() -> Self {
        Self {
            out: None,
            overwrite: false,
            resume: false,
            every: 500,
            #[cfg(feature = "report")]
            page: None,
        }
    }
}

/// What came of training.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The data.
    pub dataset: Dataset,
    /// The cycles, where they were looked for.
    pub cycles: Option<CycleFindings>,
    /// Everything that was trained.
    pub outcome: Outcome,
    /// The figures.
    pub report: TrainReport,
    /// The model that was kept, ready to be saved or used.
    pub model: SavedModel,
    /// The run folder, where there is one.
    pub folder: Option<RunFolder>,
}

/// Reads the data, trains, and writes the run folder. A page that cannot be made is a remark: the model is safe.
pub fn train(
    config: &RunConfig,
    options: &TrainOptions,
    progress: &dyn Progress,
) -> Result<Trained, Error> {
    let mut seconds = Phases::default();
    let dataset = seconds.time("load", || read_training_data(&config.data, config.train.seed))?;
    train_on(dataset, config, options, seconds, progress)
}

/// The same on data that are in memory, which need features; `seconds` has the time that came before.
pub fn train_on(
    dataset: Dataset,
    config: &RunConfig,
    options: &TrainOptions,
    mut seconds: Phases,
    progress: &dyn Progress,
) -> Result<Trained, Error> {
    dataset.remarks.iter().for_each(|remark| progress.remark(remark));
    let mut experiment = with_filtered(Experiment::new(&dataset, config)?, config)?;
    experiment.remarks().iter().for_each(|remark| progress.remark(remark));
    let folder = match &options.out {
        Some(out) => {
            let data = Fingerprint::of(&dataset);
            let folder = RunFolder::begin(out, config, &data, options.overwrite, options.resume)?;
            experiment =
                experiment.with_checkpoints(folder.checkpoints(options.every, options.resume));
            Some(folder)
        }
        None => None,
    };
    let found = match experiment.chooses_charge() {
        true => seconds
            .time("cycles", || find_cycles(&dataset.graph, phase_of(config), progress))
            .map(Some),
        false => Ok(None),
    };
    let advice = found.as_ref().ok().and_then(Option::as_ref).map(|cycles| &cycles.advice);
    let outcome = match &found {
        Ok(_) => experiment.run(advice, progress).map_err(Error::from),
        Err(_) => Err(Error::Stopped),
    };
    let outcome = outcome.inspect_err(|error| {
        // What was interrupted stays to be gone on with.
        if let (Some(folder), false) = (&folder, matches!(error, Error::Stopped)) {
            folder.abandon();
        }
    })?;
    let cycles = found?;
    seconds.add("operator", outcome.seconds.operator);
    seconds.add("propagate", outcome.seconds.propagate);
    seconds.add("train", outcome.seconds.train);
    let Some(best) = outcome.best() else { return Err(TrainError::OneClass(0).into()) };
    let advice = cycles.as_ref().map(|cycles| &cycles.advice);
    let mut report = TrainReport::new(config, &dataset, &outcome, best, advice, seconds);
    report.out = folder.as_ref().map(|folder| folder.path().display().to_string());
    let model = saved(config, &dataset, &outcome, best);
    let history = best.history.clone();
    let mut run = KeptRun { config: config.clone(), dataset, cycles, report, history };
    if let Some(folder) = &folder {
        keep(&mut run, &model, best, folder)?;
        #[cfg(feature = "report")]
        page::add(&mut run, folder, options, progress)?;
    }
    let KeptRun { dataset, cycles, report, .. } = run;
    Ok(Trained { outcome, dataset, cycles, report, model, folder })
}

/// Writes what a run folder holds of a run.
fn keep(
    run: &mut KeptRun,
    model: &SavedModel,
    best: &TrialResult,
    folder: &RunFolder,
) -> Result<(), Error> {
    let KeptRun { config, dataset, report, history, .. } = run;
    let Some(features) = &dataset.features else { return Ok(()) };
    let predictions =
        PredictionCache::new(&dataset.graph, features, best.log_probabilities.clone());
    let metrics = report.clone();
    let finish = || folder.finish(config, model, &predictions, history, &metrics);
    Ok(report.seconds.time("write", finish)?)
}

impl Trained {
    /// The run as its page shows it.
    pub fn into_run(self, config: &RunConfig) -> KeptRun {
        let history = self.outcome.best().map(|best| best.history.clone());
        KeptRun {
            config: config.clone(),
            dataset: self.dataset,
            cycles: self.cycles,
            report: self.report,
            history: history.unwrap_or_default(),
        }
    }
}

/// A run that was kept, with what its page shows.
#[derive(Clone, Debug)]
pub struct KeptRun {
    /// Its configuration.
    pub config: RunConfig,
    /// The data, read again.
    pub dataset: Dataset,
    /// The cycles, where the charge was left open.
    pub cycles: Option<CycleFindings>,
    /// The figures.
    pub report: TrainReport,
    /// What happened, epoch by epoch.
    pub history: History,
}

/// Reads a run folder and its data again.
pub fn kept_run(folder: &Path, progress: &dyn Progress) -> Result<KeptRun, Error> {
    let folder = RunFolder::open(folder)?;
    let config = folder.config()?;
    let report: TrainReport = folder.metrics()?;
    let history = folder.history()?;
    let dataset = read_training_data(&config.data, config.train.seed)?;
    let open = config.operator.is_some_and(|operator| operator.charge == ChargeChoice::Auto);
    let cycles = match open {
        true => Some(find_cycles(&dataset.graph, phase_of(&config), progress)?),
        false => None,
    };
    Ok(KeptRun { config, dataset, cycles, report, history })
}

/// Takes filtered features from the file that the configuration names.
fn with_filtered<'a>(
    experiment: Experiment<'a>,
    config: &RunConfig,
) -> Result<Experiment<'a>, Error> {
    let Some(path) = &config.data.filtered else { return Ok(experiment) };
    let wrong = |text: String| Err(Error::Argument(format!("{}: {text}", path.display())));
    match config.operator.map(|operator| operator.charge) {
        None => wrong(format!("{} takes no filtered features", config.model.info().name)),
        Some(ChargeChoice::Auto) => {
            wrong("features are filtered with one charge; name it".to_owned())
        }
        Some(ChargeChoice::Fixed(charge)) => {
            Ok(experiment.with_filtered(charge, MappedRows::open(path)?)?)
        }
    }
}

/// The model of the run that is kept.
fn saved(
    config: &RunConfig,
    dataset: &Dataset,
    outcome: &Outcome,
    best: &TrialResult,
) -> SavedModel {
    SavedModel {
        model: outcome.model(config, best).clone(),
        operator: outcome.operator(config),
        filter: config.filter.clone(),
        scaling: dataset.scaling.clone(),
        width: dataset.features.as_ref().map_or(0, |features| features.cols()),
        classes: dataset.labels.as_ref().map(|labels| labels.names.clone()).unwrap_or_default(),
        weights: best.weights.clone(),
    }
}
