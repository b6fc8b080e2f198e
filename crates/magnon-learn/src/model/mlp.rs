//! A plain network on raw features: the control that tells what the graph adds.

use super::error::{check_dropout, check_width};
use super::mgc::TwoLayer;
use super::rows::{RowInput, RowNetwork};
use super::tunable::Tunable;
use super::{Architecture, Direction, Inputs, ModelError, ModelInfo, Network, TrainingDefaults};
use crate::nn::{Init, Layout};
use magnon_core::compute::{Activation, Engine, Shape};
use serde::{Deserialize, Serialize};

/// softmax(relu(XW⁰ + b⁰)W¹ + b¹).
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `hidden` | 64 | width of the hidden layer | 1 to 65536 |
/// | `dropout` | 0.5 | share of the hidden layer left out in training | [0, 1) |
/// | `init` | `glorot` | how weights are drawn | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MlpConfig {
    /// Width of the hidden layer.
    pub hidden: usize,
    /// Share of the hidden layer left out in training.
    pub dropout: f64,
    /// How weights are drawn.
    pub init: Init,
}

impl Default for MlpConfig {
    fn default() -> Self {
        Self { hidden: 64, dropout: 0.5, init: Init::Glorot }
    }
}

impl Architecture for MlpConfig {
    const INFO: ModelInfo = ModelInfo {
        name: "mlp",
        title: "MLP",
        summary: "a network on the features alone, blind to the graph",
        source: "the control of every comparison",
        direction: Direction::NoGraph,
        operator: None,
        filter: None,
        training: TrainingDefaults::MGC,
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
        let mut layout = Layout::default();
        let first = Shape::real(inputs.features.cols(), self.hidden);
        let second = Shape::real(self.hidden, inputs.classes);
        let head = TwoLayer {
            first: layout.linear("layers.0", first, self.init),
            second: layout.linear("layers.1", second, self.init),
            activation: Activation::Relu,
            dropout: self.dropout,
        };
        Ok(Box::new(RowNetwork::new(engine, layout, head, RowInput::raw(inputs))?))
    }
}
