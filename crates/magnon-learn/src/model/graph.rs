//! `GraphNetwork`: networks that propagate inside of training.
//!
//! The logits of some nodes depend on the nodes within a number of steps. A view numbers those
//! nearest first, so that every layer works on a prefix of the rows that the layer before has made:
//! an L-layer model computes its first layer on the nodes within L − 1 steps of the training nodes,
//! the last one on the training nodes alone.

use super::network::{BuildSeconds, evaluate, named, places_in};
use super::rows::feature_rows;
use super::{Inputs, Mode, ModelError, Network, Reach, View};
use crate::nn::{Layout, Parameters, Trace, Var};
use magnon_core::compute::{Engine, Map, MapSource, Relabelling};
use magnon_core::matrix::Features;
use magnon_core::matrix::{Matrix, SparseMatrix};
use magnon_core::operator::{MagneticOperator, Neighbourhood, OperatorConfig, Pattern};
use std::sync::Arc;

/// The layers of a model that propagates inside of training.
pub trait GraphModel: Send + Sync {
    /// Steps over the network's pattern that a row looks away; `None` where it sees everything.
    fn steps(&self) -> Option<usize>;
    /// How far a node sees in the graph: as many steps, where the network's pattern is that of the
    /// graph.
    fn reach(&self) -> Reach {
        self.steps().map_or(Reach::Everything, Reach::Hops)
    }
    /// The fixed maps among the nodes that are seen.
    fn maps(&self, seen: &Arc<Neighbourhood>) -> Vec<MapSource>;
    /// Logits of the first rows of a view.
    fn logits(&self, trace: &mut Trace, view: &GraphView, mode: Mode) -> Var;
}

/// What a [`GraphModel`] sees.
pub struct GraphView {
    /// Features of the nodes that are seen, as a map.
    pub features: Arc<Map>,
    /// The model's maps.
    pub maps: Vec<Arc<Map>>,
    seen: Arc<Neighbourhood>,
}

impl GraphView {
    /// Nodes within so many steps of those whose logits are wanted.
    pub fn size(&self, steps: usize) -> usize {
        self.seen.size(steps)
    }
}

/// A graph model on data.
pub struct GraphNetwork<'a, M> {
    layout: Layout,
    model: Arc<M>,
    pattern: Arc<Pattern>,
    features: &'a Features,
    seconds: BuildSeconds,
}

impl<'a, M: GraphModel> GraphNetwork<'a, M> {
    /// Puts a model on the graph of `inputs`.
    pub fn new(layout: Layout, model: M, inputs: &Inputs<'a>) -> Self {
        Self::on(inputs.pattern.clone(), layout, model, inputs)
    }

    /// Puts a model on another graph of the same nodes, such as a diffusion of the first.
    pub fn on(pattern: Arc<Pattern>, layout: Layout, model: M, inputs: &Inputs<'a>) -> Self {
        let (model, features) = (Arc::new(model), inputs.features);
        Self { layout, model, pattern, features, seconds: BuildSeconds::default() }
    }

    /// Notes what building took.
    pub fn taking(mut self, seconds: BuildSeconds) -> Self {
        self.seconds = seconds;
        self
    }
}

impl<M: GraphModel + 'static> Network for GraphNetwork<'_, M> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn view(&self, engine: &Engine, nodes: &[u32]) -> Result<Box<dyn View>, ModelError> {
        let (seen, selection) = match self.model.steps() {
            Some(steps) => (Arc::new(Neighbourhood::new(&self.pattern, nodes, steps)), None),
            None => {
                let all = self.pattern.nodes();
                let units = nodes.iter().enumerate().map(|(row, &node)| (row, node, 1.0));
                let selection = SparseMatrix::from_triplets(nodes.len(), all, units);
                let everyone_in_order = nodes.iter().copied().eq(0..all as u32);
                let selection = selection.ok().filter(|_| !everyone_in_order);
                (Arc::new(Neighbourhood::everyone(&self.pattern)), selection)
            }
        };
        let prepare = |map| engine.prepare(map).map(Arc::new);
        let rows: Vec<usize> = seen.nodes().collect();
        let features = prepare(feature_rows(self.features, rows.iter().copied()))?;
        let maps = self.model.maps(&seen).into_iter().map(prepare).collect::<Result<_, _>>()?;
        let selection = selection.map(MapSource::Sparse).map(prepare).transpose()?;
        let view = GraphView { features, maps, seen };
        Ok(Box::new(Bound { model: self.model.clone(), view, selection }))
    }

    fn reach(&self) -> Reach {
        self.model.reach()
    }

    fn seen(&self, nodes: &[u32]) -> Option<usize> {
        Some(match self.model.steps() {
            Some(steps) => self.pattern.within(nodes, steps).len(),
            None => self.pattern.nodes(),
        })
    }

    fn places(&self, nodes: &[u32]) -> Option<Relabelling> {
        let seen = Neighbourhood::new(&self.pattern, nodes, self.model.steps()?);
        Some(places_in(&seen, self.features))
    }

    fn seconds(&self) -> BuildSeconds {
        self.seconds
    }

    fn predict(
        &self,
        engine: &Engine,
        parameters: &Parameters,
        nodes: Option<&[u32]>,
    ) -> Result<Matrix<f32>, ModelError> {
        let nodes = named(nodes, self.pattern.nodes());
        evaluate(engine, parameters, self.view(engine, &nodes)?.as_ref())
    }
}

/// A model with a view.
struct Bound<M> {
    model: Arc<M>,
    view: GraphView,
    /// The rows that are wanted, where all were computed.
    selection: Option<Arc<Map>>,
}

impl<M: GraphModel> View for Bound<M> {
    fn logits(&self, trace: &mut Trace, _: Option<Var>, mode: Mode) -> Var {
        let logits = self.model.logits(trace, &self.view, mode);
        match &self.selection {
            Some(selection) => trace.map(selection, logits),
            None => logits,
        }
    }
}

/// The operator that a model takes.
pub fn operator(inputs: &Inputs, model: &'static str) -> Result<MagneticOperator, ModelError> {
    let missing = ModelError::Missing { model, what: "an operator" };
    operator_of(inputs, inputs.operator.ok_or(missing)?)
}

/// An operator on the pattern of the inputs.
pub(super) fn operator_of(
    inputs: &Inputs,
    config: &OperatorConfig,
) -> Result<MagneticOperator, ModelError> {
    Ok(MagneticOperator::from_pattern(inputs.pattern.clone(), config)?)
}
