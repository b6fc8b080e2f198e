//! A comparison in parts: trainings of searches, runs of models and controls, and runs on coins.
//!
//! The searches of all models go side by side. A model is run once its search is at its end on every split, and coins
//! once all runs of directed models are known, as they are for the one that validation would take.

use super::entrant::{self, Entrant, Variation};
use super::job::{Jobs, Setting};
use super::searches::{SearchStand, Searches};
use super::{CompareConfig, CompareRecord, with_setting};
use crate::Error;
use crate::data::{Dataset, SplitChoice};
use crate::workflow::{Journal, OpenPart, Progress};
use serde::Serialize;
use std::collections::HashSet;

/// What became of the parts of a comparison that were handed out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Handed {
    /// Parts that were run already. One that the journal lacks all the same has failed; what about it, the comparison
    /// itself tells.
    pub tried: HashSet<String>,
    /// Seconds since the first was handed out. Searches that have a time share that of all models, and begin nothing
    /// when it is over.
    pub seconds: f64,
}

/// Where a comparison stands whose parts are run apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CompareParts {
    /// Parts that can be run now; none at the end.
    pub open: Vec<OpenPart>,
    /// Trainings that are known.
    pub done: usize,
    /// Trainings in all, as far as they can be foreseen.
    pub steps: usize,
}

/// Where a comparison stands by its journal, in which searches that are at their end are told. [`compare`](super::compare())
/// with the journal of a comparison that has no open part finds everything done.
pub fn compare_parts(
    dataset: &Dataset,
    split: Option<SplitChoice>,
    config: &CompareConfig,
    journal: &mut Journal<CompareRecord>,
    handed: &Handed,
    progress: &dyn Progress,
) -> Result<CompareParts, Error> {
    with_setting(dataset, split, config, progress, |setting, _| {
        let plan = Plan::new(setting, journal, (handed, None), progress)?;
        let done = journal.trials() + plan.known;
        let open = plan.open.into_iter().map(|(part, _)| part).collect();
        Ok(CompareParts { open, done, steps: done + plan.left })
    })
}

/// Runs an open part of a comparison into the journal.
pub fn compare_part(
    dataset: &Dataset,
    split: Option<SplitChoice>,
    config: &CompareConfig,
    journal: &mut Journal<CompareRecord>,
    (part, handed): (&str, &Handed),
    progress: &dyn Progress,
) -> Result<(), Error> {
    with_setting(dataset, split, config, progress, |setting, _| {
        let mut plan = Plan::new(setting, journal, (handed, Some(part)), progress)?;
        let work = plan.open.iter().find(|(open, _)| open.key == part).map(|(_, work)| *work);
        let none = || Error::Argument(format!("{part} is no open part of this comparison"));
        let (entrant, run) = match work.ok_or_else(none)? {
            Work::Trial { entrant, split } => {
                let budget = config.tune.ok_or_else(none)?;
                let searches = Searches::new(setting, budget, progress)?;
                let entrant = plan.entrants.get(entrant).ok_or_else(none)?;
                return match searches.train_part(entrant, split, journal, part)? {
                    true => Ok(()),
                    false => Err(none()),
                };
            }
            Work::Run { entrant, run } => (plan.entrants.get_mut(entrant), run),
            Work::Coin { draw, run } => (plan.coins.get_mut(draw), run),
        };
        let mut jobs = Jobs::new(setting, 1, Some(journal), progress);
        // A model that fails is for the whole comparison to tell.
        jobs.run_some(entrant.ok_or_else(none)?, Some(run))?;
        jobs.finish()
    })
}

/// What a part is.
#[derive(Clone, Copy)]
enum Work {
    /// A training of the search of an entrant on a split.
    Trial { entrant: usize, split: usize },
    /// A run of an entrant.
    Run { entrant: usize, run: usize },
    /// A run on a graph with directions by coin.
    Coin { draw: usize, run: usize },
}

/// What is known, and what can be done next.
struct Plan {
    entrants: Vec<Entrant>,
    coins: Vec<Entrant>,
    open: Vec<(OpenPart, Work)>,
    /// Runs that are known.
    known: usize,
    /// Trainings that are not.
    left: usize,
}

impl Plan {
    /// All of it, or what there is to know about the part `only`.
    fn new(
        setting: &Setting,
        journal: &mut Journal<CompareRecord>,
        (handed, only): (&Handed, Option<&str>),
        progress: &dyn Progress,
    ) -> Result<Self, Error> {
        let mut entrants = entrant::list(setting);
        let draws = entrant::draws(setting, &entrants);
        let searched = match setting.config.tune {
            Some(budget) => {
                let searches = Searches::new(setting, budget, progress)?;
                searches.stand(&mut entrants, journal, handed.seconds, only)?
            }
            None => SearchStand { ready: vec![true; entrants.len()], ..Default::default() },
        };
        let mut plan =
            Self { entrants, coins: Vec::new(), open: Vec::new(), known: 0, left: searched.left };
        for trial in searched.open {
            plan.open
                .push((trial.part, Work::Trial { entrant: trial.entrant, split: trial.split }));
        }
        plan.add_runs(setting, journal, handed, &searched.ready);
        plan.add_coins(setting, journal, handed, draws);
        let mut seen = handed.tried.clone();
        // Models with the same settings have the same parts.
        plan.open.retain(|(part, _)| seen.insert(part.key.clone()));
        Ok(plan)
    }

    fn add_runs(
        &mut self,
        setting: &Setting,
        journal: &Journal<CompareRecord>,
        handed: &Handed,
        ready: &[bool],
    ) {
        for (k, entrant) in self.entrants.iter_mut().enumerate() {
            if ready.get(k) != Some(&true) {
                self.left += setting.config.splits * setting.config.runs;
                continue;
            }
            let runs = Runs::of(setting, entrant, journal, handed);
            (self.known, self.left) = (self.known + runs.known, self.left + runs.open.len());
            let open = runs.open.into_iter();
            self.open.extend(open.map(|(run, part)| (part, Work::Run { entrant: k, run })));
        }
    }

    /// Coins, once it is known whose they are.
    fn add_coins(
        &mut self,
        setting: &Setting,
        journal: &Journal<CompareRecord>,
        handed: &Handed,
        draws: usize,
    ) {
        let waits = |entrant: &Entrant| {
            entrant.variation == Variation::Itself && !entrant.is_whole() && entrant.error.is_none()
        };
        if self.entrants.iter().any(waits) {
            self.left += draws * setting.config.splits * setting.config.runs;
            return;
        }
        self.coins = entrant::coins(&self.entrants, draws);
        for (draw, coin) in self.coins.iter_mut().enumerate() {
            let runs = Runs::of(setting, coin, journal, handed);
            (self.known, self.left) = (self.known + runs.known, self.left + runs.open.len());
            let open = runs.open.into_iter();
            self.open.extend(open.map(|(run, part)| (part, Work::Coin { draw, run })));
        }
    }
}

/// The runs of one entrant.
struct Runs {
    known: usize,
    /// Those that neither are known nor have failed, with their numbers.
    open: Vec<(usize, OpenPart)>,
}

impl Runs {
    /// Looks for the runs of an entrant in the journal, and gives it those where all of them are there.
    fn of(
        setting: &Setting,
        entrant: &mut Entrant,
        journal: &Journal<CompareRecord>,
        handed: &Handed,
    ) -> Self {
        let keys = setting.keys(entrant);
        let group = entrant.label();
        let mut known = setting.known(entrant, journal);
        let mut runs = Self { known: known.len(), open: Vec::new() };
        if runs.known == keys.len() {
            entrant.jobs = keys.iter().filter_map(|key| known.remove(key)).collect();
            return runs;
        }
        for (run, key) in keys.into_iter().enumerate().filter(|(_, key)| !known.contains_key(key)) {
            match handed.tried.contains(&key) {
                true => entrant.error = Some(format!("the run {key} failed")),
                false => runs.open.push((run, OpenPart { key, group: group.clone() })),
            }
        }
        runs
    }
}
