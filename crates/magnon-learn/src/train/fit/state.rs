//! `State`: everything that a training run needs to go on from where it is.

use super::{EpochRecord, History};
use crate::train::TrainError;

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

impl State {
    /// Refuses a state whose parts contradict each other, as in a file that was damaged.
    pub(super) fn check(&self) -> Result<(), TrainError> {
        match self.problem() {
            Some(found) => Err(TrainError::Mismatch {
                what: "the checkpoint".to_owned(),
                found,
                expected: "parts that fit together".to_owned(),
            }),
            None => Ok(()),
        }
    }

    fn problem(&self) -> Option<String> {
        let Self { epoch, steps, weights, first, second, best, history } = self;
        let numbered = history.iter().zip(1..).all(|(record, number)| record.epoch == number);
        if history.len() != *epoch || !numbered {
            return Some(format!("a history of {} epochs after {epoch}", history.len()));
        }
        // Counted as numbers of double precision.
        if (*steps as f64) < *epoch as f64 || *steps > 1 << 53 {
            return Some(format!("{steps} steps after {epoch} epochs"));
        }
        let kept = best.as_ref().map_or(&[][..], |best| &best.weights);
        let known = match best {
            Some(Best { record, .. }) => history.iter().any(|other| other == record),
            None => history.is_empty(),
        };
        if !known {
            return Some("a best epoch that never was".to_owned());
        }
        let sets = [weights.as_slice(), first, second, kept];
        if let Some(bad) = sets.into_iter().flatten().flatten().find(|x| !x.is_finite()) {
            return Some(format!("the number {bad}"));
        }
        let negative = second.iter().flatten().find(|&&x| x < 0.0);
        negative.map(|bad| format!("the second moment {bad}"))
    }
}
