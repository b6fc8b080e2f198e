//! The race of candidate charges: losers are dropped early, on validation loss.
//!
//! On a graph with cycles of every length there are twenty candidates, and training each to the end for
//! every run costs twenty times as much as one. So all are trained for a few epochs, the best third for
//! three times as many, and so on; the last ones are trained to the end, and the lowest validation loss
//! wins. The charge 0 is never dropped early: it is what the others are held against, and its network,
//! which is real, learns at another pace than theirs.

use super::variant::{Trained, Variant};
use super::{CandidateResult, Experiment, TrialResult, Workshop};
use crate::cycles::Candidate;
use crate::model::ProductOrder;
use crate::nn::Engine;
use crate::train::{EpochRecord, TrainError};

/// Epochs after which the candidates that are behind are dropped.
const RUNGS: [usize; 3] = [8, 24, 72];
/// One in so many goes on from a rung.
const KEPT: usize = 3;

/// What came of the race.
pub(super) struct Raced {
    /// The candidates with how far they came.
    pub candidates: Vec<CandidateResult>,
    /// The order of products, which all have in common.
    pub order: Option<ProductOrder>,
    /// For each candidate the runs that were trained to the end, by their number.
    finals: Vec<Vec<Option<TrialResult>>>,
    /// For each run the candidate that won.
    winners: Vec<usize>,
}

impl Raced {
    /// All runs of a candidate, where all were trained to the end.
    pub fn runs(&self, candidate: usize) -> Option<Vec<TrialResult>> {
        self.finals[candidate].iter().cloned().collect()
    }

    /// The runs with the charges that won; only the best keeps its weights.
    pub fn take_runs(&mut self) -> Vec<TrialResult> {
        let numbered = self.winners.iter().enumerate();
        let mut runs: Vec<TrialResult> =
            numbered.filter_map(|(run, &winner)| self.finals[winner][run].take()).collect();
        super::variant::forget_but_best(&mut runs);
        runs
    }
}

impl Experiment<'_> {
    /// Trains the variants of the candidates against each other. Runs that choose together, all of
    /// them or those of one split, are held against each other by the mean of their losses.
    pub(super) fn race<E: Engine<Real = f32>>(
        &self,
        shop: &mut Workshop<E>,
        candidates: &[Candidate],
        variants: &[Variant],
    ) -> Result<Raced, TrainError> {
        let groups = self.groups();
        let mut alive: Vec<Vec<usize>> = vec![(0..variants.len()).collect(); groups.len()];
        let mut last: Vec<Vec<Option<EpochRecord>>> =
            vec![vec![None; self.repeats.len()]; variants.len()];
        let mut dropped: Vec<Option<usize>> = vec![None; variants.len()];
        // Who is still in the race in any group, with the runs of those groups.
        let entries = |alive: &[Vec<usize>]| -> Vec<(usize, Vec<usize>)> {
            let runs = |at: usize| {
                let of = groups.iter().zip(alive).filter(|(_, alive)| alive.contains(&at));
                of.flat_map(|(group, _)| group.iter().copied()).collect::<Vec<_>>()
            };
            let all = (0..variants.len()).map(|at| (at, runs(at)));
            all.filter(|(_, runs)| !runs.is_empty()).collect()
        };
        let is_zero = |at: usize| candidates[at].charge.value() == 0.0;
        for rung in RUNGS.into_iter().filter(|&rung| rung < self.config.train.epochs) {
            if alive.iter().all(|alive| alive.len() <= 2) {
                break;
            }
            for (at, runs) in entries(&alive) {
                let records = self.heat(shop, &variants[at], &runs, rung)?;
                runs.iter().zip(records).for_each(|(&run, record)| last[at][run] = Some(record));
            }
            for (group, alive) in groups.iter().zip(&mut alive) {
                let before = alive.clone();
                keep_best(alive, |at| mean_loss(&last[at], group), is_zero);
                for &at in before.iter().filter(|at| !alive.contains(at)) {
                    dropped[at] = dropped[at].max(Some(rung));
                }
            }
        }

        let entries = entries(&alive);
        shop.observer.begin(entries.iter().map(|(_, runs)| runs.len()).sum());
        let mut finals: Vec<Vec<Option<TrialResult>>> =
            variants.iter().map(|_| self.repeats.iter().map(|_| None).collect()).collect();
        let mut order = None;
        for (at, runs) in entries {
            let Trained { order: of, runs: results } = self.train(shop, &variants[at], &runs)?;
            order = of;
            for (&run, result) in runs.iter().zip(results) {
                last[at][run] = Some(result.best);
                finals[at][run] = Some(result);
            }
            dropped[at] = None;
        }
        let mut winners = vec![0; self.repeats.len()];
        for (group, alive) in groups.iter().zip(&alive) {
            let loss = |at: &usize| mean_loss(&last[*at], group);
            let best = alive.iter().copied().min_by(|a, b| loss(a).total_cmp(&loss(b)));
            group.iter().for_each(|&run| winners[run] = best.unwrap_or(0));
        }
        for (at, runs) in finals.iter_mut().enumerate() {
            let lost = runs.iter_mut().zip(&winners).filter(|(_, winner)| **winner != at);
            lost.filter_map(|(run, _)| run.as_mut()).for_each(TrialResult::forget);
        }
        let candidates = candidates.iter().enumerate().map(|(at, candidate)| {
            let seen: Vec<&EpochRecord> = last[at].iter().flatten().collect();
            let mean = |of: fn(&EpochRecord) -> f64| {
                seen.iter().map(|record| of(record)).sum::<f64>() / seen.len().max(1) as f64
            };
            CandidateResult {
                candidate: candidate.clone(),
                val_loss: mean(|record| record.val_loss),
                val_accuracy: mean(|record| record.val_accuracy),
                dropped_after: dropped[at],
                taken_by: winners.iter().filter(|&&winner| winner == at).count(),
            }
        });
        let candidates = candidates.collect();
        Ok(Raced { candidates, order, finals, winners })
    }

    /// The runs that choose together, by number.
    fn groups(&self) -> Vec<Vec<usize>> {
        let all: Vec<usize> = (0..self.repeats.len()).collect();
        if !self.charge_by_split {
            return vec![all];
        }
        let of =
            |split: usize| all.iter().copied().filter(move |&k| self.repeats[k].split == split);
        let groups = (0..self.splits.len()).map(|split| of(split).collect::<Vec<_>>());
        groups.filter(|group| !group.is_empty()).collect()
    }
}

/// Keeps the third with the lowest losses, and the one that is never dropped; two at least.
fn keep_best(alive: &mut Vec<usize>, loss: impl Fn(usize) -> f64, never: impl Fn(usize) -> bool) {
    alive.sort_by(|&a, &b| loss(a).total_cmp(&loss(b)));
    let kept = alive.len().div_ceil(KEPT).max(1);
    let rest: Vec<usize> = alive.drain(kept..).filter(|&at| never(at)).collect();
    alive.extend(rest);
    alive.sort_unstable();
}

/// Mean validation loss of some runs at the best epochs so far.
fn mean_loss(records: &[Option<EpochRecord>], group: &[usize]) -> f64 {
    let losses = group.iter().filter_map(|&run| records[run].map(|record| record.val_loss));
    losses.sum::<f64>() / group.len().max(1) as f64
}
