//! What an operator leaves open, decided by the data.

use super::{Phases, Progress, find_cycles};
use crate::Error;
use crate::data::{Dataset, Split};
use crate::model::{ChargeChoice, ModelError, OperatorChoice, PassChoice, choose_pass};
use crate::operator::OperatorConfig;

/// The configuration of an operator, and why charge and pass were chosen where they were left open.
pub(super) struct Chosen {
    pub config: OperatorConfig,
    pub charge_evidence: Option<String>,
    pub pass_evidence: Option<String>,
}

/// Takes the charge from the cycles of the graph and the pass from the training labels, where they are
/// left open.
pub(super) fn choose(
    dataset: &Dataset,
    split: Option<&Split>,
    choice: &OperatorChoice,
    seconds: &mut Phases,
    progress: &dyn Progress,
) -> Result<Chosen, Error> {
    let (charge, charge_evidence) = match choice.charge {
        ChargeChoice::Fixed(charge) => (charge, None),
        ChargeChoice::Auto => {
            let found =
                seconds.time("cycles", || find_cycles(&dataset.graph, choice.phase, progress))?;
            (found.advice.choice, Some(found.advice.reason))
        }
    };
    let (high, pass_evidence) = match choice.pass {
        PassChoice::Low => (false, None),
        PassChoice::High => (true, None),
        PassChoice::Auto => {
            let labels = dataset.labels.as_ref().ok_or(ModelError::PassNeedsLabels)?;
            let split = split.ok_or(ModelError::PassNeedsSplit)?;
            let pass = choose_pass(PassChoice::Auto, &dataset.graph, labels, split)?;
            (pass.high, pass.words().map(|words| format!("{} pass: {words}", pass.name())))
        }
    };
    Ok(Chosen { config: choice.config(charge, high), charge_evidence, pass_evidence })
}

/// Says where weights turn edges so far that they seem to run the other way.
pub(super) fn remark_wrapped(edges: usize, progress: &dyn Progress) {
    if edges > 0 {
        progress.remark(&format!(
            "the charge times the weight exceeds half a turn on {edges} edges, which then seem to run the \
             other way; --phase sign keeps weights out of the phase"
        ));
    }
}

/// Says where the charge has no effect.
pub(super) fn remark_symmetric(charged: bool, symmetric: bool, progress: &dyn Progress) {
    if charged && symmetric {
        progress.remark("the graph is symmetric, so every charge gives the same operator");
    }
}
