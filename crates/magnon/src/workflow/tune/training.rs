//! The trainings of a search: what a trial does on a rung.

use super::TuneRecord;
use super::search::Searcher;
use crate::Error;
use crate::progress::Quiet;
use crate::train::{
    Experiment, Outcome, Repeat, RunConfig, Seconds, TrainError, TrialResult, run_together,
};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

impl Searcher<'_> {
    fn experiment<'c>(&'c self, config: &'c RunConfig) -> Result<Experiment<'c>, TrainError> {
        let repeats = (0..self.splits.len() * self.config.runs).map(|k| Repeat {
            seed: self.config.seed.wrapping_add(k as u64),
            split: k / self.config.runs,
        });
        let (splits, repeats) = (self.splits.to_vec(), repeats.collect());
        let experiment = Experiment::on(self.dataset, config, splits, repeats)?;
        Ok(experiment.with_graph(&self.dataset.graph, self.shared))
    }

    /// Trains a trial by itself.
    pub(super) fn train(
        &self,
        config: &RunConfig,
        key: String,
        beside_others: bool,
    ) -> Result<TuneRecord, Error> {
        let start = Instant::now();
        let outcome = self.experiment(config).and_then(|mut experiment| {
            if beside_others {
                experiment = experiment.on_one_thread();
            }
            experiment.run(self.advice, &Quiet(self.progress))
        });
        self.record(key, outcome, start.elapsed().as_secs_f64())
    }

    /// Trains several trials where they may share steps.
    pub(super) fn train_together(
        &self,
        configs: &[(usize, RunConfig)],
        key: &(dyn Fn(usize) -> String + Sync),
        finish: &(dyn Fn(TuneRecord, bool) -> Result<TuneRecord, Error> + Sync),
    ) -> Result<Vec<(usize, TuneRecord)>, Error> {
        let (mut numbers, mut experiments) = (Vec::new(), Vec::new());
        let records = Mutex::new(Vec::new());
        let keep = |at: usize, outcome: Result<Outcome, TrainError>| {
            let seconds = outcome.as_ref().map_or(0.0, |outcome| {
                let Seconds { operator, propagate, train } = outcome.seconds;
                operator + propagate + train
            });
            let record = self.record(key(at), outcome, seconds);
            let record = record.and_then(|record| finish(record, true));
            let mut records = records.lock().unwrap_or_else(PoisonError::into_inner);
            records.push(record.map(|record| (at, record)));
        };
        for (at, config) in configs {
            match self.experiment(config) {
                Ok(experiment) => {
                    numbers.push(*at);
                    experiments.push(experiment.on_one_thread());
                }
                Err(error) => keep(*at, Err(error)),
            }
        }
        let stopper = Quiet(self.progress);
        let done = |k: usize, outcome| keep(numbers[k], outcome);
        run_together(&experiments, self.advice, &stopper, &done)?;
        let records = records.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut records = records.into_iter().collect::<Result<Vec<_>, Error>>()?;
        records.sort_by_key(|(at, _)| *at);
        Ok(records)
    }

    /// What is kept of a trial.
    fn record(
        &self,
        key: String,
        outcome: Result<Outcome, TrainError>,
        seconds: f64,
    ) -> Result<TuneRecord, Error> {
        let mut record = TuneRecord {
            key,
            val_accuracy: None,
            val_loss: None,
            epochs: 0.0,
            error: None,
            seconds,
        };
        match outcome.map_err(Error::from) {
            Ok(outcome) => {
                let count = outcome.runs.len().max(1) as f64;
                let mean = |of: &dyn Fn(&TrialResult) -> f64| {
                    outcome.runs.iter().map(of).sum::<f64>() / count
                };
                record.val_accuracy = Some(mean(&|run| run.metrics[1].accuracy));
                record.val_loss = Some(mean(&|run| run.best.val_loss));
                record.epochs = mean(&|run| run.history.len() as f64);
            }
            Err(Error::Stopped) => return Err(Error::Stopped),
            Err(error) => record.error = Some(error.to_string()),
        }
        Ok(record)
    }
}
