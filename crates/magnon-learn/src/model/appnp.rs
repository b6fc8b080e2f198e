//! APPNP: predict, then propagate.

use super::error::{check_dropout, check_width};
use super::graph::{GraphModel, GraphNetwork, GraphView, operator};
use super::rows::filter_reach;
use super::tunable::Tunable;
use super::{
    Architecture, Direction, FilterNeed, Inputs, Mode, ModelError, ModelInfo, Network,
    OperatorNeed, Reach, TrainingDefaults,
};
use crate::nn::{Init, Layout, Linear, Trace, Var};
use magnon_core::compute::{Activation, Engine, Field, MapSource, Shape};
use magnon_core::filter::{Filter, FilterKind};
use magnon_core::operator::{EdgeMatrix, MagneticOperator, Neighbourhood};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// softmax(h(S)·Z) with Z = relu(XW⁰ + b⁰)W¹ + b¹; by default h is ten steps of personalised PageRank
/// with a restart of 0.1.
///
/// Steps are those of the paper, H ← (1 − α)SH + αZ from H = Z with the restart α: the last power has
/// the weight (1 − α)^K, which a series cut there would not give it.
///
/// Any filter and operator may take their place; of a complex result the real part is taken. Weight
/// decay acts on the first layer alone. Z is computed on the nodes that the training nodes can see.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `hidden` | 64 | width of the hidden layer | 1 to 65536 |
/// | `dropout` | 0.5 | share of each layer's input left out in training | [0, 1) |
/// | `init` | `glorot` | how weights are drawn | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AppnpConfig {
    /// Width of the hidden layer.
    pub hidden: usize,
    /// Share of each layer's input left out in training.
    pub dropout: f64,
    /// How weights are drawn.
    pub init: Init,
}

impl Default for AppnpConfig {
    fn default() -> Self {
        Self { hidden: 64, dropout: 0.5, init: Init::Glorot }
    }
}

impl Architecture for AppnpConfig {
    const INFO: ModelInfo = ModelInfo {
        name: "appnp",
        title: "APPNP",
        summary: "a plain network whose predictions are filtered, with any filter",
        source: "Klicpera et al., Predict then Propagate: Graph Neural Networks meet Personalized \
                 PageRank, 2019",
        direction: Direction::Charge,
        operator: Some(OperatorNeed::UNDIRECTED),
        filter: Some(FilterNeed {
            kind: FilterKind::Ppr,
            order: Some(10),
            alpha: Some(0.9),
            exact: false,
        }),
        training: TrainingDefaults { weight_decay: 5e-3, patience: 100, ..TrainingDefaults::MGC },
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
        filtered_after(inputs, Self::INFO.name, (self.hidden, self.dropout, self.init))
    }
}

/// A plain network whose predictions are filtered.
pub(super) fn filtered_after<'a>(
    inputs: &Inputs<'a>,
    model: &'static str,
    (hidden, dropout, init): (usize, f64, Init),
) -> Result<Box<dyn Network + 'a>, ModelError> {
    let operator = operator(inputs, model)?;
    let config = inputs.filter.ok_or(ModelError::Missing { model, what: "a filter" })?;
    let (domain, kind) = (operator.bounds(), operator.config().kind);
    let filter = config.build_steps(domain, kind)?;
    let mut layout = Layout::default();
    let network = Perceptron::declare(&mut layout, inputs, hidden, dropout, init);
    Ok(Box::new(GraphNetwork::new(layout, FilteredAfter { operator, filter, network }, inputs)))
}

/// relu(XW⁰ + b⁰)W¹ + b¹ with dropout on X and on the hidden layer.
pub(super) struct Perceptron {
    pub first: Linear,
    pub second: Linear,
    pub dropout: f64,
}

impl Perceptron {
    /// Declares the layers; weight decay acts on the first alone.
    pub fn declare(
        layout: &mut Layout,
        inputs: &Inputs,
        hidden: usize,
        dropout: f64,
        init: Init,
    ) -> Self {
        let first = Shape::real(inputs.features.cols(), hidden);
        let first = layout.linear("layers.0", first, init);
        let second = layout.linear("layers.1", Shape::real(hidden, inputs.classes), init);
        layout.without_decay(second.weight);
        second.bias.into_iter().for_each(|bias| layout.without_decay(bias));
        Self { first, second, dropout }
    }

    /// Z of the nodes that are seen.
    pub fn apply(&self, trace: &mut Trace, view: &GraphView, mode: Mode) -> Var {
        let weight = trace.parameter(self.first.weight);
        let features = mode.masked(trace, &view.features, self.dropout, 0);
        let product = features.times(trace, weight);
        let hidden = self.first.add_bias(trace, product);
        let hidden = trace.activate(Activation::Relu, hidden);
        let hidden = mode.dropout(trace, hidden, self.dropout, 1);
        self.second.apply(trace, hidden)
    }
}

struct FilteredAfter {
    operator: MagneticOperator,
    filter: Filter,
    network: Perceptron,
}

impl GraphModel for FilteredAfter {
    fn steps(&self) -> Option<usize> {
        self.filter.order()
    }

    fn reach(&self) -> Reach {
        filter_reach(&self.operator, &self.filter)
    }

    fn maps(&self, seen: &Arc<Neighbourhood>) -> Vec<MapSource> {
        let edges = EdgeMatrix::operator(&self.operator, seen);
        vec![MapSource::Filter { edges, series: self.filter.series().clone() }]
    }

    fn logits(&self, trace: &mut Trace, view: &GraphView, mode: Mode) -> Var {
        let z = self.network.apply(trace, view, mode);
        let filtered = trace.map(&view.maps[0], z);
        match trace.shape(filtered).field() {
            Field::Real => filtered,
            Field::Complex => trace.activate(Activation::RealPart, filtered),
        }
    }
}
