//! What an experiment gives, and who looks on.

use super::inputs::Plan;
use super::select::PassEvidence;
use super::{EpochRecord, Summary, Trial, TrialResult};
use crate::cycles::Candidate;
use crate::operator::Charge;
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
    /// Mean of the runs' best validation losses; `None` where the charge was not trained because it
    /// acts as 0 does.
    pub val_loss: Option<f64>,
    /// Mean of the validation accuracies at those epochs.
    pub val_accuracy: Option<f64>,
}

/// A control and its runs.
#[derive(Clone, Debug)]
pub struct Control {
    /// What it is.
    pub name: &'static str,
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
    /// The charge taken.
    pub charge: Charge,
    /// The charges tried; empty where one was given.
    pub candidates: Vec<CandidateResult>,
    /// The sign taken.
    pub pass: PassEvidence,
    /// In which order products were made.
    pub plan: Plan,
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

    /// Test accuracies in summary.
    pub fn summary(runs: &[TrialResult]) -> Option<Summary> {
        let accuracies: Vec<f64> = runs.iter().map(|run| run.metrics[2].accuracy).collect();
        Summary::of(&accuracies)
    }
}
