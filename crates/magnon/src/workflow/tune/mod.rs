//! `tune`: a search over the settings of a model, on validation nodes alone.
//!
//! The first trial has the settings as they are given; the others draw each setting from the values worth
//! trying (see [`space`](Dimension)). With successive halving, all trials of a bracket are trained for a
//! ninth of the epochs that the first one took, the best third for a third of them, and the best ninth to
//! the end. Networks over the reals and over the complex numbers are ranked apart: the latter start slowly
//! and would lose every early rung. A trial is better where its accuracy on validation nodes is higher, or
//! equal with a lower loss; test nodes are not looked at.
//!
//! Trials run in parallel, and a rung ends before the next begins, so that the same seed gives the same
//! search on any number of threads. A search that was interrupted goes on from what its journal has kept.

mod importance;
mod record;
mod result;
mod search;
mod space;
mod training;

pub use importance::Importance;
pub use record::{TuneParts, TuneRecord};
pub use result::{TrialRow, Tuning, VALUE_COLUMNS};
pub use space::Dimension;

use super::charge::phase_of;
use super::{Journal, Phases, Progress, find_cycles};
use crate::Error;
use crate::data::{Dataset, Split};
use crate::model::{ChargeChoice, SharedInputs};
use crate::train::{Experiment, RunConfig};
pub(super) use record::TrialNotes;
pub(super) use search::{SearchInput, Searcher, is_trial_of};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How trials are chosen and cut short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum Search {
    /// Many trials for a few epochs, the best for more
    #[default]
    Halving,
    /// Every trial to the end
    Random,
}

/// Configuration of a search.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `search` | `halving` | how trials are cut short | `halving`, `random` |
/// | `trials` | 54 | most trials | 1 to 100000 |
/// | `minutes` | none | time after which no trial begins | > 0 |
/// | `runs` | 1 | seeds of each trial on each split | 1 to 1000 |
/// | `seed` | 0 | of draws and weights | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TuneConfig {
    /// How trials are cut short.
    pub search: Search,
    /// Most trials.
    pub trials: usize,
    /// Minutes after which no rung begins; the search then depends on the machine.
    pub minutes: Option<f64>,
    /// Seeds of each trial on each split.
    pub runs: usize,
    /// Seed of draws and weights.
    pub seed: u64,
}

impl Default for TuneConfig {
    fn default() -> Self {
        Self { search: Search::Halving, trials: 54, minutes: None, runs: 1, seed: 0 }
    }
}

impl TuneConfig {
    /// Checks every range.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |text: String| Err(Error::Argument(text));
        if !(1..=100_000).contains(&self.trials) {
            return wrong(format!(
                "the number of trials is {}; it must be from 1 to 100000",
                self.trials
            ));
        }
        if !(1..=1000).contains(&self.runs) {
            return wrong(format!(
                "the number of runs is {}; it must be from 1 to 1000",
                self.runs
            ));
        }
        match self.minutes {
            Some(minutes) if !(minutes > 0.0 && minutes < 1e6) => wrong(format!(
                "the time is {minutes} minutes; it must be above 0 and below 1000000"
            )),
            _ => Ok(()),
        }
    }

    fn limit(&self) -> Option<Duration> {
        self.minutes.map(|minutes| Duration::from_secs_f64(60.0 * minutes))
    }
}

/// Searches for better settings of a configuration, on the validation nodes of some splits.
pub fn tune(
    dataset: &Dataset,
    base: &RunConfig,
    splits: &[Split],
    config: &TuneConfig,
    journal: Option<&mut Journal<TuneRecord>>,
    progress: &dyn Progress,
) -> Result<Tuning, Error> {
    let mut seconds = Phases::default();
    let found = seconds.time("tune", || {
        search(dataset, base, splits, config, progress, |searcher| {
            searcher.tune(journal.map(|journal| journal as &mut dyn TrialNotes))
        })
    });
    Ok(Tuning { seconds, ..found? })
}

/// Where a search stands by its journal, for those who train its trials apart: which of them the next rung lacks. The
/// trials of a rung do not depend on each other; the next rung needs all of them in one journal. [`tune`] with the
/// journal of a search that has come to its end finds everything done.
///
/// Where the search has a time and took as many `seconds` already, it ends behind the trials that were begun.
pub fn tune_parts(
    dataset: &Dataset,
    base: &RunConfig,
    splits: &[Split],
    config: &TuneConfig,
    journal: &mut Journal<TuneRecord>,
    seconds: f64,
    progress: &dyn Progress,
) -> Result<TuneParts, Error> {
    let over = config.limit().is_some_and(|limit| seconds >= limit.as_secs_f64());
    search(dataset, base, splits, config, progress, |searcher| {
        let stand = searcher.stand(journal, over)?;
        Ok(TuneParts {
            open: stand.open,
            done: stand.done,
            steps: searcher.steps(),
            trials: stand.trials.len(),
        })
    })
}

/// Trains the trial of an open part into the journal.
pub fn tune_part(
    dataset: &Dataset,
    base: &RunConfig,
    splits: &[Split],
    config: &TuneConfig,
    journal: &mut Journal<TuneRecord>,
    part: &str,
    progress: &dyn Progress,
) -> Result<(), Error> {
    search(dataset, base, splits, config, progress, |searcher| {
        match searcher.train_part(journal, part)? {
            true => Ok(()),
            false => Err(Error::Argument(format!("{part} is no open part of this search"))),
        }
    })
}

/// Checks what is asked for, and does something with the search.
fn search<T>(
    dataset: &Dataset,
    base: &RunConfig,
    splits: &[Split],
    config: &TuneConfig,
    progress: &dyn Progress,
    work: impl FnOnce(Searcher) -> Result<T, Error>,
) -> Result<T, Error> {
    config.check()?;
    base.check()?;
    Experiment::check_data(dataset)?;
    if splits.is_empty() {
        return Err(Error::Argument("there is no split to tune on".to_owned()));
    }
    let advice = match is_open(base) && !dataset.graph.is_symmetric() {
        true => Some(find_cycles(&dataset.graph, phase_of(base), progress)?.advice),
        false => None,
    };
    let shared = SharedInputs::new(&dataset.graph, SHARED)?;
    let ground = SearchInput { dataset, shared: &shared, base, advice: advice.as_ref(), splits };
    work(Searcher::new(ground, config, progress))
}

/// Whether the charge is left to the cycles of the graph.
pub(super) fn is_open(config: &RunConfig) -> bool {
    config.operator.is_some_and(|operator| operator.charge == ChargeChoice::Auto)
}

/// Bytes of filtered features that trials share.
const SHARED: usize = 1 << 30;
