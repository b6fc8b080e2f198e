//! gfNN: a plain network on filtered features.

use super::error::{check_dropout, check_width};
use super::mgc::TwoLayer;
use super::rows::RowNetwork;
use super::sgc::filtered;
use super::tunable::Tunable;
use super::{
    Architecture, Direction, FilterNeed, Inputs, ModelError, ModelInfo, Network, OperatorNeed,
    TrainingDefaults,
};
use crate::nn::{Init, Layout};
use magnon_core::compute::{Activation, Engine, Shape};
use magnon_core::filter::FilterKind;
use serde::{Deserialize, Serialize};

/// softmax(relu(X̄W⁰ + b⁰)W¹ + b¹) with X̄ = h(S)X; by default h(S) = S².
///
/// Any filter and operator may take their place. Where X̄ is complex, its real and imaginary parts are
/// columns of their own.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `hidden` | 32 | width of the hidden layer | 1 to 65536 |
/// | `dropout` | 0 | share of the hidden layer left out in training | [0, 1) |
/// | `init` | `glorot` | how weights are drawn | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GfnnConfig {
    /// Width of the hidden layer.
    pub hidden: usize,
    /// Share of the hidden layer left out in training.
    pub dropout: f64,
    /// How weights are drawn.
    pub init: Init,
}

impl Default for GfnnConfig {
    fn default() -> Self {
        Self { hidden: 32, dropout: 0.0, init: Init::Glorot }
    }
}

impl Architecture for GfnnConfig {
    const INFO: ModelInfo = ModelInfo {
        name: "gfnn",
        title: "gfNN",
        summary: "a plain network on filtered features, with any filter",
        source: "Hoang and Maehara, Revisiting Graph Neural Networks: All We Have is Low-Pass \
                 Filters, 2019",
        direction: Direction::Charge,
        operator: Some(OperatorNeed::UNDIRECTED),
        filter: Some(FilterNeed::of_order(FilterKind::Power, 2)),
        training: TrainingDefaults { rate: 0.02, weight_decay: 5e-4, ..TrainingDefaults::MGC },
        tunable: &[Tunable::HIDDEN, Tunable::DROPOUT],
    };

    fn check(&self) -> Result<(), ModelError> {
        check_width("number of hidden units", self.hidden)?;
        check_dropout(self.dropout)
    }

    fn build<'a>(
        &self,
        engine: &Engine,
        inputs: &Inputs<'a>,
    ) -> Result<Box<dyn Network + 'a>, ModelError> {
        let input = filtered(engine, inputs, Self::INFO.name)?;
        let mut layout = Layout::default();
        let first = Shape::real(input.cols() * input.field().parts(), self.hidden);
        let second = Shape::real(self.hidden, inputs.classes);
        let head = TwoLayer {
            first: layout.linear("layers.0", first, self.init),
            second: layout.linear("layers.1", second, self.init),
            activation: Activation::Relu,
            dropout: self.dropout,
        };
        Ok(Box::new(RowNetwork::new(engine, layout, head, input)?))
    }
}
