//! PPNP: predict, then propagate to the end.

use super::appnp::filtered_after;
use super::error::{check_dropout, check_width};
use super::tunable::Tunable;
use super::{
    Architecture, Direction, FilterNeed, Inputs, ModelError, ModelInfo, Network, OperatorNeed,
    TrainingDefaults,
};
use crate::nn::Init;
use magnon_core::compute::Engine;
use magnon_core::filter::FilterKind;
use serde::{Deserialize, Serialize};

/// softmax(α(I − (1 − α)S)^{-1}·Z) with Z = relu(XW⁰ + b⁰)W¹ + b¹ and a restart α of 0.1.
///
/// The inverse is never formed: each step solves for its few columns by conjugate gradients, forward
/// and backward. Every node sees all others of its component.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `hidden` | 64 | width of the hidden layer | 1 to 65536 |
/// | `dropout` | 0.5 | share of each layer's input left out in training | [0, 1) |
/// | `init` | `glorot` | how weights are drawn | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PpnpConfig {
    /// Width of the hidden layer.
    pub hidden: usize,
    /// Share of each layer's input left out in training.
    pub dropout: f64,
    /// How weights are drawn.
    pub init: Init,
}

impl Default for PpnpConfig {
    fn default() -> Self {
        Self { hidden: 64, dropout: 0.5, init: Init::Glorot }
    }
}

impl Architecture for PpnpConfig {
    const INFO: ModelInfo = ModelInfo {
        name: "ppnp",
        title: "PPNP",
        summary: "a plain network whose predictions are propagated by PageRank, solved exactly",
        source: "Klicpera et al., Predict then Propagate: Graph Neural Networks meet Personalized \
                 PageRank, 2019",
        direction: Direction::Charge,
        operator: Some(OperatorNeed::UNDIRECTED),
        filter: Some(FilterNeed {
            kind: FilterKind::Ppr,
            order: None,
            alpha: Some(0.9),
            exact: true,
        }),
        training: TrainingDefaults { weight_decay: 5e-3, patience: 100, ..TrainingDefaults::MGC },
        tunable: &[Tunable::HIDDEN, Tunable::DROPOUT],
    };

    fn check(&self) -> Result<(), ModelError> {
        check_width("number of hidden units", self.hidden)?;
        check_dropout(self.dropout)
    }

    fn build<'a>(
        &self,
        _: &Engine,
        inputs: &Inputs<'a>,
    ) -> Result<Box<dyn Network + 'a>, ModelError> {
        filtered_after(inputs, Self::INFO.name, (self.hidden, self.dropout, self.init))
    }
}
