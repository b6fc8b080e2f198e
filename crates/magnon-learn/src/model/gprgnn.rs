//! GPR-GNN: predict, then propagate with trained weights of the powers.

use super::appnp::Perceptron;
use super::error::{check_count, check_dropout, check_share, check_width};
use super::graph::{GraphModel, GraphNetwork, GraphView, operator};
use super::tunable::{Tunable, whole};
use super::{
    Architecture, Direction, Inputs, Mode, ModelError, ModelInfo, Network, OperatorNeed,
    TrainingDefaults,
};
use crate::nn::{Init, Layout, ParameterId, Trace, Var};
use magnon_core::compute::{Engine, MapSource, Shape};
use magnon_core::operator::{EdgeMatrix, MagneticOperator, Neighbourhood};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// softmax(Σ_{k=0}^{K} γ_k·S^k·Z) with Z = relu(XW⁰ + b⁰)W¹ + b¹ and trained γ, which start at those
/// of personalised PageRank, γ_k = α(1 − α)^k and γ_K = (1 − α)^K.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `hidden` | 64 | width of the hidden layer | 1 to 65536 |
/// | `order` | 10 | K, the highest power | 1 to 1000 |
/// | `alpha` | 0.1 | restart that γ starts from | [0, 1] |
/// | `dropout` | 0.5 | share of each layer's input left out in training | [0, 1) |
/// | `propagation_dropout` | 0.5 | share of Z left out in training | [0, 1) |
/// | `init` | `glorot` | how weights are drawn | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GprgnnConfig {
    /// Width of the hidden layer.
    pub hidden: usize,
    /// K, the highest power.
    pub order: usize,
    /// Restart that γ starts from.
    pub alpha: f64,
    /// Share of each layer's input left out in training.
    pub dropout: f64,
    /// Share of Z left out in training.
    pub propagation_dropout: f64,
    /// How weights are drawn.
    pub init: Init,
}

impl Default for GprgnnConfig {
    fn default() -> Self {
        Self {
            hidden: 64,
            order: 10,
            alpha: 0.1,
            dropout: 0.5,
            propagation_dropout: 0.5,
            init: Init::Glorot,
        }
    }
}

impl Architecture for GprgnnConfig {
    const INFO: ModelInfo = ModelInfo {
        name: "gprgnn",
        title: "GPR-GNN",
        summary: "a plain network whose predictions are propagated with trained weights",
        source: "Chien et al., Adaptive Universal Generalized PageRank Graph Neural Network, 2021",
        direction: Direction::Ignored,
        operator: Some(OperatorNeed {
            open: &["symmetrize", "self_loops", "normalize"],
            ..OperatorNeed::UNDIRECTED
        }),
        filter: None,
        training: TrainingDefaults { rate: 0.01, weight_decay: 5e-4, ..TrainingDefaults::MGC },
        tunable: &[
            Tunable::HIDDEN,
            whole("order", &[2, 5, 10, 20]),
            Tunable::RESTART,
            Tunable::DROPOUT,
        ],
    };

    fn check(&self) -> Result<(), ModelError> {
        check_width("number of hidden units", self.hidden)?;
        check_count("order", self.order, 1000, "from 1 to 1000")?;
        check_share("restart", self.alpha)?;
        check_dropout(self.propagation_dropout)?;
        check_dropout(self.dropout)
    }

    fn build<'a>(
        &self,
        _: &Engine,
        inputs: &Inputs<'a>,
    ) -> Result<Box<dyn Network + 'a>, ModelError> {
        let operator = operator(inputs, Self::INFO.name)?;
        let mut layout = Layout::default();
        let network =
            Perceptron::declare(&mut layout, inputs, self.hidden, self.dropout, self.init);
        let rest = |k: usize| (1.0 - self.alpha).powf(k as f64);
        let mut start: Vec<f64> = (0..=self.order).map(|k| self.alpha * rest(k)).collect();
        start[self.order] = rest(self.order);
        let gamma = layout.given("gamma", Shape::real(1, self.order + 1), start);
        layout.without_decay(gamma);
        let (order, dropout) = (self.order, self.propagation_dropout);
        let model = Gprgnn { operator, network, gamma, order, dropout };
        Ok(Box::new(GraphNetwork::new(layout, model, inputs)))
    }
}

struct Gprgnn {
    operator: MagneticOperator,
    network: Perceptron,
    gamma: ParameterId,
    order: usize,
    dropout: f64,
}

impl GraphModel for Gprgnn {
    fn steps(&self) -> Option<usize> {
        Some(self.order)
    }

    fn maps(&self, seen: &Arc<Neighbourhood>) -> Vec<MapSource> {
        vec![MapSource::Edges(EdgeMatrix::operator(&self.operator, seen))]
    }

    fn logits(&self, trace: &mut Trace, view: &GraphView, mode: Mode) -> Var {
        let z = self.network.apply(trace, view, mode);
        let mut power = mode.dropout(trace, z, self.dropout, 2);
        let wanted = view.size(0);
        let mut terms = vec![trace.head(power, wanted)];
        for k in 1..=self.order {
            power = trace.map_head(&view.maps[0], power, view.size(self.order - k));
            terms.push(trace.head(power, wanted));
        }
        let gamma = trace.parameter(self.gamma);
        trace.combine(gamma, &terms)
    }
}
