//! A cell of a table: what we measure beside what the paper prints.

use super::Work;
use crate::Error;
use crate::data::SplitChoice;
use crate::progress::{Progress, Quiet};
use crate::train::{Experiment, Repeat, RunConfig, Summary};
use crate::workflow::Job;
use serde::{Deserialize, Serialize};

/// Ours and the paper's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cell {
    /// What we measure; accuracies in per cent.
    pub ours: Option<Summary>,
    /// What the paper prints.
    pub published: Option<f64>,
    /// Ours minus the paper's.
    pub difference: Option<f64>,
    /// Whether it is a whole number and no accuracy.
    pub whole: bool,
}

impl Cell {
    pub(super) fn new(ours: Option<Summary>, published: Option<f64>) -> Self {
        let difference = ours.zip(published).map(|(ours, published)| ours.mean - published);
        Self { ours, published, difference, whole: false }
    }

    pub(super) fn count(ours: Option<usize>, published: usize) -> Self {
        let summary = |n: usize| Summary { mean: n as f64, std: 0.0, ci95: None, n: 1 };
        Self { whole: true, ..Self::new(ours.map(summary), Some(published as f64)) }
    }
}

/// How a model did on a data set in one setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellRecord {
    /// Data, configuration, splits and seeds.
    pub key: String,
    /// Test accuracies of the runs.
    pub accuracies: Vec<f64>,
    /// Seconds that it took.
    pub seconds: f64,
    /// Why it failed.
    pub error: Option<String>,
}

impl Job for CellRecord {
    const CALL: &'static str = "reproduce";

    fn key(&self) -> &str {
        &self.key
    }
}

impl CellRecord {
    /// The accuracies in per cent, in summary.
    pub(super) fn summary(&self) -> Option<Summary> {
        Summary::of(&self.accuracies.iter().map(|share| 100.0 * share).collect::<Vec<_>>())
    }
}

/// Which splits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Setting {
    /// The authors' split, several seeds.
    Given,
    /// Random splits, one seed on each.
    Random,
}

impl Work<'_> {
    /// Trains a model on the `at`-th data set found, or looks it up.
    pub(super) fn measure(
        &mut self,
        at: usize,
        config: &RunConfig,
        setting: Setting,
        label: &str,
    ) -> Result<CellRecord, Error> {
        let found = &self.data.found[at];
        let RunConfig { model, operator, filter, train, .. } = config;
        let (name, runs) = (model.info().name, self.config.runs);
        let settings = serde_json::json!([model, operator, filter, train, runs]).to_string();
        let check = crc32fast::hash(settings.as_bytes());
        let split = if setting == Setting::Given { "given" } else { "random" };
        let key = format!("{}-{name}-{check:08x}-{split}{runs}", found.check);
        if let Some(known) = self.journal.as_ref().and_then(|journal| journal.get(&key)) {
            return Ok(known.clone());
        }
        self.progress.step(0, 0, &format!("{label} on {}", found.title()));
        let start = std::time::Instant::now();
        let outcome = accuracies(found, config, setting, runs, self.progress);
        let seconds = start.elapsed().as_secs_f64();
        let (accuracies, error) = match outcome {
            Ok(accuracies) => (accuracies, None),
            Err(Error::Stopped) => return Err(Error::Stopped),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let record = CellRecord { key, accuracies, seconds, error };
        if let Some(journal) = &mut self.journal {
            journal.keep(&record)?;
        }
        Ok(record)
    }
}

fn accuracies(
    found: &super::data::Found,
    config: &RunConfig,
    setting: Setting,
    runs: usize,
    progress: &dyn Progress,
) -> Result<Vec<f64>, Error> {
    let dataset = &found.dataset;
    let labels = dataset.labels.as_ref();
    let (splits, repeats): (Vec<_>, Vec<_>) = match setting {
        Setting::Given => {
            let split = SplitChoice::Given(0).choose(&dataset.splits, labels, 0)?;
            (vec![split], (0..runs).map(|k| Repeat { seed: k as u64, split: 0 }).collect())
        }
        Setting::Random => {
            let choice = SplitChoice::Random([60.0, 20.0, 20.0]);
            let splits: Result<Vec<_>, _> =
                (0..runs).map(|k| choice.choose(&dataset.splits, labels, k as u64)).collect();
            (splits?, (0..runs).map(|k| Repeat { seed: k as u64, split: k }).collect())
        }
    };
    let experiment = Experiment::on(dataset, config, splits, repeats)?;
    let experiment = experiment.with_graph(&dataset.graph, &found.shared);
    let outcome = experiment.run(None, &Quiet(progress))?;
    Ok(outcome.runs.iter().map(|run| run.metrics[2].accuracy).collect())
}
