//! The fit of one model: steps, early stopping, and states to go on from.

pub mod checkpoint;
mod history;
mod replayed;
mod state;
mod targets;

pub use history::{EpochRecord, History};
pub use state::{Best, State};
pub use targets::Targets;

use super::{TrainConfig, TrainError};
use crate::model::{Gathered, Mode, RowClassifier, View};
use crate::nn::{Adam, Loss, Parameters, Tape, Trace, download};
use magnon_core::compute::{Buffer, Done, DrawKey, Engine};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
pub(crate) use replayed::alike;
use replayed::{Setting, fit_replayed};

/// What the logits of training and validation nodes are computed from.
pub enum Feed<'a> {
    /// All of them at every step.
    Full {
        /// The training nodes.
        train: &'a dyn View,
        /// The validation nodes.
        val: &'a dyn View,
    },
    /// Some at a time.
    Batches {
        /// The network on single rows.
        network: &'a dyn RowClassifier,
        /// Rows per step.
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
const RECORDS: usize = 1 << 14;

/// What came of a training run; the parameters are those of the best epoch.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The best epoch.
    pub best: EpochRecord,
    /// What happened.
    pub history: History,
    /// Bytes that it held at its peak beside the parameters and what its input has: gradients, two
    /// moments and the best weights, the buffers of a step, the blocks that the engine works in, and a
    /// record for each epoch. Not counted is what dense products pack their factors in: a thread asks
    /// for it once.
    pub bytes: usize,
}

/// Trains until the validation loss has not improved for `patience` epochs, and leaves the weights
/// of the best epoch in `parameters`.
///
/// One trace per step serves both parts: validation rows go through the weights that the training
/// rows go through next, so what the two share is computed once. A `state` from an earlier run goes
/// on to bit-identical results. No step asks for memory after the first, but for batches of a model with several
/// inputs, which gathers them anew, and the short lists of a bank's channels.
pub fn fit(
    engine: &Engine,
    parameters: &mut Parameters,
    feed: &Feed,
    targets: [&Targets; 2],
    config: &TrainConfig,
    state: Option<State>,
    watch: &mut dyn Watch,
) -> Result<Fitted, TrainError> {
    check(targets, config)?;
    if let Feed::Full { train, val } = *feed {
        if let Some(state) = &state {
            check_state(state)?;
        }
        let configs = std::slice::from_ref(config);
        let setting = Setting { engine, train, val, targets: &[targets], configs };
        let watches: Vec<&mut dyn Watch> = vec![&mut *watch];
        if let Some(fitted) = fit_replayed(&setting, parameters, state.as_ref(), watches)?
            && let Some(fitted) = fitted.into_iter().next()
        {
            return fitted;
        }
    }
    let mut trainer = Trainer {
        engine,
        tape: Tape::new(engine),
        adam: Adam::new(engine, config.optimiser, parameters)?,
        gradients: parameters.zeros(engine)?,
        best_weights: parameters.zeros(engine)?,
        best: None,
        history: Vec::with_capacity(config.epochs.min(RECORDS)),
        epoch: 0,
        config,
        targets,
        batch: Batch::default(),
    };
    if let Some(state) = state {
        trainer.restore(parameters, state)?;
    }
    trainer.run(parameters, feed, watch)
}

/// Trains several seeds at once on an engine with a lane for each, whose parameters hold their first
/// weights, on the targets of each lane or on the same for all, and with the configuration of each lane or
/// the same for all. A lane that fails leaves the others alone. `None`, with nothing changed, where the
/// engine or the configurations do not allow it.
pub fn fit_lanes(
    engine: &Engine,
    parameters: &mut Parameters,
    [train, val]: [&dyn View; 2],
    targets: &[[&Targets; 2]],
    configs: &[TrainConfig],
    watches: Vec<&mut dyn Watch>,
) -> Result<Option<Vec<Result<Fitted, TrainError>>>, TrainError> {
    let count = watches.len();
    let each = |len: usize| len == 1 || len == count;
    let (Some(first), true) = (configs.first(), each(targets.len()) && each(configs.len())) else {
        return Ok(None);
    };
    for &targets in targets {
        check(targets, first)?;
    }
    for config in configs {
        config.check()?;
        if !alike(config, first) {
            return Ok(None);
        }
    }
    fit_replayed(&Setting { engine, train, val, targets, configs }, parameters, None, watches)
}

/// Refuses what cannot be trained.
fn check([train, val]: [&Targets; 2], config: &TrainConfig) -> Result<(), TrainError> {
    config.check()?;
    for (part, targets) in [("training", train), ("validation", val)] {
        if targets.is_empty() {
            return Err(TrainError::EmptyPart { part });
        }
    }
    Ok(())
}

struct Trainer<'e, 'b> {
    engine: &'e Engine,
    tape: Tape<'e>,
    adam: Adam,
    gradients: Vec<Buffer>,
    best_weights: Vec<Buffer>,
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
    nodes: Vec<u32>,
    gathered: Gathered,
    pairs: Vec<(u32, u32)>,
}

/// Loss and share of correct answers.
#[derive(Clone, Copy)]
pub(crate) struct Score {
    loss: f64,
    accuracy: f64,
}

impl Trainer<'_, '_> {
    fn run(
        mut self,
        parameters: &mut Parameters,
        feed: &Feed,
        watch: &mut dyn Watch,
    ) -> Result<Fitted, TrainError> {
        match feed {
            Feed::Full { train, val } => self.run_full(parameters, *train, *val, watch)?,
            Feed::Batches { network, size } => {
                self.run_batches(parameters, *network, *size, watch)?
            }
        }
        let Some(best) = self.best else { unreachable!("there is at least one epoch") };
        self.copy_weights(parameters, true)?;
        let bytes = self.bytes(parameters.count());
        Ok(Fitted { best, history: self.history, bytes })
    }

    /// Bytes that are held beside the parameters.
    fn bytes(&self, count: usize) -> usize {
        let Batch { order, nodes, gathered, pairs } = &self.batch;
        let targets = self.targets.map(Targets::len).iter().sum::<usize>() + pairs.capacity();
        4 * count * size_of::<f32>()
            + self.tape.bytes()
            + self.engine.scratch_bytes()
            + (order.capacity() + nodes.capacity()) * size_of::<u32>()
            + gathered.bytes()
            + targets * size_of::<(u32, u32)>()
            + self.history.capacity() * size_of::<EpochRecord>()
    }

    fn run_full(
        &mut self,
        parameters: &mut Parameters,
        train_view: &dyn View,
        val_view: &dyn View,
        watch: &mut dyn Watch,
    ) -> Result<(), TrainError> {
        let [train, val] = self.targets;
        let mut last: Option<Score> = None;
        loop {
            let key = self.key(0);
            let mut trace = self.tape.trace(parameters);
            let shared = train_view.begin(&mut trace);
            let logits = train_view.logits(&mut trace, shared, Mode::Train(key));
            let loss = trace.nll_loss(logits, &train.pairs)?;
            let logits = val_view.logits(&mut trace, shared, Mode::Evaluate);
            let val_loss = trace.nll_loss(logits, &val.pairs)?;
            let score = |loss: Loss, of: &Targets| Score {
                loss: loss.mean,
                accuracy: loss.right as f64 / of.len() as f64,
            };
            // The validation rows went through the weights of the epoch just made.
            if let Some(train_score) = last {
                self.record(train_score, score(val_loss, val))?;
                if self.after_epoch(parameters, watch)? {
                    return Ok(());
                }
            }
            let mut trace = Trace::resume(&mut self.tape, parameters);
            trace.backward(loss, &mut self.gradients)?;
            self.adam.step(self.engine, self.epoch, parameters, &self.gradients)?;
            self.epoch += 1;
            last = Some(score(loss, train));
        }
    }

    fn run_batches(
        &mut self,
        parameters: &mut Parameters,
        network: &dyn RowClassifier,
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
                let loss = self.batch_loss(parameters, network, train, batch, mode)?;
                (sum, right) = (sum + loss.mean * batch.len() as f64, right + loss.right);
                let mut trace = Trace::resume(&mut self.tape, parameters);
                trace.backward(loss, &mut self.gradients)?;
                self.adam.step(self.engine, self.epoch, parameters, &self.gradients)?;
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
                let mode = Mode::Evaluate;
                let loss = self.batch_loss(parameters, network, val, batch, mode)?;
                (sum, right) = (sum + loss.mean * batch.len() as f64, right + loss.right);
            }
            self.batch.order = order;
            self.epoch += 1;
            self.record(train_score, mean(sum, right, val))?;
            if self.after_epoch(parameters, watch)? {
                return Ok(());
            }
        }
    }

    /// One batch through the model; the trace stays on the tape.
    fn batch_loss(
        &mut self,
        parameters: &Parameters,
        network: &dyn RowClassifier,
        targets: &Targets,
        batch: &[u32],
        mode: Mode,
    ) -> Result<Loss, TrainError> {
        let Batch { nodes, gathered, pairs, .. } = &mut self.batch;
        nodes.clear();
        nodes.extend(batch.iter().map(|&row| targets.nodes[row as usize]));
        pairs.clear();
        let class = |&row: &u32| targets.pairs[row as usize].1;
        pairs.extend((0..).zip(batch.iter().map(class)));
        let mut trace = self.tape.trace(parameters);
        let logits = network.logits_of(&mut trace, nodes, gathered, mode)?;
        Ok(trace.nll_loss(logits, pairs)?)
    }

    /// Key of the dropout draws of this epoch; `batch` tells batches apart.
    fn key(&self, batch: u32) -> DrawKey {
        DrawKey { seed: self.config.seed, epoch: self.epoch as u32, batch, site: 0 }
    }

    fn record(&mut self, train: Score, val: Score) -> Result<(), TrainError> {
        self.history.push(EpochRecord::new(self.config, self.epoch, train, val)?);
        Ok(())
    }

    /// Keeps the best weights, tells the watch, and says whether training is over.
    fn after_epoch(
        &mut self,
        parameters: &mut Parameters,
        watch: &mut dyn Watch,
    ) -> Result<bool, TrainError> {
        let Some(record) = self.history.last().copied() else { return Ok(false) };
        if self.best.is_none_or(|best| record.val_loss < best.val_loss) {
            self.best = Some(record);
            self.copy_weights(parameters, false)?;
        }
        let best = self.best.unwrap_or(record);
        watch.epoch(&record, &best);
        let over =
            self.epoch - best.epoch >= self.config.patience || self.epoch >= self.config.epochs;
        let stop = !over && watch.stop();
        if stop || (!over && watch.wants(self.epoch)) {
            watch.checkpoint(self.state(parameters)?)?;
        }
        if stop { Err(TrainError::Stopped(self.epoch)) } else { Ok(over) }
    }

    /// Copies the weights to the best ones, or back.
    fn copy_weights(&mut self, parameters: &mut Parameters, back: bool) -> Result<(), TrainError> {
        Ok(match back {
            true => copy_all(self.engine, &self.best_weights, parameters.values_mut()),
            false => copy_all(self.engine, parameters.values(), &mut self.best_weights),
        }?)
    }

    fn state(&self, parameters: &Parameters) -> Result<State, TrainError> {
        let numbers = |buffers: &[Buffer]| download(self.engine, buffers);
        let best = match self.best {
            Some(record) => Some(Best { record, weights: numbers(&self.best_weights)? }),
            None => None,
        };
        Ok(State {
            epoch: self.epoch,
            steps: self.adam.steps,
            weights: numbers(parameters.values())?,
            first: numbers(&self.adam.first)?,
            second: numbers(&self.adam.second)?,
            best,
            history: self.history.clone(),
        })
    }

    fn restore(&mut self, parameters: &mut Parameters, state: State) -> Result<(), TrainError> {
        check_state(&state)?;
        upload(self.engine, &state.weights, parameters.values_mut())?;
        upload(self.engine, &state.first, &mut self.adam.first)?;
        upload(self.engine, &state.second, &mut self.adam.second)?;
        if let Some(best) = state.best {
            upload(self.engine, &best.weights, &mut self.best_weights)?;
            self.best = Some(best.record);
        }
        self.adam.steps = state.steps;
        self.epoch = state.epoch;
        self.history.extend(state.history); // into what was set aside for all epochs
        Ok(())
    }
}

/// Refuses a state whose parts contradict each other.
fn check_state(state: &State) -> Result<(), TrainError> {
    match state.problem() {
        Some(found) => Err(TrainError::Mismatch {
            what: "the checkpoint".to_owned(),
            found,
            expected: "parts that fit together".to_owned(),
        }),
        None => Ok(()),
    }
}

/// Copies some buffers.
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
