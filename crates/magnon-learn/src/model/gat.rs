//! GAT: attention over the neighbours.

use super::error::{check_count, check_dropout, check_width};
use super::graph::{GraphModel, GraphNetwork, GraphView, operator};
use super::tunable::{Tunable, whole};
use super::{
    Architecture, Direction, Inputs, Mode, ModelError, ModelInfo, Network, OperatorNeed,
    TrainingDefaults,
};
use crate::nn::{Init, Layout, ParameterId, Trace, Var};
use magnon_core::compute::{Activation, DrawKey, Engine, MapSource, Shape};
use magnon_core::operator::{EdgeMatrix, MagneticOperator, Neighbourhood};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Two layers of attention over the neighbours in the undirected graph and the node itself, with
/// several heads each: side by side and ELU in the first, their mean in the second.
///
/// A head has H = XW, scores e(u,v) = LeakyReLU(a_t·h(u) + a_s·h(v)) with slope 0.2, and gives
/// Σ_v softmax_v(e(u,v))·h(v). Weights of the neighbours are dropped in training like features are.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `hidden` | 8 | columns of a head in the first layer | 1 to 65536 |
/// | `heads` | 8 | heads of the first layer | 1 to 256 |
/// | `output_heads` | 1 | heads of the second layer, whose mean is taken | 1 to 256 |
/// | `dropout` | 0.6 | share of inputs and of attention left out in training | [0, 1) |
/// | `init` | `glorot` | how weights are drawn | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GatConfig {
    /// Columns of a head in the first layer.
    pub hidden: usize,
    /// Heads of the first layer.
    pub heads: usize,
    /// Heads of the second layer, whose mean is taken.
    pub output_heads: usize,
    /// Share of inputs and of attention left out in training.
    pub dropout: f64,
    /// How weights are drawn.
    pub init: Init,
}

impl Default for GatConfig {
    fn default() -> Self {
        Self { hidden: 8, heads: 8, output_heads: 1, dropout: 0.6, init: Init::Glorot }
    }
}

/// Slope of LeakyReLU below 0.
const SLOPE: f64 = 0.2;

impl Architecture for GatConfig {
    const INFO: ModelInfo = ModelInfo {
        name: "gat",
        title: "GAT",
        summary: "layers that weigh the neighbours by attention, with several heads",
        source: "Veličković et al., Graph Attention Networks, 2018",
        direction: Direction::Ignored,
        operator: Some(OperatorNeed { open: &[], ..OperatorNeed::UNDIRECTED }),
        filter: None,
        training: TrainingDefaults {
            rate: 5e-3,
            weight_decay: 5e-4,
            patience: 100,
            ..TrainingDefaults::MGC
        },
        tunable: &[whole("hidden", &[4, 8, 16, 32]), whole("heads", &[1, 4, 8]), Tunable::DROPOUT],
    };

    fn check(&self) -> Result<(), ModelError> {
        check_width("number of hidden units", self.hidden)?;
        check_count("number of heads", self.heads, 256, "from 1 to 256")?;
        check_count("number of output heads", self.output_heads, 256, "from 1 to 256")?;
        check_dropout(self.dropout)
    }

    fn build<'a>(
        &self,
        _: &Engine,
        inputs: &Inputs<'a>,
    ) -> Result<Box<dyn Network + 'a>, ModelError> {
        let operator = operator(inputs, Self::INFO.name)?;
        let mut layout = Layout::default();
        let width = self.heads * self.hidden;
        let last = self.output_heads * inputs.classes;
        let mut layer = |l: usize, rows: usize, cols: usize, heads: usize, bias: usize| Heads {
            weight: layout.weight(
                &format!("layers.{l}.weight"),
                Shape::real(rows, cols),
                self.init,
            ),
            source: layout.weight(&format!("layers.{l}.source"), Shape::real(1, cols), self.init),
            target: layout.weight(&format!("layers.{l}.target"), Shape::real(1, cols), self.init),
            bias: layout.bias(&format!("layers.{l}.bias"), Shape::real(1, bias), rows, self.init),
            heads,
        };
        let first = layer(0, inputs.features.cols(), width, self.heads, width);
        let second = layer(1, width, last, self.output_heads, inputs.classes);
        let (dropout, classes) = (self.dropout, inputs.classes);
        let model = Gat { operator, first, second, classes, dropout };
        Ok(Box::new(GraphNetwork::new(layout, model, inputs)))
    }
}

/// One layer.
struct Heads {
    weight: ParameterId,
    source: ParameterId,
    target: ParameterId,
    bias: ParameterId,
    heads: usize,
}

impl Heads {
    /// The heads' sums on the first `rows` rows, from H = XW.
    fn attend(
        &self,
        trace: &mut Trace,
        view: &GraphView,
        h: Var,
        rows: usize,
        dropout: Option<(f64, DrawKey)>,
    ) -> Var {
        let [source, target] = [self.source, self.target].map(|id| {
            let row = trace.parameter(id);
            trace.group_dot(h, row, self.heads)
        });
        trace.attend(&view.maps[0], [h, source, target], rows, SLOPE, dropout)
    }
}

struct Gat {
    operator: MagneticOperator,
    first: Heads,
    second: Heads,
    classes: usize,
    dropout: f64,
}

impl GraphModel for Gat {
    fn steps(&self) -> Option<usize> {
        Some(2)
    }

    fn maps(&self, seen: &Arc<Neighbourhood>) -> Vec<MapSource> {
        vec![MapSource::Edges(EdgeMatrix::operator(&self.operator, seen))]
    }

    fn logits(&self, trace: &mut Trace, view: &GraphView, mode: Mode) -> Var {
        let dropped = |site| mode.key(site).map(|key| (self.dropout, key));
        let weight = trace.parameter(self.first.weight);
        let features = mode.masked(trace, &view.features, self.dropout, 0);
        let h = features.times(trace, weight);
        let sums = self.first.attend(trace, view, h, view.size(1), dropped(1));
        let bias = trace.parameter(self.first.bias);
        let hidden = trace.sum(&[(1.0, sums)]); // attention needs its own result on the way back
        let hidden = trace.bias(hidden, bias);
        let hidden = trace.activate(Activation::Elu, hidden);
        let hidden = mode.dropout(trace, hidden, self.dropout, 2);
        let weight = trace.parameter(self.second.weight);
        let h = trace.product(hidden, weight);
        let sums = self.second.attend(trace, view, h, view.size(0), dropped(3));
        let mean = self.mean(trace, sums);
        let bias = trace.parameter(self.second.bias);
        trace.bias(mean, bias)
    }
}

impl Gat {
    /// The mean of the heads of the second layer.
    fn mean(&self, trace: &mut Trace, sums: Var) -> Var {
        let (heads, classes) = (self.second.heads, self.classes);
        if heads == 1 {
            return trace.sum(&[(1.0, sums)]);
        }
        let share = (1.0 / heads as f64) as f32;
        let mut numbers = vec![0f32; heads * classes * classes];
        for row in 0..heads * classes {
            numbers[row * classes + row % classes] = share;
        }
        let average = trace.input(Shape::real(heads * classes, classes), &numbers);
        trace.product(sums, average)
    }
}
