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

use super::Selected;
use crate::model::ProductOrder;
use crate::train::trial::{Trained, TrialContext, Trials, Variant};
use crate::train::{CandidateResult, EpochRecord, TrainError, TrialResult};
use magnon_core::cycles::Candidate;
use magnon_core::operator::{Charge, MagneticOperator, Pattern};
use std::sync::Arc;

/// A heat is this part of the epochs that the charge 0 takes.
const HEAT: f64 = 0.2;
/// Candidates of the first heat.
const SPREAD: usize = 3;
/// Candidates next to the best that follow.
const NEAR: usize = 2;

/// The state of a race.
struct Race<'r, 'a> {
    trials: &'r Trials<'a>,
    variants: &'r [Variant],
    /// Runs that choose together, by number.
    groups: Vec<Vec<usize>>,
    /// The candidate that the others are held against.
    first: usize,
    /// For each candidate and run, the best epoch so far.
    best: Vec<Vec<Option<EpochRecord>>>,
    /// For each candidate, the epochs of its heat.
    heats: Vec<Option<usize>>,
    finals: Vec<Vec<Option<TrialResult>>>,
    order: Option<ProductOrder>,
}

/// Trains the variants of the candidates against each other. Runs that choose together are compared by the mean of
/// their losses: those of one split where `by_split` is set, else all of them.
pub(super) fn race(
    trials: &Trials,
    by_split: bool,
    context: &mut TrialContext,
    candidates: &[Candidate],
    variants: &[Variant],
) -> Result<Selected, TrainError> {
    let runs = trials.repeats.len();
    let zero = candidates.iter().position(|candidate| candidate.charge.value() == 0.0);
    let first = zero.unwrap_or(0);
    let mut race = Race {
        trials,
        variants,
        groups: if by_split { trials.by_split() } else { vec![(0..runs).collect()] },
        first,
        best: vec![vec![None; runs]; variants.len()],
        heats: vec![None; variants.len()],
        finals: variants.iter().map(|_| (0..runs).map(|_| None).collect()).collect(),
        order: None,
    };
    let all: Vec<usize> = (0..race.groups.len()).collect();
    context.monitor.begin(runs * variants.len().min(2));
    race.finish(context, first, &all)?;

    let others: Vec<usize> = (0..variants.len()).filter(|&at| at != first).collect();
    let is_real = |candidate: &Candidate| is_real(trials, candidate.charge, context.pattern);
    let real: Vec<bool> = candidates.iter().map(is_real).collect::<Result<_, _>>()?;
    let (flat, complex): (Vec<usize>, Vec<usize>) = others.into_iter().partition(|&at| real[at]);
    for &at in spread(&complex).iter().chain(&flat) {
        race.heat(context, at, &all)?;
    }
    // Each group goes on next to its own best; those that go the same way share a network.
    let next: Vec<Vec<usize>> =
        all.iter().map(|&group| near(&race, &complex, candidates, group)).collect();
    for &at in &complex {
        let wanted: Vec<usize> =
            all.iter().copied().filter(|&group| next[group].contains(&at)).collect();
        race.heat(context, at, &wanted)?;
    }

    let mut last: Vec<Vec<usize>> = vec![vec![first]; all.len()];
    for (group, last) in last.iter_mut().enumerate() {
        last.extend(race.leader(complex.iter().copied(), group));
        let ahead = |&&at: &&usize| race.loss(at, group) < race.first_loss(at, group);
        last.extend(flat.iter().filter(ahead));
    }
    for at in complex.iter().chain(&flat).copied() {
        let wanted: Vec<usize> =
            all.iter().copied().filter(|&group| last[group].contains(&at)).collect();
        race.finish(context, at, &wanted)?;
    }

    let mut winners = vec![first; runs];
    for (group, last) in last.iter().enumerate() {
        if let Some(winner) = race.leader(last.iter().copied(), group) {
            race.groups[group].iter().for_each(|&run| winners[run] = winner);
        }
    }
    Ok(race.ended(candidates, winners))
}

/// Whether the operator of a charge is real.
fn is_real(trials: &Trials, charge: Charge, pattern: &Arc<Pattern>) -> Result<bool, TrainError> {
    // Any other charge has a complex phase.
    if charge.value() != 0.0 && charge.value() != 0.5 {
        return Ok(false);
    }
    let (Some(choice), Some(pass)) = (&trials.config.operator, trials.pass) else {
        return Ok(true);
    };
    let config = choice.config(charge, pass.high);
    Ok(MagneticOperator::from_pattern(pattern.clone(), &config)?.is_real())
}

impl Race<'_, '_> {
    /// The mean over the runs of a group, where each has a value.
    fn mean(&self, group: usize, of: impl Fn(usize) -> Option<f64>) -> Option<f64> {
        let runs = &self.groups[group];
        let values: Option<Vec<f64>> = runs.iter().map(|&run| of(run)).collect();
        values.map(|values| values.iter().sum::<f64>() / runs.len().max(1) as f64)
    }

    /// Mean validation loss of a candidate over the runs of a group, where it was trained.
    fn loss(&self, at: usize, group: usize) -> Option<f64> {
        self.mean(group, |run| self.best[at][run].map(|record| record.val_loss))
    }

    /// The loss of the first candidate after as many epochs as the heat of another.
    fn first_loss(&self, at: usize, group: usize) -> Option<f64> {
        self.heats[at]?;
        let epochs = self.heat_length(group);
        self.mean(group, |run| {
            let history = &self.finals[self.first][run].as_ref()?.history;
            history.iter().take(epochs).map(|record| record.val_loss).reduce(f64::min)
        })
    }

    /// The candidate with the lowest loss in a group.
    fn leader(&self, among: impl Iterator<Item = usize>, group: usize) -> Option<usize> {
        let known = among.filter_map(|at| Some((at, self.loss(at, group)?)));
        known.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at)
    }

    /// Epochs of a heat in a group.
    fn heat_length(&self, group: usize) -> usize {
        let finals = &self.finals[self.first];
        let epochs = |run: usize| Some(finals[run].as_ref()?.history.len() as f64);
        let mean = self.mean(group, |run| Some(epochs(run).unwrap_or(0.0))).unwrap_or(0.0);
        ((HEAT * mean).ceil() as usize).max(1)
    }

    /// Trains a candidate to the end in some groups.
    fn finish(
        &mut self,
        context: &mut TrialContext,
        at: usize,
        groups: &[usize],
    ) -> Result<(), TrainError> {
        let runs: Vec<usize> =
            groups.iter().flat_map(|&group| self.groups[group].clone()).collect();
        if runs.is_empty() {
            return Ok(());
        }
        let Trained { order, runs: results } =
            self.trials.train(context, &self.variants[at], &runs)?;
        self.order = order;
        for (&run, result) in runs.iter().zip(results) {
            self.best[at][run] = Some(result.best);
            self.finals[at][run] = Some(result);
        }
        Ok(())
    }

    /// Trains a candidate for a few epochs in some groups.
    fn heat(
        &mut self,
        context: &mut TrialContext,
        at: usize,
        groups: &[usize],
    ) -> Result<(), TrainError> {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for &group in groups {
            let epochs = self.heat_length(group);
            runs.extend(self.groups[group].iter().map(|&run| (run, epochs)));
        }
        if runs.is_empty() {
            return Ok(());
        }
        let records = self.trials.heat(context, &self.variants[at], &runs)?;
        runs.iter().zip(records).for_each(|(&(run, _), record)| self.best[at][run] = Some(record));
        self.heats[at] = runs.iter().map(|&(_, epochs)| epochs).max().max(self.heats[at]);
        Ok(())
    }

    /// The result, in which losers keep their figures only.
    fn ended(mut self, candidates: &[Candidate], winners: Vec<usize>) -> Selected {
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
        Selected { candidates: tried, untried, choices: Vec::new(), order, finals, winners }
    }
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
