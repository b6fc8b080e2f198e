//! Controls: what says how much the accuracy of a model means.

use super::Control;
use crate::model::{Direction, ModelConfig};
use crate::train::trial::{Trials, Variant};
use magnon_core::operator::Charge;

/// The controls that suit the model, with what they are.
pub(super) fn suitable(trials: &Trials, main: &ModelConfig) -> Vec<(Control, Variant)> {
    let mut list = Vec::new();
    let mut add = |key, name: &str, tells, variant| {
        let control = Control { key, name: name.to_owned(), tells, runs: Vec::new() };
        list.push((control, variant));
    };
    let left = "how much is left without direction";
    match main.info().direction {
        Direction::Charge => add(
            "undirected",
            "without direction (q = 0)",
            left,
            Variant { model: main.clone(), ..trials.variant(Some(Charge::ZERO)) },
        ),
        Direction::InAndOut => add(
            "undirected",
            "without direction (symmetrised)",
            left,
            Variant { model: main.clone(), symmetrised: true, ..trials.variant(None) },
        ),
        Direction::Ignored | Direction::NoGraph => (),
    }
    if main.info().direction != Direction::NoGraph {
        let model = main.without_graph();
        let name = format!("without the graph ({})", model.info().title);
        let tells = "how much the features tell by themselves";
        add(model.info().name, &name, tells, Variant { model, ..trials.variant(None) });
    }
    list
}
