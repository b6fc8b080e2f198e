//! What an experiment gives, and who looks on.

use super::{Trial, TrialResult};
use crate::cycles::Candidate;
use crate::model::{PassEvidence, ProductOrder};
use crate::operator::{Charge, OperatorConfig};
use crate::train::{EpochRecord, RunConfig, Summary};
use std::path::PathBuf;

/// Looks on while trials are trained, perhaps several at a time.
pub trait Observer: Sync {
    /// So many trials are about to begin.
    fn begin(&self, _trials: usize) {}
    /// After every epoch of every trial.
    fn epoch(&self, _trial: &Trial, _record: &EpochRecord, _best: &EpochRecord) {}
    /// A trial is over.
    fn done(&self, _result: &TrialResult) {}
    /// Whether to stop at once.
    fn stop(&self) -> bool {
        false
    }
    /// Part `done` of `total` of the filtering is made.
    fn filtering(&self, _done: usize, _total: usize) {}
}

/// Nobody looks on.
impl Observer for () {}

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

    /// The operator of the charge and the sign taken, where the model has one.
    pub fn operator(&self, config: &RunConfig) -> Option<OperatorConfig> {
        Some(config.operator?.config(self.charge?, self.pass?.high))
    }

    /// Test accuracies in summary.
    pub fn summary(runs: &[TrialResult]) -> Option<Summary> {
        let accuracies: Vec<f64> = runs.iter().map(|run| run.metrics[2].accuracy).collect();
        Summary::of(&accuracies)
    }
}
