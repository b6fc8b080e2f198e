//! One model, trained once.

use super::{EpochRecord, History, Metrics};
use crate::matrix::Matrix;
use crate::model::ModelKind;
use crate::nn::Shape;
use crate::operator::Charge;

/// What is trained: one model with one seed on one split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// The model.
    pub model: ModelKind,
    /// The charge of its operator; 0 where it has none.
    pub charge: Charge,
    /// Seed of weights, dropout and batches.
    pub seed: u64,
    /// Number of the split, counted from 0.
    pub split: usize,
}

impl Trial {
    /// A name that no other trial of the run has, fit for a file.
    pub fn name(&self) -> String {
        let Self { model, charge, seed, split } = self;
        let charge = charge.to_string().replace('/', "_");
        format!("{}-q{charge}-seed{seed}-split{split}", model.name())
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
    /// Name, shape and numbers of the weights.
    pub weights: Vec<(String, Shape, Vec<f32>)>,
    /// Log-probabilities of the classes for all nodes.
    pub log_probabilities: Matrix<f32>,
}

impl TrialResult {
    /// Lets go of weights and predictions, and keeps the figures.
    pub(super) fn forget(&mut self) {
        self.weights = Vec::new();
        self.log_probabilities = Matrix::zeros(0, 0);
    }
}
