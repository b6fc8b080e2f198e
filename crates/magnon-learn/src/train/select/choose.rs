//! The choice between configurations of one model, on validation loss.
//!
//! A model that leaves something open, such as the channels of a bank, names a few configurations of itself.
//! Each split chooses for itself: its first runs are trained to the end with every one of them, and the lowest mean
//! validation loss is taken for all its runs.

use super::Selected;
use crate::train::trial::{Trained, TrialContext, Trials, Variant};
use crate::train::{ChoiceResult, TrainError, TrialResult};

/// Runs of a split that are trained with every configuration.
const JUDGES: usize = 2;

/// Trains every run with the configuration that its split takes.
pub(super) fn choose(
    trials: &Trials,
    context: &mut TrialContext,
    variants: &[Variant],
) -> Result<Selected, TrainError> {
    let runs = trials.repeats.len();
    let groups = trials.by_split();
    let judges: Vec<usize> =
        groups.iter().flat_map(|group| group.iter().copied().take(JUDGES)).collect();
    context.monitor.begin(judges.len() * variants.len() + runs - judges.len());
    let mut order = None;
    let mut finals: Vec<Vec<Option<TrialResult>>> = Vec::new();
    for variant in variants {
        let Trained { order: used, runs: results } = trials.train(context, variant, &judges)?;
        order = used;
        let mut all: Vec<Option<TrialResult>> = (0..runs).map(|_| None).collect();
        judges.iter().zip(results).for_each(|(&run, result)| all[run] = Some(result));
        finals.push(all);
    }
    let mut winners = vec![0; runs];
    for group in &groups {
        let loss = |at: usize| -> f64 {
            let judged = group.iter().filter_map(|&run| finals[at][run].as_ref());
            judged.map(|result| result.best.val_loss).sum()
        };
        let winner = (0..variants.len()).min_by(|&a, &b| loss(a).total_cmp(&loss(b)));
        group.iter().for_each(|&run| winners[run] = winner.unwrap_or(0));
    }
    let choices = variants.iter().enumerate().map(|(at, variant)| {
        let seen: Vec<&TrialResult> = finals[at].iter().flatten().collect();
        let mean = |of: fn(&TrialResult) -> f64| {
            seen.iter().map(|result| of(result)).sum::<f64>() / seen.len().max(1) as f64
        };
        ChoiceResult {
            model: variant.model.clone(),
            val_loss: mean(|result| result.best.val_loss),
            val_accuracy: mean(|result| result.best.val_accuracy),
            taken_by: winners.iter().filter(|&&winner| winner == at).count(),
        }
    });
    let choices = choices.collect();
    for (at, variant) in variants.iter().enumerate() {
        let left = |&run: &usize| winners[run] == at && finals[at][run].is_none();
        let left: Vec<usize> = (0..runs).filter(left).collect();
        if !left.is_empty() {
            let results = trials.train(context, variant, &left)?.runs;
            left.iter().zip(results).for_each(|(&run, result)| finals[at][run] = Some(result));
        }
    }
    let (candidates, untried) = (Vec::new(), Vec::new());
    Ok(Selected { candidates, untried, choices, order, finals, winners })
}
