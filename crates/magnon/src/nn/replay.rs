//! Training steps that an engine repeats by itself.

use super::{Done, Engine, EngineError};

/// What a replay has to know beforehand.
#[derive(Clone, Copy, Debug)]
pub struct ReplayConfig {
    /// Epochs made before.
    pub epoch: usize,
    /// Epochs without a better validation loss after which a lane is over.
    pub patience: usize,
    /// The best validation loss so far and its epoch, where there is one.
    pub best: Option<(f64, usize)>,
    /// Most epochs that are replayed at a time.
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

/// Steps that an engine repeats without asking back. A step has two halves: the way there, which ends
/// with two losses (training and validation) and the judgement on the epoch just made, and the way
/// back with the optimiser's step, which makes the next epoch.
///
/// Both are recorded once, by running the ordinary code, and repeated from then on with other draws and
/// other learning rates.
pub trait Replay<E: Engine>: Sized {
    /// Runs a step as it will be recorded, so that all memory is there, and says whether it could have
    /// been: whether it needed nothing of the host in between.
    fn rehearse(&mut self, engine: &E, step: impl FnOnce() -> Done) -> Result<bool, EngineError>;

    /// Records the way there. While `there` runs, losses are not known.
    fn record_there(
        &mut self,
        engine: &E,
        weights: &[E::Buffer],
        best: &mut [E::Buffer],
        there: impl FnOnce() -> Done,
    ) -> Done;

    /// Records the way back. While `back` runs, the rates of the optimiser are not known.
    fn record_back(&mut self, engine: &E, back: impl FnOnce() -> Done) -> Done;

    /// Goes there once, for the losses of the first step: training and validation for each lane.
    fn begin(&mut self, engine: &E) -> Result<Vec<[ReplayScore; 2]>, EngineError>;

    /// Goes back and there again once for each set of numbers, of which there is one for each lane or
    /// one for all, and gives what [`begin`](Self::begin) gives, epoch after epoch.
    fn run(
        &mut self,
        engine: &E,
        steps: &[Vec<StepNumbers>],
    ) -> Result<Vec<Vec<[ReplayScore; 2]>>, EngineError>;
}

/// The replay of an engine that has none.
pub enum Never {}

impl<E: Engine> Replay<E> for Never {
    fn rehearse(&mut self, _: &E, _: impl FnOnce() -> Done) -> Result<bool, EngineError> {
        match *self {}
    }

    fn record_there(
        &mut self,
        _: &E,
        _: &[E::Buffer],
        _: &mut [E::Buffer],
        _: impl FnOnce() -> Done,
    ) -> Done {
        match *self {}
    }

    fn record_back(&mut self, _: &E, _: impl FnOnce() -> Done) -> Done {
        match *self {}
    }

    fn begin(&mut self, _: &E) -> Result<Vec<[ReplayScore; 2]>, EngineError> {
        match *self {}
    }

    fn run(
        &mut self,
        _: &E,
        _: &[Vec<StepNumbers>],
    ) -> Result<Vec<Vec<[ReplayScore; 2]>>, EngineError> {
        match *self {}
    }
}
