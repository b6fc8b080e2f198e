//! What is kept of a search while it runs: one record for each training, and where it stands.

use crate::Error;
use crate::workflow::{Job, Journal, OpenPart};
use serde::{Deserialize, Serialize};

/// How one trial did on one rung.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TuneRecord {
    /// What it was: settings, splits, seeds and epochs.
    pub key: String,
    /// Mean accuracy on validation nodes; `None` where training failed.
    pub val_accuracy: Option<f64>,
    /// Mean validation loss.
    pub val_loss: Option<f64>,
    /// Mean number of epochs.
    pub epochs: f64,
    /// Why training failed.
    pub error: Option<String>,
    /// Seconds of training.
    pub seconds: f64,
}

impl Job for TuneRecord {
    const CALL: &'static str = "tune";

    fn key(&self) -> &str {
        &self.key
    }
}

impl TuneRecord {
    /// What records are ranked by: the higher accuracy first, then the lower loss.
    pub(super) fn rank(&self) -> (f64, f64) {
        (-self.val_accuracy.unwrap_or(-1.0), self.val_loss.unwrap_or(f64::INFINITY))
    }

    /// Whether it is better than another.
    pub(super) fn beats(&self, other: &Self) -> bool {
        self.rank() < other.rank()
    }
}

/// Where the records of a search are kept.
pub(in crate::workflow) trait TrialNotes: Send {
    /// A training that is known.
    fn known(&self, key: &str) -> Option<TuneRecord>;
    /// Keeps a training.
    fn note(&mut self, record: TuneRecord) -> Result<(), Error>;
}

impl TrialNotes for Journal<TuneRecord> {
    fn known(&self, key: &str) -> Option<TuneRecord> {
        self.get(key).cloned()
    }
    fn note(&mut self, record: TuneRecord) -> Result<(), Error> {
        self.keep(&record)
    }
}

/// Where a search stands whose trials are trained apart: at the first rung that the journal does not know all of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TuneParts {
    /// Trainings of the rung that are not known; none where the search is at its end.
    pub open: Vec<OpenPart>,
    /// Trainings that are known.
    pub done: usize,
    /// Trainings in all, as far as the number of trials decides.
    pub steps: usize,
    /// Trials that were drawn so far.
    pub trials: usize,
}
