//! `Learner`: the weights, and everything that changes with them.

use super::lane::Lane;
use super::{Best, State};
use crate::nn::{Adam, Parameters, Tape, download};
use crate::train::{TrainConfig, TrainError};
use magnon_core::compute::{Buffer, Done, Engine};

/// The weights of one model, or of several lanes, with the optimiser and the best weights so far.
pub(super) struct Learner<'e, 'p> {
    pub engine: &'e Engine,
    pub parameters: &'p mut Parameters,
    pub tape: Tape<'e>,
    pub adam: Adam,
    pub gradients: Vec<Buffer>,
    pub best: Vec<Buffer>,
}

impl<'e, 'p> Learner<'e, 'p> {
    pub fn new(
        engine: &'e Engine,
        parameters: &'p mut Parameters,
        config: &TrainConfig,
    ) -> Result<Self, TrainError> {
        Ok(Self {
            engine,
            tape: Tape::new(engine),
            adam: Adam::new(engine, config.optimiser, parameters)?,
            gradients: parameters.zeros(engine)?,
            best: parameters.zeros(engine)?,
            parameters,
        })
    }

    /// Bytes that are held beside the parameters: gradients, two moments and the best weights, the buffers of a
    /// step, and the memory that the engine works in.
    pub fn bytes(&self) -> usize {
        4 * self.parameters.count() * size_of::<f32>()
            + self.tape.bytes()
            + self.engine.scratch_bytes()
    }

    /// Keeps the weights as the best so far.
    pub fn keep_best(&mut self) -> Done {
        copy_all(self.engine, self.parameters.values(), &mut self.best)
    }

    /// Puts the best weights in place of the last ones.
    pub fn take_best(&mut self) -> Done {
        copy_all(self.engine, &self.best, self.parameters.values_mut())
    }

    /// The state after an epoch of a single lane.
    pub fn state(&self, epoch: usize, lane: &Lane) -> Result<State, TrainError> {
        let numbers = |buffers: &[Buffer]| download(self.engine, buffers);
        let best = match lane.best {
            Some(record) => Some(Best { record, weights: numbers(&self.best)? }),
            None => None,
        };
        Ok(State {
            epoch,
            steps: self.adam.steps,
            weights: numbers(self.parameters.values())?,
            first: numbers(&self.adam.first)?,
            second: numbers(&self.adam.second)?,
            best,
            history: lane.history.clone(),
        })
    }

    /// Goes on from a state.
    pub fn restore(&mut self, state: &State) -> Result<(), TrainError> {
        let engine = self.engine;
        upload(engine, &state.weights, self.parameters.values_mut())?;
        upload(engine, &state.first, &mut self.adam.first)?;
        upload(engine, &state.second, &mut self.adam.second)?;
        if let Some(best) = &state.best {
            upload(engine, &best.weights, &mut self.best)?;
        }
        self.adam.steps = state.steps;
        Ok(())
    }
}

fn copy_all(engine: &Engine, from: &[Buffer], to: &mut [Buffer]) -> Done {
    from.iter().zip(to).try_for_each(|(from, to)| engine.copy(from, to))
}

/// Puts the numbers of a checkpoint into buffers of the same sizes.
fn upload(engine: &Engine, numbers: &[Vec<f32>], to: &mut [Buffer]) -> Result<(), TrainError> {
    let sizes = |of: &[usize]| format!("{} blocks of {of:?} numbers", of.len());
    let found: Vec<usize> = numbers.iter().map(Vec::len).collect();
    let expected: Vec<usize> = to.iter().map(|buffer| engine.len(buffer)).collect();
    if found != expected {
        return Err(TrainError::Mismatch {
            what: "the checkpoint".to_owned(),
            found: sizes(&found),
            expected: sizes(&expected),
        });
    }
    for (numbers, to) in numbers.iter().zip(to) {
        engine.upload(numbers, to)?;
    }
    Ok(())
}
