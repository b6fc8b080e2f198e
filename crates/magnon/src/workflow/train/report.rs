//! `TrainReport`: the figures of a run, as they are printed, written to `metrics.json` and given to others.

use super::verdict::{interval_words, verdict};
use crate::cycles::ChargeAdvice;
use crate::data::Dataset;
use crate::model::{InputShare, ProductOrder};
use crate::train::{
    CandidateResult, ChoiceResult, Difference, Interval, Metrics, Outcome, RunConfig, Summary,
    TrialResult,
};
use crate::workflow::Phases;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What came of training, in figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainReport {
    /// The model.
    pub model: String,
    /// The data set.
    pub dataset: String,
    /// Its nodes.
    pub nodes: usize,
    /// Its edges.
    pub edges: usize,
    /// The charge taken, where the model has one.
    pub charge: Option<f64>,
    /// The same as a fraction where it was one.
    pub charge_text: Option<String>,
    /// The charges tried, where it was left open.
    pub charge_candidates: Vec<CandidateRow>,
    /// Charges that lie away from the best and were not tried.
    pub charges_untried: Vec<String>,
    /// Why the cycles suggest the one that they do.
    pub charge_reason: Option<String>,
    /// The configurations of the model that were tried, where it leaves something open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<ChoiceRow>,
    /// How much the model that was kept takes from each of its inputs, where it weighs them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<InputShare>,
    /// `low` or `high`, where the model has a sign.
    pub pass: Option<String>,
    /// Homophily of the training labels, where it decided.
    pub train_homophily: Option<f64>,
    /// What it would be by chance.
    pub chance_homophily: Option<f64>,
    /// The filter, where the model takes one.
    pub filter: Option<String>,
    /// Its order, where it has one.
    pub order: Option<usize>,
    /// In which order products with filtered features were made.
    pub product_order: Option<ProductOrder>,
    /// Real numbers trained.
    pub parameters: usize,
    /// Bytes that training held at its peak beside the model and its input.
    pub training_bytes: usize,
    /// Figures of the run, or of all of them.
    #[serde(flatten)]
    pub figures: Figures,
    /// The 95 % interval of the test accuracy: of the test nodes or of the runs, whichever is wider.
    pub test_interval: Option<Interval>,
    /// The run that was kept.
    pub kept: RunRow,
    /// Test accuracies of the controls, by a word for each.
    pub controls: BTreeMap<String, ControlRow>,
    /// What it all says, in words.
    pub verdict: String,
    /// The run folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out: Option<String>,
    /// Where the time went.
    pub seconds: Phases,
    /// Scores of training, validation and test nodes of the run that was kept.
    pub parts: Parts,
}

/// A control, and how it did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControlRow {
    /// Test accuracies.
    #[serde(flatten)]
    pub test_accuracy: Summary,
    /// How the model differs from it on the same test nodes.
    pub difference: Option<Difference>,
    /// What it is.
    pub name: String,
    /// What it tells.
    pub tells: String,
}

/// Scores of the three parts of a split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parts {
    /// Training nodes.
    pub train: Metrics,
    /// Validation nodes.
    pub val: Metrics,
    /// Test nodes.
    pub test: Metrics,
}

/// A charge that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CandidateRow {
    /// The charge.
    pub charge: f64,
    /// The same as a fraction where it is one.
    pub charge_text: String,
    /// The cycle length that suggests it.
    pub length: Option<usize>,
    /// Whether the operator has the spectrum that it has at 0.
    pub same_spectrum_as_zero: bool,
    /// Mean validation loss, as far as it was trained.
    pub val_loss: f64,
    /// Mean accuracy on validation nodes.
    pub val_accuracy: f64,
    /// Epochs after which it was dropped; `None` where it was trained to the end.
    pub dropped_after: Option<usize>,
}

/// A configuration of the model that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChoiceRow {
    /// The settings that it has for itself.
    pub settings: Map<String, Value>,
    /// Mean validation loss.
    pub val_loss: f64,
    /// Mean accuracy on validation nodes.
    pub val_accuracy: f64,
    /// Runs that took it.
    pub taken_by: usize,
}

impl ChoiceRow {
    fn of(config: &RunConfig, result: &ChoiceResult) -> Self {
        let open = config.model.settings();
        let mut settings = result.model.settings();
        settings.retain(|key, value| open.get(key) != Some(value));
        let ChoiceResult { val_loss, val_accuracy, taken_by, .. } = *result;
        Self { settings, val_loss, val_accuracy, taken_by }
    }

    /// The settings in one line: lists as they are, others as they are set.
    pub fn words(&self) -> String {
        let text = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
        let words = |(key, value): (&String, &Value)| match value {
            Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(", "),
            other => format!("{key}={}", text(other)),
        };
        self.settings.iter().map(words).collect::<Vec<_>>().join("; ")
    }
}

/// Figures of one run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFigures {
    /// Epochs trained.
    pub epochs: usize,
    /// The best of them.
    pub best_epoch: usize,
    /// Accuracy on training nodes.
    pub train_accuracy: f64,
    /// Accuracy on validation nodes.
    pub val_accuracy: f64,
    /// Accuracy on test nodes.
    pub test_accuracy: f64,
    /// Lowest validation loss.
    pub val_loss: f64,
}

/// One run with its seed and split.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    /// Seed of weights, dropout and batches.
    pub seed: u64,
    /// Number of the split.
    pub split: usize,
    /// Its figures.
    #[serde(flatten)]
    pub figures: RunFigures,
}

/// Figures of one run, or summaries of several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Figures {
    /// One run.
    One(RunFigures),
    /// Several.
    Many {
        /// Epochs trained.
        epochs: Option<Summary>,
        /// Accuracies on training nodes.
        train_accuracy: Option<Summary>,
        /// Accuracies on validation nodes.
        val_accuracy: Option<Summary>,
        /// Accuracies on test nodes.
        test_accuracy: Option<Summary>,
        /// Lowest validation losses.
        val_loss: Option<Summary>,
        /// The runs.
        runs: Vec<RunRow>,
    },
}

impl RunFigures {
    fn of(run: &TrialResult) -> Self {
        let [train, val, test] = &run.metrics;
        Self {
            epochs: run.history.len(),
            best_epoch: run.best.epoch,
            train_accuracy: train.accuracy,
            val_accuracy: val.accuracy,
            test_accuracy: test.accuracy,
            val_loss: run.best.val_loss,
        }
    }
}

impl RunRow {
    fn of(run: &TrialResult) -> Self {
        Self { seed: run.trial.seed, split: run.trial.split, figures: RunFigures::of(run) }
    }
}

impl CandidateRow {
    fn of(result: &CandidateResult) -> Self {
        Self {
            charge: result.candidate.charge.value(),
            charge_text: result.candidate.charge.to_string(),
            length: result.candidate.length,
            same_spectrum_as_zero: result.candidate.gauge_equivalent,
            val_loss: result.val_loss,
            val_accuracy: result.val_accuracy,
            dropped_after: result.dropped_after,
        }
    }
}

impl Figures {
    fn of(runs: &[TrialResult]) -> Self {
        if let [run] = runs {
            return Self::One(RunFigures::of(run));
        }
        let summary =
            |of: fn(&TrialResult) -> f64| Summary::of(&runs.iter().map(of).collect::<Vec<_>>());
        Self::Many {
            epochs: summary(|run| run.history.len() as f64),
            train_accuracy: summary(|run| run.metrics[0].accuracy),
            val_accuracy: summary(|run| run.metrics[1].accuracy),
            test_accuracy: summary(|run| run.metrics[2].accuracy),
            val_loss: summary(|run| run.best.val_loss),
            runs: runs.iter().map(RunRow::of).collect(),
        }
    }
}

impl TrainReport {
    /// Test accuracies of the runs.
    pub fn test_accuracy(&self) -> Option<Summary> {
        match &self.figures {
            Figures::One(run) => Summary::of(&[run.test_accuracy]),
            Figures::Many { test_accuracy, .. } => *test_accuracy,
        }
    }

    /// Number of runs.
    pub fn runs(&self) -> usize {
        match &self.figures {
            Figures::One(_) => 1,
            Figures::Many { runs, .. } => runs.len(),
        }
    }

    /// The figures of an outcome, of which `best` is the run that is kept.
    pub(super) fn new(
        config: &RunConfig,
        dataset: &Dataset,
        outcome: &Outcome,
        best: &TrialResult,
        advice: Option<&ChargeAdvice>,
        seconds: Phases,
    ) -> Self {
        let [train, val, test] = best.metrics.clone();
        let controls = outcome.controls.iter();
        let mut report = Self {
            model: config.model.info().name.to_owned(),
            dataset: dataset.name.clone(),
            nodes: dataset.graph.nodes(),
            edges: dataset.graph.edges(),
            charge: outcome.charge.map(|charge| charge.value()),
            charge_text: outcome.charge.map(|charge| charge.to_string()),
            charge_candidates: outcome.candidates.iter().map(CandidateRow::of).collect(),
            charges_untried: outcome.untried.iter().map(|charge| charge.to_string()).collect(),
            charge_reason: advice.map(|advice| advice.reason.clone()),
            choices: outcome.choices.iter().map(|tried| ChoiceRow::of(config, tried)).collect(),
            shares: outcome.model(config, best).shares(&best.weights),
            pass: outcome.pass.map(|pass| pass.name().to_owned()),
            train_homophily: outcome.pass.and_then(|pass| pass.homophily),
            chance_homophily: outcome.pass.and_then(|pass| pass.chance),
            filter: config.filter.as_ref().map(|filter| filter.kind.name().to_owned()),
            order: config.filter.as_ref().and_then(|filter| filter.effective_order()),
            product_order: outcome.order,
            parameters: best.parameters,
            training_bytes: best.bytes,
            figures: Figures::of(&outcome.runs),
            test_interval: Outcome::interval(&outcome.runs),
            kept: RunRow::of(best),
            verdict: String::new(),
            controls: controls
                .filter_map(|control| {
                    let (name, tells) = (control.name.clone(), control.tells.to_owned());
                    let test_accuracy = Outcome::summary(&control.runs)?;
                    let difference = outcome.difference(control);
                    let row = ControlRow { test_accuracy, difference, name, tells };
                    Some((control.key.to_owned(), row))
                })
                .collect(),
            out: None,
            seconds,
            parts: Parts { train, val, test },
        };
        report.verdict = verdict(&report);
        report
    }

    /// The interval of the test accuracy in words.
    pub fn interval_words(&self) -> Option<String> {
        self.test_interval.as_ref().map(interval_words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn choices_are_told_by_name() {
        let Value::Object(settings) =
            json!({ "channels": ["x", "out.in"], "decay": 10.0, "init": "glorot" })
        else {
            panic!("an object");
        };
        let row = ChoiceRow { settings, val_loss: 1.0, val_accuracy: 0.5, taken_by: 1 };
        assert_eq!(row.words(), "x, out.in; decay=10.0; init=glorot");
    }
}
