//! Jobs: one entrant on one split with one seed, run in parallel and kept as soon as they are done.

use super::entrant::Entrant;
use super::{CompareConfig, CompareRecord};
use crate::Error;
use crate::cycles::ChargeAdvice;
use crate::data::{Dataset, Split};
use crate::model::{ChargeChoice, KindChoice, PassChoice, SharedInputs, choose_pass};
use crate::operator::Phase;
use crate::progress::{Epoch, Progress};
use crate::train::{Experiment, Repeat, RunConfig, Targets, TrainError, Trial, TrialResult};
use crate::workflow::Journal;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// What all jobs share.
pub(super) struct Setting<'a> {
    pub dataset: &'a Dataset,
    pub shared: &'a SharedInputs,
    pub splits: Vec<Split>,
    /// A short name of each split, by its content.
    pub split_checks: Vec<u32>,
    /// What the cycles suggest, by the phase of edges, where a model leaves its charge open.
    pub advice: Option<(Phase, &'a ChargeAdvice)>,
    pub config: &'a CompareConfig,
    pub symmetric: bool,
}

impl Setting<'_> {
    /// All jobs of an entrant: seed and split, split by split.
    fn repeats(&self) -> Vec<Repeat> {
        let CompareConfig { splits, runs, seed, .. } = *self.config;
        let pair = |k: usize| Repeat { seed: seed.wrapping_add(k as u64), split: k / runs };
        (0..splits * runs).map(pair).collect()
    }

    fn key(&self, entrant: &Entrant, repeat: Repeat) -> String {
        let Repeat { seed, split } = repeat;
        format!("{}-split{:08x}-seed{seed}", entrant.key(split), self.split_checks[split])
    }

    /// The jobs of an entrant that the journal knows, by name. What cannot be a result on these test nodes is not believed.
    pub fn known(
        &self,
        entrant: &Entrant,
        journal: &Journal<CompareRecord>,
    ) -> HashMap<String, JobResult> {
        let labels = self.dataset.labels.as_ref();
        let test_nodes = |split: usize| {
            let nodes = labels.zip(self.splits.get(split));
            nodes.map_or(0, |(labels, split)| Targets::of(&split.test, labels).len())
        };
        let known = self.repeats().into_iter().filter_map(|repeat| {
            let key = self.key(entrant, repeat);
            let job = journal.run(&key)?.clone();
            job.is_of(test_nodes(repeat.split)).then_some((key, job))
        });
        known.collect()
    }

    /// The names of all jobs of an entrant.
    pub fn keys(&self, entrant: &Entrant) -> Vec<String> {
        self.repeats().into_iter().map(|repeat| self.key(entrant, repeat)).collect()
    }
}

/// What came of one job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobResult {
    /// What it was: entrant, split and seed.
    pub key: String,
    /// The charge taken, where the model has one.
    pub charge: Option<ChargeChoice>,
    /// Whether the adjacency was negated, where the model has a sign.
    pub high: Option<bool>,
    /// Lowest validation loss.
    pub val_loss: f64,
    /// Accuracy on validation nodes.
    pub val_accuracy: f64,
    /// Whether each test node was classified correctly, in the order of the split.
    #[serde(with = "super::hexadecimal")]
    pub right: Vec<bool>,
    /// Epochs trained.
    pub epochs: usize,
    /// Real numbers trained.
    pub parameters: usize,
    /// Bytes that training held at its peak beside the model and its input.
    pub bytes: usize,
    /// Seconds of building operator and filtered features, which jobs share.
    pub build_seconds: f64,
    /// Seconds of training and evaluating.
    pub seconds: f64,
}

impl JobResult {
    /// Whether it can be a result on so many test nodes. What a journal keeps is filled up to a whole digit.
    pub(super) fn is_of(&self, test: usize) -> bool {
        let filled = self.right.len().div_ceil(4) == test.div_ceil(4);
        filled && self.right.iter().skip(test).all(|&bit| !bit)
    }

    /// Whether each of so many test nodes was classified correctly.
    pub fn hits(&self, test: usize) -> impl Iterator<Item = bool> {
        self.right.iter().copied().chain(std::iter::repeat(false)).take(test)
    }
}

/// Runs jobs and keeps what is done.
pub(super) struct Jobs<'a> {
    setting: &'a Setting<'a>,
    journal: Mutex<Option<&'a mut Journal<CompareRecord>>>,
    /// The first failure to keep a job.
    failed: Mutex<Option<Error>>,
    progress: &'a dyn Progress,
    total: usize,
    done: AtomicUsize,
    /// Entrants not yet begun, by number.
    left: usize,
}

impl<'a> Jobs<'a> {
    pub fn new(
        setting: &'a Setting<'a>,
        entrants: usize,
        journal: Option<&'a mut Journal<CompareRecord>>,
        progress: &'a dyn Progress,
    ) -> Self {
        Self {
            setting,
            journal: Mutex::new(journal),
            failed: Mutex::new(None),
            progress,
            total: entrants * setting.repeats().len(),
            done: AtomicUsize::new(0),
            left: entrants,
        }
    }

    /// Everything that has to be written is.
    pub fn finish(self) -> Result<(), Error> {
        let failed = self.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.map_or(Ok(()), Err)
    }

    /// Runs the jobs of an entrant that are not known yet. A failure is the entrant's; only an interrupt
    /// and a journal that cannot be written end everything.
    pub fn run(&mut self, entrant: &mut Entrant) -> Result<(), Error> {
        self.run_some(entrant, None)
    }

    /// The same of all jobs, or of one alone.
    pub fn run_some(&mut self, entrant: &mut Entrant, only: Option<usize>) -> Result<(), Error> {
        let repeats = self.setting.repeats();
        let keys = self.setting.keys(entrant);
        let mut found: HashMap<String, JobResult> = HashMap::new();
        if let Some(journal) = self.journal.get_mut().unwrap_or_else(PoisonError::into_inner) {
            found = self.setting.known(entrant, journal);
        }
        self.done.fetch_add(found.len(), Relaxed);
        let asked =
            |k: &usize| only.is_none_or(|only| only == *k) && !found.contains_key(&keys[*k]);
        let open: Vec<usize> = (0..keys.len()).filter(asked).collect();
        if !open.is_empty() {
            match self.train(entrant, &repeats, &open) {
                Ok(new) => found.extend(new.into_iter().map(|job| (job.key.clone(), job))),
                Err(Error::Stopped) => return Err(Error::Stopped),
                Err(error) => entrant.error = Some(error.to_string()),
            }
        }
        let failed = self.failed.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(error) = failed {
            return Err(error);
        }
        self.left = self.left.saturating_sub(1);
        match &entrant.error {
            None => entrant.jobs = keys.iter().filter_map(|key| found.remove(key)).collect(),
            Some(_) => {
                self.done.store(self.total.saturating_sub(self.left * repeats.len()), Relaxed);
            }
        }
        Ok(())
    }

    /// Trains the jobs that are open, together where they have the same sign and charge.
    fn train(
        &self,
        entrant: &Entrant,
        repeats: &[Repeat],
        open: &[usize],
    ) -> Result<Vec<JobResult>, Error> {
        let Setting { dataset, shared, splits, advice, config, .. } = self.setting;
        let graph = entrant.graph(self.setting);
        let own = match &graph {
            Some(graph) => Some(SharedInputs::new(graph, super::SHARED)?),
            None => None,
        };
        let mut results = Vec::new();
        for (settled, runs) in self.settled(entrant, repeats, open)? {
            let chosen = runs.iter().map(|&run| repeats[run]).collect();
            let mut experiment = Experiment::on(dataset, &settled, splits.clone(), chosen)?;
            experiment = match (&graph, &own) {
                (Some(graph), Some(own)) => experiment.with_graph(graph, own),
                _ => experiment.with_graph(&dataset.graph, shared),
            };
            let experiment = experiment.with_charge_by_split();
            let high = settled.operator.and_then(|operator| match operator.pass {
                PassChoice::High => Some(true),
                PassChoice::Low => Some(false),
                PassChoice::Auto => None,
            });
            let job = |result: &TrialResult| {
                let Trial { seed, split, charge, .. } = result.trial;
                JobResult {
                    key: self.setting.key(entrant, Repeat { seed, split }),
                    charge: charge.map(ChargeChoice::Fixed),
                    high,
                    val_loss: result.best.val_loss,
                    val_accuracy: result.metrics[1].accuracy,
                    right: result.hits.clone(),
                    epochs: result.history.len(),
                    parameters: result.parameters,
                    bytes: result.bytes,
                    build_seconds: result.build_seconds,
                    seconds: result.seconds,
                }
            };
            // Where something is left open, what a job took is known when all of it has been tried.
            let chooses = experiment.chooses();
            let counted = Mutex::new(HashSet::new());
            let hook = |result: &TrialResult| {
                let Trial { seed, split, .. } = result.trial;
                let mut counted = counted.lock().unwrap_or_else(PoisonError::into_inner);
                if counted.insert((seed, split)) {
                    self.done.fetch_add(1, Relaxed);
                }
                if !chooses {
                    self.keep(&job(result));
                }
                self.tell(entrant);
            };
            let progress = Limited {
                progress: self.progress,
                memory: config.memory,
                exceeded: AtomicBool::new(false),
            };
            let advice = advice.map(|(_, advice)| advice);
            let outcome = match experiment.on_result(&hook).run(advice, &progress) {
                Err(TrainError::Stopped(_)) if progress.exceeded.load(Relaxed) => {
                    let limit = config.memory.unwrap_or(0);
                    return Err(Error::Argument(format!(
                        "needs more than the {} MiB of memory that it may have",
                        limit >> 20
                    )));
                }
                outcome => outcome?,
            };
            let jobs: Vec<JobResult> = outcome.runs.iter().map(job).collect();
            if chooses {
                jobs.iter().for_each(|job| self.keep(job));
            }
            results.extend(jobs);
        }
        Ok(results)
    }

    /// The configurations with what training labels or the model on the true graph decide, each with its
    /// runs.
    fn settled(
        &self,
        entrant: &Entrant,
        repeats: &[Repeat],
        open: &[usize],
    ) -> Result<Vec<(RunConfig, Vec<usize>)>, Error> {
        let Setting { dataset, splits, config, .. } = self.setting;
        let labels = dataset.labels.as_ref();
        let mut groups: Vec<(RunConfig, Vec<usize>)> = Vec::new();
        for &run in open {
            let mut settled = entrant.config(repeats[run].split).clone();
            settled.train.seed = config.seed;
            settled.runs = Default::default();
            if let Some(operator) = &mut settled.operator {
                if let Some(known) = entrant.fixed.get(run) {
                    operator.charge = known.charge.unwrap_or(operator.charge);
                }
                let open =
                    operator.kind == KindChoice::Adjacency && operator.pass == PassChoice::Auto;
                if let (true, Some(labels)) = (open, labels) {
                    let split = &splits[repeats[run].split];
                    let pass = choose_pass(PassChoice::Auto, &dataset.graph, labels, split)?;
                    operator.pass = if pass.high { PassChoice::High } else { PassChoice::Low };
                }
            }
            match groups.iter_mut().find(|(config, _)| *config == settled) {
                Some((_, runs)) => runs.push(run),
                None => groups.push((settled, vec![run])),
            }
        }
        // What a choice has come to is known at its end only. So that an interrupt loses little, it is made
        // on no more splits at a time than keep all threads busy.
        let chooses = |config: &RunConfig| {
            let open = |features| !config.model.alternatives(&dataset.graph, features).is_empty();
            config.operator.is_some_and(|operator| operator.charge == ChargeChoice::Auto)
                || dataset.features.as_ref().is_some_and(open)
        };
        let at_a_time = rayon::current_num_threads().div_ceil(config.runs);
        let mut parts = Vec::new();
        for (settled, runs) in groups {
            let number =
                |run: usize| if chooses(&settled) { repeats[run].split / at_a_time } else { 0 };
            for part in runs.chunk_by(|&a, &b| number(a) == number(b)) {
                parts.push((settled.clone(), part.to_vec()));
            }
        }
        Ok(parts)
    }

    fn keep(&self, job: &JobResult) {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(journal) = journal.as_mut()
            && let Err(error) = journal.keep(&CompareRecord::Run(job.clone()))
        {
            let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
            failed.get_or_insert(error);
        }
    }

    /// Tells how far things are, with the time that the rest takes at the pace of what was done here.
    fn tell(&self, entrant: &Entrant) {
        let done = self.done.load(Relaxed);
        self.progress.step(done, self.total, &entrant.label());
    }
}

/// Passes on the request to stop, and stops a model that needs too much memory.
struct Limited<'a> {
    progress: &'a dyn Progress,
    memory: Option<u64>,
    exceeded: AtomicBool,
}

impl Progress for Limited<'_> {
    fn epoch(&self, epoch: &Epoch) {
        if epoch.epoch == 1
            && let Some(limit) = self.memory
            && resident().is_some_and(|held| held > limit)
        {
            self.exceeded.store(true, Relaxed);
        }
    }

    fn is_stopped(&self) -> bool {
        self.exceeded.load(Relaxed) || self.progress.is_stopped()
    }
}

/// Bytes of memory that the process holds, where the system tells.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes << 10)
}
