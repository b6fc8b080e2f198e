//! Steps that the device repeats by itself: the host reads the scores of many epochs at a time, and decides as it
//! would have after each of them.

use super::lane::Score;
use super::learner::Learner;
use super::steps::Steps;
use super::{State, Targets};
use crate::model::{Mode, View};
use crate::nn::{Parameters, Tape, Trace};
use crate::train::{TrainConfig, TrainError};
use magnon_core::compute::{
    DrawKey, EngineError, Recording, ReplayConfig, ReplayScore, StepNumbers,
};

/// Epochs that are repeated before the host looks at them.
const EPOCHS: usize = 32;

/// One step over all training rows of every lane, as [`FullSteps`](super::steps::FullSteps) make it.
pub(super) struct RecordedSteps<'a> {
    recording: Recording,
    /// The configuration of each lane, or of all.
    configs: &'a [TrainConfig],
    /// Training and validation targets of each lane.
    sizes: [usize; 2],
    /// Training scores of the steps that make the next epoch.
    begun: Vec<Score>,
}

impl<'a> RecordedSteps<'a> {
    /// Records a step of all lanes, whose configurations and targets are given for each lane or once for all.
    /// `None`, with the weights as they were, where the engine cannot record the steps of this model.
    pub fn record(
        learner: &mut Learner,
        [train, val]: [&dyn View; 2],
        targets: &[[&Targets; 2]],
        configs: &'a [TrainConfig],
        state: Option<&State>,
    ) -> Result<Option<Self>, TrainError> {
        let (engine, config) = (learner.engine, &configs[0]);
        let start = state.map_or(0, |state| state.epoch);
        let known = state.and_then(|state| state.best.as_ref());
        let replay = ReplayConfig {
            epoch: start,
            patience: config.patience,
            best: known.map(|best| (best.record.val_loss, best.record.epoch)),
            most: EPOCHS.min(config.epochs),
        };
        let Some(recording) = engine.replay(&replay) else { return Ok(None) };
        let mut recording = recording?;
        let [of_train, of_val] =
            [0, 1].map(|part| targets.iter().map(|of| &of[part].pairs[..]).collect::<Vec<_>>());
        let key = DrawKey { seed: config.seed, epoch: start as u32, batch: 0, site: 0 };
        let forward = |tape: &mut Tape, parameters: &Parameters| {
            let mut trace = tape.trace(parameters);
            let shared = train.begin(&mut trace);
            engine.fork()?;
            let logits = train.logits(&mut trace, shared, Mode::Train(key));
            let loss = trace.nll_loss_of_lanes(logits, &of_train)?;
            // The validation rows go their own way from the same weights.
            engine.aside(true);
            let logits = val.logits(&mut trace, shared, Mode::Evaluate);
            let of_val = trace.nll_loss_of_lanes(logits, &of_val);
            engine.aside(false);
            of_val?;
            engine.join()?;
            Ok::<_, EngineError>(loss)
        };
        let Learner { parameters, tape, adam, gradients, best, .. } = learner;
        // The first time brings all memory, the second shows whether anything else is needed.
        let mut suits = false;
        for _ in 0..2 {
            suits = recording.rehearse(engine, || {
                let loss = forward(tape, parameters)?;
                Trace::resume(tape, parameters).backward(loss, gradients)?;
                adam.clip(engine, gradients)
            })?;
        }
        if !suits {
            return Ok(None);
        }
        let mut loss = None;
        recording.record_there(engine, parameters.values(), best, || {
            loss = Some(forward(tape, parameters)?);
            Ok(())
        })?;
        let Some(loss) = loss else { return Ok(None) };
        let steps = adam.steps;
        recording.record_back(engine, || {
            Trace::resume(tape, parameters).backward(loss, gradients)?;
            adam.step(engine, start, parameters, gradients)
        })?;
        adam.steps = steps;
        let sizes = [of_train[0].len(), of_val[0].len()];
        let begun = recording.begin(engine)?;
        let begun = begun.into_iter().map(|[train, _]| score(train, sizes[0])).collect();
        Ok(Some(Self { recording, configs, sizes, begun }))
    }
}

fn score(score: ReplayScore, count: usize) -> Score {
    Score { loss: score.loss, accuracy: score.right as f64 / count as f64 }
}

impl Steps for RecordedSteps<'_> {
    fn at_once(&self) -> usize {
        EPOCHS.min(self.configs[0].epochs)
    }

    fn make(
        &mut self,
        learner: &mut Learner,
        epoch: usize,
        count: usize,
        scores: &mut Vec<[Score; 2]>,
    ) -> Result<(), TrainError> {
        let numbers = |k: usize| -> Vec<StepNumbers> {
            let step = learner.adam.steps + k as u64 + 1;
            let of = |config: &TrainConfig| config.optimiser.numbers(epoch + k, step);
            self.configs.iter().map(of).collect()
        };
        let numbers: Vec<_> = (0..count).map(numbers).collect();
        for lanes in self.recording.run(learner.engine, &numbers)? {
            for (begun, [train, val]) in self.begun.iter_mut().zip(lanes) {
                scores.push([*begun, score(val, self.sizes[1])]);
                *begun = score(train, self.sizes[0]);
            }
        }
        learner.adam.steps += count as u64;
        Ok(())
    }

    fn keep_best(&self) -> bool {
        true
    }
}
