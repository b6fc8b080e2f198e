//! `State`: everything that a training run needs to go on from where it is.

use super::{EpochRecord, History};

/// The best epoch so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// Its figures.
    pub record: EpochRecord,
    /// The weights after it.
    pub weights: Vec<Vec<f32>>,
}

/// A run between two epochs. Random draws are functions of seed and epoch, so no generator has to
/// be kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Epochs made.
    pub epoch: usize,
    /// Steps of the optimiser.
    pub steps: u64,
    /// The weights.
    pub weights: Vec<Vec<f32>>,
    /// First moments of the optimiser.
    pub first: Vec<Vec<f32>>,
    /// Second moments of the optimiser.
    pub second: Vec<Vec<f32>>,
    /// The best epoch so far.
    pub best: Option<Best>,
    /// What happened.
    pub history: History,
}
