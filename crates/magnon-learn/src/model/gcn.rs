//! GCN: propagate, transform, repeat.

use super::error::{check_count, check_dropout, check_width};
use super::graph::{GraphModel, GraphNetwork, GraphView, operator};
use super::tunable::Tunable;
use super::{
    Architecture, Direction, Inputs, Mode, ModelError, ModelInfo, Network, OperatorNeed,
    TrainingDefaults,
};
use crate::nn::{Init, Layout, Linear, Trace, Var};
use magnon_core::compute::{Activation, Engine, MapSource, Shape};
use magnon_core::operator::{EdgeMatrix, MagneticOperator, Neighbourhood};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// H^{l+1} = relu(S·H^l·W^l + b^l), softmax after the last layer, with S = D̃^{-1/2}(A_s + I)D̃^{-1/2}
/// of the undirected graph. Weight decay acts on the first layer alone, as in the paper.
///
/// The last of two layers is computed on the nodes whose logits are wanted, the first on those within
/// one step of them, and features are read within two.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `hidden` | 16 | width of the hidden layers | 1 to 65536 |
/// | `layers` | 2 | number of layers | 1 to 64 |
/// | `dropout` | 0.5 | share of each layer's input left out in training | [0, 1) |
/// | `init` | `glorot` | how weights are drawn | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GcnConfig {
    /// Width of the hidden layers.
    pub hidden: usize,
    /// Number of layers.
    pub layers: usize,
    /// Share of each layer's input left out in training.
    pub dropout: f64,
    /// How weights are drawn.
    pub init: Init,
}

impl Default for GcnConfig {
    fn default() -> Self {
        Self { hidden: 16, layers: 2, dropout: 0.5, init: Init::Glorot }
    }
}

impl Architecture for GcnConfig {
    const INFO: ModelInfo = ModelInfo {
        name: "gcn",
        title: "GCN",
        summary: "layers that average over the neighbours and transform",
        source: "Kipf and Welling, Semi-Supervised Classification with Graph Convolutional \
                 Networks, 2017",
        direction: Direction::Ignored,
        operator: Some(OperatorNeed {
            open: &["symmetrize", "self_loops", "normalize"],
            ..OperatorNeed::UNDIRECTED
        }),
        filter: None,
        training: TrainingDefaults { rate: 0.01, weight_decay: 5e-4, ..TrainingDefaults::MGC },
        tunable: &[Tunable::HIDDEN, Tunable::LAYERS, Tunable::DROPOUT],
    };

    fn check(&self) -> Result<(), ModelError> {
        check_width("number of hidden units", self.hidden)?;
        check_count("number of layers", self.layers, 64, "from 1 to 64")?;
        check_dropout(self.dropout)
    }

    fn build<'a>(
        &self,
        _: &Engine,
        inputs: &Inputs<'a>,
    ) -> Result<Box<dyn Network + 'a>, ModelError> {
        let operator = operator(inputs, Self::INFO.name)?;
        let (layout, layers) = self.layers(inputs);
        let model = Gcn { operator, layers, dropout: self.dropout };
        Ok(Box::new(GraphNetwork::new(layout, model, inputs)))
    }
}

impl GcnConfig {
    /// The linear layers, from features to classes.
    pub(super) fn layers(&self, inputs: &Inputs) -> (Layout, Vec<Linear>) {
        let mut layout = Layout::default();
        let mut widths = vec![self.hidden; self.layers + 1];
        widths[0] = inputs.features.cols();
        widths[self.layers] = inputs.classes;
        let layers: Vec<Linear> = widths
            .windows(2)
            .enumerate()
            .map(|(l, pair)| {
                let shape = Shape::real(pair[0], pair[1]);
                layout.linear(&format!("layers.{l}"), shape, self.init)
            })
            .collect();
        for layer in &layers[1..] {
            layout.without_decay(layer.weight);
            layer.bias.into_iter().for_each(|bias| layout.without_decay(bias));
        }
        (layout, layers)
    }
}

struct Gcn {
    operator: MagneticOperator,
    layers: Vec<Linear>,
    dropout: f64,
}

impl GraphModel for Gcn {
    fn steps(&self) -> Option<usize> {
        Some(self.layers.len())
    }

    fn maps(&self, seen: &Arc<Neighbourhood>) -> Vec<MapSource> {
        vec![MapSource::Edges(EdgeMatrix::operator(&self.operator, seen))]
    }

    fn logits(&self, trace: &mut Trace, view: &GraphView, mode: Mode) -> Var {
        convolutions(trace, view, &self.layers, self.dropout, mode)
    }
}

/// The layers of a GCN over the first map of a view.
pub(super) fn convolutions(
    trace: &mut Trace,
    view: &GraphView,
    layers: &[Linear],
    dropout: f64,
    mode: Mode,
) -> Var {
    let mut hidden = None;
    for (l, layer) in layers.iter().enumerate() {
        let weight = trace.parameter(layer.weight);
        // The product with the weights comes first: it leaves fewer columns to propagate.
        let product = match hidden {
            None => mode.masked(trace, &view.features, dropout, 0).times(trace, weight),
            Some(hidden) => {
                let hidden = trace.activate(Activation::Relu, hidden);
                let hidden = mode.dropout(trace, hidden, dropout, l as u32);
                trace.product(hidden, weight)
            }
        };
        let rows = view.size(layers.len() - 1 - l);
        let spread = trace.map_head(&view.maps[0], product, rows);
        hidden = Some(layer.add_bias(trace, spread));
    }
    let Some(logits) = hidden else { unreachable!("there is at least one layer") };
    logits
}
