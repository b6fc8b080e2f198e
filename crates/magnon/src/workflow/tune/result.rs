//! The result of a search: one struct, which all views show.

use super::Dimension;
use super::importance::{Importance, importance};
use super::record::TuneRecord;
use super::search::Tried;
use crate::data::Dataset;
use crate::train::RunConfig;
use crate::workflow::Phases;
use serde::Serialize;
use serde_json::{Map, Value};

/// What came of a search.
#[derive(Clone, Debug, Serialize)]
pub struct Tuning {
    /// The data set.
    pub dataset: String,
    /// The model.
    pub model: &'static str,
    /// The settings that were searched, and the values.
    pub space: Vec<Dimension>,
    /// The trials, in the order in which they were drawn; the first is the configuration as given.
    pub trials: Vec<TrialRow>,
    /// Number of the best one of those that were trained to the end.
    pub best: usize,
    /// Its configuration, which `train` takes.
    pub config: RunConfig,
    /// What mattered, the most important first.
    pub importance: Vec<Importance>,
    /// Where the time went.
    pub seconds: Phases,
}

/// One trial.
#[derive(Clone, Debug, Serialize)]
pub struct TrialRow {
    /// Its number, from 0.
    pub trial: usize,
    /// Its settings.
    pub settings: Map<String, Value>,
    /// Mean accuracy on validation nodes, as far as it was trained.
    pub val_accuracy: Option<f64>,
    /// Mean validation loss.
    pub val_loss: Option<f64>,
    /// Mean number of epochs.
    pub epochs: f64,
    /// Whether it was trained to the end.
    pub finished: bool,
    /// Why it failed.
    pub error: Option<String>,
    /// Seconds of training, over all rungs.
    pub seconds: f64,
}

/// The columns of [`Tuning::csv_rows`] after one for each setting.
pub const VALUE_COLUMNS: [&str; 6] =
    ["val_accuracy", "val_loss", "epochs", "finished", "seconds", "error"];

impl Tuning {
    /// The heads of [`csv_rows`](Self::csv_rows).
    pub fn csv_columns(&self) -> Vec<String> {
        let settings = self.space.iter().map(|dimension| dimension.name.clone());
        let all = std::iter::once("trial".to_owned()).chain(settings);
        all.chain(VALUE_COLUMNS.map(str::to_owned)).collect()
    }

    /// The trials as rows of a csv file.
    pub fn csv_rows(&self) -> Vec<Vec<String>> {
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let row = |row: &TrialRow| {
            let mut cells = vec![row.trial.to_string()];
            cells.extend(row.settings.values().map(text));
            cells.extend([
                number(row.val_accuracy),
                number(row.val_loss),
                row.epochs.to_string(),
                row.finished.to_string(),
                row.seconds.to_string(),
                row.error.clone().unwrap_or_default(),
            ]);
            cells
        };
        self.trials.iter().map(row).collect()
    }
}

pub(super) fn assemble(
    dataset: &Dataset,
    base: &RunConfig,
    space: Vec<Dimension>,
    trials: Vec<Tried>,
) -> Tuning {
    let last =
        |at: usize| -> Option<&TuneRecord> { trials[at].rungs.last().map(|(_, record)| record) };
    let mut best = 0;
    for at in (1..trials.len()).filter(|&at| trials[at].is_finished()) {
        if let (Some(new), Some(old)) = (last(at), last(best))
            && new.beats(old)
        {
            best = at;
        }
    }
    let importance = importance(&space, &trials);
    let rows = trials.iter().enumerate().map(|(trial, tried)| {
        let record = last(trial);
        let names = space.iter().map(|dimension| dimension.name.clone());
        TrialRow {
            trial,
            settings: names.zip(tried.values.iter().cloned()).collect(),
            val_accuracy: record.and_then(|record| record.val_accuracy),
            val_loss: record.and_then(|record| record.val_loss),
            epochs: record.map_or(0.0, |record| record.epochs),
            finished: tried.is_finished(),
            error: record.and_then(|record| record.error.clone()),
            seconds: tried.rungs.iter().map(|(_, record)| record.seconds).sum(),
        }
    });
    Tuning {
        dataset: dataset.name.clone(),
        model: base.model.info().name,
        trials: rows.collect(),
        best,
        config: trials[best].config.clone(),
        importance,
        space,
        seconds: Phases::default(),
    }
}
