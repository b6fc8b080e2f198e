//! One trial: weights are drawn, trained, and measured on all nodes.

use super::monitor::Monitor;
use super::trials::Trials;
use super::views::{Ready, Shared};
use super::{Trial, TrialResult};
use crate::nn::Parameters;
use crate::train::fit::checkpoint;
use crate::train::{
    EpochRecord, Feed, Fitted, State, Targets, TrainConfig, TrainError, Watch, argmax, confusion,
    fit,
};
use magnon_core::compute::Engine;
use magnon_core::matrix::Matrix;
use std::path::PathBuf;
use std::time::Instant;

impl Trials<'_> {
    /// Draws weights and trains them for at most so many epochs.
    pub fn fit(
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
    pub fn trial(
        &self,
        engine: &Engine,
        trial: Trial,
        shared: &Shared,
        monitor: &Monitor,
    ) -> Result<TrialResult, TrainError> {
        let start = Instant::now();
        let path = |folder: &PathBuf| folder.join(format!("{}.safetensors", trial.name()));
        let mut watch = TrialWatch {
            trial: &trial,
            monitor,
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
        self.measure(engine, trial, shared, learnt, table, seconds, monitor)
    }

    /// A trained trial, measured on what it predicts for all nodes.
    #[allow(clippy::too_many_arguments)] // each is another thing
    pub fn measure(
        &self,
        engine: &Engine,
        trial: Trial,
        shared: &Shared,
        Learnt { fitted, parameters }: Learnt,
        log_probabilities: Matrix<f32>,
        seconds: f64,
        monitor: &Monitor,
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
        monitor.done(&result);
        Ok(result)
    }
}

/// Trained weights, and how they came to be.
pub(in crate::train) struct Learnt {
    pub fitted: Fitted,
    pub parameters: Parameters,
}

/// Hands on what one trial does.
pub(in crate::train) struct TrialWatch<'a> {
    pub trial: &'a Trial,
    pub monitor: &'a Monitor<'a>,
    /// File, and epochs between two checkpoints.
    pub checkpoints: Option<(PathBuf, usize)>,
}

impl Watch for TrialWatch<'_> {
    fn epoch(&mut self, record: &EpochRecord, best: &EpochRecord) {
        self.monitor.epoch(self.trial, record, best);
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
        self.monitor.progress.is_stopped()
    }
}
