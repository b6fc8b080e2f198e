//! Dir-GNN: separate aggregation over the edges out and the edges in.

use super::error::{check_count, check_dropout, check_share, check_width};
use super::graph::{GraphModel, GraphNetwork, GraphView};
use super::tunable::{Tunable, Values};
use super::{
    Architecture, Direction, Inputs, Mode, ModelError, ModelInfo, Network, TrainingDefaults,
};
use crate::nn::{Init, Layout, Linear, Trace, Var};
use magnon_core::compute::{Activation, Engine, MapSource, Shape};
use magnon_core::graph::DiGraph;
use magnon_core::operator::{Along, EdgeMatrix, Neighbourhood};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What the layers hand to the classifier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum JumpingKnowledge {
    /// The last layer alone.
    None,
    /// All layers side by side.
    #[default]
    Cat,
    /// The largest of all layers, entry by entry.
    Max,
}

/// H^{l+1} = relu(α·P·H^l·W_out + (1 − α)·Pᵀ·H^l·W_in + b) with P = D_out^{-1/2} A D_in^{-1/2}, and a
/// linear layer on what the layers hand on.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `hidden` | 64 | width of the layers | 1 to 65536 |
/// | `layers` | 2 | number of layers | 1 to 16 |
/// | `alpha` | 0.5 | share of the edges out against those in | [0, 1] |
/// | `jumping_knowledge` | `cat` | what the layers hand on | `none`, `cat`, `max` |
/// | `normalize_rows` | false | whether rows are scaled to norm 1 after each layer | |
/// | `dropout` | 0.5 | share of each layer left out in training | [0, 1) |
/// | `init` | `glorot` | how weights are drawn | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DirgnnConfig {
    /// Width of the layers.
    pub hidden: usize,
    /// Number of layers.
    pub layers: usize,
    /// Share of the edges out against those in.
    pub alpha: f64,
    /// What the layers hand on.
    pub jumping_knowledge: JumpingKnowledge,
    /// Whether rows are scaled to norm 1 after each layer.
    pub normalize_rows: bool,
    /// Share of each layer left out in training.
    pub dropout: f64,
    /// How weights are drawn.
    pub init: Init,
}

impl Default for DirgnnConfig {
    fn default() -> Self {
        Self {
            hidden: 64,
            layers: 2,
            alpha: 0.5,
            jumping_knowledge: JumpingKnowledge::Cat,
            normalize_rows: false,
            dropout: 0.5,
            init: Init::Glorot,
        }
    }
}

impl Architecture for DirgnnConfig {
    const INFO: ModelInfo = ModelInfo {
        name: "dirgnn",
        title: "Dir-GNN",
        summary: "layers that average over the edges out and in separately",
        source: "Rossi et al., Edge Directionality Improves Learning on Heterophilic Graphs, 2023",
        direction: Direction::InAndOut,
        operator: None,
        filter: None,
        training: TrainingDefaults { rate: 0.01, weight_decay: 0.0, ..TrainingDefaults::MGC },
        tunable: &[
            Tunable::HIDDEN,
            Tunable::LAYERS,
            Tunable::SHARE,
            Tunable { key: "jumping_knowledge", values: Values::Words(&["none", "cat", "max"]) },
            Tunable::NORMALIZE_ROWS,
            Tunable::DROPOUT,
        ],
    };

    fn check(&self) -> Result<(), ModelError> {
        check_width("number of hidden units", self.hidden)?;
        check_count("number of layers", self.layers, 16, "from 1 to 16")?;
        check_share("share of the edges out", self.alpha)?;
        check_dropout(self.dropout)
    }

    fn build<'a>(
        &self,
        _: &Engine,
        inputs: &Inputs<'a>,
    ) -> Result<Box<dyn Network + 'a>, ModelError> {
        let mut layout = Layout::default();
        let mut layer = |l: usize| {
            let inputs = if l == 0 { inputs.features.cols() } else { self.hidden };
            let shape = Shape::real(inputs, self.hidden);
            ["out", "in"].map(|way| layout.linear(&format!("layers.{l}.{way}"), shape, self.init))
        };
        let layers: Vec<[Linear; 2]> = (0..self.layers).map(&mut layer).collect();
        let width = match self.jumping_knowledge {
            JumpingKnowledge::Cat => self.hidden * self.layers,
            _ => self.hidden,
        };
        let last = layout.linear("readout", Shape::real(width, inputs.classes), self.init);
        let adjacency = InAndOut::new(inputs.graph, 0.5);
        let model = Dirgnn { adjacency, layers, last, config: self.clone() };
        Ok(Box::new(GraphNetwork::new(layout, model, inputs)))
    }
}

/// P = D_out^{-e} A D_in^{-e} and its transpose.
pub(super) struct InAndOut {
    /// D_out^{-e}.
    pub left: Vec<f64>,
    /// D_in^{-e}.
    pub right: Vec<f64>,
}

impl InAndOut {
    pub fn new(graph: &DiGraph, exponent: f64) -> Self {
        let factors = |graph: &DiGraph| -> Vec<f64> {
            let degree = |u: usize| match graph.weights(u) {
                Some(weights) => weights.iter().map(|&w| f64::from(w.abs())).sum(),
                None => graph.out_degree(u) as f64,
            };
            let factor = |degree: f64| if degree > 0.0 { degree.powf(-exponent) } else { 0.0 };
            (0..graph.nodes()).map(|u| factor(degree(u))).collect()
        };
        Self { left: factors(graph), right: factors(&graph.transpose()) }
    }

    /// P and Pᵀ among the nodes that are seen.
    pub fn maps(&self, seen: &Arc<Neighbourhood>) -> Vec<MapSource> {
        let Self { left, right } = self;
        vec![
            MapSource::Edges(EdgeMatrix::adjacency(Along::Out, left, right, seen)),
            MapSource::Edges(EdgeMatrix::adjacency(Along::In, right, left, seen)),
        ]
    }
}

struct Dirgnn {
    adjacency: InAndOut,
    layers: Vec<[Linear; 2]>,
    last: Linear,
    config: DirgnnConfig,
}

impl GraphModel for Dirgnn {
    fn steps(&self) -> Option<usize> {
        Some(self.layers.len())
    }

    fn maps(&self, seen: &Arc<Neighbourhood>) -> Vec<MapSource> {
        self.adjacency.maps(seen)
    }

    fn logits(&self, trace: &mut Trace, view: &GraphView, mode: Mode) -> Var {
        let DirgnnConfig { alpha, dropout, .. } = self.config;
        let mut made: Vec<Var> = Vec::new();
        for (l, ways) in self.layers.iter().enumerate() {
            let rows = view.size(self.layers.len() - 1 - l);
            let input = made.last().copied();
            let mut sums = [None; 2];
            for ((way, map), sum) in ways.iter().zip(&view.maps).zip(&mut sums) {
                let weight = trace.parameter(way.weight);
                let product = match input {
                    None => trace.map(&view.features, weight),
                    Some(input) => trace.product(input, weight),
                };
                let spread = trace.map_head(map, product, rows);
                *sum = Some(way.add_bias(trace, spread));
            }
            let [Some(out), Some(back)] = sums else { unreachable!("both ways were walked") };
            let sum = trace.sum(&[(alpha, out), (1.0 - alpha, back)]);
            let mut hidden = trace.activate(Activation::Relu, sum);
            hidden = mode.dropout(trace, hidden, dropout, l as u32);
            if self.config.normalize_rows {
                hidden = trace.normalize_rows(hidden);
            }
            made.push(hidden);
        }
        let wanted = view.size(0);
        let heads: Vec<Var> = made.iter().map(|&layer| trace.head(layer, wanted)).collect();
        let handed = match self.config.jumping_knowledge {
            JumpingKnowledge::None => heads[heads.len() - 1],
            JumpingKnowledge::Cat => trace.concatenate(&heads),
            JumpingKnowledge::Max => {
                heads[1..].iter().fold(heads[0], |most, &layer| trace.maximum(most, layer))
            }
        };
        self.last.apply(trace, handed)
    }
}
