//! LINKX: features and adjacency rows, embedded apart and mixed.

use super::error::{check_dropout, check_width};
use super::network::{evaluate, named};
use super::rows::feature_rows;
use super::tunable::Tunable;
use super::{
    Architecture, Direction, Inputs, Mode, ModelError, ModelInfo, Network, Reach, TrainingDefaults,
    View,
};
use crate::nn::{Init, Layout, Linear, Parameters, Trace, Var};
use magnon_core::compute::{Activation, Engine, Map, MapSource, Shape};
use magnon_core::graph::DiGraph;
use magnon_core::matrix::Features;
use magnon_core::matrix::{Matrix, SparseMatrix};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// h_A = A·W_A + b_A, h_X = X·W_X + b_X, softmax(relu([h_A, h_X]·W + b + h_A + h_X)·W¹ + b¹).
///
/// A row of A is a node's own edges out, so a step needs the rows of its training nodes alone. W_A
/// has a row for each node: the model does not carry over to a graph with other nodes.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `hidden` | 64 | width of the embeddings | 1 to 65536 |
/// | `dropout` | 0.5 | share of the mixed layer left out in training | [0, 1) |
/// | `init` | `glorot` | how weights are drawn | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinkxConfig {
    /// Width of the embeddings.
    pub hidden: usize,
    /// Share of the mixed layer left out in training.
    pub dropout: f64,
    /// How weights are drawn.
    pub init: Init,
}

impl Default for LinkxConfig {
    fn default() -> Self {
        Self { hidden: 64, dropout: 0.5, init: Init::Glorot }
    }
}

impl Architecture for LinkxConfig {
    const INFO: ModelInfo = ModelInfo {
        name: "linkx",
        title: "LINKX",
        summary: "a plain network on features and rows of the adjacency",
        source: "Lim et al., Large Scale Learning on Non-Homophilous Graphs, 2021",
        direction: Direction::InAndOut,
        operator: None,
        filter: None,
        training: TrainingDefaults { rate: 0.01, weight_decay: 1e-3, ..TrainingDefaults::MGC },
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
        let mut layout = Layout::default();
        let hidden = self.hidden;
        let mut layer = |name: &str, rows: usize, cols: usize| {
            layout.linear(name, Shape::real(rows, cols), self.init)
        };
        let layers = Layers {
            edges: layer("edges", inputs.graph.nodes(), hidden),
            features: layer("features", inputs.features.cols(), hidden),
            mix: layer("mix", 2 * hidden, hidden),
            last: layer("readout", hidden, inputs.classes),
            dropout: self.dropout,
        };
        let (graph, features) = (inputs.graph, inputs.features);
        Ok(Box::new(Linkx { layout, layers, graph, features }))
    }
}

#[derive(Clone, Copy)]
struct Layers {
    edges: Linear,
    features: Linear,
    mix: Linear,
    last: Linear,
    dropout: f64,
}

struct Linkx<'a> {
    layout: Layout,
    layers: Layers,
    graph: &'a DiGraph,
    features: &'a Features,
}

impl Network for Linkx<'_> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn view(&self, engine: &Engine, nodes: &[u32]) -> Result<Box<dyn View>, ModelError> {
        let entries = nodes.iter().enumerate().flat_map(|(row, &u)| {
            let weights = self.graph.weights(u as usize);
            let targets = self.graph.targets(u as usize).iter().enumerate();
            targets.map(move |(k, &v)| (row, v, weights.map_or(1.0, |weights| weights[k])))
        });
        let rows = SparseMatrix::from_triplets(nodes.len(), self.graph.nodes(), entries);
        let Ok(rows) = rows else { unreachable!("every target is a node of the graph") };
        let edges = Arc::new(engine.prepare(MapSource::Sparse(rows))?);
        let each = nodes.iter().map(|&u| u as usize);
        let features = Arc::new(engine.prepare(feature_rows(self.features, each))?);
        Ok(Box::new(LinkxView { edges, features, layers: self.layers }))
    }

    fn reach(&self) -> Reach {
        Reach::Hops(0)
    }

    fn predict(
        &self,
        engine: &Engine,
        parameters: &Parameters,
        nodes: Option<&[u32]>,
    ) -> Result<Matrix<f32>, ModelError> {
        let nodes = named(nodes, self.graph.nodes());
        evaluate(engine, parameters, self.view(engine, &nodes)?.as_ref())
    }
}

struct LinkxView {
    edges: Arc<Map>,
    features: Arc<Map>,
    layers: Layers,
}

impl View for LinkxView {
    fn maps(&self) -> Option<Vec<Arc<Map>>> {
        Some(vec![self.edges.clone(), self.features.clone()])
    }

    fn with_maps(&self, maps: Vec<Arc<Map>>) -> Option<Box<dyn View>> {
        let [edges, features] = maps.try_into().ok()?;
        Some(Box::new(Self { edges, features, layers: self.layers }))
    }

    fn logits(&self, trace: &mut Trace, _: Option<Var>, mode: Mode) -> Var {
        let Layers { edges, features, mix, last, dropout } = self.layers;
        let mut embed = |layer: Linear, map: &Arc<Map>| {
            let weight = trace.parameter(layer.weight);
            let product = trace.map(map, weight);
            layer.add_bias(trace, product)
        };
        let (a, x) = (embed(edges, &self.edges), embed(features, &self.features));
        let both = trace.concatenate(&[a, x]);
        let mixed = mix.apply(trace, both);
        let sum = trace.sum(&[(1.0, mixed), (1.0, a), (1.0, x)]);
        let hidden = trace.activate(Activation::Relu, sum);
        let hidden = mode.dropout(trace, hidden, dropout, 0);
        last.apply(trace, hidden)
    }
}
