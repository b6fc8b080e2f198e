//! Steps that the engine repeats by itself: the host reads losses every few epochs, and decides as it
//! would have after each of them.

use super::{Best, EpochRecord, Fitted, History, RECORDS, Score, State, Targets, Watch, copy_all};
use crate::model::{Mode, View};
use crate::nn::{Adam, Parameters, Tape, Trace, download};
use crate::train::{TrainConfig, TrainError};
use magnon_core::compute::{
    Buffer, DrawKey, Engine, EngineError, ReplayConfig, ReplayScore, StepNumbers,
};

/// Epochs that are replayed before the host looks at them.
const EPOCHS: usize = 32;

/// One lane: what the host knows of it.
struct Lane<'w> {
    watch: &'w mut dyn Watch,
    history: History,
    best: Option<EpochRecord>,
    config: &'w TrainConfig,
    /// Training scores of the step that makes the next epoch.
    last: Score,
    over: bool,
    /// Why it came to no end.
    failed: Option<TrainError>,
}

/// What a fit is made from; see [`fit`](super::fit).
pub(super) struct Setting<'a> {
    pub engine: &'a Engine,
    pub train: &'a dyn View,
    pub val: &'a dyn View,
    /// Training and validation targets of each lane, or of all; all lanes have as many.
    pub targets: &'a [[&'a Targets; 2]],
    /// The configuration of each lane, or of all; lanes differ in what the optimiser takes for each step.
    pub configs: &'a [TrainConfig],
}

/// Whether lanes with two configurations can be trained in the same steps.
pub(crate) fn alike(a: &TrainConfig, b: &TrainConfig) -> bool {
    let common = |of: &TrainConfig| {
        let TrainConfig { epochs, patience, batch, optimiser, device, seed: _ } = *of;
        (epochs, patience, batch, optimiser.clip, device)
    };
    common(a) == common(b)
}

/// Trains every lane of the parameters until its validation loss has not improved for `patience` epochs,
/// and leaves the weights of its best epoch in them. One watch for each lane; a state to go on from and
/// checkpoints are for a single lane. A lane that fails leaves the others alone. `None`, with nothing
/// changed, where the engine cannot record the steps of this model.
pub(super) fn fit_replayed(
    setting: &Setting,
    parameters: &mut Parameters,
    state: Option<&State>,
    watches: Vec<&mut dyn Watch>,
) -> Result<Option<Vec<Result<Fitted, TrainError>>>, TrainError> {
    let Setting { engine, train, val, targets, configs } = *setting;
    let Some(config) = configs.first() else { return Ok(None) };
    let start = state.map_or(0, |state| state.epoch);
    let known = state.and_then(|state| state.best.as_ref());
    let most = EPOCHS.min(config.epochs);
    let replay = ReplayConfig {
        epoch: start,
        patience: config.patience,
        best: known.map(|best| (best.record.val_loss, best.record.epoch)),
        most,
    };
    let Some(replay) = engine.replay(&replay) else { return Ok(None) };
    let mut replay = replay?;
    let mut tape = Tape::new(engine);
    let mut adam = Adam::new(engine, config.optimiser, parameters)?;
    let mut gradients = parameters.zeros(engine)?;
    let mut best_weights = parameters.zeros(engine)?;
    if let Some(state) = state {
        super::upload(engine, &state.weights, parameters.values_mut())?;
        super::upload(engine, &state.first, &mut adam.first)?;
        super::upload(engine, &state.second, &mut adam.second)?;
        adam.steps = state.steps;
        if let Some(Best { weights, .. }) = &state.best {
            super::upload(engine, weights, &mut best_weights)?;
        }
    }
    let [of_train, of_val] =
        [0, 1].map(|part| targets.iter().map(|of| &of[part].pairs[..]).collect::<Vec<_>>());
    let key = DrawKey { seed: config.seed, epoch: start as u32, batch: 0, site: 0 };
    let there = |tape: &mut Tape, parameters: &Parameters| {
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
    // The first time brings all memory, the second shows whether anything else is needed.
    let mut suits = false;
    for _ in 0..2 {
        suits = replay.rehearse(engine, || {
            let loss = there(&mut tape, parameters)?;
            Trace::resume(&mut tape, parameters).backward(loss, &mut gradients)?;
            adam.clip(engine, &gradients)
        })?;
    }
    if !suits {
        return Ok(None);
    }
    let mut loss = None;
    let recorded = replay.record_there(engine, parameters.values(), &mut best_weights, || {
        loss = Some(there(&mut tape, parameters)?);
        Ok(())
    });
    recorded?;
    let Some(loss) = loss else { return Ok(None) };
    let steps = adam.steps;
    replay.record_back(engine, || {
        Trace::resume(&mut tape, parameters).backward(loss, &mut gradients)?;
        adam.step(engine, start, parameters, &gradients)
    })?;
    adam.steps = steps;

    let sizes = [of_train[0].len(), of_val[0].len()];
    let score = |score: ReplayScore, count: usize| Score {
        loss: score.loss,
        accuracy: score.right as f64 / count as f64,
    };
    let first = replay.begin(engine)?;
    let mut lanes: Vec<Lane> = watches
        .into_iter()
        .zip(first)
        .zip(configs.iter().cycle())
        .map(|((watch, [of_train, _]), config)| {
            let mut history = Vec::with_capacity(config.epochs.min(RECORDS));
            history.extend(state.iter().flat_map(|state| &state.history));
            let best = known.map(|best| best.record);
            let last = score(of_train, sizes[0]);
            Lane { watch, history, best, config, last, over: false, failed: None }
        })
        .collect();
    let mut epoch = start;
    while lanes.iter().any(|lane| !lane.over) {
        let mut count = most.min(config.epochs - epoch).max(1);
        // A state is handed out after the epoch that it is wanted of.
        if let [lane] = &lanes[..] {
            let wanted = (1..=count).find(|k| lane.watch.wants(epoch + k));
            count = wanted.unwrap_or(count);
        }
        let numbers = |k: usize| -> Vec<StepNumbers> {
            let step = adam.steps + k as u64 + 1;
            configs.iter().map(|config| config.optimiser.numbers(epoch + k, step)).collect()
        };
        let epochs = replay.run(engine, &(0..count).map(numbers).collect::<Vec<_>>())?;
        adam.steps += count as u64;
        for scores in epochs {
            epoch += 1;
            for (lane, [of_train, of_val]) in lanes.iter_mut().zip(scores) {
                if lane.over {
                    continue;
                }
                let val = score(of_val, sizes[1]);
                if let Err(error) = lane.record(epoch, val) {
                    (lane.failed, lane.over) = (Some(error), true);
                }
                lane.last = score(of_train, sizes[0]);
            }
        }
        for lane in lanes.iter_mut().filter(|lane| !lane.over) {
            let stop = lane.watch.stop();
            if stop || lane.watch.wants(epoch) {
                let numbers = |buffers: &[Buffer]| download(engine, buffers);
                let best = match lane.best {
                    Some(record) => Some(Best { record, weights: numbers(&best_weights)? }),
                    None => None,
                };
                lane.watch.checkpoint(State {
                    epoch,
                    steps: adam.steps,
                    weights: numbers(parameters.values())?,
                    first: numbers(&adam.first)?,
                    second: numbers(&adam.second)?,
                    best,
                    history: lane.history.clone(),
                })?;
            }
            if stop {
                return Err(TrainError::Stopped(epoch));
            }
        }
    }
    copy_all(engine, &best_weights, parameters.values_mut())?;
    let bytes = 4 * parameters.count() * size_of::<f32>() + tape.bytes() + engine.scratch_bytes();
    let fitted = lanes.into_iter().filter_map(|lane| match lane {
        Lane { failed: Some(error), .. } => Some(Err(error)),
        Lane { best, history, .. } => Some(Ok(Fitted { best: best?, history, bytes })),
    });
    Ok(Some(fitted.collect()))
}

impl Lane<'_> {
    /// One more epoch.
    fn record(&mut self, epoch: usize, val: Score) -> Result<(), TrainError> {
        let config = self.config;
        let record = EpochRecord::new(config, epoch, self.last, val)?;
        self.history.push(record);
        if self.best.is_none_or(|best| record.val_loss < best.val_loss) {
            self.best = Some(record);
        }
        let best = self.best.unwrap_or(record);
        self.watch.epoch(&record, &best);
        self.over = epoch - best.epoch >= config.patience || epoch >= config.epochs;
        Ok(())
    }
}
