//! ChebyNet: Chebyshev polynomials of the Laplacian with trained weights.

use super::error::{check_count, check_dropout, check_width};
use super::graph::{GraphModel, GraphNetwork, GraphView, operator};
use super::tunable::Tunable;
use super::{
    Architecture, Direction, Inputs, Mode, ModelError, ModelInfo, Network, OperatorNeed,
    PassChoice, TrainingDefaults,
};
use crate::nn::{Init, Layout, ParameterId, Trace, Var};
use magnon_core::compute::{Activation, Engine, Field, MapSource, Shape};
use magnon_core::operator::{EdgeMatrix, MagneticOperator, Neighbourhood};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// H^{l+1} = relu(Σ_{k=0}^{K} T_k(L̃)·H^l·W^l_k + b^l), softmax after the last layer, with
/// L̃ = 2L/λ_max − I and λ_max = 2: L̃ = −D^{-1/2}A_sD^{-1/2} of the undirected graph.
///
/// The products with the weights are made first and the sum by Clenshaw's recurrence, so that K
/// products of the width of the result take the place of K of the width of the features.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `hidden` | 64 | width of the hidden layers | 1 to 65536 |
/// | `layers` | 2 | number of layers | 1 to 16 |
/// | `order` | 2 | K, the highest polynomial | 1 to 64 |
/// | `dropout` | 0.5 | share of each layer's input left out in training | [0, 1) |
/// | `init` | `glorot` | how weights are drawn | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChebynetConfig {
    /// Width of the hidden layers.
    pub hidden: usize,
    /// Number of layers.
    pub layers: usize,
    /// K, the highest polynomial.
    pub order: usize,
    /// Share of each layer's input left out in training.
    pub dropout: f64,
    /// How weights are drawn.
    pub init: Init,
}

impl Default for ChebynetConfig {
    fn default() -> Self {
        Self { hidden: 64, layers: 2, order: 2, dropout: 0.5, init: Init::Glorot }
    }
}

impl Architecture for ChebynetConfig {
    const INFO: ModelInfo = ModelInfo {
        name: "chebynet",
        title: "ChebyNet",
        summary: "layers of Chebyshev polynomials of the Laplacian with trained weights",
        source: "Defferrard et al., Convolutional Neural Networks on Graphs with Fast Localized \
                 Spectral Filtering, 2016",
        direction: Direction::Ignored,
        operator: Some(OperatorNeed {
            self_loops: false,
            pass: PassChoice::High,
            open: &["symmetrize", "self_loops", "normalize"],
            ..OperatorNeed::UNDIRECTED
        }),
        filter: None,
        training: TrainingDefaults { rate: 0.01, weight_decay: 5e-4, ..TrainingDefaults::MGC },
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
        let mut layout = Layout::default();
        let mut widths = vec![self.hidden; self.layers + 1];
        widths[0] = inputs.features.cols();
        widths[self.layers] = inputs.classes;
        let layer = |(l, pair): (usize, &[usize])| {
            let (name, shape) = (format!("layers.{l}"), Shape::real(pair[0], pair[1]));
            Polynomial::declare(&mut layout, &name, shape, self.order, self.init, Field::Real)
        };
        let layers = widths.windows(2).enumerate().map(layer).collect();
        let operator = operator(inputs, Self::INFO.name)?;
        let model = Chebynet { operator, layers, order: self.order, dropout: self.dropout };
        Ok(Box::new(GraphNetwork::new(layout, model, inputs)))
    }
}

/// One layer: a weight for each polynomial, and a bias over a field of its own.
pub(super) struct Polynomial {
    pub weights: Vec<ParameterId>,
    pub bias: ParameterId,
}

impl Polynomial {
    pub fn declare(
        layout: &mut Layout,
        name: &str,
        shape: Shape,
        order: usize,
        init: Init,
        bias: Field,
    ) -> Self {
        let weight = |k| layout.weight(&format!("{name}.weight.{k}"), shape, init);
        let weights = (0..=order).map(weight).collect();
        let row = Shape::new(1, shape.cols(), bias);
        let bias = layout.bias(&format!("{name}.bias"), row, shape.rows(), init);
        Self { weights, bias }
    }
}

/// Σ_k T_k(L̃)·Y_k on the nodes within `steps` steps, by b_k = Y_k + 2·L̃·b_{k+1} − b_{k+2}.
pub(super) fn clenshaw(trace: &mut Trace, view: &GraphView, terms: &[Var], steps: usize) -> Var {
    let (mut last, mut now): (Option<Var>, Option<Var>) = (None, None);
    for (k, &term) in terms.iter().enumerate().rev() {
        let rows = view.size(steps + k);
        let next = match now {
            None => trace.head(term, rows),
            Some(now) => {
                let factor = if k == 0 { 1.0 } else { 2.0 };
                let spread = trace.map_head(&view.maps[0], now, rows);
                let mut sum = vec![(1.0, term), (factor, spread)];
                sum.extend(last.map(|last| (-1.0, last)));
                trace.sum_head(rows, &sum)
            }
        };
        (last, now) = (now, Some(next));
    }
    let Some(sum) = now else { unreachable!("there is at least one term") };
    sum
}

struct Chebynet {
    operator: MagneticOperator,
    layers: Vec<Polynomial>,
    order: usize,
    dropout: f64,
}

impl GraphModel for Chebynet {
    fn steps(&self) -> Option<usize> {
        Some(self.layers.len() * self.order)
    }

    fn maps(&self, seen: &Arc<Neighbourhood>) -> Vec<MapSource> {
        vec![MapSource::Edges(EdgeMatrix::operator(&self.operator, seen))]
    }

    fn logits(&self, trace: &mut Trace, view: &GraphView, mode: Mode) -> Var {
        let features = mode.masked(trace, &view.features, self.dropout, 0);
        let mut hidden = None;
        for (l, layer) in self.layers.iter().enumerate() {
            let input = hidden.map(|hidden| {
                let hidden = trace.activate(Activation::Relu, hidden);
                mode.dropout(trace, hidden, self.dropout, l as u32)
            });
            let terms: Vec<Var> = layer
                .weights
                .iter()
                .map(|&weight| {
                    let weight = trace.parameter(weight);
                    match input {
                        None => features.times(trace, weight),
                        Some(input) => trace.product(input, weight),
                    }
                })
                .collect();
            let steps = (self.layers.len() - 1 - l) * self.order;
            let sum = clenshaw(trace, view, &terms, steps);
            let bias = trace.parameter(layer.bias);
            hidden = Some(trace.bias(sum, bias));
        }
        let Some(logits) = hidden else { unreachable!("there is at least one layer") };
        logits
    }
}
