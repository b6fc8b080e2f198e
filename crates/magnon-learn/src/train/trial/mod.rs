//! A trial: one model, trained on one split with one seed, and the one way from there to its result.

mod lanes;
mod monitor;
mod runs;
mod single;
mod trials;
mod variant;
mod views;

pub(super) use lanes::{Slot, side_by_side};
pub(super) use monitor::Monitor;
pub use monitor::ResultHook;
pub(super) use runs::{Trained, forget_but_best};
pub(super) use trials::{TrialContext, Trials, timed};
pub(super) use variant::{Spec, Variant};
pub(super) use views::Shared;

use crate::nn::NamedNumbers;
use crate::train::{EpochRecord, History, Metrics};
use magnon_core::matrix::Matrix;
use magnon_core::operator::Charge;
use std::fmt;

/// One repetition of an experiment: a seed on a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// Seed of weights, dropout and batches.
    pub seed: u64,
    /// Number of the split, counted from 0.
    pub split: usize,
}

/// What is trained: one model with one seed on one split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// The model.
    pub model: &'static str,
    /// The charge of its operator, where it has one.
    pub charge: Option<Charge>,
    /// Which of the model's configurations, where it leaves some open.
    pub choice: usize,
    /// Whether the graph was symmetrised first, as a control.
    pub symmetrised: bool,
    /// Seed of weights, dropout and batches.
    pub seed: u64,
    /// Number of the split, counted from 0.
    pub split: usize,
}

impl Trial {
    /// A name that no other trial of the run has, fit for a file.
    pub fn name(&self) -> String {
        self.to_string()
    }
}

/// Writes [`Trial::name`].
impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { model, charge, choice, symmetrised, seed, split } = self;
        let charge = charge.map(|charge| format!("-q{}", charge.to_string().replace('/', "_")));
        let charge = charge.unwrap_or_default();
        let choice = if *choice == 0 { String::new() } else { format!("-choice{choice}") };
        let graph = if *symmetrised { "-symmetrised" } else { "" };
        write!(f, "{model}{charge}{choice}{graph}-seed{seed}-split{split}")
    }
}

/// What came of a trial.
#[derive(Clone, Debug)]
pub struct TrialResult {
    /// What was trained.
    pub trial: Trial,
    /// The best epoch, whose weights were kept.
    pub best: EpochRecord,
    /// What happened.
    pub history: History,
    /// Scores of training, validation and test nodes with the weights kept.
    pub metrics: [Metrics; 3],
    /// Which test nodes were classified rightly, in the order of the split.
    pub hits: Vec<bool>,
    /// Name, shape and numbers of the weights.
    pub weights: Vec<NamedNumbers>,
    /// Log-probabilities of the classes for all nodes.
    pub log_probabilities: Matrix<f32>,
    /// Real numbers that were trained.
    pub parameters: usize,
    /// Bytes that training held at its peak beside the model and its input.
    pub bytes: usize,
    /// Seconds that building the network took, filtering included, which runs share.
    pub build_seconds: f64,
    /// Seconds that training and evaluating took.
    pub seconds: f64,
}

impl TrialResult {
    /// Lets go of weights and predictions, and keeps the figures.
    pub(super) fn forget(&mut self) {
        self.weights = Vec::new();
        self.log_probabilities = Matrix::zeros(0, 0);
    }
}
