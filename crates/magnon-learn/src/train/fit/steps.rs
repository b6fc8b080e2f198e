//! The steps of an epoch: over all rows at once, or over batches of rows.

use super::Targets;
use super::lane::Score;
use super::learner::Learner;
use crate::model::{Gathered, Mode, RowClassifier, View};
use crate::nn::{Loss, Trace};
use crate::train::{TrainConfig, TrainError};
use magnon_core::compute::DrawKey;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Makes epochs.
pub(super) trait Steps {
    /// Epochs that are made at a time.
    fn at_once(&self) -> usize {
        1
    }
    /// Makes `count` epochs after `epoch` others, and appends their scores: training and validation for each
    /// lane, epoch after epoch. Training scores are those of the steps, with dropout; validation scores are
    /// taken after them, without.
    fn make(
        &mut self,
        learner: &mut Learner,
        epoch: usize,
        count: usize,
        scores: &mut Vec<[Score; 2]>,
    ) -> Result<(), TrainError>;
    /// Whether the steps keep the best weights by themselves.
    fn keep_best(&self) -> bool {
        false
    }
    /// Bytes of memory held.
    fn bytes(&self) -> usize {
        0
    }
}

/// The mean loss and the share of correct answers.
fn score(loss: Loss, of: &Targets) -> Score {
    Score { loss: loss.mean, accuracy: loss.right as f64 / of.len() as f64 }
}

/// Key of the dropout draws of an epoch; `batch` tells batches apart.
fn key(config: &TrainConfig, epoch: usize, batch: u32) -> DrawKey {
    DrawKey { seed: config.seed, epoch: epoch as u32, batch, site: 0 }
}

/// One step over all training rows.
///
/// One trace per step serves both parts: the validation rows go through the weights that the training rows of the
/// next step go through, so what the two share is computed once.
pub(super) struct FullSteps<'a> {
    pub config: &'a TrainConfig,
    pub views: [&'a dyn View; 2],
    pub targets: [&'a Targets; 2],
    /// The training loss whose trace is on the tape.
    pub begun: Option<Loss>,
}

impl FullSteps<'_> {
    /// Both parts forward; the trace stays on the tape.
    fn forward(&mut self, learner: &mut Learner, epoch: usize) -> Result<[Loss; 2], TrainError> {
        let ([train, val], [of_train, of_val]) = (self.views, self.targets);
        let mut trace = learner.tape.trace(learner.parameters);
        let shared = train.begin(&mut trace);
        let logits = train.logits(&mut trace, shared, Mode::Train(key(self.config, epoch, 0)));
        let loss = trace.nll_loss(logits, &of_train.pairs)?;
        let logits = val.logits(&mut trace, shared, Mode::Evaluate);
        let val_loss = trace.nll_loss(logits, &of_val.pairs)?;
        self.begun = Some(loss);
        Ok([loss, val_loss])
    }
}

impl Steps for FullSteps<'_> {
    fn make(
        &mut self,
        learner: &mut Learner,
        epoch: usize,
        count: usize,
        scores: &mut Vec<[Score; 2]>,
    ) -> Result<(), TrainError> {
        for epoch in epoch..epoch + count {
            let loss = match self.begun {
                Some(loss) => loss,
                None => self.forward(learner, epoch)?[0],
            };
            let mut trace = Trace::resume(&mut learner.tape, learner.parameters);
            trace.backward(loss, &mut learner.gradients)?;
            learner.adam.step(learner.engine, epoch, learner.parameters, &learner.gradients)?;
            let [_, val] = self.forward(learner, epoch + 1)?;
            scores.push([score(loss, self.targets[0]), score(val, self.targets[1])]);
        }
        Ok(())
    }
}

/// One step for each batch of training rows.
pub(super) struct BatchSteps<'a> {
    pub config: &'a TrainConfig,
    pub network: &'a dyn RowClassifier,
    pub size: usize,
    pub targets: [&'a Targets; 2],
    pub batch: Batch,
}

/// What a batch is gathered in.
#[derive(Default)]
pub(super) struct Batch {
    order: Vec<u32>,
    nodes: Vec<u32>,
    gathered: Gathered,
    pairs: Vec<(u32, u32)>,
}

impl BatchSteps<'_> {
    /// One batch through the model; the trace stays on the tape.
    fn forward(
        &mut self,
        learner: &mut Learner,
        targets: &Targets,
        rows: &[u32],
        mode: Mode,
    ) -> Result<Loss, TrainError> {
        let Batch { nodes, gathered, pairs, .. } = &mut self.batch;
        nodes.clear();
        nodes.extend(rows.iter().map(|&row| targets.nodes[row as usize]));
        pairs.clear();
        let class = |&row: &u32| targets.pairs[row as usize].1;
        pairs.extend((0..).zip(rows.iter().map(class)));
        let mut trace = learner.tape.trace(learner.parameters);
        let logits = self.network.logits_of(&mut trace, nodes, gathered, mode)?;
        Ok(trace.nll_loss(logits, pairs)?)
    }

    /// All training rows, in an order that is a function of seed and epoch.
    fn train(&mut self, learner: &mut Learner, epoch: usize) -> Result<Score, TrainError> {
        let targets = self.targets[0];
        let mut rng = ChaCha8Rng::seed_from_u64(self.config.seed);
        rng.set_stream(1 + epoch as u64);
        let mut order = self.order_of(targets);
        order.shuffle(&mut rng);
        let mut total = Total::default();
        for (number, rows) in order.chunks(self.size).enumerate() {
            let mode = Mode::Train(key(self.config, epoch, number as u32 + 1));
            let loss = self.forward(learner, targets, rows, mode)?;
            total.add(loss, rows.len());
            let mut trace = Trace::resume(&mut learner.tape, learner.parameters);
            trace.backward(loss, &mut learner.gradients)?;
            learner.adam.step(learner.engine, epoch, learner.parameters, &learner.gradients)?;
        }
        self.batch.order = order;
        Ok(total.score(targets))
    }

    fn validate(&mut self, learner: &mut Learner) -> Result<Score, TrainError> {
        let targets = self.targets[1];
        let order = self.order_of(targets);
        let mut total = Total::default();
        for rows in order.chunks(self.size) {
            total.add(self.forward(learner, targets, rows, Mode::Evaluate)?, rows.len());
        }
        self.batch.order = order;
        Ok(total.score(targets))
    }

    /// The numbers of all targets, in the memory of the last order.
    fn order_of(&mut self, targets: &Targets) -> Vec<u32> {
        let mut order = std::mem::take(&mut self.batch.order);
        order.clear();
        order.extend(0..targets.len() as u32);
        order
    }
}

/// Sums over batches.
#[derive(Default)]
struct Total {
    loss: f64,
    right: usize,
}

impl Total {
    fn add(&mut self, loss: Loss, rows: usize) {
        self.loss += loss.mean * rows as f64;
        self.right += loss.right;
    }

    fn score(self, of: &Targets) -> Score {
        let count = of.len() as f64;
        Score { loss: self.loss / count, accuracy: self.right as f64 / count }
    }
}

impl Steps for BatchSteps<'_> {
    fn make(
        &mut self,
        learner: &mut Learner,
        epoch: usize,
        count: usize,
        scores: &mut Vec<[Score; 2]>,
    ) -> Result<(), TrainError> {
        for epoch in epoch..epoch + count {
            scores.push([self.train(learner, epoch)?, self.validate(learner)?]);
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        let Batch { order, nodes, gathered, pairs } = &self.batch;
        (order.capacity() + nodes.capacity()) * size_of::<u32>()
            + gathered.bytes()
            + pairs.capacity() * size_of::<(u32, u32)>()
    }
}
