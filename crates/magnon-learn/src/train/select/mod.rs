//! What is tried where something is left open, and the choice between it on validation loss.

mod choose;
mod race;

use super::trial::{TrialContext, Trials, Variant, forget_but_best};
use super::{CandidateResult, ChoiceResult, TrainError, TrialResult};
use crate::model::ProductOrder;
use magnon_core::cycles::Candidate;
use magnon_core::operator::Charge;

/// What was tried, and what each run took.
pub(super) struct Selected {
    /// The charges that were trained, with how far they came.
    pub candidates: Vec<CandidateResult>,
    /// The charges that were not.
    pub untried: Vec<Charge>,
    /// The configurations of the model that were trained.
    pub choices: Vec<ChoiceResult>,
    /// The order of products, which all have in common.
    pub order: Option<ProductOrder>,
    /// For each variant the runs that were trained to the end, by their number.
    finals: Vec<Vec<Option<TrialResult>>>,
    /// For each run the variant that won.
    winners: Vec<usize>,
}

/// Trains all runs, each with the variant that it takes. Variants are the charges of `candidates`, where the model
/// has an operator, else configurations of the model; of a single one, nothing is chosen.
pub(super) fn select(
    trials: &Trials,
    charge_by_split: bool,
    context: &mut TrialContext,
    candidates: &[Candidate],
    variants: &[Variant],
) -> Result<Selected, TrainError> {
    match (trials.config.operator, variants.len()) {
        (None, 2..) => choose::choose(trials, context, variants),
        _ => race::race(trials, charge_by_split, context, candidates, variants),
    }
}

impl Selected {
    /// All runs of a variant, where all were trained to the end.
    pub fn runs(&self, variant: usize) -> Option<Vec<TrialResult>> {
        self.finals[variant].iter().cloned().collect()
    }

    /// The runs with the variants that won; only the best keeps its weights.
    pub fn take_runs(
        &mut self,
        trials: &Trials,
        context: &mut TrialContext,
        variants: &[Variant],
    ) -> Result<Vec<TrialResult>, TrainError> {
        let numbered = self.winners.iter().enumerate();
        let mut runs: Vec<TrialResult> =
            numbered.filter_map(|(run, &winner)| self.finals[winner][run].take()).collect();
        forget_but_best(&mut runs);
        if !self.choices.is_empty() {
            with_weights(trials, context, variants, &mut runs)?;
        }
        Ok(runs)
    }
}

/// Trains a run again whose weights were let go of, where it is the one to keep.
fn with_weights(
    trials: &Trials,
    context: &mut TrialContext,
    variants: &[Variant],
    runs: &mut [TrialResult],
) -> Result<(), TrainError> {
    let lowest = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1);
    let losses = runs.iter().map(|run| run.best.val_loss).enumerate();
    let Some((at, _)) = losses.min_by(lowest) else { return Ok(()) };
    if !runs[at].weights.is_empty() {
        return Ok(());
    }
    let again = trials.train(context, &variants[runs[at].trial.choice], &[at])?.runs;
    again.into_iter().for_each(|run| runs[at] = run);
    Ok(())
}
