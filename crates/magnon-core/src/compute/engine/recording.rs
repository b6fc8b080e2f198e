//! Steps that the chosen engine repeats by itself.

use super::{Buffer, Engine};
use crate::compute::EngineError;
use crate::compute::operands::Done;
use crate::compute::replay::{ReplayScore, StepNumbers};

#[cfg(feature = "cuda")]
use super::own::{Own, foreign};
#[cfg(feature = "cuda")]
use crate::compute::cuda::{self, Cuda};

/// Steps that an engine repeats without asking back. A step has two halves: the way there, which ends
/// with two losses (training and validation) and the judgement on the epoch just made, and the way
/// back with the optimiser's step, which makes the next epoch.
///
/// Both are recorded once, by running the ordinary code, and repeated from then on with other draws and
/// other learning rates. Main memory has none: there, the ordinary code runs.
pub enum Recording {
    /// On an NVIDIA card.
    #[cfg(feature = "cuda")]
    Cuda(cuda::Recording),
}

/// Only a card has them.
#[cfg(feature = "cuda")]
fn card(engine: &Engine) -> Result<&Cuda, EngineError> {
    engine.card().ok_or_else(foreign)
}

#[cfg(feature = "cuda")]
impl Recording {
    /// Runs a step as it will be recorded, so that all memory is there, and says whether it could have
    /// been: whether it needed nothing of the host in between.
    pub fn rehearse(
        &mut self,
        engine: &Engine,
        step: impl FnOnce() -> Done,
    ) -> Result<bool, EngineError> {
        let Self::Cuda(replay) = self;
        replay.rehearse(card(engine)?, step)
    }

    /// Records the way there. While `there` runs, losses are not known.
    pub fn record_there(
        &mut self,
        engine: &Engine,
        weights: &[Buffer],
        best: &mut [Buffer],
        there: impl FnOnce() -> Done,
    ) -> Done {
        let Self::Cuda(replay) = self;
        let weights = weights.iter().map(Own::cuda).collect::<Result<Vec<_>, _>>()?;
        let best = best.iter_mut().map(Own::cuda).collect::<Result<Vec<_>, _>>()?;
        replay.record(card(engine)?, &weights, best, there)
    }

    /// Records the way back. While `back` runs, the rates of the optimiser are not known.
    pub fn record_back(&mut self, engine: &Engine, back: impl FnOnce() -> Done) -> Done {
        let Self::Cuda(replay) = self;
        replay.record_back(card(engine)?, back)
    }

    /// Goes there once, for the losses of the first step: training and validation for each lane.
    pub fn begin(&mut self, engine: &Engine) -> Result<Vec<[ReplayScore; 2]>, EngineError> {
        let Self::Cuda(replay) = self;
        replay.begin(card(engine)?)
    }

    /// Goes back and there again once for each set of numbers, of which there is one for each lane or
    /// one for all, and gives what [`begin`](Self::begin) gives, epoch after epoch.
    pub fn run(
        &mut self,
        engine: &Engine,
        steps: &[Vec<StepNumbers>],
    ) -> Result<Vec<Vec<[ReplayScore; 2]>>, EngineError> {
        let Self::Cuda(replay) = self;
        replay.run(card(engine)?, steps)
    }
}

#[cfg(not(feature = "cuda"))]
#[allow(missing_docs)] // there is none
impl Recording {
    pub fn rehearse(&mut self, _: &Engine, _: impl FnOnce() -> Done) -> Result<bool, EngineError> {
        match *self {}
    }

    pub fn record_there(
        &mut self,
        _: &Engine,
        _: &[Buffer],
        _: &mut [Buffer],
        _: impl FnOnce() -> Done,
    ) -> Done {
        match *self {}
    }

    pub fn record_back(&mut self, _: &Engine, _: impl FnOnce() -> Done) -> Done {
        match *self {}
    }

    pub fn begin(&mut self, _: &Engine) -> Result<Vec<[ReplayScore; 2]>, EngineError> {
        match *self {}
    }

    pub fn run(
        &mut self,
        _: &Engine,
        _: &[Vec<StepNumbers>],
    ) -> Result<Vec<Vec<[ReplayScore; 2]>>, EngineError> {
        match *self {}
    }
}
