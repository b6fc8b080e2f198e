//! FaberNet: powers of the directed adjacency with trained weights.

use super::dirgnn::InAndOut;
use super::error::{check_count, check_dropout, check_share, check_width};
use super::graph::{GraphModel, GraphNetwork, GraphView};
use super::tunable::{Tunable, Values, numbers};
use super::{
    Architecture, Direction, Inputs, Mode, ModelError, ModelInfo, Network, TrainingDefaults,
};
use crate::nn::{Init, Layout, Linear, ParameterId, Trace, Var};
use magnon_core::compute::{Activation, Engine, Field, MapSource, Shape};
use magnon_core::operator::Neighbourhood;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// H^{l+1} = σ(H^l·W_0 + Σ_{k=1}^{K} (α·P^k·H^l·W_k + (1 − α)·(Pᵀ)^k·H^l·V_k) + b) with
/// P = D_out^{-1/4} A D_in^{-1/4}, and a linear layer on the layers side by side.
///
/// With complex weights σ is ReLU on both parts, and real and imaginary parts are unwound before the
/// linear layer. Powers are evaluated by Horner's rule on the products with the weights.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `hidden` | 64 | width of the layers | 1 to 65536 |
/// | `layers` | 2 | number of layers | 1 to 16 |
/// | `order` | 2 | K, the highest power | 1 to 64 |
/// | `alpha` | 0.5 | share of the edges out against those in | [0, 1] |
/// | `exponent` | 0.25 | power of the degrees that is divided out | [0, 1] |
/// | `complex` | false | whether weights are complex | |
/// | `dropout` | 0.5 | share of each layer left out in training | [0, 1) |
/// | `init` | `glorot` | how weights are drawn | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FabernetConfig {
    /// Width of the layers.
    pub hidden: usize,
    /// Number of layers.
    pub layers: usize,
    /// K, the highest power.
    pub order: usize,
    /// Share of the edges out against those in.
    pub alpha: f64,
    /// Power of the degrees that is divided out.
    pub exponent: f64,
    /// Whether weights are complex.
    pub complex: bool,
    /// Share of each layer left out in training.
    pub dropout: f64,
    /// How weights are drawn.
    pub init: Init,
}

impl Default for FabernetConfig {
    fn default() -> Self {
        Self {
            hidden: 64,
            layers: 2,
            order: 2,
            alpha: 0.5,
            exponent: 0.25,
            complex: false,
            dropout: 0.5,
            init: Init::Glorot,
        }
    }
}

impl Architecture for FabernetConfig {
    const INFO: ModelInfo = ModelInfo {
        name: "fabernet",
        title: "FaberNet",
        summary: "layers of powers of the directed adjacency and its transpose",
        source: "Koke and Cremers, HoloNets: Spectral Convolutions do extend to Directed Graphs, \
                 2024",
        direction: Direction::InAndOut,
        operator: None,
        filter: None,
        training: TrainingDefaults { rate: 0.01, weight_decay: 1e-4, ..TrainingDefaults::MGC },
        tunable: &[
            Tunable::HIDDEN,
            Tunable::LAYERS,
            Tunable::LAYER_ORDER,
            Tunable::SHARE,
            numbers("exponent", &[0.0, 0.25, 0.5]),
            Tunable { key: "complex", values: Values::Flag },
            Tunable::DROPOUT,
        ],
    };

    fn check(&self) -> Result<(), ModelError> {
        check_width("number of hidden units", self.hidden)?;
        check_count("number of layers", self.layers, 16, "from 1 to 16")?;
        check_count("order", self.order, 64, "from 1 to 64")?;
        check_share("share of the edges out", self.alpha)?;
        check_share("exponent of the degrees", self.exponent)?;
        check_dropout(self.dropout)
    }

    fn build<'a>(
        &self,
        _: &Engine,
        inputs: &Inputs<'a>,
    ) -> Result<Box<dyn Network + 'a>, ModelError> {
        let field = if self.complex { Field::Complex } else { Field::Real };
        let mut layout = Layout::default();
        let mut layer = |l: usize| {
            let inputs = if l == 0 { inputs.features.cols() } else { self.hidden };
            let shape = Shape::new(inputs, self.hidden, field);
            let own = layout.linear(&format!("layers.{l}"), shape, self.init);
            let mut powers = |way: &str| -> Vec<ParameterId> {
                let name = |k| format!("layers.{l}.{way}.{k}");
                (1..=self.order).map(|k| layout.weight(&name(k), shape, self.init)).collect()
            };
            Powers { own, ways: [powers("out"), powers("in")] }
        };
        let layers: Vec<Powers> = (0..self.layers).map(&mut layer).collect();
        let width = self.hidden * self.layers * field.parts();
        let last = layout.linear("readout", Shape::real(width, inputs.classes), self.init);
        let adjacency = InAndOut::new(inputs.graph, self.exponent);
        let model = Fabernet { adjacency, layers, last, config: self.clone() };
        Ok(Box::new(GraphNetwork::new(layout, model, inputs)))
    }
}

/// One layer: W_0 with the bias, and the weights of the powers of P and of Pᵀ.
struct Powers {
    own: Linear,
    ways: [Vec<ParameterId>; 2],
}

struct Fabernet {
    adjacency: InAndOut,
    layers: Vec<Powers>,
    last: Linear,
    config: FabernetConfig,
}

impl GraphModel for Fabernet {
    fn steps(&self) -> Option<usize> {
        Some(self.layers.len() * self.config.order)
    }

    fn maps(&self, seen: &Arc<Neighbourhood>) -> Vec<MapSource> {
        self.adjacency.maps(seen)
    }

    fn logits(&self, trace: &mut Trace, view: &GraphView, mode: Mode) -> Var {
        let FabernetConfig { alpha, order, complex, dropout, .. } = self.config;
        let mut made: Vec<Var> = Vec::new();
        for (l, layer) in self.layers.iter().enumerate() {
            let steps = (self.layers.len() - 1 - l) * order;
            let input = made.last().copied();
            let times = |trace: &mut Trace, id: ParameterId| {
                let weight = trace.parameter(id);
                match input {
                    None => trace.map(&view.features, weight),
                    Some(input) => trace.product(input, weight),
                }
            };
            let mut terms = vec![(1.0, times(trace, layer.own.weight))];
            for ((weights, map), share) in
                layer.ways.iter().zip(&view.maps).zip([alpha, 1.0 - alpha])
            {
                // P(HW_1 + P(HW_2 + …)), on ever fewer rows.
                let mut sum: Option<Var> = None;
                for (k, &weight) in weights.iter().enumerate().rev() {
                    let product = times(trace, weight);
                    let inner = match sum {
                        None => product,
                        Some(sum) => {
                            let rows = view.size(steps + k + 1);
                            trace.sum_head(rows, &[(1.0, product), (1.0, sum)])
                        }
                    };
                    sum = Some(trace.map_head(map, inner, view.size(steps + k)));
                }
                terms.extend(sum.map(|sum| (share, sum)));
            }
            let sum = trace.sum_head(view.size(steps), &terms);
            let sum = layer.own.add_bias(trace, sum);
            let relu = if complex { Activation::SplitRelu } else { Activation::Relu };
            let hidden = trace.activate(relu, sum);
            made.push(mode.dropout(trace, hidden, dropout, l as u32));
        }
        let wanted = view.size(0);
        let heads: Vec<Var> = made.iter().map(|&layer| trace.head(layer, wanted)).collect();
        let mut handed = trace.concatenate(&heads);
        if complex {
            handed = trace.activate(Activation::Parts, handed);
        }
        self.last.apply(trace, handed)
    }
}
