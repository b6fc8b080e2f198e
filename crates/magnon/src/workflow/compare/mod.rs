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
mod hits;
mod job;
mod result;
mod splits;
mod table;
mod tuned;
mod verdict;

pub use job::JobResult;
pub use result::{ChargeCount, Comparison, ControlRow, FromReference, ModelRow};
pub use splits::SplitInfo;
pub use table::CSV_COLUMNS;
pub use tuned::{TuneBudget, Tuned};
pub use verdict::{Answer, Finding, Verdict};

use super::charge::phase_of;
use super::{Journal, Progress, find_cycles};
use crate::Error;
use crate::data::Dataset;
use crate::model::{ChargeChoice, Direction, SharedInputs};
use crate::operator::Charge;
use crate::train::{Experiment, RunConfig};
use entrant::{Entrant, Variation};
use job::{Jobs, Setting};
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

/// Journals of what is done, so that an interrupted comparison goes on.
#[derive(Debug, Default)]
pub struct Kept<'a> {
    /// Finished jobs.
    pub jobs: Option<&'a mut Journal<JobResult>>,
    /// Settings that were found.
    pub tunings: Option<&'a mut Journal<Tuned>>,
}

impl<'a> Kept<'a> {
    /// Keeps jobs alone, which is all where nothing is tuned.
    pub fn jobs(jobs: &'a mut Journal<JobResult>) -> Self {
        Self { jobs: Some(jobs), tunings: None }
    }
}

/// Compares models on one data set. `split` says which splits: some that came with the data, or drawn ones.
pub fn compare(
    dataset: &Dataset,
    split: Option<crate::data::SplitChoice>,
    config: &CompareConfig,
    kept: Kept,
    progress: &dyn Progress,
) -> Result<Comparison, Error> {
    match run(dataset, split, config, kept, None, progress)? {
        Outcome::Whole(comparison) => Ok(*comparison),
        Outcome::Part(_) => Err(Error::Argument("a part is no comparison".to_owned())),
    }
}

/// How a comparison falls into parts that can be run apart, one run of one model each: first the models and what they
/// are held against, then the graphs with directions by coin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CompareParts {
    /// Parts that depend on nothing.
    pub entrants: usize,
    /// Parts that need the runs of all others, as they are for the model that validation would take.
    pub coins: usize,
    /// Parts of one model or control, one behind the other.
    pub repeats: usize,
}

/// Runs one part of a comparison, or none where `part` is beyond the last, into the journal of `kept`. [`compare`]
/// with the journals of all parts in one finds everything done.
pub fn compare_part(
    dataset: &Dataset,
    split: Option<crate::data::SplitChoice>,
    config: &CompareConfig,
    kept: Kept,
    part: usize,
    progress: &dyn Progress,
) -> Result<CompareParts, Error> {
    if config.tune.is_some() {
        let problem =
            "parts of a comparison are run with settings that are known; search them before";
        return Err(Error::Argument(problem.to_owned()));
    }
    match run(dataset, split, config, kept, Some(part), progress)? {
        Outcome::Part(parts) => Ok(parts),
        Outcome::Whole(_) => Err(Error::Argument("a comparison is no part".to_owned())),
    }
}

/// What came of a comparison or a part of it.
enum Outcome {
    Whole(Box<Comparison>),
    Part(CompareParts),
}

fn run(
    dataset: &Dataset,
    split: Option<crate::data::SplitChoice>,
    config: &CompareConfig,
    kept: Kept,
    part: Option<usize>,
    progress: &dyn Progress,
) -> Result<Outcome, Error> {
    config.check()?;
    Experiment::check_data(dataset)?;
    let (splits, info) = splits::choose(dataset, split, config)?;
    progress.remark(&info.text);
    let symmetric = dataset.graph.is_symmetric();
    let open = |model: &Contestant| {
        model.config.operator.is_some_and(|operator| operator.charge == ChargeChoice::Auto)
    };
    let advice = match config.models.iter().find(|model| open(model)).filter(|_| !symmetric) {
        Some(model) => Some(find_cycles(&dataset.graph, phase_of(&model.config), progress)?.advice),
        None => None,
    };
    let shared = SharedInputs::new(&dataset.graph, SHARED)?;
    let setting =
        Setting { dataset, shared: &shared, splits, advice: advice.as_ref(), config, symmetric };
    let mut entrants = entrant::list(&setting);
    // On a symmetric graph there is nothing to turn.
    let turns = !symmetric && entrants.iter().any(Entrant::is_directed);
    let draws = if turns { config.draws } else { 0 };
    if let Some(budget) = config.tune {
        tuned::tune_all(&setting, &mut entrants, budget, kept.tunings, progress)?;
    }
    let repeats = config.splits * config.runs;
    let parts =
        CompareParts { entrants: entrants.len() * repeats, coins: draws * repeats, repeats };
    if part.is_some_and(|part| part >= parts.entrants + parts.coins) {
        return Ok(Outcome::Part(parts));
    }
    // A part is one run of one entrant.
    let part = part.map(|part| (part / repeats, part % repeats));
    let mut jobs = Jobs::new(&setting, entrants.len() + draws, kept.jobs, progress);
    if let Some((index, run)) = part
        && let Some(entrant) = entrants.get_mut(index)
    {
        // A model that fails is for the whole comparison to tell.
        jobs.run_some(entrant, Some(run))?;
        jobs.finish()?;
        return Ok(Outcome::Part(parts));
    }
    let models = entrants.len();
    for entrant in &mut entrants {
        jobs.run(entrant)?;
    }

    // Directions by coin are for the model that would be taken, which validation decides.
    let directed = entrants.iter().filter(|entrant| entrant.is_directed());
    if let Some(leader) = entrant::leader(directed) {
        let coins: Vec<Entrant> =
            (0..draws).map(|draw| leader.with(Variation::Coin(draw))).collect();
        let asked = |draw: &usize| part.is_none_or(|(index, _)| index == models + draw);
        let coins = (0..draws).zip(coins).filter(|(draw, _)| asked(draw));
        for (_, mut coin) in coins {
            jobs.run_some(&mut coin, part.map(|(_, run)| run))?;
            entrants.push(coin);
        }
    }
    jobs.finish()?;
    Ok(match part {
        Some(_) => Outcome::Part(parts),
        None => Outcome::Whole(Box::new(assemble::assemble(&setting, info, &entrants))),
    })
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
