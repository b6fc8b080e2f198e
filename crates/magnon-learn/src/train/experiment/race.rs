//! The race of candidate charges: losers are dropped early, on validation loss.
//!
//! On a graph with cycles of every length there are twenty candidates, and training each to the end for
//! every run costs twenty times as much as one. The race costs about three times as much:
//!
//! 1. The charge 0 is trained to the end. It is what the others are held against, and says how long
//!    training takes: E epochs.
//! 2. Three of the others, spread over the charges, are trained for E/5 epochs each, and then two more
//!    next to the best of them: what a charge does changes little from one to the next.
//! 3. The best is trained to the end, and the lower validation loss of the two wins.
//!
//! Losses after a few epochs are compared between networks over the same field only. Complex networks
//! with their gated activation start slowly and end lower; against a real one they would lose every
//! early heat. So a charge with a real operator, ½ on unit weights, has a heat of its own against 0 after
//! as many epochs, and goes to the end only where it is ahead.

use super::variant::{Trained, Variant, forget_but_best};
use super::{CandidateResult, Experiment, TrialContext, TrialResult};
use crate::model::ProductOrder;
use crate::train::{EpochRecord, TrainError};
use magnon_core::cycles::Candidate;
use magnon_core::operator::{Charge, MagneticOperator};

/// A heat is this part of the epochs that the charge 0 takes.
const HEAT: f64 = 0.2;
/// Candidates of the first heat.
const SPREAD: usize = 3;
/// Candidates next to the best that follow.
const NEAR: usize = 2;

/// What came of the race.
pub(super) struct Raced {
    /// The candidates that were trained, with how far they came.
    pub candidates: Vec<CandidateResult>,
    /// The charges that were not.
    pub untried: Vec<Charge>,
    /// The order of products, which all have in common.
    pub order: Option<ProductOrder>,
    /// For each candidate the runs that were trained to the end, by their number.
    finals: Vec<Vec<Option<TrialResult>>>,
    /// For each run the candidate that won.
    winners: Vec<usize>,
}

impl Raced {
    /// Runs that were trained to the end, where no charge is left open.
    pub fn chosen(
        order: Option<ProductOrder>,
        finals: Vec<Vec<Option<TrialResult>>>,
        winners: Vec<usize>,
    ) -> Self {
        Self { candidates: Vec::new(), untried: Vec::new(), order, finals, winners }
    }

    /// All runs of a candidate, where all were trained to the end.
    pub fn runs(&self, candidate: usize) -> Option<Vec<TrialResult>> {
        self.finals[candidate].iter().cloned().collect()
    }

    /// The runs with the charges that won; only the best keeps its weights.
    pub fn take_runs(&mut self) -> Vec<TrialResult> {
        let numbered = self.winners.iter().enumerate();
        let mut runs: Vec<TrialResult> =
            numbered.filter_map(|(run, &winner)| self.finals[winner][run].take()).collect();
        forget_but_best(&mut runs);
        runs
    }
}

/// How far things are.
struct Race {
    /// Runs that choose together, by number.
    groups: Vec<Vec<usize>>,
    /// For each candidate and run, the best epoch so far.
    best: Vec<Vec<Option<EpochRecord>>>,
    /// For each candidate, the epochs of its heat.
    heats: Vec<Option<usize>>,
    finals: Vec<Vec<Option<TrialResult>>>,
    order: Option<ProductOrder>,
}

impl Race {
    /// Mean validation loss of a candidate over the runs of a group, where it was trained.
    fn loss(&self, at: usize, group: usize) -> Option<f64> {
        let runs = &self.groups[group];
        let losses: Option<Vec<f64>> =
            runs.iter().map(|&run| self.best[at][run].map(|record| record.val_loss)).collect();
        losses.map(|losses| losses.iter().sum::<f64>() / runs.len().max(1) as f64)
    }

    /// The candidate with the lowest loss in a group.
    fn leader(&self, among: impl Iterator<Item = usize>, group: usize) -> Option<usize> {
        let known = among.filter_map(|at| Some((at, self.loss(at, group)?)));
        known.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at)
    }
}

impl Experiment<'_> {
    /// Trains the variants of the candidates against each other. Runs that choose together, all of
    /// them or those of one split, are held against each other by the mean of their losses.
    pub(super) fn race(
        &self,
        context: &mut TrialContext,
        candidates: &[Candidate],
        variants: &[Variant],
    ) -> Result<Raced, TrainError> {
        let runs = self.repeats.len();
        let mut race = Race {
            groups: self.groups(),
            best: vec![vec![None; runs]; variants.len()],
            heats: vec![None; variants.len()],
            finals: variants.iter().map(|_| (0..runs).map(|_| None).collect()).collect(),
            order: None,
        };
        let zero = candidates.iter().position(|candidate| candidate.charge.value() == 0.0);
        let first = zero.unwrap_or(0);
        let groups = race.groups.len();
        context.observer.begin(runs * variants.len().min(2));
        self.finish(context, &mut race, variants, first, &(0..groups).collect::<Vec<_>>())?;

        let others: Vec<usize> = (0..variants.len()).filter(|&at| at != first).collect();
        let real: Vec<bool> = candidates
            .iter()
            .map(|candidate| self.is_real(candidate.charge, context))
            .collect::<Result<_, _>>()?;
        let (flat, complex): (Vec<usize>, Vec<usize>) =
            others.into_iter().partition(|&at| real[at]);
        for &at in spread(&complex).iter().chain(&flat) {
            self.heat_of(
                context,
                &mut race,
                variants,
                at,
                first,
                &(0..groups).collect::<Vec<_>>(),
            )?;
        }
        // Each group goes on next to its own best; those that go the same way share a network.
        let next: Vec<Vec<usize>> =
            (0..groups).map(|group| near(&race, &complex, candidates, group)).collect();
        for &at in &complex {
            let wanted: Vec<usize> =
                (0..groups).filter(|&group| next[group].contains(&at)).collect();
            self.heat_of(context, &mut race, variants, at, first, &wanted)?;
        }

        let mut last: Vec<Vec<usize>> = vec![vec![first]; groups];
        for (group, last) in last.iter_mut().enumerate() {
            last.extend(race.leader(complex.iter().copied(), group));
            let ahead =
                |&&at: &&usize| race.loss(at, group) < self.loss_then(&race, first, at, group);
            last.extend(flat.iter().filter(ahead));
        }
        for at in complex.iter().chain(&flat).copied() {
            let wanted: Vec<usize> =
                (0..groups).filter(|&group| last[group].contains(&at)).collect();
            self.finish(context, &mut race, variants, at, &wanted)?;
        }

        let mut winners = vec![first; runs];
        for (group, last) in last.iter().enumerate() {
            if let Some(winner) = race.leader(last.iter().copied(), group) {
                race.groups[group].iter().for_each(|&run| winners[run] = winner);
            }
        }
        Ok(race.ended(candidates, winners))
    }

    /// Trains a candidate to the end in some groups.
    fn finish(
        &self,
        context: &mut TrialContext,
        race: &mut Race,
        variants: &[Variant],
        at: usize,
        groups: &[usize],
    ) -> Result<(), TrainError> {
        let runs: Vec<usize> =
            groups.iter().flat_map(|&group| race.groups[group].clone()).collect();
        if runs.is_empty() {
            return Ok(());
        }
        let Trained { order, runs: results } = self.train(context, &variants[at], &runs)?;
        race.order = order;
        for (&run, result) in runs.iter().zip(results) {
            race.best[at][run] = Some(result.best);
            race.finals[at][run] = Some(result);
        }
        Ok(())
    }

    /// Trains a candidate for a few epochs in some groups.
    fn heat_of(
        &self,
        context: &mut TrialContext,
        race: &mut Race,
        variants: &[Variant],
        at: usize,
        first: usize,
        groups: &[usize],
    ) -> Result<(), TrainError> {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for &group in groups {
            let epochs = heat_length(race, first, group);
            runs.extend(race.groups[group].iter().map(|&run| (run, epochs)));
        }
        if runs.is_empty() {
            return Ok(());
        }
        let records = self.heat(context, &variants[at], &runs)?;
        runs.iter().zip(records).for_each(|(&(run, _), record)| race.best[at][run] = Some(record));
        race.heats[at] = runs.iter().map(|&(_, epochs)| epochs).max().max(race.heats[at]);
        Ok(())
    }

    /// The loss of the first candidate after as many epochs as the heat of another.
    fn loss_then(&self, race: &Race, first: usize, at: usize, group: usize) -> Option<f64> {
        race.heats[at]?;
        let epochs = heat_length(race, first, group);
        let runs = &race.groups[group];
        let losses: Option<Vec<f64>> = runs
            .iter()
            .map(|&run| {
                let history = &race.finals[first][run].as_ref()?.history;
                history.iter().take(epochs).map(|record| record.val_loss).reduce(f64::min)
            })
            .collect();
        losses.map(|losses| losses.iter().sum::<f64>() / runs.len().max(1) as f64)
    }

    fn is_real(&self, charge: Charge, context: &TrialContext) -> Result<bool, TrainError> {
        // Any other charge has a complex phase.
        if charge.value() != 0.0 && charge.value() != 0.5 {
            return Ok(false);
        }
        let (Some(choice), Some(pass)) = (&self.config.operator, self.pass) else {
            return Ok(true);
        };
        let config = choice.config(charge, pass.high);
        Ok(MagneticOperator::from_pattern(context.pattern.clone(), &config)?.is_real())
    }

    /// The runs that choose together, by number.
    fn groups(&self) -> Vec<Vec<usize>> {
        let all: Vec<usize> = (0..self.repeats.len()).collect();
        if self.charge_by_split { self.by_split() } else { vec![all] }
    }

    /// The runs of each split, by number.
    pub(super) fn by_split(&self) -> Vec<Vec<usize>> {
        let numbered = || self.repeats.iter().enumerate();
        let of = |split: usize| {
            let own = numbered().filter(move |(_, repeat)| repeat.split == split);
            own.map(|(run, _)| run).collect::<Vec<_>>()
        };
        (0..self.splits.len()).map(of).filter(|group| !group.is_empty()).collect()
    }
}

impl Race {
    fn ended(mut self, candidates: &[Candidate], winners: Vec<usize>) -> Raced {
        for (at, runs) in self.finals.iter_mut().enumerate() {
            let lost = runs.iter_mut().zip(&winners).filter(|(_, winner)| **winner != at);
            lost.filter_map(|(run, _)| run.as_mut()).for_each(TrialResult::forget);
        }
        let (mut tried, mut untried) = (Vec::new(), Vec::new());
        for (at, candidate) in candidates.iter().enumerate() {
            let seen: Vec<&EpochRecord> = self.best[at].iter().flatten().collect();
            if seen.is_empty() {
                untried.push(candidate.charge);
                continue;
            }
            let mean = |of: fn(&EpochRecord) -> f64| {
                seen.iter().map(|record| of(record)).sum::<f64>() / seen.len() as f64
            };
            let to_the_end = self.finals[at].iter().any(Option::is_some);
            tried.push(CandidateResult {
                candidate: candidate.clone(),
                val_loss: mean(|record| record.val_loss),
                val_accuracy: mean(|record| record.val_accuracy),
                dropped_after: if to_the_end { None } else { self.heats[at] },
                taken_by: winners.iter().filter(|&&winner| winner == at).count(),
            });
        }
        let Self { order, finals, .. } = self;
        Raced { candidates: tried, untried, order, finals, winners }
    }
}

/// Epochs of a heat in a group.
fn heat_length(race: &Race, first: usize, group: usize) -> usize {
    let runs = &race.groups[group];
    let epochs = |&run: &usize| race.finals[first][run].as_ref().map_or(0, |run| run.history.len());
    let sum: usize = runs.iter().map(epochs).sum();
    ((HEAT * sum as f64 / runs.len().max(1) as f64).ceil() as usize).max(1)
}

/// Some of the candidates, from end to end.
fn spread(candidates: &[usize]) -> Vec<usize> {
    if candidates.len() <= SPREAD + NEAR {
        return candidates.to_vec();
    }
    // Charges 1/m crowd towards 0; every other of the larger ones tells more than equal steps would.
    let last = candidates.len() - 1;
    (0..SPREAD).map(|k| candidates[((1 << (k + 1)) - 2).min(last)]).collect()
}

/// Candidates that were not trained yet, next to the best of a group.
fn near(race: &Race, complex: &[usize], candidates: &[Candidate], group: usize) -> Vec<usize> {
    let Some(best) = race.leader(complex.iter().copied(), group) else { return Vec::new() };
    let charge = |at: usize| candidates[at].charge.value();
    let new = |&at: &usize| race.loss(at, group).is_none();
    let above = complex.iter().copied().filter(new).filter(|&at| charge(at) > charge(best));
    let below = complex.iter().copied().filter(new).filter(|&at| charge(at) < charge(best));
    let nearest = |a: &usize, b: &usize| charge(*a).total_cmp(&charge(*b));
    above.min_by(nearest).into_iter().chain(below.max_by(nearest)).take(NEAR).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A graph whose cycles all have lengths that 3 divides suggests six complex charges.
    #[test]
    fn a_spread_stays_within_the_candidates() {
        for count in 0..20 {
            let candidates: Vec<usize> = (100..100 + count).collect();
            let mut taken = spread(&candidates);
            assert!(taken.iter().all(|at| candidates.contains(at)), "{count}: {taken:?}");
            taken.dedup();
            assert_eq!(taken.len(), if count <= SPREAD + NEAR { count } else { SPREAD });
        }
    }
}
