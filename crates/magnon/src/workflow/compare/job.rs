//! Jobs: one entrant on one split with one seed, run in parallel and kept as soon as they are done.

use super::entrant::Entrant;
use super::{CompareConfig, CompareRecord};
use crate::Error;
use crate::cycles::ChargeAdvice;
use crate::data::{Dataset, Labels, Split};
use crate::model::{ChargeChoice, KindChoice, PassChoice, SharedInputs, choose_pass};
use crate::operator::Phase;
use crate::train::{
    EpochRecord, Experiment, Observer, Repeat, RunConfig, Targets, TrainError, Trial, TrialResult,
    argmax,
};
use crate::workflow::{Journal, Progress};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
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
    /// The test nodes that were classified rightly, one bit each in hexadecimal, in the order of the split.
    pub right: String,
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
    /// Whether it can be a result on so many test nodes: one digit per four nodes, no bit beyond the last.
    pub(super) fn is_of(&self, test: usize) -> bool {
        let digits = self.right.bytes().all(|byte| byte.is_ascii_hexdigit());
        let rest = (self.hits(4 * test.div_ceil(4)).into_iter().skip(test)).any(|bit| bit);
        digits && self.right.len() == test.div_ceil(4) && !rest
    }

    /// Whether each test node was classified rightly.
    pub fn hits(&self, test: usize) -> Vec<bool> {
        let digit = |k: usize| self.right.as_bytes().get(k / 4).copied().unwrap_or(b'0');
        let value = |k: usize| (digit(k) as char).to_digit(16).unwrap_or(0);
        (0..test).map(|k| value(k) >> (k % 4) & 1 == 1).collect()
    }
}

/// Bits as hexadecimal digits, the first bit lowest in the first digit.
fn hexadecimal(bits: &[bool]) -> String {
    let digit = |four: &[bool]| {
        let value = four.iter().enumerate().map(|(k, &bit)| u32::from(bit) << k).sum();
        char::from_digit(value, 16).unwrap_or('0')
    };
    bits.chunks(4).map(digit).collect()
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
            let observer = JobObserver {
                jobs: self,
                entrant,
                high: settled.operator.and_then(|operator| match operator.pass {
                    PassChoice::High => Some(true),
                    PassChoice::Low => Some(false),
                    PassChoice::Auto => None,
                }),
                chooses: experiment.chooses(),
                finals: Mutex::new(HashMap::new()),
                memory: config.memory,
                exceeded: AtomicBool::new(false),
            };
            let outcome = experiment.run(advice.map(|(_, advice)| advice), &observer);
            let outcome = match outcome {
                Err(TrainError::Stopped(_)) if observer.exceeded.load(Relaxed) => {
                    let limit = config.memory.unwrap_or(0);
                    return Err(Error::Argument(format!(
                        "needs more than the {} MiB of memory that it may have",
                        limit >> 20
                    )));
                }
                outcome => outcome?,
            };
            let chooses = observer.chooses;
            let finals = observer.finals.into_inner().unwrap_or_else(PoisonError::into_inner);
            for run in &outcome.runs {
                let Trial { seed, split, .. } = run.trial;
                let key = self.setting.key(entrant, Repeat { seed, split });
                let trials = finals.get(&key).into_iter().flatten();
                let taken = |(trial, _): &&(Trial, JobResult)| *trial == run.trial;
                for (_, job) in trials.filter(taken).take(1) {
                    if chooses {
                        self.keep(job);
                    }
                    results.push(job.clone());
                }
            }
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

/// Hears of trials and keeps those that are wanted.
struct JobObserver<'j, 'a> {
    jobs: &'j Jobs<'a>,
    entrant: &'j Entrant,
    high: Option<bool>,
    /// Whether something is left open: what a job took is then known when all of it has been tried.
    chooses: bool,
    /// Trials that came to their end, by key.
    finals: Mutex<HashMap<String, Vec<(Trial, JobResult)>>>,
    memory: Option<u64>,
    exceeded: AtomicBool,
}

impl Observer for JobObserver<'_, '_> {
    fn epoch(&self, _: &Trial, record: &EpochRecord, _: &EpochRecord) {
        if record.epoch == 1
            && let Some(limit) = self.memory
            && resident().is_some_and(|held| held > limit)
        {
            self.exceeded.store(true, Relaxed);
        }
    }

    fn done(&self, result: &TrialResult) {
        let setting = self.jobs.setting;
        let Some(labels) = &setting.dataset.labels else { return };
        let trial = &result.trial;
        let key = setting.key(self.entrant, Repeat { seed: trial.seed, split: trial.split });
        let job = JobResult {
            key: key.clone(),
            charge: trial.charge.map(ChargeChoice::Fixed),
            high: self.high,
            val_loss: result.best.val_loss,
            val_accuracy: result.metrics[1].accuracy,
            right: hexadecimal(&hits(result, labels, &setting.splits[trial.split])),
            epochs: result.history.len(),
            parameters: result.parameters,
            bytes: result.bytes,
            build_seconds: result.build_seconds,
            seconds: result.seconds,
        };
        let mut finals = self.finals.lock().unwrap_or_else(PoisonError::into_inner);
        let trials = finals.entry(key).or_default();
        if trials.is_empty() {
            self.jobs.done.fetch_add(1, Relaxed);
        }
        if !self.chooses {
            self.jobs.keep(&job);
        }
        trials.push((*trial, job));
        drop(finals);
        self.jobs.tell(self.entrant);
    }

    fn stop(&self) -> bool {
        self.exceeded.load(Relaxed) || self.jobs.progress.is_stopped()
    }
}

/// Which labelled test nodes were classified rightly.
fn hits(result: &TrialResult, labels: &Labels, split: &Split) -> Vec<bool> {
    let Targets { nodes, pairs } = Targets::of(&split.test, labels);
    let right = nodes
        .iter()
        .zip(&pairs)
        .map(|(&u, &(_, class))| argmax(result.log_probabilities.row(u as usize)) as u32 == class);
    right.collect()
}

/// Bytes of memory that the process holds, where the system tells.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes << 10)
}
