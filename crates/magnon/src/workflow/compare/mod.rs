//! `compare`: which model, and does the graph or its direction help at all?
//!
//! Every model is trained on the same splits with the same number of seeds, and beside it what says how
//! much its accuracy means: the majority class, a network that does not see the graph, the same model
//! without direction, and the same model on the graph with every one-way edge turned by a coin. Whatever
//! is left open (the sign of the operator, the charge) is chosen on each split by itself: training labels
//! for the one, validation nodes for the other.
//!
//! A job is one model on one split with one seed. Jobs do not depend on each other or on the number of
//! threads, so a comparison that was interrupted goes on from the jobs that a [`Journal`] has kept, to the
//! same figures bit for bit.

mod answers;
mod assemble;
mod controls;
mod entrant;
mod hexadecimal;
mod hits;
mod job;
mod parts;
mod record;
mod result;
mod searches;
mod splits;
mod table;
mod tuned;
mod verdict;

pub use job::JobResult;
pub use parts::{CompareParts, Handed, compare_part, compare_parts};
pub use record::CompareRecord;
pub use result::{ChargeCount, Comparison, ControlRow, FromReference, ModelRow};
pub use splits::SplitInfo;
pub use table::CSV_COLUMNS;
pub use tuned::{TuneBudget, Tuned};
pub use verdict::{Answer, Finding, Verdict};

use super::charge::phase_of;
use super::tune::is_open;
use super::{Journal, Phases, Progress, find_cycles};
use crate::Error;
use crate::data::{Dataset, Split, SplitChoice, split_check};
use crate::model::{ChargeChoice, Direction, SharedInputs};
use crate::operator::Charge;
use crate::train::{Experiment, RunConfig};
use job::{Jobs, Setting};
use searches::Searches;
use serde::{Deserialize, Serialize};

/// Bytes of filtered features that models and controls share.
const SHARED: usize = 1 << 30;

/// One model of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contestant {
    /// What its row is called.
    pub name: String,
    /// Model, operator, filter and training; its data, seed and runs are not looked at.
    pub config: RunConfig,
}

/// Configuration of a comparison.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `models` | none | what is compared | at least one |
/// | `splits` | 10 | splits that each is trained on | 1 to 10000 |
/// | `runs` | 1 | seeds on each split | 1 to 10000 |
/// | `draws` | 3 | graphs with directions by coin | 1 to 100 |
/// | `tune` | none | search before, for each model on each split | |
/// | `memory` | none | bytes that the process may hold | |
/// | `seed` | 0 | of splits, weights and coins | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompareConfig {
    /// What is compared.
    pub models: Vec<Contestant>,
    /// Splits that each is trained on.
    pub splits: usize,
    /// Seeds on each split.
    pub runs: usize,
    /// Graphs with directions by coin.
    pub draws: usize,
    /// How long settings of each model are searched on each split before it is trained there.
    pub tune: Option<TuneBudget>,
    /// Bytes that the process may hold while a model is trained; a model that needs more is a row that
    /// says so.
    pub memory: Option<u64>,
    /// Seed of splits, weights and coins.
    pub seed: u64,
}

impl Default for CompareConfig {
    fn default() -> Self {
        Self {
            models: Vec::new(),
            splits: 10,
            runs: 1,
            draws: 3,
            tune: None,
            memory: None,
            seed: 0,
        }
    }
}

impl CompareConfig {
    /// Checks every range.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |problem: &str| Err(Error::Argument(problem.to_owned()));
        if self.models.is_empty() {
            return wrong("there is no model to compare; name some, such as mgc,gcn,magnet");
        }
        for (what, value, most) in [
            ("number of splits", self.splits, 10_000),
            ("number of runs", self.runs, 10_000),
            ("number of draws", self.draws, 100),
        ] {
            if !(1..=most).contains(&value) {
                return Err(Error::Argument(format!(
                    "the {what} is {value}; it must be from 1 to {most}"
                )));
            }
        }
        for (k, model) in self.models.iter().enumerate() {
            model.config.check()?;
            if self.models[..k].iter().any(|other| other.name == model.name) {
                return Err(Error::Argument(format!("the model {} is named twice", model.name)));
            }
        }
        Ok(())
    }
}

/// Compares models on one data set. `split` says which splits: some that came with the data, or drawn ones. What a
/// journal has is not done again.
pub fn compare(
    dataset: &Dataset,
    split: Option<SplitChoice>,
    config: &CompareConfig,
    journal: Option<&mut Journal<CompareRecord>>,
    progress: &dyn Progress,
) -> Result<Comparison, Error> {
    let mut seconds = Phases::default();
    let found = seconds.time("compare", || run(dataset, split, config, journal, progress));
    Ok(Comparison { seconds, ..found? })
}

fn run(
    dataset: &Dataset,
    split: Option<SplitChoice>,
    config: &CompareConfig,
    mut journal: Option<&mut Journal<CompareRecord>>,
    progress: &dyn Progress,
) -> Result<Comparison, Error> {
    with_setting(dataset, split, config, progress, |setting, info| {
        let mut entrants = entrant::list(setting);
        let draws = entrant::draws(setting, &entrants);
        if let Some(budget) = config.tune {
            let searches = Searches::new(setting, budget, progress)?;
            searches.run(&mut entrants, journal.as_deref_mut())?;
        }
        let mut jobs = Jobs::new(setting, entrants.len() + draws, journal, progress);
        for entrant in &mut entrants {
            jobs.run(entrant)?;
        }
        for mut coin in entrant::coins(&entrants, draws) {
            jobs.run(&mut coin)?;
            entrants.push(coin);
        }
        jobs.finish()?;
        Ok(assemble::assemble(setting, info, &entrants))
    })
}

/// Checks what is asked for, and does something with what all jobs share.
fn with_setting<T>(
    dataset: &Dataset,
    split: Option<SplitChoice>,
    config: &CompareConfig,
    progress: &dyn Progress,
    work: impl FnOnce(&Setting, SplitInfo) -> Result<T, Error>,
) -> Result<T, Error> {
    config.check()?;
    Experiment::check_data(dataset)?;
    let (splits, info) = splits::choose(dataset, split, config)?;
    progress.remark(&info.text);
    let symmetric = dataset.graph.is_symmetric();
    let open = config.models.iter().find(|model| is_open(&model.config)).filter(|_| !symmetric);
    let advice = match open.map(|model| phase_of(&model.config)) {
        Some(phase) => Some((phase, find_cycles(&dataset.graph, phase, progress)?.advice)),
        None => None,
    };
    let shared = SharedInputs::new(&dataset.graph, SHARED)?;
    let check = |split: &Split| split_check(std::slice::from_ref(split));
    let setting = Setting {
        dataset,
        shared: &shared,
        split_checks: splits.iter().map(check).collect(),
        splits,
        advice: advice.as_ref().map(|(phase, advice)| (*phase, advice)),
        config,
        symmetric,
    };
    work(&setting, info)
}

/// Whether a model makes something of direction; at a charge of 0 none does.
fn is_directed(config: &RunConfig) -> bool {
    let charge = config.operator.map(|operator| operator.charge);
    match config.model.info().direction {
        Direction::Charge => charge != Some(ChargeChoice::Fixed(Charge::ZERO)),
        Direction::InAndOut => true,
        Direction::Ignored | Direction::NoGraph => false,
    }
}
