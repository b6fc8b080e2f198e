//! The result of a comparison: one struct, which all views show.

use super::verdict::Verdict;
use super::{SplitInfo, TuneBudget};
use crate::train::{Difference, Summary};
use crate::workflow::Phases;
use serde::Serialize;

/// What came of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The data set.
    pub dataset: String,
    /// Its nodes.
    pub nodes: usize,
    /// Its edges.
    pub edges: usize,
    /// Whether every edge has a reverse.
    pub symmetric: bool,
    /// The splits.
    pub splits: SplitInfo,
    /// Seeds on each split.
    pub runs: usize,
    /// How long settings were searched before.
    pub tuned: Option<TuneBudget>,
    /// How intervals and p-values were made, in words.
    pub intervals: String,
    /// The models, the best on test nodes first.
    pub models: Vec<ModelRow>,
    /// What they are held against.
    pub controls: Vec<ControlRow>,
    /// The model with the best accuracy on validation nodes; differences are from it.
    pub reference: Option<String>,
    /// What all this says.
    pub verdict: Verdict,
    /// Where the time went.
    pub seconds: Phases,
}

/// A model's difference from the reference.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FromReference {
    /// Mean difference of the test accuracies.
    pub mean: f64,
    /// Half the width of its 95 % confidence interval.
    pub ci95: Option<f64>,
    /// Two-sided p-value of no difference.
    pub p: f64,
    /// The p-value with Holm's correction over the models.
    pub p_holm: f64,
}

/// A charge, and how many runs took it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChargeCount {
    /// The charge as a fraction or a number.
    pub charge: String,
    /// Runs.
    pub runs: usize,
}

/// One model.
#[derive(Clone, Debug, Serialize)]
pub struct ModelRow {
    /// What its row is called.
    pub model: String,
    /// The model's name as its paper has it.
    pub title: String,
    /// Whether it makes something of direction.
    pub directed: bool,
    /// Accuracy on test nodes; `None` where it failed.
    pub test_accuracy: Option<Summary>,
    /// Mean accuracy on validation nodes.
    pub val_accuracy: Option<f64>,
    /// Why it failed.
    pub error: Option<String>,
    /// Seconds of training and filtering, over all runs, each on one thread.
    pub seconds: f64,
    /// Seconds of training, over all runs.
    pub train_seconds: f64,
    /// Seconds of building its operator and filtering features, once.
    pub filter_seconds: f64,
    /// Real numbers that are trained.
    pub parameters: Option<usize>,
    /// Bytes that training one run holds beside the model and its input.
    pub training_bytes: Option<usize>,
    /// Mean number of epochs.
    pub epochs: Option<f64>,
    /// The charges that its runs took.
    pub charges: Vec<ChargeCount>,
    /// Test accuracy minus that of the reference.
    pub difference: Option<FromReference>,
    /// Test accuracy minus that of the same model without direction.
    pub over_undirected: Option<Difference>,
}

/// A control.
#[derive(Clone, Debug, Serialize)]
pub struct ControlRow {
    /// `majority`, `mlp`, `undirected` or `coin`.
    pub control: &'static str,
    /// The model that it is a control of; `None` where it is one for all.
    pub model: Option<String>,
    /// What it is.
    pub text: String,
    /// Accuracy on test nodes; `None` where it failed.
    pub test_accuracy: Option<Summary>,
    /// Why it failed.
    pub error: Option<String>,
}
