//! The training loop.

use super::inputs::{Inputs, Targets};
use super::rows::RowSource;
use super::{Best, EpochRecord, History, State, TrainConfig, TrainError};
use crate::model::{Mode, Model, Rows};
use crate::nn::{Adam, Engine, Map, Pass, Shape, Tape};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Where the rows of training and validation nodes come from.
pub enum Feed<'a> {
    /// All of them at every step.
    Full(&'a Inputs),
    /// Some at a time, gathered from all nodes' rows.
    Batches {
        /// Rows of all nodes.
        rows: &'a dyn RowSource,
        /// Rows a step.
        size: usize,
    },
}

/// Looks on while a model is trained.
pub trait Watch {
    /// After every epoch, with the best so far.
    fn epoch(&mut self, record: &EpochRecord, best: &EpochRecord);
    /// Whether the state after this epoch is wanted for [`checkpoint`](Self::checkpoint).
    fn wants(&self, _epoch: usize) -> bool {
        false
    }
    /// Keeps a state to go on from.
    fn checkpoint(&mut self, _state: State) -> Result<(), TrainError> {
        Ok(())
    }
    /// Whether to stop at once; the state is handed to [`checkpoint`](Self::checkpoint) first.
    fn stop(&self) -> bool {
        false
    }
}

/// Nobody looks on.
impl Watch for () {
    fn epoch(&mut self, _: &EpochRecord, _: &EpochRecord) {}
}

/// Epochs that memory is set aside for.
pub(super) const RECORDS: usize = 1 << 14;

/// What came of a training run; the model has the weights of the best epoch.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The best epoch.
    pub best: EpochRecord,
    /// What happened.
    pub history: History,
}

/// Trains until the validation loss has not improved for `patience` epochs, and leaves the weights
/// of the best epoch in `model`.
///
/// One pass a step serves both parts: validation rows go through the weights that the training rows
/// go through next, so what the two share is computed once. A `state` from an earlier run goes on to
/// bit-identical results. No step asks for memory after the first; [`memory()`](super::memory()) says
/// how much that one asks for.
pub fn fit<'a, E>(
    engine: &'a E,
    model: &mut impl Model<E>,
    feed: &Feed<'a>,
    [train, val]: [&Targets; 2],
    config: &TrainConfig,
    state: Option<State>,
    watch: &mut dyn Watch,
) -> Result<Fitted, TrainError>
where
    E: Engine<Real = f32, Map = Map<f32>>,
{
    config.check()?;
    for (part, targets) in [("training", train), ("validation", val)] {
        if targets.is_empty() {
            return Err(TrainError::EmptyPart { part });
        }
    }
    let mut trainer = Trainer {
        engine,
        tape: Tape::new(engine),
        adam: Adam::new(engine, config.optimiser, model.parameters()),
        gradients: model.parameters().zeros(engine),
        best_weights: model.parameters().zeros(engine),
        best: None,
        history: Vec::with_capacity(config.epochs.min(RECORDS)),
        epoch: 0,
        config,
        targets: [train, val],
        batch: Batch::default(),
    };
    if let Some(state) = state {
        trainer.restore(model, state)?;
    }
    trainer.run(model, feed, watch)
}

struct Trainer<'a, 'b, E: Engine> {
    engine: &'a E,
    tape: Tape<'a, E>,
    adam: Adam<E>,
    gradients: Vec<E::Buffer>,
    best_weights: Vec<E::Buffer>,
    best: Option<EpochRecord>,
    history: History,
    /// Epochs made.
    epoch: usize,
    config: &'b TrainConfig,
    targets: [&'b Targets; 2],
    batch: Batch,
}

/// What mini-batches are gathered in.
#[derive(Default)]
struct Batch {
    order: Vec<u32>,
    numbers: Vec<f32>,
    pairs: Vec<(u32, u32)>,
}

/// Loss and share of right answers.
#[derive(Clone, Copy)]
struct Score {
    loss: f64,
    accuracy: f64,
}

impl<'a, E> Trainer<'a, '_, E>
where
    E: Engine<Real = f32, Map = Map<f32>>,
{
    fn run(
        mut self,
        model: &mut impl Model<E>,
        feed: &Feed<'a>,
        watch: &mut dyn Watch,
    ) -> Result<Fitted, TrainError> {
        match feed {
            Feed::Full(inputs) => self.run_full(model, inputs, watch)?,
            Feed::Batches { rows, size } => self.run_batches(model, *rows, *size, watch)?,
        }
        let Some(best) = self.best else { unreachable!("there is at least one epoch") };
        self.copy_weights(model, true);
        Ok(Fitted { best, history: self.history })
    }

    fn run_full(
        &mut self,
        model: &mut impl Model<E>,
        inputs: &'a Inputs,
        watch: &mut dyn Watch,
    ) -> Result<(), TrainError> {
        let [train, val] = self.targets;
        let mut last: Option<Score> = None;
        loop {
            let key = self.key(0);
            let mut pass = self.tape.pass(model.parameters());
            let shared = model.begin(&mut pass, inputs.source.as_ref());
            let logits =
                model.logits(&mut pass, shared, Rows::Map(&inputs.train), Mode::Train(key));
            let loss = pass.likelihood(logits, &train.pairs);
            let logits = model.logits(&mut pass, shared, Rows::Map(&inputs.val), Mode::Evaluate);
            let val_loss = pass.likelihood(logits, &val.pairs);
            let score = |loss: crate::nn::Loss, of: &Targets| Score {
                loss: loss.mean,
                accuracy: loss.right as f64 / of.len() as f64,
            };
            // The validation rows went through the weights of the epoch just made.
            if let Some(train_score) = last {
                self.record(train_score, score(val_loss, val))?;
                if self.after_epoch(model, watch)? {
                    return Ok(());
                }
            }
            let mut pass = Pass::resume(&mut self.tape, model.parameters());
            pass.backward(loss, &mut self.gradients);
            self.adam.step(self.engine, self.epoch, model.parameters_mut(), &self.gradients);
            self.epoch += 1;
            last = Some(score(loss, train));
        }
    }

    fn run_batches(
        &mut self,
        model: &mut impl Model<E>,
        rows: &dyn RowSource,
        size: usize,
        watch: &mut dyn Watch,
    ) -> Result<(), TrainError> {
        let [train, val] = self.targets;
        loop {
            // The order is a function of seed and epoch.
            let mut rng = ChaCha8Rng::seed_from_u64(self.config.seed);
            rng.set_stream(1 + self.epoch as u64);
            let mut order = std::mem::take(&mut self.batch.order);
            order.clear();
            order.extend(0..train.len() as u32);
            order.shuffle(&mut rng);
            let (mut sum, mut right) = (0.0, 0);
            for (number, batch) in order.chunks(size).enumerate() {
                let mode = Mode::Train(self.key(number as u32 + 1));
                let loss = self.batch_pass(model, rows, train, batch, mode);
                (sum, right) = (sum + loss.mean * batch.len() as f64, right + loss.right);
                let mut pass = Pass::resume(&mut self.tape, model.parameters());
                pass.backward(loss, &mut self.gradients);
                self.adam.step(self.engine, self.epoch, model.parameters_mut(), &self.gradients);
            }
            let mean = |sum: f64, right: usize, of: &Targets| Score {
                loss: sum / of.len() as f64,
                accuracy: right as f64 / of.len() as f64,
            };
            let train_score = mean(sum, right, train);
            (sum, right) = (0.0, 0);
            order.clear();
            order.extend(0..val.len() as u32);
            for batch in order.chunks(size) {
                let loss = self.batch_pass(model, rows, val, batch, Mode::Evaluate);
                (sum, right) = (sum + loss.mean * batch.len() as f64, right + loss.right);
            }
            self.batch.order = order;
            self.epoch += 1;
            self.record(train_score, mean(sum, right, val))?;
            if self.after_epoch(model, watch)? {
                return Ok(());
            }
        }
    }

    /// One batch through the model; the pass stays on the tape.
    fn batch_pass(
        &mut self,
        model: &impl Model<E>,
        rows: &dyn RowSource,
        targets: &Targets,
        batch: &[u32],
        mode: Mode,
    ) -> crate::nn::Loss {
        let shape = Shape { rows: batch.len(), ..rows.shape() };
        let Batch { numbers, pairs, .. } = &mut self.batch;
        numbers.resize(shape.len(), 0.0);
        for (out, &row) in numbers.chunks_exact_mut(shape.width().max(1)).zip(batch) {
            rows.copy(targets.nodes[row as usize] as usize, out);
        }
        pairs.clear();
        let class = |&row: &u32| targets.pairs[row as usize].1;
        pairs.extend((0..).zip(batch.iter().map(class)));
        let mut pass = self.tape.pass(model.parameters());
        let shared = model.begin(&mut pass, None);
        let block = pass.input(shape, numbers);
        let logits = model.logits(&mut pass, shared, Rows::Block(block), mode);
        pass.likelihood(logits, pairs)
    }

    /// Key of the dropout draws of this epoch; `number` tells batches apart.
    fn key(&self, number: u32) -> [u32; 4] {
        let seed = self.config.seed;
        [seed as u32, (seed >> 32) as u32, self.epoch as u32, number]
    }

    fn record(&mut self, train: Score, val: Score) -> Result<(), TrainError> {
        let optimiser = &self.config.optimiser;
        let rate = optimiser.rate * optimiser.schedule.factor(self.epoch - 1);
        for (which, value) in [("training", train.loss), ("validation", val.loss)] {
            if !value.is_finite() {
                return Err(TrainError::NotFinite { which, value, epoch: self.epoch, rate });
            }
        }
        self.history.push(EpochRecord {
            epoch: self.epoch,
            rate,
            train_loss: train.loss,
            train_accuracy: train.accuracy,
            val_loss: val.loss,
            val_accuracy: val.accuracy,
        });
        Ok(())
    }

    /// Keeps the best weights, tells the watch, and says whether training is over.
    fn after_epoch(
        &mut self,
        model: &mut impl Model<E>,
        watch: &mut dyn Watch,
    ) -> Result<bool, TrainError> {
        let Some(record) = self.history.last().copied() else { return Ok(false) };
        if self.best.is_none_or(|best| record.val_loss < best.val_loss) {
            self.best = Some(record);
            self.copy_weights(model, false);
        }
        let best = self.best.unwrap_or(record);
        watch.epoch(&record, &best);
        let over =
            self.epoch - best.epoch >= self.config.patience || self.epoch >= self.config.epochs;
        let stop = !over && watch.stop();
        if stop || (!over && watch.wants(self.epoch)) {
            watch.checkpoint(self.state(model))?;
        }
        if stop { Err(TrainError::Stopped(self.epoch)) } else { Ok(over) }
    }

    /// Copies the model's weights to the best ones, or back.
    fn copy_weights(&mut self, model: &mut impl Model<E>, back: bool) {
        let weights = model.parameters_mut().values_mut();
        for (weights, best) in weights.iter_mut().zip(&mut self.best_weights) {
            if back {
                self.engine.copy(best, weights);
            } else {
                self.engine.copy(weights, best);
            }
        }
    }

    fn state(&self, model: &impl Model<E>) -> State {
        let numbers = |buffers: &[E::Buffer]| -> Vec<Vec<f32>> {
            let download = |buffer: &E::Buffer| {
                let mut numbers = vec![0.0; self.engine.len(buffer)];
                self.engine.download(buffer, &mut numbers);
                numbers
            };
            buffers.iter().map(download).collect()
        };
        State {
            epoch: self.epoch,
            steps: self.adam.steps,
            weights: numbers(model.parameters().values()),
            first: numbers(&self.adam.first),
            second: numbers(&self.adam.second),
            best: self.best.map(|record| Best { record, weights: numbers(&self.best_weights) }),
            history: self.history.clone(),
        }
    }

    fn restore(&mut self, model: &mut impl Model<E>, state: State) -> Result<(), TrainError> {
        if let Some(found) = state.problem() {
            return Err(TrainError::Mismatch {
                what: "the checkpoint".to_owned(),
                found,
                expected: "parts that fit together".to_owned(),
            });
        }
        let upload = |numbers: &[Vec<f32>], to: &mut [E::Buffer]| {
            let sizes = |of: &[usize]| format!("{} blocks of {of:?} numbers", of.len());
            let found: Vec<usize> = numbers.iter().map(Vec::len).collect();
            let expected: Vec<usize> = to.iter().map(|buffer| self.engine.len(buffer)).collect();
            if found != expected {
                return Err(TrainError::Mismatch {
                    what: "the checkpoint".to_owned(),
                    found: sizes(&found),
                    expected: sizes(&expected),
                });
            }
            for (numbers, to) in numbers.iter().zip(to) {
                self.engine.upload(numbers, to);
            }
            Ok(())
        };
        upload(&state.weights, model.parameters_mut().values_mut())?;
        upload(&state.first, &mut self.adam.first)?;
        upload(&state.second, &mut self.adam.second)?;
        if let Some(best) = state.best {
            upload(&best.weights, &mut self.best_weights)?;
            self.best = Some(best.record);
        }
        self.adam.steps = state.steps;
        self.epoch = state.epoch;
        self.history = state.history;
        Ok(())
    }
}
