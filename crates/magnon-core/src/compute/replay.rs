//! Training steps that an engine repeats by itself.

/// What a replay has to know beforehand.
#[derive(Clone, Copy, Debug)]
pub struct ReplayConfig {
    /// Epochs made before.
    pub epoch: usize,
    /// Epochs without a better validation loss after which a lane is over.
    pub patience: usize,
    /// The best validation loss so far and its epoch, where there is one.
    pub best: Option<(f64, usize)>,
    /// Maximum number of epochs that are replayed at a time.
    pub most: usize,
}

/// Mean loss, and how many targets were hit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplayScore {
    /// Mean negative log likelihood.
    pub loss: f64,
    /// Targets whose class is the likeliest.
    pub right: usize,
}

/// The numbers of one coming step of the optimiser that are not recorded: rate and second moment's
/// correction, L2 term and factor of the weights, as in [`AdamStep`](super::AdamStep).
pub type StepNumbers = [f64; 4];
