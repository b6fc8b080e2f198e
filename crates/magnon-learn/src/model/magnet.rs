//! MagNet: Chebyshev polynomials of the magnetic Laplacian.

use super::chebynet::{Polynomial, clenshaw};
use super::error::{check_count, check_dropout, check_width};
use super::graph::{GraphModel, GraphNetwork, GraphView, operator};
use super::tunable::Tunable;
use super::{
    Architecture, Direction, Inputs, Mode, ModelError, ModelInfo, Network, OperatorNeed,
    PassChoice, TrainingDefaults,
};
use crate::nn::{Init, Layout, Linear, Trace, Var};
use magnon_core::compute::{Activation, Engine, Field, MapSource, Shape};
use magnon_core::operator::{EdgeMatrix, MagneticOperator, Neighbourhood, Symmetrize};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// H^{l+1} = σ(Σ_{k=0}^{K} T_k(L̃)·H^l·W^l_k + b^l) with the magnetic L̃ = L_q − I, real weights for
/// each order, complex H and b, and σ(z) = z where Re z ≥ 0, else 0. After the last layer real and
/// imaginary parts are unwound side by side and classified by a linear layer.
///
/// The products are those of complex matrices: Re and Im of the polynomial meet both parts of H.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `hidden` | 64 | complex columns of the layers | 1 to 65536 |
/// | `layers` | 2 | number of layers | 1 to 16 |
/// | `order` | 1 | K, the highest polynomial | 1 to 64 |
/// | `dropout` | 0.5 | share of the unwound layer left out in training | [0, 1) |
/// | `init` | `glorot` | how weights are drawn | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MagnetConfig {
    /// Complex columns of the layers.
    pub hidden: usize,
    /// Number of layers.
    pub layers: usize,
    /// K, the highest polynomial.
    pub order: usize,
    /// Share of the unwound layer left out in training.
    pub dropout: f64,
    /// How weights are drawn.
    pub init: Init,
}

impl Default for MagnetConfig {
    fn default() -> Self {
        Self { hidden: 64, layers: 2, order: 1, dropout: 0.5, init: Init::Glorot }
    }
}

impl Architecture for MagnetConfig {
    const INFO: ModelInfo = ModelInfo {
        name: "magnet",
        title: "MagNet",
        summary: "layers of Chebyshev polynomials of the magnetic Laplacian, complex throughout",
        source: "Zhang et al., MagNet: A Neural Network for Directed Graphs, 2021",
        direction: Direction::Charge,
        operator: Some(OperatorNeed {
            symmetrize: Symmetrize::Mean,
            self_loops: false,
            pass: PassChoice::High,
            open: &["charge", "symmetrize", "self_loops", "normalize"],
            ..OperatorNeed::ANY
        }),
        filter: None,
        training: TrainingDefaults { rate: 5e-3, weight_decay: 5e-4, ..TrainingDefaults::MGC },
        tunable: &[Tunable::HIDDEN, Tunable::LAYER_ORDER, Tunable::DROPOUT],
    };

    fn check(&self) -> Result<(), ModelError> {
        check_width("number of hidden units", self.hidden)?;
        check_count("number of layers", self.layers, 16, "from 1 to 16")?;
        check_count("order", self.order, 64, "from 1 to 64")?;
        check_dropout(self.dropout)
    }

    fn build<'a>(
        &self,
        _: &Engine,
        inputs: &Inputs<'a>,
    ) -> Result<Box<dyn Network + 'a>, ModelError> {
        let operator = operator(inputs, Self::INFO.name)?;
        let own = if operator.is_real() { Field::Real } else { Field::Complex };
        let field = inputs.field.map_or(own, |asked| asked.join(own));
        let mut layout = Layout::default();
        let layer = |l| {
            let inputs = if l == 0 { inputs.features.cols() } else { self.hidden };
            let (name, shape) = (format!("layers.{l}"), Shape::real(inputs, self.hidden));
            Polynomial::declare(&mut layout, &name, shape, self.order, self.init, field)
        };
        let layers = (0..self.layers).map(layer).collect();
        let unwound = Shape::real(self.hidden * field.parts(), inputs.classes);
        let last = layout.linear("readout", unwound, self.init);
        let (order, dropout) = (self.order, self.dropout);
        let model = Magnet { operator, field, layers, last, order, dropout };
        Ok(Box::new(GraphNetwork::new(layout, model, inputs)))
    }
}

struct Magnet {
    operator: MagneticOperator,
    field: Field,
    layers: Vec<Polynomial>,
    last: Linear,
    order: usize,
    dropout: f64,
}

impl GraphModel for Magnet {
    fn steps(&self) -> Option<usize> {
        Some(self.layers.len() * self.order)
    }

    fn maps(&self, seen: &Arc<Neighbourhood>) -> Vec<MapSource> {
        vec![MapSource::Edges(EdgeMatrix::operator(&self.operator, seen))]
    }

    fn logits(&self, trace: &mut Trace, view: &GraphView, mode: Mode) -> Var {
        let complex = self.field == Field::Complex;
        let mut hidden = None;
        for (l, layer) in self.layers.iter().enumerate() {
            let terms: Vec<Var> = layer
                .weights
                .iter()
                .map(|&weight| {
                    let weight = trace.parameter(weight);
                    match hidden {
                        None => {
                            let term = trace.map(&view.features, weight);
                            if complex { trace.activate(Activation::Lift, term) } else { term }
                        }
                        Some(hidden) => trace.product(hidden, weight),
                    }
                })
                .collect();
            let steps = (self.layers.len() - 1 - l) * self.order;
            let sum = clenshaw(trace, view, &terms, steps);
            let bias = trace.parameter(layer.bias);
            let sum = trace.bias(sum, bias);
            let relu = if complex { Activation::ComplexRelu } else { Activation::Relu };
            hidden = Some(trace.activate(relu, sum));
        }
        let Some(mut hidden) = hidden else { unreachable!("there is at least one layer") };
        if complex {
            hidden = trace.activate(Activation::Parts, hidden);
        }
        let hidden = mode.dropout(trace, hidden, self.dropout, 0);
        self.last.apply(trace, hidden)
    }
}
