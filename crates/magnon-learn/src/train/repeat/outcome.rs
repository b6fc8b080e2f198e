//! The result of an experiment.

use crate::model::{ModelConfig, PassEvidence, ProductOrder};
use crate::train::{
    Difference, Interval, Metrics, RunConfig, SplitSizes, Summary, TrialResult,
    difference_over_nodes, difference_over_splits,
};
use magnon_core::cycles::Candidate;
use magnon_core::operator::{Charge, OperatorConfig};
use std::path::PathBuf;

/// Where and how often unfinished trials are kept.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    /// The folder; it must exist.
    pub folder: PathBuf,
    /// Epochs between two checkpoints.
    pub every: usize,
    /// Whether trials go on from what the folder holds.
    pub resume: bool,
}

/// A charge that was tried, and how it did on the validation nodes.
#[derive(Clone, Debug)]
pub struct CandidateResult {
    /// The charge, and the cycle length that suggests it.
    pub candidate: Candidate,
    /// Mean of the runs' best validation losses, as far as they were trained.
    pub val_loss: f64,
    /// Mean of the validation accuracies at those epochs.
    pub val_accuracy: f64,
    /// Epochs after which it was behind and dropped; `None` where it was trained to the end.
    pub dropped_after: Option<usize>,
    /// Runs that took it.
    pub taken_by: usize,
}

/// A configuration of the model that was tried, where it leaves something open, and how it did on the validation
/// nodes.
#[derive(Clone, Debug)]
pub struct ChoiceResult {
    /// The configuration.
    pub model: ModelConfig,
    /// Mean of the best validation losses.
    pub val_loss: f64,
    /// Mean of the validation accuracies at those epochs.
    pub val_accuracy: f64,
    /// Runs that took it.
    pub taken_by: usize,
}

/// A control and its runs.
#[derive(Clone, Debug)]
pub struct Control {
    /// A word for it.
    pub key: &'static str,
    /// What it is.
    pub name: String,
    /// What it tells.
    pub tells: &'static str,
    /// Its runs.
    pub runs: Vec<TrialResult>,
}

/// Wall time of the phases.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seconds {
    /// Building operators.
    pub operator: f64,
    /// Filtering features.
    pub propagate: f64,
    /// Training and evaluating.
    pub train: f64,
}

/// What came of an experiment.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The charge taken, where the model has one and all runs took the same.
    pub charge: Option<Charge>,
    /// The charges tried; empty where one was given.
    pub candidates: Vec<CandidateResult>,
    /// Charges that the cycles suggest too, but lie away from the best ones and were not tried.
    pub untried: Vec<Charge>,
    /// The configurations of the model that were tried; empty where it leaves nothing open.
    pub choices: Vec<ChoiceResult>,
    /// The sign taken, where the model has one.
    pub pass: Option<PassEvidence>,
    /// In which order products with filtered features were made, where the model has some.
    pub order: Option<ProductOrder>,
    /// The runs with the charge taken.
    pub runs: Vec<TrialResult>,
    /// The controls.
    pub controls: Vec<Control>,
    /// Where the time went.
    pub seconds: Seconds,
}

impl Outcome {
    /// The run with the lowest validation loss.
    pub fn best(&self) -> Option<&TrialResult> {
        let loss = |run: &&TrialResult| run.best.val_loss;
        self.runs.iter().min_by(|a, b| loss(a).total_cmp(&loss(b)))
    }

    /// The model of a run, with what it leaves open decided.
    pub fn model<'a>(&'a self, config: &'a RunConfig, run: &TrialResult) -> &'a ModelConfig {
        self.choices.get(run.trial.choice).map_or(&config.model, |choice| &choice.model)
    }

    /// The operator of the charge and the sign taken, where the model has one.
    pub fn operator(&self, config: &RunConfig) -> Option<OperatorConfig> {
        Some(config.operator?.config(self.charge?, self.pass?.high))
    }

    /// The 95 % interval of the test accuracy.
    pub fn interval(runs: &[TrialResult]) -> Option<Interval> {
        let accuracies: Vec<f64> = runs.iter().map(|run| run.metrics[2].accuracy).collect();
        Interval::of(&accuracies, runs.first()?.hits.len())
    }

    /// How the runs differ from those of a control on the same test nodes; the runs of both come in the
    /// same order of seeds and splits.
    pub fn difference(&self, control: &Control) -> Option<Difference> {
        let pairs: Vec<_> = self.runs.iter().zip(&control.runs).collect();
        let first = pairs.first()?.0;
        let paired = pairs
            .iter()
            .all(|(a, b)| a.trial.split == b.trial.split && a.hits.len() == b.hits.len());
        if self.runs.len() != control.runs.len() || !paired {
            return None;
        }
        let by_run =
            |(a, b): &(&TrialResult, &TrialResult)| a.metrics[2].accuracy - b.metrics[2].accuracy;
        let by_run: Vec<f64> = pairs.iter().map(by_run).collect();
        let size =
            |metrics: &Metrics| metrics.classes.iter().map(|class| class.support).sum::<usize>();
        let mut splits: Vec<usize> = self.runs.iter().map(|run| run.trial.split).collect();
        splits.sort_unstable();
        splits.dedup();
        if splits.len() > 1 {
            let sizes = SplitSizes {
                test: first.hits.len(),
                fitted: size(&first.metrics[0]) + size(&first.metrics[1]),
            };
            let of_split = |split: usize| {
                let of: Vec<f64> = pairs
                    .iter()
                    .zip(&by_run)
                    .filter(|((a, _), _)| a.trial.split == split)
                    .map(|(_, difference)| *difference)
                    .collect();
                of.iter().sum::<f64>() / of.len().max(1) as f64
            };
            let means: Vec<f64> = splits.into_iter().map(of_split).collect();
            return difference_over_splits(&means, sizes);
        }
        let by_node = |node: usize| {
            let step = |(a, b): &(&TrialResult, &TrialResult)| {
                f64::from(u8::from(a.hits[node])) - f64::from(u8::from(b.hits[node]))
            };
            pairs.iter().map(step).sum::<f64>() / pairs.len() as f64
        };
        let by_node: Vec<f64> = (0..first.hits.len()).map(by_node).collect();
        difference_over_nodes(&by_node, &by_run)
    }

    /// Test accuracies in summary.
    pub fn summary(runs: &[TrialResult]) -> Option<Summary> {
        let accuracies: Vec<f64> = runs.iter().map(|run| run.metrics[2].accuracy).collect();
        Summary::of(&accuracies)
    }
}
