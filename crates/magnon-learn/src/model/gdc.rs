//! GDC: a GCN on a diffusion of the graph, made sparse.

use super::error::{check_count, check_dropout, check_width};
use super::gcn::{GcnConfig, convolutions};
use super::graph::{GraphModel, GraphNetwork, GraphView, operator};
use super::network::BuildSeconds;
use super::tunable::{Tunable, numbers, whole};
use super::{
    Architecture, Direction, Inputs, Mode, ModelError, ModelInfo, Network, OperatorNeed, Reach,
    TrainingDefaults,
};
use crate::nn::{Init, Linear, Trace, Var};
use magnon_core::compute::{Engine, MapSource};
use magnon_core::filter::{Accuracy, Filter, Propagated, propagate};
use magnon_core::graph::{GraphBuilder, SelfLoops};
use magnon_core::matrix::Features;
use magnon_core::matrix::SparseMatrix;
use magnon_core::operator::{Along, EdgeMatrix, MagneticOperator, Neighbourhood, Pattern};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Instant;

macro_rules! gdc_config {
    ($name:ident, $doc:literal, $key:ident, $key_doc:literal, $default:expr) => {
        #[doc = $doc]
        ///
        /// The largest entries of each column are kept, and the result is divided by the square roots
        /// of its row sums on both sides. Columns are diffused a few hundred at a time: memory is
        /// 4 bytes × nodes × 256 for those, and a multiple of the entries that are kept.
        ///
        /// | name | default | purpose | range |
        /// |---|---|---|---|
        #[doc = concat!("| `", stringify!($key), "` | ", stringify!($default), " | ", $key_doc, " | |")]
        /// | `top_k` | 64 | entries kept in each column | 1 to 65536 |
        /// | `hidden` | 64 | width of the hidden layers | 1 to 65536 |
        /// | `layers` | 2 | number of layers | 1 to 64 |
        /// | `dropout` | 0.5 | share of each layer's input left out in training | [0, 1) |
        /// | `init` | `glorot` | how weights are drawn | |
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            #[doc = $key_doc]
            pub $key: f64,
            /// Entries kept in each column.
            pub top_k: usize,
            /// Width of the hidden layers.
            pub hidden: usize,
            /// Number of layers.
            pub layers: usize,
            /// Share of each layer's input left out in training.
            pub dropout: f64,
            /// How weights are drawn.
            pub init: Init,
        }

        impl Default for $name {
            fn default() -> Self {
                let GcnConfig { layers, dropout, init, .. } = GcnConfig::default();
                Self { $key: $default, top_k: 64, hidden: 64, layers, dropout, init }
            }
        }

        impl $name {
            fn check_common(&self) -> Result<(), ModelError> {
                check_width("number of hidden units", self.hidden)?;
                check_width("number of entries kept", self.top_k)?;
                check_count("number of layers", self.layers, 64, "from 1 to 64")?;
                check_dropout(self.dropout)
            }

            fn gcn(&self) -> GcnConfig {
                let Self { hidden, layers, dropout, init, .. } = *self;
                GcnConfig { hidden, layers, dropout, init }
            }
        }
    };
}

gdc_config!(
    GdcPprConfig,
    "A GCN on the personalised PageRank α(I − (1 − α)S)^{-1} of the undirected graph.",
    restart,
    "restart α, above 0 and below 1",
    0.15
);
gdc_config!(
    GdcHkprConfig,
    "A GCN on the heat kernel e^{−t(I − S)} of the undirected graph.",
    time,
    "diffusion time t, above 0",
    5.0
);

const NEED: OperatorNeed =
    OperatorNeed { open: &["symmetrize", "self_loops", "normalize"], ..OperatorNeed::UNDIRECTED };
const SOURCE: &str = "Klicpera et al., Diffusion Improves Graph Learning, 2019";
const TRAINING: TrainingDefaults =
    TrainingDefaults { rate: 0.01, weight_decay: 5e-4, ..TrainingDefaults::MGC };
const TOP_K: Tunable = whole("top_k", &[16, 32, 64, 128]);
/// How closely the diffusion is followed: far below the entries that are kept.
const ACCURACY: Accuracy = Accuracy::Tolerance(1e-5);

impl Architecture for GdcPprConfig {
    const INFO: ModelInfo = ModelInfo {
        name: "gdc-ppr",
        title: "GDC(PPR)-GCN",
        summary: "a GCN on the graph's personalised PageRank, made sparse",
        source: SOURCE,
        direction: Direction::Ignored,
        operator: Some(NEED),
        filter: None,
        training: TRAINING,
        tunable: &[
            Tunable::HIDDEN,
            numbers("restart", &[0.05, 0.15, 0.3, 0.6, 0.9]),
            TOP_K,
            Tunable::DROPOUT,
        ],
    };

    fn check(&self) -> Result<(), ModelError> {
        self.check_common()?;
        match self.restart > 0.0 && self.restart < 1.0 {
            true => Ok(()),
            false => Err(ModelError::OutOfRange {
                name: "restart",
                value: self.restart,
                range: "above 0 and below 1",
            }),
        }
    }

    fn build<'a>(
        &self,
        _: &Engine,
        inputs: &Inputs<'a>,
    ) -> Result<Box<dyn Network + 'a>, ModelError> {
        build(inputs, Self::INFO.name, &self.gcn(), self.top_k, |operator| {
            let kind = operator.config().kind;
            Ok(Filter::page_rank(1.0 - self.restart, operator.bounds(), kind, ACCURACY)?)
        })
    }
}

impl Architecture for GdcHkprConfig {
    const INFO: ModelInfo = ModelInfo {
        name: "gdc-hkpr",
        title: "GDC(HKPR)-GCN",
        summary: "a GCN on the graph's heat kernel, made sparse",
        source: SOURCE,
        direction: Direction::Ignored,
        operator: Some(NEED),
        filter: None,
        training: TRAINING,
        tunable: &[
            Tunable::HIDDEN,
            numbers("time", &[0.5, 1.0, 3.0, 5.0, 10.0]),
            TOP_K,
            Tunable::DROPOUT,
        ],
    };

    fn check(&self) -> Result<(), ModelError> {
        self.check_common()?;
        match self.time > 0.0 && self.time.is_finite() {
            true => Ok(()),
            false => Err(ModelError::OutOfRange {
                name: "diffusion time",
                value: self.time,
                range: "above 0 and finite",
            }),
        }
    }

    fn build<'a>(
        &self,
        _: &Engine,
        inputs: &Inputs<'a>,
    ) -> Result<Box<dyn Network + 'a>, ModelError> {
        build(inputs, Self::INFO.name, &self.gcn(), self.top_k, |operator| {
            let kind = operator.config().kind;
            Ok(Filter::heat(self.time, operator.bounds(), kind, ACCURACY)?)
        })
    }
}

fn build<'a>(
    inputs: &Inputs<'a>,
    model: &'static str,
    gcn: &GcnConfig,
    top_k: usize,
    filter: impl FnOnce(&MagneticOperator) -> Result<Filter, ModelError>,
) -> Result<Box<dyn Network + 'a>, ModelError> {
    let start = Instant::now();
    let operator = operator(inputs, model)?;
    let diffusion = diffuse(&operator, &filter(&operator)?, top_k, inputs)?;
    let pattern = pattern_of(&diffusion)?;
    let (layout, layers) = gcn.layers(inputs);
    let seconds = BuildSeconds { operator: 0.0, propagate: start.elapsed().as_secs_f64() };
    let model = Diffused { pattern: pattern.clone(), layers, dropout: gcn.dropout };
    Ok(Box::new(GraphNetwork::on(pattern, layout, model, inputs).taking(seconds)))
}

/// Columns that are diffused at a time.
const COLUMNS: usize = 256;

/// h(S) with the `top_k` largest entries of each column, divided by the square roots of the row sums.
fn diffuse(
    operator: &MagneticOperator,
    filter: &Filter,
    top_k: usize,
    inputs: &Inputs,
) -> Result<SparseMatrix, ModelError> {
    let n = operator.nodes();
    let mut entries: Vec<(usize, u32, f32)> = Vec::new();
    for first in (0..n).step_by(COLUMNS) {
        let count = COLUMNS.min(n - first);
        let units = (0..count).map(|c| (first + c, c as u32, 1.0));
        let Ok(units) = SparseMatrix::from_triplets(n, count, units) else {
            unreachable!("every node is one of the graph")
        };
        let block = propagate(operator, filter, &Features::Sparse(units), &())?;
        let Propagated::Real(block) = block else {
            unreachable!("the operator of an undirected graph is real")
        };
        let mut column: Vec<(u32, f32)> = Vec::with_capacity(n);
        for c in 0..count {
            column.clear();
            let cells = (0..n).map(|u| (u as u32, block.row(u)[c]));
            column.extend(cells.filter(|&(_, x)| x > 0.0));
            // By falling size, and by node where they are equal, so that the choice is one of the
            // graph alone.
            let order = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
            if column.len() > top_k {
                column.select_nth_unstable_by(top_k - 1, order);
                column.truncate(top_k);
            }
            let v = (first + c) as u32;
            entries.extend(column.iter().map(|&(u, x)| (u as usize, v, x)));
        }
        inputs.progress.step(first + count, n, "diffusion");
    }
    let mut sums = vec![0.0f64; n];
    entries.iter().for_each(|&(u, _, x)| sums[u] += f64::from(x));
    let factor = |u: usize| if sums[u] > 0.0 { sums[u].sqrt().recip() } else { 0.0 };
    let scaled = entries
        .iter()
        .map(|&(u, v, x)| (u, v, (factor(u) * f64::from(x) * factor(v as usize)) as f32));
    let matrix = SparseMatrix::from_triplets(n, n, scaled);
    let Ok(matrix) = matrix else { unreachable!("every entry is within the graph") };
    Ok(matrix)
}

/// The pattern of a square matrix, its entries as weights.
pub(super) fn pattern_of(matrix: &SparseMatrix) -> Result<Arc<Pattern>, ModelError> {
    let edges = (0..matrix.rows()).flat_map(|u| {
        let (columns, values) = matrix.row(u);
        columns.iter().zip(values).map(move |(&v, &x)| (u as u32, v, x))
    });
    let builder = GraphBuilder::new(matrix.rows()).self_loops(SelfLoops::Keep);
    let built = builder.weighted_edges(edges).build();
    let Ok(built) = built else { unreachable!("every edge is within the graph") };
    let pattern = Pattern::new(&built.graph).map_err(magnon_core::operator::OperatorError::from)?;
    Ok(Arc::new(pattern))
}

/// The matrices of some patterns among the nodes that are seen.
pub(super) fn matrices(patterns: &[Arc<Pattern>], seen: &Neighbourhood) -> Vec<MapSource> {
    let map = |pattern: &Arc<Pattern>| {
        let ones = vec![1.0; pattern.nodes()];
        let among = Arc::new(seen.over(pattern));
        MapSource::Edges(EdgeMatrix::adjacency(Along::Out, &ones, &ones, &among))
    };
    patterns.iter().map(map).collect()
}

/// A GCN over a matrix of its own.
struct Diffused {
    pattern: Arc<Pattern>,
    layers: Vec<Linear>,
    dropout: f64,
}

impl GraphModel for Diffused {
    fn steps(&self) -> Option<usize> {
        Some(self.layers.len())
    }

    /// The diffusion moves with every edge.
    fn reach(&self) -> Reach {
        Reach::Everything
    }

    fn maps(&self, seen: &Arc<Neighbourhood>) -> Vec<MapSource> {
        matrices(std::slice::from_ref(&self.pattern), seen)
    }

    fn logits(&self, trace: &mut Trace, view: &GraphView, mode: Mode) -> Var {
        convolutions(trace, view, &self.layers, self.dropout, mode)
    }
}
