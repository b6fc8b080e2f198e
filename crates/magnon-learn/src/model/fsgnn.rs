//! FSGNN: channels of filtered features, kept apart and weighed.

use super::error::{check_count, check_dropout, check_width};
use super::graph::{GraphModel, GraphNetwork, GraphView, operator_of};
use super::tunable::{Tunable, whole};
use super::{
    Architecture, Direction, Inputs, Mode, ModelError, ModelInfo, Network, TrainingDefaults,
};
use crate::nn::{Init, Layout, Linear, ParameterId, Trace, Var};
use magnon_core::compute::{Activation, Engine, MapSource, Shape};
use magnon_core::operator::{EdgeMatrix, MagneticOperator, Neighbourhood, OperatorConfig};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The channels X, S^kX and S̃^kX for k = 1 … K, of the undirected graph without and with self loops.
/// Each has a projection of its own; its rows are scaled to norm 1 and weighed by a softmax over the
/// channels. Side by side, with ReLU and dropout, they are classified by a linear layer.
///
/// Projections are made first, so that features that are sparse stay so.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `hidden` | 64 | columns of a channel | 1 to 65536 |
/// | `order` | 3 | K, the highest power | 1 to 64 |
/// | `normalize_rows` | true | whether rows of a channel are scaled to norm 1 | |
/// | `dropout` | 0.5 | share of the channels left out in training | [0, 1) |
/// | `init` | `glorot` | how weights are drawn | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FsgnnConfig {
    /// Columns of a channel.
    pub hidden: usize,
    /// K, the highest power.
    pub order: usize,
    /// Whether rows of a channel are scaled to norm 1.
    pub normalize_rows: bool,
    /// Share of the channels left out in training.
    pub dropout: f64,
    /// How weights are drawn.
    pub init: Init,
}

impl Default for FsgnnConfig {
    fn default() -> Self {
        Self { hidden: 64, order: 3, normalize_rows: true, dropout: 0.5, init: Init::Glorot }
    }
}

impl Architecture for FsgnnConfig {
    const INFO: ModelInfo = ModelInfo {
        name: "fsgnn",
        title: "FSGNN",
        summary: "channels of filtered features with a projection each, weighed by a softmax",
        source: "Maurya et al., Improving Graph Neural Networks with Simple Architecture Design, \
                 2021",
        direction: Direction::Ignored,
        operator: None,
        filter: None,
        training: TrainingDefaults { rate: 0.01, weight_decay: 1e-4, ..TrainingDefaults::MGC },
        tunable: &[
            Tunable::HIDDEN,
            whole("order", &[1, 2, 3, 5, 8]),
            Tunable::NORMALIZE_ROWS,
            Tunable::DROPOUT,
        ],
    };

    fn check(&self) -> Result<(), ModelError> {
        check_width("number of hidden units", self.hidden)?;
        check_count("order", self.order, 64, "from 1 to 64")?;
        check_dropout(self.dropout)
    }

    fn build<'a>(
        &self,
        _: &Engine,
        inputs: &Inputs<'a>,
    ) -> Result<Box<dyn Network + 'a>, ModelError> {
        let operators = [false, true].map(|self_loops| {
            operator_of(inputs, &OperatorConfig { self_loops, ..Default::default() })
        });
        let [plain, looped] = operators;
        let mut layout = Layout::default();
        let shape = Shape::real(inputs.features.cols(), self.hidden);
        let count = 1 + 2 * self.order;
        let channel = |c| layout.linear(&format!("channels.{c}"), shape, self.init);
        let channels: Vec<Linear> = (0..count).map(channel).collect();
        let weights = layout.given("channel_weights", Shape::real(1, count), vec![1.0; count]);
        let width = Shape::real(self.hidden * count, inputs.classes);
        let last = layout.linear("readout", width, self.init);
        let operators = [plain?, looped?];
        let model = Fsgnn { operators, channels, weights, last, config: self.clone() };
        Ok(Box::new(GraphNetwork::new(layout, model, inputs)))
    }
}

struct Fsgnn {
    operators: [MagneticOperator; 2],
    /// X, then the powers without self loops, then those with.
    channels: Vec<Linear>,
    weights: ParameterId,
    last: Linear,
    config: FsgnnConfig,
}

impl GraphModel for Fsgnn {
    fn steps(&self) -> Option<usize> {
        Some(self.config.order)
    }

    fn maps(&self, seen: &Arc<Neighbourhood>) -> Vec<MapSource> {
        let edges = |operator| MapSource::Edges(EdgeMatrix::operator(operator, seen));
        self.operators.iter().map(edges).collect()
    }

    fn logits(&self, trace: &mut Trace, view: &GraphView, mode: Mode) -> Var {
        let wanted = view.size(0);
        let weights = trace.parameter(self.weights);
        let weights = trace.softmax(weights);
        let mut parts = Vec::with_capacity(self.channels.len());
        for (c, channel) in self.channels.iter().enumerate() {
            // Channel 0 is X; 1 … K are powers without self loops, the others with.
            let power = if c == 0 { 0 } else { (c - 1) % self.config.order + 1 };
            let map = (c.saturating_sub(1)) / self.config.order;
            let weight = trace.parameter(channel.weight);
            let mut block = trace.map(&view.features, weight);
            block = trace.head(block, view.size(power));
            for k in (0..power).rev() {
                block = trace.map_head(&view.maps[map], block, view.size(k));
            }
            let block = trace.head(block, wanted);
            let mut block = channel.add_bias(trace, block);
            if self.config.normalize_rows {
                block = trace.normalize_rows(block);
            }
            parts.push(trace.scale_by(weights, c, block));
        }
        let all = trace.concatenate(&parts);
        let hidden = trace.activate(Activation::Relu, all);
        let hidden = mode.dropout(trace, hidden, self.config.dropout, 0);
        self.last.apply(trace, hidden)
    }
}
