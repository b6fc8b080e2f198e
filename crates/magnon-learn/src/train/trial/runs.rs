//! The runs of one variant on its network, which is built once.

use super::lanes::{Slot, side_by_side};
use super::monitor::Monitor;
use super::single::TrialWatch;
use super::trials::{TrialContext, timed};
use super::variant::Variant;
use super::views::Shared;
use super::{Trial, TrialResult, Trials};
use crate::model::{ProductOrder, Purpose};
use crate::nn::WEIGHT_COPIES;
use crate::train::{EpochRecord, TrainError};
use magnon_core::compute::Engine;
use magnon_core::memory::is_granted;
use magnon_core::operator::{OperatorError, Pattern};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The runs of a variant.
pub(in crate::train) struct Trained {
    pub order: Option<ProductOrder>,
    pub runs: Vec<TrialResult>,
}

impl Trials<'_> {
    /// Some runs of one model with one charge, by their numbers, trained to the end.
    pub fn train(
        &self,
        context: &mut TrialContext,
        variant: &Variant,
        runs: &[usize],
    ) -> Result<Trained, TrainError> {
        self.on_network(context, variant, runs, |engine, shared, monitor| {
            let trials = runs.iter().map(|&run| self.named(variant, run)).collect::<Vec<_>>();
            let results = match trials[..] {
                [trial] if !self.one_thread => {
                    in_pool(|| self.trial(engine, trial, shared, monitor).map(|one| vec![one]))
                }
                _ => self.trials(engine, &trials, shared, monitor),
            };
            let mut runs = results?;
            forget_but_best(&mut runs);
            Ok(Trained { order: shared.network.order(), runs })
        })
    }

    /// Several trials: in lanes where the engine has some and they can lie side by side, else each on a thread.
    fn trials(
        &self,
        engine: &Engine,
        trials: &[Trial],
        shared: &Shared,
        monitor: &Monitor,
    ) -> Result<Vec<TrialResult>, TrainError> {
        let one = |&trial: &Trial| self.trial(&engine.sequential(), trial, shared, monitor);
        let alone = self.config.train.batch.is_some() || self.checkpoints.is_some();
        let slot = |&trial: &Trial| Slot { trials: self, shared, trial, dropout: None };
        if alone {
            return trials.par_iter().map(one).collect();
        }
        let slots: Vec<Slot> = trials.iter().map(slot).collect();
        let found = side_by_side(engine, &slots, monitor)?;
        let all = found.into_par_iter().zip(trials);
        all.map(|(found, trial)| found.unwrap_or_else(|| one(trial))).collect()
    }

    /// The best epochs of some runs, each with training cut off after a number of epochs.
    pub fn heat(
        &self,
        context: &mut TrialContext,
        variant: &Variant,
        runs: &[(usize, usize)],
    ) -> Result<Vec<EpochRecord>, TrainError> {
        let numbers: Vec<usize> = runs.iter().map(|&(run, _)| run).collect();
        self.on_network(context, variant, &numbers, |engine, shared, monitor| {
            let one = |&(run, epochs): &(usize, usize), engine: &Engine| {
                let trial = self.named(variant, run);
                let mut watch = TrialWatch { trial: &trial, monitor, checkpoints: None };
                let learnt = self.fit(engine, &trial, shared, epochs, None, &mut watch)?;
                Ok(learnt.fitted.best)
            };
            match runs {
                [run] if !self.one_thread => in_pool(|| one(run, engine).map(|best| vec![best])),
                _ => runs.par_iter().map(|run| one(run, &engine.sequential())).collect(),
            }
        })
    }

    /// Builds the network of a variant, and does some work with it.
    fn on_network<T>(
        &self,
        context: &mut TrialContext,
        variant: &Variant,
        runs: &[usize],
        work: impl FnOnce(&Engine, &Shared, &Monitor) -> Result<T, TrainError>,
    ) -> Result<T, TrainError> {
        let TrialContext { engine, pattern, monitor, seconds } = context;
        let (engine, monitor) = (*engine, *monitor);
        let symmetric = variant.symmetrised.then(|| self.graph.symmetrised());
        let symmetric_pattern = match &symmetric {
            Some(graph) => Some(Arc::new(Pattern::new(graph).map_err(OperatorError::from)?)),
            None => None,
        };
        let symmetrised = symmetric.as_ref().zip(symmetric_pattern.as_ref());
        let spec = self.spec(variant);
        let splits = runs.iter().map(|&run| self.repeats[run].split).collect::<BTreeSet<_>>();
        let first = &self.splits[splits.first().copied().unwrap_or(0)];
        let [train, val] = self.targets(first);
        let batches = self.config.train.batch.is_some();
        let purpose = Purpose::Train { train: train.len(), val: val.len(), batches };
        let network = self.build(engine, &spec, pattern, symmetrised, purpose, monitor.progress)?;
        let built = network.seconds();
        seconds.operator += built.operator;
        seconds.propagate += built.propagate;
        if batches && network.by_rows().is_none() {
            return Err(TrainError::Unused {
                model: variant.model.info().name,
                what: "batches".to_owned(),
                advice: "it propagates over the graph in every step; train on all rows at once"
                    .to_owned(),
            });
        }
        let mut shared = Shared::new(network.as_ref());
        if let (false, 1, Some(&split)) = (batches, splits.len(), splits.first()) {
            let ready = || self.ready(engine, &shared, split);
            shared.ready = Some(timed(&mut seconds.propagate, ready)?);
        }
        self.check_memory(network.layout().count(), runs.len())?;
        let result = timed(&mut seconds.train, || work(engine, &shared, monitor));
        // Rows that could not be read are what is wrong, whatever came of them.
        self.mapped.as_ref().map_or(Ok(()), |(_, rows)| rows.check())?;
        result
    }

    /// Refuses weights that there is no memory for, before the first is drawn.
    fn check_memory(&self, numbers: usize, trials: usize) -> Result<(), TrainError> {
        let runs = trials.min(rayon::current_num_threads());
        let bytes = numbers.saturating_mul(4 * WEIGHT_COPIES).saturating_mul(runs);
        match is_granted(bytes) {
            true => Ok(()),
            false => Err(TrainError::OutOfMemory { runs, numbers, bytes }),
        }
    }
}

/// Lets go of the weights and predictions of all runs but the best: of many runs on a large graph
/// they would fill the memory, and only one is kept in the end.
pub(in crate::train) fn forget_but_best(runs: &mut [TrialResult]) {
    let best = runs.iter().map(|run| run.best.val_loss).fold(f64::INFINITY, f64::min);
    let mut kept = false;
    for run in runs {
        if kept || run.best.val_loss > best {
            run.forget();
        } else {
            kept = true;
        }
    }
}

/// Does work on a thread of the current pool: from any other one, each of the hundreds of short products of an epoch would
/// wait for a thread to wake up.
fn in_pool<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    rayon::scope(|_| work())
}
