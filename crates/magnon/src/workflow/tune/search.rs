//! The search: brackets of trials, cut short rung by rung.

use super::space::{self, Dimension};
use super::{Search, TuneConfig, TuneParts, TuneRecord};
use crate::Error;
use crate::cycles::ChargeAdvice;
use crate::data::{Dataset, Split};
use crate::model::SharedInputs;
use crate::train::{
    Experiment, Outcome, Repeat, RunConfig, Seconds, TrainError, TrialResult, run_together,
};
use crate::workflow::journal::split_check;
use crate::workflow::{Journal, Progress, Stopper};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde_json::Value;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

/// Trials of a bracket of successive halving.
const BRACKET: usize = 27;
/// One in so many goes on from a rung, with as many times the epochs.
const KEPT: usize = 3;

/// A trial: its settings, and how it did on the rungs that it came to.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    pub values: Vec<Value>,
    pub config: RunConfig,
    /// Epochs that it was allowed and the record, by rung; `None` for training to the end.
    pub rungs: Vec<(Option<usize>, TuneRecord)>,
}

impl Tried {
    pub fn is_finished(&self) -> bool {
        self.rungs.last().is_some_and(|(epochs, _)| epochs.is_none())
    }
}

/// What is searched over, and on what.
pub(super) struct Ground<'a> {
    pub dataset: &'a Dataset,
    pub shared: &'a SharedInputs,
    pub base: &'a RunConfig,
    pub space: &'a [Dimension],
    pub advice: Option<&'a ChargeAdvice>,
    pub splits: &'a [Split],
}

/// What a search came to.
pub(super) enum Found {
    /// All trials, in the order in which they were drawn.
    Whole(Vec<Tried>),
    /// Where it stands that is run in parts.
    Part(TuneParts),
}

pub(super) struct Searcher<'a> {
    dataset: &'a Dataset,
    shared: &'a SharedInputs,
    base: &'a RunConfig,
    space: &'a [Dimension],
    advice: Option<&'a ChargeAdvice>,
    splits: &'a [Split],
    config: &'a TuneConfig,
    progress: &'a dyn Progress,
    /// A checksum of the splits.
    split_check: u32,
    begun: Instant,
    done: AtomicUsize,
}

impl<'a> Searcher<'a> {
    pub fn new(ground: Ground<'a>, config: &'a TuneConfig, progress: &'a dyn Progress) -> Self {
        let Ground { dataset, shared, base, space, advice, splits } = ground;
        Self {
            dataset,
            shared,
            base,
            space,
            advice,
            splits,
            config,
            progress,
            split_check: split_check(splits),
            begun: Instant::now(),
            done: AtomicUsize::new(0),
        }
    }

    /// Runs the search. With a `part`, it goes as far as the journal knows, trains that one of the trainings that the
    /// next rung lacks, if there is such a one, and ends.
    pub fn run(
        self,
        journal: Option<&mut Journal<TuneRecord>>,
        part: Option<usize>,
    ) -> Result<Found, Error> {
        let journal = Mutex::new(journal);
        let mut trials: Vec<Tried> = Vec::new();
        let open = self.search(&mut trials, &journal, part)?;
        Ok(match part {
            None => Found::Whole(trials),
            Some(_) => Found::Part(TuneParts {
                open,
                done: self.done.load(Relaxed),
                steps: self.steps(),
                trials: trials.len(),
            }),
        })
    }

    /// Draws and trains trials; gives how many trainings are left open, which are none unless there is a `part`.
    fn search(
        &self,
        trials: &mut Vec<Tried>,
        journal: &Mutex<Option<&mut Journal<TuneRecord>>>,
        part: Option<usize>,
    ) -> Result<usize, Error> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.config.seed);
        // The first trial is the configuration as it is, with a race for a charge that is left open.
        let values = space::values(self.space, self.base);
        trials.push(Tried { values, config: self.base.clone(), rungs: Vec::new() });
        let open = self.rung(trials, &[0], None, journal, part)?;
        if open > 0 {
            return Ok(open);
        }
        let epochs = trials[0].rungs[0].1.epochs;
        while trials.len() < self.config.trials && !self.is_over() {
            let size = BRACKET.min(self.config.trials - trials.len());
            let begin = trials.len();
            self.draw(trials, size, &mut rng);
            let mut alive: Vec<usize> = (begin..trials.len()).collect();
            if alive.is_empty() {
                break; // the space has no other points
            }
            if self.config.search == Search::Halving {
                for share in [KEPT * KEPT, KEPT] {
                    let allowed = ((epochs / share as f64).ceil() as usize).max(1);
                    let open = self.rung(trials, &alive, Some(allowed), journal, part)?;
                    if open > 0 {
                        return Ok(open);
                    }
                    alive = best_third(trials, &alive);
                }
            }
            let open = self.rung(trials, &alive, None, journal, part)?;
            if open > 0 {
                return Ok(open);
            }
        }
        Ok(0)
    }

    fn is_over(&self) -> bool {
        self.config.limit().is_some_and(|limit| self.begun.elapsed() >= limit)
    }

    /// Draws points that are not there yet and make sense.
    fn draw(&self, trials: &mut Vec<Tried>, count: usize, rng: &mut ChaCha8Rng) {
        let wanted = trials.len() + count;
        for _ in 0..100 * count {
            if trials.len() == wanted {
                return;
            }
            let values = space::draw(self.space, rng);
            if trials.iter().any(|trial| trial.values == values) {
                continue;
            }
            if let Ok(config) = space::apply(self.space, self.base, &values) {
                trials.push(Tried { values, config, rungs: Vec::new() });
            }
        }
    }

    /// Trains some trials for at most so many epochs, or to the end; with a `part`, only that one of those that the
    /// journal does not know. Gives how many it did not know where there is a part.
    fn rung(
        &self,
        trials: &mut [Tried],
        which: &[usize],
        epochs: Option<usize>,
        journal: &Mutex<Option<&mut Journal<TuneRecord>>>,
        part: Option<usize>,
    ) -> Result<usize, Error> {
        let locked = || journal.lock().unwrap_or_else(PoisonError::into_inner);
        let finish = |record: TuneRecord, is_new: bool| -> Result<TuneRecord, Error> {
            if is_new {
                locked().as_mut().map_or(Ok(()), |journal| journal.keep(&record))?;
            }
            let done = self.done.fetch_add(1, Relaxed) + 1;
            self.progress.step(done, self.steps(), &self.message(epochs));
            Ok(record)
        };
        let known = |&at: &usize| {
            let key = self.key(&trials[at].config, epochs);
            (at, locked().as_ref().and_then(|journal| journal.get(&key).cloned()))
        };
        let (found, left): (Vec<_>, Vec<_>) =
            which.iter().map(known).partition(|(_, record)| record.is_some());
        let mut records: Vec<(usize, TuneRecord)> = Vec::new();
        for (at, record) in found.into_iter().filter_map(|(at, record)| Some((at, record?))) {
            records.push((at, finish(record, false)?));
        }
        let open = if part.is_some() { left.len() } else { 0 };
        let left: Vec<usize> = left.into_iter().map(|(at, _)| at).collect();
        let left = match part {
            None => left,
            Some(part) => left.get(part).copied().into_iter().collect(),
        };
        let configs: Vec<(usize, RunConfig)> =
            left.iter().map(|&at| (at, self.cut(&trials[at].config, epochs))).collect();
        let key = |at: usize| self.key(&trials[at].config, epochs);
        match self.base.train.device.is_cpu() || left.len() < 2 {
            true => {
                let one = |(at, config): &(usize, RunConfig)| -> Result<_, Error> {
                    let record = self.train(config, key(*at), which.len() > 1)?;
                    Ok((*at, finish(record, true)?))
                };
                let new: Result<Vec<_>, Error> = configs.par_iter().map(one).collect();
                records.extend(new?);
            }
            false => records.extend(self.train_together(&configs, &key, &finish)?),
        }
        for (at, record) in records {
            trials[at].rungs.push((epochs, record));
        }
        Ok(open)
    }

    /// Trainings in all, as far as the number of trials decides.
    fn steps(&self) -> usize {
        let trials = self.config.trials;
        match self.config.search {
            Search::Random => trials,
            Search::Halving => trials + trials / KEPT + trials / (KEPT * KEPT),
        }
    }

    fn message(&self, epochs: Option<usize>) -> String {
        epochs.map_or("to the end".to_owned(), |epochs| format!("{epochs} epochs each"))
    }

    fn key(&self, config: &RunConfig, epochs: Option<usize>) -> String {
        let RunConfig { model, operator, filter, train, .. } = config;
        let settings = serde_json::json!([model, operator, filter, train, self.config.seed]);
        let check = crc32fast::hash(settings.to_string().as_bytes());
        let epochs = epochs.map_or("end".to_owned(), |epochs| epochs.to_string());
        let (name, runs) = (model.info().name, self.config.runs);
        format!("{name}-{check:08x}-splits{:08x}-runs{runs}-{epochs}", self.split_check)
    }

    /// The configuration of a trial on a rung.
    fn cut(&self, config: &RunConfig, epochs: Option<usize>) -> RunConfig {
        let mut config = config.clone();
        config.train.epochs =
            epochs.map_or(config.train.epochs, |most| most.min(config.train.epochs));
        config.runs = Default::default();
        config
    }

    fn experiment<'c>(&'c self, config: &'c RunConfig) -> Result<Experiment<'c>, TrainError> {
        let repeats = (0..self.splits.len() * self.config.runs).map(|k| Repeat {
            seed: self.config.seed.wrapping_add(k as u64),
            split: k / self.config.runs,
        });
        let (splits, repeats) = (self.splits.to_vec(), repeats.collect());
        let experiment = Experiment::on(self.dataset, config, splits, repeats)?;
        Ok(experiment.with_graph(&self.dataset.graph, self.shared))
    }

    fn train(
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
            experiment.run(self.advice, &Stopper(self.progress))
        });
        self.record(key, outcome, start.elapsed().as_secs_f64())
    }

    /// Trains several trials where they may share steps.
    fn train_together(
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
        let stopper = Stopper(self.progress);
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

/// The best third of some trials by their last records, those over the reals and those over the complex
/// numbers each by themselves.
fn best_third(trials: &[Tried], alive: &[usize]) -> Vec<usize> {
    let record = |at: usize| trials[at].rungs.last().map(|(_, record)| record);
    let mut kept = Vec::new();
    for complex in [false, true] {
        let mut part: Vec<usize> = alive
            .iter()
            .copied()
            .filter(|&at| space::is_complex(&trials[at].config) == complex)
            .filter(|&at| record(at).is_some_and(|record| record.error.is_none()))
            .collect();
        let rank = |at: usize| record(at).map_or((0.0, f64::INFINITY), TuneRecord::rank);
        let order = |a: (f64, f64), b: (f64, f64)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1));
        part.sort_by(|&a, &b| order(rank(a), rank(b)));
        kept.extend(part.iter().take(part.len().div_ceil(KEPT)));
    }
    kept.sort_unstable();
    kept
}
