//! What every model is made of: an architecture, a network on data, and views of it.

use super::{MappedRows, ModelError, ModelInfo, SharedInputs};
use crate::nn::{Layout, NamedNumbers, Parameters, Tape, Trace, Var};
use magnon_core::compute::{DrawKey, Engine, Field, Map, Relabelling, Scalar};
use magnon_core::filter::FilterConfig;
use magnon_core::graph::DiGraph;
use magnon_core::matrix::Features;
use magnon_core::matrix::Matrix;
use magnon_core::operator::{Neighbourhood, OperatorConfig, Pattern};
use magnon_core::progress::Progress;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::sync::Arc;

/// The configuration of one model: what it is called, what it needs, and how it is built. One file
/// has one, and the table in [`model`](super) has a line for it.
pub trait Architecture:
    Clone + Debug + Default + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// What the model is.
    const INFO: ModelInfo;

    /// Checks every range.
    fn check(&self) -> Result<(), ModelError> {
        Ok(())
    }

    /// Refuses settings that a network over this field would ignore.
    fn suits(&self, _field: Field) -> Result<(), ModelError> {
        Ok(())
    }

    /// The configurations that are tried where this one leaves something open; none where it does not.
    fn alternatives(&self, _graph: &DiGraph, _features: &Features) -> Vec<Self> {
        Vec::new()
    }

    /// How much trained weights take from each of the model's inputs; empty where it does not weigh them.
    fn shares(&self, _weights: &[NamedNumbers]) -> Vec<InputShare> {
        Vec::new()
    }

    /// Builds the network on a graph with its features.
    fn build<'a>(
        &self,
        engine: &Engine,
        inputs: &Inputs<'a>,
    ) -> Result<Box<dyn Network + 'a>, ModelError>;
}

/// How much of its hidden layer a model takes from one of its inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputShare {
    /// The input, as in the configuration.
    pub name: String,
    /// The same in words.
    pub words: String,
    /// Its share of 1.
    pub share: f64,
}

/// What a network is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To be trained on so many training and validation nodes, in batches or not.
    Train {
        /// Training nodes.
        train: usize,
        /// Validation nodes.
        val: usize,
        /// Whether rows come in batches.
        batches: bool,
    },
    /// To be used with weights that are known.
    Predict,
}

/// What a model may look at.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// The graph.
    pub graph: &'a DiGraph,
    /// Its pattern, which all operators share.
    pub pattern: &'a Arc<Pattern>,
    /// Features of the nodes.
    pub features: &'a Features,
    /// Number of classes.
    pub classes: usize,
    /// The operator, where the model takes one.
    pub operator: Option<&'a OperatorConfig>,
    /// The filter, where the model takes one.
    pub filter: Option<&'a FilterConfig>,
    /// Filtered features from a file, in place of those computed.
    pub filtered: Option<&'a MappedRows>,
    /// What other networks on the same graph and features have computed.
    pub shared: Option<&'a SharedInputs>,
    /// The field that the network must be over, where its weights are known; otherwise that of the
    /// operator.
    pub field: Option<Field>,
    /// What for.
    pub purpose: Purpose,
    /// Told how much of the filtering is done.
    pub progress: &'a dyn Progress,
}

/// How far the logits of a node depend on the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// On nodes within so many steps; 0 for its own features alone.
    Hops(usize),
    /// On all nodes.
    Everything,
}

/// Whether a trace is for learning or for using what was learnt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Dropout is on; the key makes its draws.
    Train(DrawKey),
    /// Dropout is off.
    Evaluate,
}

impl Mode {
    /// The key of the model's `site`-th dropout; `None` where dropout is off.
    pub fn key(self, site: u32) -> Option<DrawKey> {
        match self {
            Self::Train(key) => Some(DrawKey { site, ..key }),
            Self::Evaluate => None,
        }
    }

    /// Dropout where it is on.
    pub fn dropout(self, trace: &mut Trace, x: Var, rate: f64, site: u32) -> Var {
        match self.key(site) {
            Some(key) => trace.dropout(x, rate, key),
            None => x,
        }
    }

    /// The fixed numbers of M with dropout, where it is on.
    pub fn masked(self, trace: &mut Trace, map: &Arc<Map>, rate: f64, site: u32) -> Masked {
        let key = self.key(site).filter(|_| rate > 0.0);
        Masked { map: map.clone(), mask: key.map(|key| trace.mask_map(map, rate, key)) }
    }
}

/// Fixed features, some of which may be dropped.
pub struct Masked {
    map: Arc<Map>,
    mask: Option<Var>,
}

impl Masked {
    /// M·X.
    pub fn times(&self, trace: &mut Trace, x: Var) -> Var {
        match self.mask {
            Some(mask) => trace.map_masked(&self.map, mask, x),
            None => trace.map(&self.map, x),
        }
    }
}

/// Wall time of building a network, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuildSeconds {
    /// Building operators.
    pub operator: f64,
    /// Filtering features.
    pub propagate: f64,
}

/// A model on a graph with its features: everything but the trained numbers, so that runs with other
/// seeds share it.
pub trait Network: Send + Sync {
    /// The parameters.
    fn layout(&self) -> &Layout;
    /// Prepares what the logits of `nodes`, each named once, need.
    fn view(&self, engine: &Engine, nodes: &[u32]) -> Result<Box<dyn View>, ModelError>;
    /// Views of training and validation nodes that go through the same trace; they may share what they see.
    fn views(&self, engine: &Engine, parts: [&[u32]; 2]) -> Result<[Box<dyn View>; 2], ModelError> {
        let [train, val] = parts;
        Ok([self.view(engine, train)?, self.view(engine, val)?])
    }
    /// How far a node sees.
    fn reach(&self) -> Reach;
    /// How many nodes a view of some of them works on, where its steps are more than a function of the rows
    /// of each node; then a view of all nodes serves any split.
    fn seen(&self, _nodes: &[u32]) -> Option<usize> {
        None
    }
    /// The places that all nodes and their features have in a view of some: a view of all nodes draws the
    /// same with them. `None` where they have their own.
    fn places(&self, _nodes: &[u32]) -> Option<Relabelling> {
        None
    }
    /// The network as a classifier of single rows, which can be trained in batches; `None` where rows were never
    /// computed.
    fn by_rows(&self) -> Option<&dyn RowClassifier> {
        None
    }
    /// In which order products with X̄ are made, where the model has X̄.
    fn order(&self) -> Option<super::ProductOrder> {
        None
    }
    /// What building took.
    fn seconds(&self) -> BuildSeconds {
        BuildSeconds::default()
    }
    /// Log-probabilities of the classes, one row for each of `nodes`, or for all nodes.
    fn predict(
        &self,
        engine: &Engine,
        parameters: &Parameters,
        nodes: Option<&[u32]>,
    ) -> Result<Matrix<f32>, ModelError>;
}

/// A network with what the logits of some nodes need.
pub trait View: Send + Sync {
    /// What the views of one network share in a trace.
    fn begin(&self, _trace: &mut Trace) -> Option<Var> {
        None
    }
    /// The maps that views of other nodes have others of, in order; `None` where they differ in more.
    fn maps(&self) -> Option<Vec<Arc<Map>>> {
        None
    }
    /// The same view with other maps in place of [`maps`](Self::maps).
    fn with_maps(&self, _maps: Vec<Arc<Map>>) -> Option<Box<dyn View>> {
        None
    }
    /// One row of logits for each node, one column for each class.
    fn logits(&self, trace: &mut Trace, shared: Option<Var>, mode: Mode) -> Var;
}

/// What the numbers of a batch are gathered in, kept from batch to batch.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// One row, as it is stored.
    pub(super) row: Vec<f32>,
    /// All of them.
    pub(super) numbers: Vec<f32>,
}

impl Gathered {
    /// Bytes that it holds.
    pub fn bytes(&self) -> usize {
        (self.row.capacity() + self.numbers.capacity()) * size_of::<f32>()
    }
}

/// A network that classifies a node by numbers of its own, without a look at other nodes in a step.
pub trait RowClassifier: Send + Sync {
    /// Logits of some nodes, whose numbers are `gathered` first.
    fn logits_of(
        &self,
        trace: &mut Trace,
        nodes: &[u32],
        gathered: &mut Gathered,
        mode: Mode,
    ) -> Result<Var, ModelError>;
}

/// The log-probabilities of a view.
pub(super) fn evaluate(
    engine: &Engine,
    parameters: &Parameters,
    view: &dyn View,
) -> Result<Matrix<f32>, ModelError> {
    let mut tape = Tape::new(engine);
    let mut trace = tape.trace(parameters);
    let shared = view.begin(&mut trace);
    let logits = view.logits(&mut trace, shared, Mode::Evaluate);
    log_probabilities(engine, &mut trace, logits)
}

/// Log-softmax of logits, as a matrix.
pub(super) fn log_probabilities(
    engine: &Engine,
    trace: &mut Trace,
    logits: Var,
) -> Result<Matrix<f32>, ModelError> {
    let logits = trace.log_softmax(logits);
    let shape = trace.shape(logits);
    let mut numbers = vec![0f32; shape.len()];
    engine.download(trace.value(logits)?, &mut numbers)?;
    let numbers = numbers.into_iter().map(|x| x.to_f64() as f32).collect();
    let table = Matrix::from_vec(shape.rows(), shape.cols(), numbers);
    Ok(table.unwrap_or_else(|_| Matrix::zeros(0, shape.cols())))
}

/// The places in a neighbourhood, those that it does not see behind the others.
pub(super) fn places_in(seen: &Neighbourhood, features: &Features) -> Relabelling {
    const UNSEEN: u32 = u32::MAX;
    let mut nodes = vec![UNSEEN; features.rows()];
    let mut order: Vec<usize> = seen.nodes().collect();
    order.iter().zip(0..).for_each(|(&u, place)| nodes[u] = place);
    order.extend((0..features.rows()).filter(|&u| nodes[u] == UNSEEN));
    order.iter().zip(0..).for_each(|(&u, place)| nodes[u] = place);
    let mut entries = Vec::new();
    if let Features::Sparse(x) = features {
        let mut starts = vec![0; features.rows()];
        let mut next = 0u32;
        for &u in &order {
            starts[u] = next;
            next += x.row(u).0.len() as u32;
        }
        for (u, start) in starts.into_iter().enumerate() {
            entries.extend(start..start + x.row(u).0.len() as u32);
        }
    }
    Relabelling { nodes, entries }
}

/// The nodes that are meant: some, or all.
pub(super) fn named(nodes: Option<&[u32]>, all: usize) -> std::borrow::Cow<'_, [u32]> {
    match nodes {
        Some(nodes) => nodes.into(),
        None => (0..all as u32).collect::<Vec<_>>().into(),
    }
}
