//! `fit`: the training loop, with early stopping, checkpoints and cancelling.

pub mod checkpoint;
mod history;
mod lane;
mod learner;
mod recorded;
mod state;
mod steps;
mod targets;

pub use history::{EpochRecord, History};
pub use state::{Best, State};
pub use targets::Targets;

use super::{TrainConfig, TrainError};
use crate::model::{RowClassifier, View};
use crate::nn::Parameters;
use lane::Lane;
pub(crate) use lane::Score;
use learner::Learner;
use magnon_core::compute::Engine;
use recorded::RecordedSteps;
use steps::{Batch, BatchSteps, FullSteps, Steps};

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

/// The result of training; the parameters are those of the best epoch.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The best epoch.
    pub best: EpochRecord,
    /// All epochs.
    pub history: History,
    /// Bytes that training held at its peak beside the parameters and what its input has: gradients, two
    /// moments and the best weights, the buffers of a step, the blocks that the engine works in, and a
    /// record for each epoch. Not counted is what dense products pack their factors in: a thread asks
    /// for it once.
    pub bytes: usize,
}

/// Trains until the validation loss has not improved for `patience` epochs, and leaves the weights
/// of the best epoch in `parameters`.
///
/// A `state` from an earlier run goes on to bit-identical results. No step asks for memory after the first, but
/// for batches of a model with several inputs, which gathers them anew, and the short lists of a bank's channels.
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
    let configs = std::slice::from_ref(config);
    let mut learner = Learner::new(engine, parameters, config)?;
    if let Some(state) = &state {
        state.check()?;
        learner.restore(state)?;
    }
    let mut steps: Box<dyn Steps + '_> = match *feed {
        Feed::Full { train, val } => {
            let views = [train, val];
            let recorded =
                RecordedSteps::record(&mut learner, views, &[targets], configs, state.as_ref())?;
            match recorded {
                Some(steps) => Box::new(steps),
                None => Box::new(FullSteps { config, views, targets, begun: None }),
            }
        }
        Feed::Batches { network, size } => {
            let batch = Batch::default();
            Box::new(BatchSteps { config, network, size, targets, batch })
        }
    };
    let lane = Lane::new(watch, config, state.as_ref());
    drop(state);
    let rows = targets.map(Targets::len).iter().sum();
    match train(learner, steps.as_mut(), vec![lane], rows)?.pop() {
        Some(fitted) => fitted,
        None => Err(TrainError::EmptyPart { part: "training" }),
    }
}

/// Trains several models in the same steps, on an engine with a lane for each, whose parameters hold their first
/// weights. Targets and configurations are those of each lane or the same for all. A lane that fails leaves the
/// others alone. `None`, with nothing changed, where the engine or the configurations do not allow it.
pub fn fit_lanes(
    engine: &Engine,
    parameters: &mut Parameters,
    views: [&dyn View; 2],
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
        if !share_steps(config, first) {
            return Ok(None);
        }
    }
    let mut learner = Learner::new(engine, parameters, first)?;
    let steps = RecordedSteps::record(&mut learner, views, targets, configs, None)?;
    let Some(mut steps) = steps else { return Ok(None) };
    let mut lanes = Vec::new();
    for (watch, config) in watches.into_iter().zip(configs.iter().cycle()) {
        lanes.push(Lane::new(watch, config, None));
    }
    let rows = targets[0].map(Targets::len).iter().sum();
    train(learner, &mut steps, lanes, rows).map(Some)
}

/// Whether models with two configurations can be trained in the same steps.
pub(crate) fn share_steps(a: &TrainConfig, b: &TrainConfig) -> bool {
    let common = |of: &TrainConfig| {
        let TrainConfig { epochs, patience, batch, optimiser, device, seed: _ } = *of;
        (epochs, patience, batch, optimiser.clip, device)
    };
    common(a) == common(b)
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

/// The loop: epochs until every lane is over. Returns what came of each.
fn train(
    mut learner: Learner,
    steps: &mut dyn Steps,
    mut lanes: Vec<Lane>,
    rows: usize,
) -> Result<Vec<Result<Fitted, TrainError>>, TrainError> {
    let mut epoch = lanes.first().map_or(0, |lane| lane.history.len());
    let most = lanes.first().map_or(0, |lane| lane.config.epochs);
    let mut scores = Vec::new();
    while lanes.iter().any(|lane| !lane.over) {
        let mut count = steps.at_once().min(most - epoch).max(1);
        // A state is handed out after the epoch that it is wanted of.
        if let [lane] = &lanes[..] {
            count = (1..=count).find(|k| lane.watch.wants(epoch + k)).unwrap_or(count);
        }
        scores.clear();
        steps.make(&mut learner, epoch, count, &mut scores)?;
        for scores in scores.chunks(lanes.len()) {
            epoch += 1;
            for (lane, &scores) in lanes.iter_mut().zip(scores).filter(|(lane, _)| !lane.over) {
                if lane.record(epoch, scores) && !steps.keep_best() {
                    learner.keep_best()?;
                }
            }
        }
        for lane in lanes.iter_mut().filter(|lane| !lane.over) {
            let stop = lane.watch.stop();
            if stop || lane.watch.wants(epoch) {
                let state = learner.state(epoch, lane)?;
                lane.watch.checkpoint(state)?;
            }
            if stop {
                return Err(TrainError::Stopped(epoch));
            }
        }
    }
    learner.take_best()?;
    let bytes = learner.bytes() + steps.bytes() + rows * size_of::<(u32, u32)>();
    let fitted = lanes.into_iter().filter_map(|lane| match lane {
        Lane { failed: Some(error), .. } => Some(Err(error)),
        Lane { best, history, .. } => {
            let bytes = bytes + history.capacity() * size_of::<EpochRecord>();
            Some(Ok(Fitted { best: best?, history, bytes }))
        }
    });
    Ok(fitted.collect())
}
