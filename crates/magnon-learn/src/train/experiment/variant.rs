//! One model with one charge: its network, built once, and its runs.

use super::lanes::{BatchSlot, laned};
use super::ready::{Ready, Shared};
use super::{Experiment, Observer, Repeat, Trial, TrialContext, TrialResult, timed};
use crate::model::{Inputs, ModelConfig, ProductOrder, Purpose};
use crate::nn::{Parameters, WEIGHT_COPIES};
use crate::train::fit::checkpoint;
use crate::train::{
    EpochRecord, Feed, Fitted, State, Targets, TrainConfig, TrainError, Watch, argmax, confusion,
    fit,
};
use magnon_core::compute::Engine;
use magnon_core::matrix::Matrix;
use magnon_core::memory::is_granted;
use magnon_core::operator::{Charge, OperatorError, Pattern};
use magnon_data::Split;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// A model with what is left open decided.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Variant {
    pub model: ModelConfig,
    pub charge: Option<Charge>,
    /// Which of the model's configurations, where it leaves some open.
    pub choice: usize,
    /// Whether the graph is symmetrised first.
    pub symmetrised: bool,
}

/// The runs of a variant.
pub(super) struct Trained {
    pub order: Option<ProductOrder>,
    pub runs: Vec<TrialResult>,
}

impl Experiment<'_> {
    /// Some runs of one model with one charge, by their numbers, trained to the end.
    pub(super) fn train(
        &self,
        context: &mut TrialContext,
        variant: &Variant,
        runs: &[usize],
    ) -> Result<Trained, TrainError> {
        self.on_network(context, variant, runs, |engine, shared, observer| {
            let trials = runs.iter().map(|&run| self.named(variant, run)).collect::<Vec<_>>();
            let results = match trials[..] {
                [trial] if !self.one_thread => {
                    in_pool(|| self.trial(engine, trial, shared, observer).map(|one| vec![one]))
                }
                _ => self.trials(engine, &trials, shared, observer),
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
        observer: &dyn Observer,
    ) -> Result<Vec<TrialResult>, TrainError> {
        let one = |&trial: &Trial| self.trial(&engine.sequential(), trial, shared, observer);
        let alone = self.config.train.batch.is_some() || self.checkpoints.is_some();
        let slot = |&trial: &Trial| BatchSlot { experiment: self, shared, trial, dropout: None };
        let seated = match alone {
            true => None,
            false => laned(engine, &trials.iter().map(slot).collect::<Vec<_>>(), observer)?,
        };
        let Some(mut seated) = seated else { return trials.par_iter().map(one).collect() };
        let left = seated.par_iter_mut().zip(trials).filter(|(result, _)| result.is_none());
        left.for_each(|(result, trial)| *result = Some(one(trial)));
        seated.into_iter().flatten().collect()
    }

    /// The best epochs of some runs, each with training cut off after a number of epochs.
    pub(super) fn heat(
        &self,
        context: &mut TrialContext,
        variant: &Variant,
        runs: &[(usize, usize)],
    ) -> Result<Vec<EpochRecord>, TrainError> {
        let numbers: Vec<usize> = runs.iter().map(|&(run, _)| run).collect();
        self.on_network(context, variant, &numbers, |engine, shared, observer| {
            let one = |&(run, epochs): &(usize, usize), engine: &Engine| {
                let trial = self.named(variant, run);
                let mut watch = TrialWatch { trial: &trial, observer, checkpoints: None };
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
        work: impl FnOnce(&Engine, &Shared, &dyn Observer) -> Result<T, TrainError>,
    ) -> Result<T, TrainError> {
        let TrialContext { engine, pattern, observer, seconds } = context;
        let (engine, observer) = (*engine, *observer);
        let symmetric = variant.symmetrised.then(|| self.graph.symmetrised());
        let symmetric_pattern = match &symmetric {
            Some(graph) => Some(Arc::new(Pattern::new(graph).map_err(OperatorError::from)?)),
            None => None,
        };
        let operator = match (&self.config.operator, variant.charge, self.pass) {
            (Some(choice), Some(charge), Some(pass)) => Some(choice.config(charge, pass.high)),
            _ => None,
        };
        let filter = operator.as_ref().and(self.config.filter.as_ref());
        let splits = runs.iter().map(|&run| self.repeats[run].split).collect::<BTreeSet<_>>();
        let first = &self.splits[splits.first().copied().unwrap_or(0)];
        let [train, val] = self.targets(first);
        let batches = self.config.train.batch.is_some();
        let mapped = self.mapped.as_ref();
        let mapped =
            mapped.filter(|(charge, _)| filter.is_some() && variant.charge == Some(*charge));
        let inputs = Inputs {
            graph: symmetric.as_ref().unwrap_or(self.graph),
            pattern: symmetric_pattern.as_ref().unwrap_or(pattern),
            features: self.features,
            classes: self.labels.names.len(),
            operator: operator.as_ref(),
            filter,
            filtered: mapped.map(|(_, rows)| rows),
            shared: self.shared.filter(|_| symmetric.is_none()),
            field: None,
            purpose: Purpose::Train { train: train.len(), val: val.len(), batches },
            progress: &|done, total| {
                observer.filtering(done, total);
                true // stopped between epochs
            },
        };
        let network = variant.model.build(engine, &inputs)?;
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
        let result = timed(&mut seconds.train, || work(engine, &shared, observer));
        // Rows that could not be read are what is wrong, whatever came of them.
        self.mapped.as_ref().map_or(Ok(()), |(_, rows)| rows.check())?;
        result
    }

    /// What one run of a variant trains.
    pub(super) fn named(&self, variant: &Variant, run: usize) -> Trial {
        let Repeat { seed, split } = self.repeats[run];
        let Variant { charge, choice, symmetrised, .. } = *variant;
        Trial { model: variant.model.info().name, charge, choice, symmetrised, seed, split }
    }

    /// Training and validation nodes of a split.
    pub(super) fn targets(&self, split: &Split) -> [Targets; 2] {
        [&split.train, &split.val].map(|nodes| Targets::of(nodes, self.labels))
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

    /// Draws weights and trains them for at most so many epochs.
    fn fit(
        &self,
        engine: &Engine,
        trial: &Trial,
        shared: &Shared,
        epochs: usize,
        state: Option<State>,
        watch: &mut TrialWatch,
    ) -> Result<Learnt, TrainError> {
        let epochs = epochs.min(self.config.train.epochs);
        let config = TrainConfig { seed: trial.seed, epochs, ..self.config.train };
        let network = shared.network;
        let mut parameters = network.layout().draw(engine, trial.seed)?;
        if let (Some(size), Some(network)) = (config.batch, network.by_rows()) {
            let targets = self.targets(&self.splits[trial.split]);
            let (feed, of) = (Feed::Batches { network, size }, targets.each_ref());
            let fitted = fit(engine, &mut parameters, &feed, of, &config, state, watch)?;
            return Ok(Learnt { fitted, parameters });
        }
        let own;
        let Ready { views: [train, val], targets, places } = match &shared.ready {
            Some(ready) => ready,
            None => {
                own = self.ready(engine, shared, trial.split)?;
                &own
            }
        };
        let (feed, of) =
            (Feed::Full { train: train.as_ref(), val: val.as_ref() }, targets.each_ref());
        engine.relabel(places.as_slice())?;
        let fitted = fit(engine, &mut parameters, &feed, of, &config, state, watch);
        engine.relabel(&[])?;
        Ok(Learnt { fitted: fitted?, parameters })
    }

    /// One trial: trained, then measured on all nodes.
    pub(super) fn trial(
        &self,
        engine: &Engine,
        trial: Trial,
        shared: &Shared,
        observer: &dyn Observer,
    ) -> Result<TrialResult, TrainError> {
        let start = Instant::now();
        let path = |folder: &PathBuf| folder.join(format!("{}.safetensors", trial.name()));
        let mut watch = TrialWatch {
            trial: &trial,
            observer,
            checkpoints: self.checkpoints.as_ref().map(|c| (path(&c.folder), c.every)),
        };
        let state = match (&self.checkpoints, &watch.checkpoints) {
            (Some(checkpoints), Some((path, _))) if checkpoints.resume => {
                checkpoint::read_if_there(path, &trial.name())?
            }
            _ => None,
        };
        let learnt = self.fit(engine, &trial, shared, usize::MAX, state, &mut watch)?;
        let table = shared.network.predict(engine, &learnt.parameters, None)?;
        let seconds = start.elapsed().as_secs_f64();
        self.measure(engine, trial, shared, learnt, table, seconds, observer)
    }

    /// A trained trial, measured on what it predicts for all nodes.
    #[allow(clippy::too_many_arguments)] // each is another thing
    pub(super) fn measure(
        &self,
        engine: &Engine,
        trial: Trial,
        shared: &Shared,
        Learnt { fitted, parameters }: Learnt,
        log_probabilities: Matrix<f32>,
        seconds: f64,
        observer: &dyn Observer,
    ) -> Result<TrialResult, TrainError> {
        let network = shared.network;
        let split = &self.splits[trial.split];
        let metrics = [&split.train, &split.val, &split.test].map(|nodes| {
            let Targets { nodes, pairs } = Targets::of(nodes, self.labels);
            let predicted = |u: u32| argmax(log_probabilities.row(u as usize)) as u32;
            let pairs = nodes.iter().zip(&pairs).map(|(&u, &(_, class))| (class, predicted(u)));
            confusion(pairs, &self.labels.names)
        });
        let test = Targets::of(&split.test, self.labels);
        let hit = |(&node, &(_, class)): (&u32, &(u32, u32))| {
            argmax(log_probabilities.row(node as usize)) as u32 == class
        };
        let hits = test.nodes.iter().zip(&test.pairs).map(hit).collect();
        let numbers = parameters.download(engine)?;
        let names = network.layout().iter().zip(numbers);
        let weights = names.map(|((name, shape), numbers)| (name.to_owned(), shape, numbers));
        let built = network.seconds();
        let result = TrialResult {
            trial,
            best: fitted.best,
            history: fitted.history,
            metrics,
            hits,
            weights: weights.collect(),
            log_probabilities,
            parameters: parameters.count(),
            bytes: fitted.bytes,
            build_seconds: built.operator + built.propagate,
            seconds,
        };
        observer.done(&result);
        Ok(result)
    }
}

/// Trained weights, and how they came to be.
pub(super) struct Learnt {
    pub fitted: Fitted,
    pub parameters: Parameters,
}

/// Lets go of the weights and predictions of all runs but the best: of many runs on a large graph
/// they would fill the memory, and only one is kept in the end.
pub(super) fn forget_but_best(runs: &mut [TrialResult]) {
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

/// Hands on what one trial does.
pub(super) struct TrialWatch<'a> {
    pub trial: &'a Trial,
    pub observer: &'a dyn Observer,
    /// File, and epochs between two checkpoints.
    pub checkpoints: Option<(PathBuf, usize)>,
}

impl Watch for TrialWatch<'_> {
    fn epoch(&mut self, record: &EpochRecord, best: &EpochRecord) {
        self.observer.epoch(self.trial, record, best);
    }

    fn wants(&self, epoch: usize) -> bool {
        self.checkpoints.as_ref().is_some_and(|(_, every)| epoch.is_multiple_of((*every).max(1)))
    }

    fn checkpoint(&mut self, state: State) -> Result<(), TrainError> {
        match &self.checkpoints {
            Some((path, _)) => Ok(checkpoint::write(path, &self.trial.name(), &state)?),
            None => Ok(()),
        }
    }

    fn stop(&self) -> bool {
        self.observer.stop()
    }
}

/// Does work on a thread of the current pool: from any other one, each of the hundreds of short products of an epoch would
/// wait for a thread to wake up.
fn in_pool<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    rayon::scope(|_| work())
}
