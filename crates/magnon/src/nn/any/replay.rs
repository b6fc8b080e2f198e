//! Replays of the chosen engine.

use super::{AnyBuffer, AnyEngine, AnyReplay};
use crate::nn::replay::{Replay, ReplayScore, StepNumbers};
use crate::nn::{Done, EngineError};

#[cfg(feature = "cuda")]
use super::own::{Own, foreign};
#[cfg(feature = "cuda")]
use crate::nn::cuda::Cuda;

/// Only engines with a replay have one.
#[cfg(feature = "cuda")]
fn cuda_of(engine: &AnyEngine) -> Result<&Cuda, EngineError> {
    match engine {
        AnyEngine::Cuda(engine) => Ok(engine),
        AnyEngine::Cpu(_) => Err(foreign()),
    }
}

#[cfg(feature = "cuda")]
impl Replay<AnyEngine> for AnyReplay {
    fn rehearse(
        &mut self,
        engine: &AnyEngine,
        step: impl FnOnce() -> Done,
    ) -> Result<bool, EngineError> {
        let Self::Cuda(replay) = self;
        replay.rehearse(cuda_of(engine)?, step)
    }

    fn record_there(
        &mut self,
        engine: &AnyEngine,
        weights: &[AnyBuffer],
        best: &mut [AnyBuffer],
        there: impl FnOnce() -> Done,
    ) -> Done {
        let Self::Cuda(replay) = self;
        let weights = weights.iter().map(Own::cuda).collect::<Result<Vec<_>, _>>()?;
        let best = best.iter_mut().map(Own::cuda).collect::<Result<Vec<_>, _>>()?;
        replay.record(cuda_of(engine)?, &weights, best, there)
    }

    fn record_back(&mut self, engine: &AnyEngine, back: impl FnOnce() -> Done) -> Done {
        let Self::Cuda(replay) = self;
        replay.record_back(cuda_of(engine)?, back)
    }

    fn begin(&mut self, engine: &AnyEngine) -> Result<Vec<[ReplayScore; 2]>, EngineError> {
        let Self::Cuda(replay) = self;
        replay.begin(cuda_of(engine)?)
    }

    fn run(
        &mut self,
        engine: &AnyEngine,
        steps: &[Vec<StepNumbers>],
    ) -> Result<Vec<Vec<[ReplayScore; 2]>>, EngineError> {
        let Self::Cuda(replay) = self;
        replay.run(cuda_of(engine)?, steps)
    }
}

#[cfg(not(feature = "cuda"))]
impl Replay<AnyEngine> for AnyReplay {
    fn rehearse(&mut self, _: &AnyEngine, _: impl FnOnce() -> Done) -> Result<bool, EngineError> {
        match *self {}
    }

    fn record_there(
        &mut self,
        _: &AnyEngine,
        _: &[AnyBuffer],
        _: &mut [AnyBuffer],
        _: impl FnOnce() -> Done,
    ) -> Done {
        match *self {}
    }

    fn record_back(&mut self, _: &AnyEngine, _: impl FnOnce() -> Done) -> Done {
        match *self {}
    }

    fn begin(&mut self, _: &AnyEngine) -> Result<Vec<[ReplayScore; 2]>, EngineError> {
        match *self {}
    }

    fn run(
        &mut self,
        _: &AnyEngine,
        _: &[Vec<StepNumbers>],
    ) -> Result<Vec<Vec<[ReplayScore; 2]>>, EngineError> {
        match *self {}
    }
}
