//! The search: brackets of trials, cut short rung by rung.

use super::space::{self, Dimension};
use super::{Search, TrialNotes, TuneConfig, TuneRecord, Tuning, result};
use crate::Error;
use crate::cycles::ChargeAdvice;
use crate::data::{Dataset, Split, split_check};
use crate::model::SharedInputs;
use crate::train::RunConfig;
use crate::workflow::{OpenPart, Progress};
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
pub(in crate::workflow) struct Tried {
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
pub(in crate::workflow) struct SearchInput<'a> {
    pub dataset: &'a Dataset,
    pub shared: &'a SharedInputs,
    pub base: &'a RunConfig,
    pub advice: Option<&'a ChargeAdvice>,
    pub splits: &'a [Split],
}

/// Where a search stands by what was kept of it.
pub(in crate::workflow) struct SearchState {
    /// The trials that were drawn.
    pub trials: Vec<Tried>,
    /// The trainings that the next rung lacks; none at the end.
    pub open: Vec<OpenPart>,
    /// Trainings that are known.
    pub done: usize,
}

/// The trainings that a rung lacks.
struct OpenRung {
    /// Numbers of the trials.
    trials: Vec<usize>,
    /// Epochs that they are allowed.
    epochs: Option<usize>,
}

/// How far a search goes by itself.
#[derive(Clone, Copy, PartialEq)]
enum Reach {
    /// To its end.
    End,
    /// As far as is known. Once its time is over, it ends before a bracket that was not begun.
    Known { over: bool },
}

/// The notes of a search, which its threads share.
type Notes<'n> = Mutex<Option<&'n mut dyn TrialNotes>>;

pub(in crate::workflow) struct Searcher<'a> {
    pub(super) dataset: &'a Dataset,
    pub(super) shared: &'a SharedInputs,
    base: &'a RunConfig,
    space: Vec<Dimension>,
    pub(super) advice: Option<&'a ChargeAdvice>,
    pub(super) splits: &'a [Split],
    pub(super) config: &'a TuneConfig,
    pub(super) progress: &'a dyn Progress,
    /// A checksum of the splits.
    split_check: u32,
    begun: Instant,
    done: AtomicUsize,
}

impl<'a> Searcher<'a> {
    pub fn new(
        ground: SearchInput<'a>,
        config: &'a TuneConfig,
        progress: &'a dyn Progress,
    ) -> Self {
        let SearchInput { dataset, shared, base, advice, splits } = ground;
        Self {
            dataset,
            shared,
            base,
            space: space::space(base, advice),
            advice,
            splits,
            config,
            progress,
            split_check: split_check(splits),
            begun: Instant::now(),
            done: AtomicUsize::new(0),
        }
    }

    /// Runs the search; what is known of it is not trained again.
    pub fn tune(&self, notes: Option<&mut dyn TrialNotes>) -> Result<Tuning, Error> {
        let mut trials = Vec::new();
        self.search(&mut trials, &Mutex::new(notes), Reach::End)?;
        Ok(self.result(trials))
    }

    /// What a search that is at its end came to.
    pub fn result(&self, trials: Vec<Tried>) -> Tuning {
        result::assemble(self.dataset, self.base, self.space.clone(), trials)
    }

    /// Where the search stands; nothing is trained.
    pub fn stand(&self, notes: &mut dyn TrialNotes, over: bool) -> Result<SearchState, Error> {
        let mut trials = Vec::new();
        let rung = self.search(&mut trials, &Mutex::new(Some(notes)), Reach::Known { over })?;
        let open = rung.map_or(Vec::new(), |rung| {
            let group = format!("{}, {}", self.base.model.info().name, message(rung.epochs));
            let part = |&at: &usize| OpenPart {
                key: self.key(&trials[at].config, rung.epochs),
                group: group.clone(),
            };
            rung.trials.iter().map(part).collect()
        });
        Ok(SearchState { open, done: self.done.load(Relaxed), trials })
    }

    /// Trains one of the trainings that the next rung lacks; gives whether it lacks such a one.
    pub fn train_part(&self, notes: &mut dyn TrialNotes, part: &str) -> Result<bool, Error> {
        let mut trials = Vec::new();
        let notes = Mutex::new(Some(notes));
        let Some(rung) = self.search(&mut trials, &notes, Reach::Known { over: false })? else {
            return Ok(false);
        };
        let named = |at: &&usize| self.key(&trials[**at].config, rung.epochs) == part;
        let Some(&at) = rung.trials.iter().find(named) else { return Ok(false) };
        let config = self.cut(&trials[at].config, rung.epochs);
        let record = self.train(&config, part.to_owned(), false)?;
        keep(&notes, &record)?;
        Ok(true)
    }

    /// Draws and trains trials. Where it reaches no further than what is known, it gives the first rung that lacks
    /// trainings.
    fn search(
        &self,
        trials: &mut Vec<Tried>,
        notes: &Notes,
        reach: Reach,
    ) -> Result<Option<OpenRung>, Error> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.config.seed);
        // The first trial is the configuration as it is, with a race for a charge that is left open.
        let values = space::values(&self.space, self.base);
        trials.push(Tried { values, config: self.base.clone(), rungs: Vec::new() });
        if let Some(open) = self.rung(trials, &[0], None, notes, reach)? {
            return Ok(Some(open));
        }
        let epochs = trials[0].rungs.first().map_or(0.0, |(_, record)| record.epochs);
        let rungs = self.rungs(epochs);
        while trials.len() < self.config.trials && !(reach == Reach::End && self.is_over()) {
            let size = BRACKET.min(self.config.trials - trials.len());
            let begin = trials.len();
            self.draw(trials, size, &mut rng);
            let mut alive: Vec<usize> = (begin..trials.len()).collect();
            if alive.is_empty() {
                break; // the space has no other points
            }
            if reach == (Reach::Known { over: true })
                && !self.is_begun(&trials[begin..], notes, &rungs)
            {
                trials.truncate(begin);
                break;
            }
            for (k, &allowed) in rungs.iter().enumerate() {
                if k > 0 {
                    alive = best_third(trials, &alive);
                }
                if let Some(open) = self.rung(trials, &alive, allowed, notes, reach)? {
                    return Ok(Some(open));
                }
            }
        }
        Ok(None)
    }

    /// Epochs that the trials of a bracket are allowed, rung by rung.
    fn rungs(&self, epochs: f64) -> Vec<Option<usize>> {
        let part = |share: usize| Some(((epochs / share as f64).ceil() as usize).max(1));
        match self.config.search {
            Search::Halving => vec![part(KEPT * KEPT), part(KEPT), None],
            Search::Random => vec![None],
        }
    }

    /// Whether something is known of a bracket.
    fn is_begun(&self, trials: &[Tried], notes: &Notes, rungs: &[Option<usize>]) -> bool {
        let first = rungs.first().copied().flatten();
        trials.iter().any(|trial| known(notes, &self.key(&trial.config, first)).is_some())
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
            let values = space::draw(&self.space, rng);
            if trials.iter().any(|trial| trial.values == values) {
                continue;
            }
            if let Ok(config) = space::apply(&self.space, self.base, &values) {
                trials.push(Tried { values, config, rungs: Vec::new() });
            }
        }
    }

    /// Trains some trials for at most so many epochs, or to the end. Where the search reaches no further than what is
    /// known, it trains none, and gives those that are not.
    fn rung(
        &self,
        trials: &mut [Tried],
        which: &[usize],
        epochs: Option<usize>,
        notes: &Notes,
        reach: Reach,
    ) -> Result<Option<OpenRung>, Error> {
        let finish = |record: TuneRecord, is_new: bool| -> Result<TuneRecord, Error> {
            if is_new {
                keep(notes, &record)?;
            }
            let done = self.done.fetch_add(1, Relaxed) + 1;
            self.progress.step(done, self.steps(), &message(epochs));
            Ok(record)
        };
        let (mut records, mut left) = (Vec::new(), Vec::new());
        for &at in which {
            match known(notes, &self.key(&trials[at].config, epochs)) {
                Some(record) => records.push((at, finish(record, false)?)),
                None => left.push(at),
            }
        }
        if reach != Reach::End && !left.is_empty() {
            return Ok(Some(OpenRung { trials: left, epochs }));
        }
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
        Ok(None)
    }

    /// Trainings in all, as far as the number of trials decides.
    pub fn steps(&self) -> usize {
        let trials = self.config.trials;
        match self.config.search {
            Search::Random => trials,
            Search::Halving => trials + trials / KEPT + trials / (KEPT * KEPT),
        }
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
}

/// Whether the key of a training may be of a search for settings of a model on splits with this checksum.
pub(in crate::workflow) fn is_trial_of(key: &str, base: &RunConfig, split_check: u32) -> bool {
    let rest = key.strip_prefix(base.model.info().name);
    rest.is_some_and(|rest| {
        rest.starts_with('-') && rest.contains(&format!("-splits{split_check:08x}-"))
    })
}

/// A training that is known.
fn known(notes: &Notes, key: &str) -> Option<TuneRecord> {
    notes.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.known(key)
}

/// Keeps a training as soon as it is known.
fn keep(notes: &Notes, record: &TuneRecord) -> Result<(), Error> {
    let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
    notes.as_mut().map_or(Ok(()), |notes| notes.note(record.clone()))
}

/// How far trials are trained, in words.
fn message(epochs: Option<usize>) -> String {
    epochs.map_or("to the end".to_owned(), |epochs| format!("{epochs} epochs each"))
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
