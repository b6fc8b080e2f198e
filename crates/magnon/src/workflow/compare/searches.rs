//! The searches for settings before models are compared.

use super::entrant::{Entrant, Variation, without_direction};
use super::job::Setting;
use super::{CompareRecord, TuneBudget, Tuned};
use crate::Error;
use crate::cycles::ChargeAdvice;
use crate::model::SharedInputs;
use crate::progress::Quiet;
use crate::train::RunConfig;
use crate::workflow::charge::phase_of;
use crate::workflow::tune::{SearchInput, Searcher, TrialNotes, TuneConfig, is_open, is_trial_of};
use crate::workflow::{Journal, OpenPart, Progress, find_cycles};
use std::borrow::Cow;

/// A training that a search lacks.
pub(super) struct OpenTrial {
    pub part: OpenPart,
    /// Whose search it is, and on which split.
    pub entrant: usize,
    pub split: usize,
}

/// Where the searches of a comparison stand.
#[derive(Default)]
pub(super) struct SearchStand {
    pub open: Vec<OpenTrial>,
    /// Trainings that are not known, as far as the number of trials decides.
    pub left: usize,
    /// Whether each entrant has its settings.
    pub ready: Vec<bool>,
}

/// The searches of a comparison: every model, and the network without the graph, has the same budget on the validation
/// nodes of each split. Controls without direction take the settings of their model.
pub(super) struct Searches<'a> {
    setting: &'a Setting<'a>,
    config: TuneConfig,
    minutes: Option<f64>,
    progress: &'a dyn Progress,
}

impl<'a> Searches<'a> {
    pub fn new(
        setting: &'a Setting<'a>,
        budget: TuneBudget,
        progress: &'a dyn Progress,
    ) -> Result<Self, Error> {
        let minutes = budget.minutes.map(|minutes| minutes / setting.splits.len() as f64);
        let (trials, seed) = (budget.trials, setting.config.seed);
        let config = TuneConfig { trials, minutes, seed, ..Default::default() };
        config.check()?;
        Ok(Self { setting, config, minutes: budget.minutes, progress })
    }

    /// Runs all searches, one after the other, and gives the entrants what they came to.
    pub fn run(
        &self,
        entrants: &mut [Entrant],
        mut journal: Option<&mut Journal<CompareRecord>>,
    ) -> Result<(), Error> {
        let count = entrants.iter().filter(|entrant| searches(entrant)).count();
        let (count, mut done) = (count * self.setting.splits.len(), 0);
        for entrant in entrants.iter_mut().filter(|entrant| searches(entrant)) {
            let base = entrant.configs[0].clone();
            let mut ground: Option<OwnGround> = None;
            let mut found = Vec::new();
            for split in 0..self.setting.splits.len() {
                self.progress.step(done, count, &format!("tuning {}", entrant.name));
                let key = self.key(&base, split);
                let known = journal.as_ref().and_then(|journal| journal.tuned(&key).cloned());
                let tuned = match known {
                    Some(tuned) => tuned,
                    None => {
                        let quiet = Quiet(self.progress);
                        let ground = self.ground(&mut ground, &base)?;
                        let searcher = self.searcher(ground, &base, split, &quiet);
                        let notes = journal.as_deref_mut().map(|all| all as &mut dyn TrialNotes);
                        let tuned = Tuned { key, config: searcher.tune(notes)?.config };
                        keep(journal.as_deref_mut(), &tuned)?;
                        tuned
                    }
                };
                found.push(tuned.config);
                done += 1;
            }
            entrant.configs = found;
        }
        hand_on(entrants);
        Ok(())
    }

    /// Where the searches stand by the journal after so many `seconds`; nothing is trained. What searches came to that are
    /// at their end is kept, and given to the entrants. Whoever runs one part alone, `only`, need not look at searches
    /// that are under way beside it.
    pub fn stand(
        &self,
        entrants: &mut [Entrant],
        journal: &mut Journal<CompareRecord>,
        seconds: f64,
        only: Option<&str>,
    ) -> Result<SearchStand, Error> {
        let over = self.is_over(entrants, seconds);
        let mut stand = SearchStand { ready: vec![true; entrants.len()], ..Default::default() };
        for (k, entrant) in entrants.iter_mut().enumerate().filter(|(_, one)| searches(one)) {
            let base = entrant.configs[0].clone();
            let mut ground: Option<OwnGround> = None;
            let mut found = Vec::new();
            for split in 0..self.setting.splits.len() {
                let key = self.key(&base, split);
                if let Some(tuned) = journal.tuned(&key) {
                    found.push(tuned.config.clone());
                    continue;
                }
                if only.is_some_and(|part| !self.has_trial(&base, split, part)) {
                    continue;
                }
                let quiet = Quiet(self.progress);
                let ground = self.ground(&mut ground, &base)?;
                let searcher = self.searcher(ground, &base, split, &quiet);
                let own = searcher.stand(journal, over)?;
                if own.open.is_empty() {
                    let tuned = Tuned { key, config: searcher.result(own.trials).config };
                    keep(Some(journal), &tuned)?;
                    found.push(tuned.config);
                    continue;
                }
                // With a time, nobody knows how many trials there will be.
                let steps = if self.minutes.is_some() { 0 } else { searcher.steps() };
                stand.left += own.open.len().max(steps.saturating_sub(own.done));
                let open = own.open.into_iter();
                stand.open.extend(open.map(|part| OpenTrial { part, entrant: k, split }));
            }
            match found.len() == self.setting.splits.len() {
                true => entrant.configs = found,
                false => stand.ready[k] = false,
            }
        }
        self.settle_controls(entrants, &mut stand);
        Ok(stand)
    }

    /// Trains an open part of the search of an entrant on a split.
    pub fn train_part(
        &self,
        entrant: &Entrant,
        split: usize,
        journal: &mut Journal<CompareRecord>,
        part: &str,
    ) -> Result<bool, Error> {
        let base = entrant.configs[0].clone();
        let (quiet, mut ground) = (Quiet(self.progress), None);
        let ground = self.ground(&mut ground, &base)?;
        self.searcher(ground, &base, split, &quiet).train_part(journal, part)
    }

    /// Controls wait for the settings of their model.
    fn settle_controls(&self, entrants: &mut [Entrant], stand: &mut SearchStand) {
        hand_on(entrants);
        let is_model = |entrant: &Entrant| entrant.variation == Variation::Itself;
        for k in 0..entrants.len() {
            let of = |other: &usize| {
                is_model(&entrants[*other]) && entrants[*other].name == entrants[k].name
            };
            if let Some(model) = (0..entrants.len()).find(of) {
                stand.ready[k] &= stand.ready[model];
            }
        }
    }

    /// Searches that go side by side share the time of all.
    fn is_over(&self, entrants: &[Entrant], seconds: f64) -> bool {
        let models = entrants.iter().filter(|entrant| searches(entrant)).count();
        self.minutes.is_some_and(|minutes| seconds >= 60.0 * minutes * models as f64)
    }

    /// Whether a part may be of the search of a model on a split.
    fn has_trial(&self, base: &RunConfig, split: usize, part: &str) -> bool {
        let check = self.setting.split_checks.get(split);
        check.is_some_and(|&check| is_trial_of(part, base, check))
    }

    fn key(&self, base: &RunConfig, split: usize) -> String {
        let Some(nodes) = self.setting.splits.get(split) else { return String::new() };
        let settings = serde_json::json!([base, nodes.train, nodes.val, self.config]).to_string();
        let check = crc32fast::hash(settings.as_bytes());
        format!("{}-split{split}-{check:08x}", base.model.info().name)
    }

    /// What the searches of one model share, made when the first of them needs it.
    fn ground<'g>(
        &self,
        ground: &'g mut Option<OwnGround<'a>>,
        base: &RunConfig,
    ) -> Result<&'g OwnGround<'a>, Error> {
        let made = match ground.take() {
            Some(made) => made,
            None => OwnGround { shared: self.setting.shared.anew(), advice: self.advice(base)? },
        };
        Ok(ground.insert(made))
    }

    fn advice(&self, base: &RunConfig) -> Result<Option<Cow<'a, ChargeAdvice>>, Error> {
        let (graph, phase) = (&self.setting.dataset.graph, phase_of(base));
        if !is_open(base) || self.setting.symmetric {
            return Ok(None);
        }
        if let Some((_, advice)) = self.setting.advice.filter(|(of, _)| *of == phase) {
            return Ok(Some(Cow::Borrowed(advice)));
        }
        Ok(Some(Cow::Owned(find_cycles(graph, phase, &Quiet(self.progress))?.advice)))
    }

    fn searcher<'s>(
        &'s self,
        ground: &'s OwnGround,
        base: &'s RunConfig,
        split: usize,
        progress: &'s dyn Progress,
    ) -> Searcher<'s> {
        let ground = SearchInput {
            dataset: self.setting.dataset,
            shared: &ground.shared,
            base,
            advice: ground.advice.as_deref(),
            splits: self.setting.splits.get(split..=split).unwrap_or_default(),
        };
        Searcher::new(ground, &self.config, progress)
    }
}

/// What the searches of one model share.
struct OwnGround<'a> {
    shared: SharedInputs,
    advice: Option<Cow<'a, ChargeAdvice>>,
}

/// Whether settings are searched for an entrant itself.
fn searches(entrant: &Entrant) -> bool {
    matches!(entrant.variation, Variation::Itself | Variation::NoGraph)
}

fn keep(journal: Option<&mut Journal<CompareRecord>>, tuned: &Tuned) -> Result<(), Error> {
    journal.map_or(Ok(()), |journal| journal.keep(&CompareRecord::Tuned(Box::new(tuned.clone()))))
}

/// Gives controls without direction the settings of their model.
fn hand_on(entrants: &mut [Entrant]) {
    let models: Vec<(String, Vec<RunConfig>)> = entrants
        .iter()
        .filter(|entrant| entrant.variation == Variation::Itself)
        .map(|entrant| (entrant.name.clone(), entrant.configs.clone()))
        .collect();
    for entrant in entrants.iter_mut().filter(|e| e.variation == Variation::Undirected) {
        if let Some((_, configs)) = models.iter().find(|(name, _)| *name == entrant.name) {
            entrant.configs = configs.iter().map(without_direction).collect();
        }
    }
}
