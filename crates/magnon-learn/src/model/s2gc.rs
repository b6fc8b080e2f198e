//! S²GC: a linear classifier on a mean of powers.

use super::error::{check_count, check_share};
use super::rows::RowInput;
use super::sgc::linear_on;
use super::tunable::{Tunable, whole};
use super::{
    Architecture, Direction, Inputs, ModelError, ModelInfo, Network, OperatorNeed, TrainingDefaults,
};
use crate::nn::Init;
use magnon_core::compute::Engine;
use magnon_core::filter::Filter;
use serde::{Deserialize, Serialize};

/// softmax(X̄W + b) with X̄ = αX + (1 − α)/K · Σ_{k=1}^{K} S^k X.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `order` | 16 | K | 1 to 10000 |
/// | `alpha` | 0.05 | share of the features as they are | [0, 1] |
/// | `init` | `glorot` | how weights are drawn | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct S2gcConfig {
    /// K.
    pub order: usize,
    /// Share of the features as they are.
    pub alpha: f64,
    /// How weights are drawn.
    pub init: Init,
}

impl Default for S2gcConfig {
    fn default() -> Self {
        Self { order: 16, alpha: 0.05, init: Init::Glorot }
    }
}

impl Architecture for S2gcConfig {
    const INFO: ModelInfo = ModelInfo {
        name: "s2gc",
        title: "S²GC",
        summary: "a linear classifier on the mean of the first powers of the operator",
        source: "Zhu and Koniusz, Simple Spectral Graph Convolution, 2021",
        direction: Direction::Charge,
        operator: Some(OperatorNeed::UNDIRECTED),
        filter: None,
        training: TrainingDefaults { rate: 0.1, weight_decay: 1e-5, ..TrainingDefaults::MGC },
        tunable: &[whole("order", &[2, 4, 8, 16, 32]), Tunable::RESTART],
    };

    fn check(&self) -> Result<(), ModelError> {
        check_count("order", self.order, 10_000, "from 1 to 10000")?;
        check_share("share of the features as they are", self.alpha)
    }

    fn build<'a>(
        &self,
        engine: &Engine,
        inputs: &Inputs<'a>,
    ) -> Result<Box<dyn Network + 'a>, ModelError> {
        let mut coefficients = vec![(1.0 - self.alpha) / self.order as f64; self.order + 1];
        coefficients[0] = self.alpha;
        let input =
            RowInput::filtered(engine, inputs, |_| Ok(Filter::polynomial(&coefficients)?), true)?;
        linear_on(engine, input, inputs.classes, self.init)
    }
}
