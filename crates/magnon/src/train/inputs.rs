//! What goes into the first layer: the filtered features of the nodes that are needed.

use super::TrainError;
use super::rows::RowSource;
use crate::data::{Features, Labels};
use crate::filter::{Filter, Propagated, propagate};
use crate::matrix::SparseMatrix;
use crate::nn::{Field, Map, Shape};
use crate::operator::{MagneticOperator, Normalize};
use serde::Serialize;

/// The labelled nodes of one part of the split.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Targets {
    /// The nodes.
    pub nodes: Vec<u32>,
    /// Row among the nodes, and class.
    pub pairs: Vec<(u32, u32)>,
}

impl Targets {
    /// Those of `nodes` that have a label.
    pub fn of(nodes: &[u32], labels: &Labels) -> Self {
        let class = |&node: &u32| Some((node, labels.classes.get(node as usize).copied()??));
        let (nodes, classes): (Vec<u32>, Vec<u32>) = nodes.iter().filter_map(class).unzip();
        let pairs = (0..).zip(classes).collect();
        Self { nodes, pairs }
    }

    /// Number of targets.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

/// In which order X̄W = h(S)XW is evaluated, training rows only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Plan {
    /// (h(S)X)·W: the filtered rows once, then one dense product a step.
    Rows,
    /// H·(X·W): the rows H of the filter matrix once, then a sparse product with X and a dense one
    /// with H a step.
    Factored,
}

/// The input of the first layer, for the training and validation nodes alone.
pub struct Inputs {
    /// In which order products are made.
    pub plan: Plan,
    /// X where the plan is factored.
    pub source: Option<Map<f32>>,
    /// Rows of the training nodes: of X̄, or of H where the plan is factored.
    pub train: Map<f32>,
    /// Rows of the validation nodes.
    pub val: Map<f32>,
    /// Whether the first layer is complex.
    pub field: Field,
    /// Columns of X.
    pub width: usize,
}

/// A sparse product takes about this many times as long a multiplication as a dense one.
const SPARSE_COST: usize = 4;

impl Plan {
    /// The order that takes fewer operations a step.
    pub fn cheaper(field: Field, features: &Features, train: usize, val: usize) -> Self {
        let Features::Sparse(x) = features else { return Self::Rows };
        // Multiplications of real numbers for one hidden unit. Training rows go forward and
        // backward, validation rows forward.
        let rows = 2 * train + val;
        let dense = field.parts() * field.parts();
        let direct = dense * rows * x.cols();
        let factored = SPARSE_COST * 2 * x.stored() * field.parts() + dense * rows * x.rows();
        if factored < direct { Self::Factored } else { Self::Rows }
    }
}

impl Inputs {
    /// Rows of X̄ = h(S)X.
    pub fn rows(filtered: &impl RowSource, train: &[u32], val: &[u32]) -> Self {
        let [train, val] = [train, val].map(|nodes| dense_rows(filtered, nodes));
        let Shape { field, cols: width, .. } = filtered.shape();
        Self { plan: Plan::Rows, source: None, train, val, field, width }
    }

    /// Rows of h(S), and X apart.
    pub fn factored(
        operator: &MagneticOperator,
        filter: &Filter,
        features: &SparseMatrix,
        train: &[u32],
        val: &[u32],
    ) -> Result<Self, TrainError> {
        Ok(Self {
            plan: Plan::Factored,
            source: Some(Map::sparse(features)),
            train: filter_rows(operator, filter, train)?,
            val: filter_rows(operator, filter, val)?,
            field: field_of(operator),
            width: features.cols(),
        })
    }

    /// The features as they are.
    pub fn raw(features: &Features, train: &[u32], val: &[u32]) -> Self {
        let [train, val] = [train, val].map(|nodes| match features {
            Features::Dense(_) => dense_rows(features, nodes),
            Features::Sparse(x) => {
                let entries = (0..).zip(nodes).flat_map(|(row, &node)| {
                    let (columns, values) = x.row(node as usize);
                    columns.iter().zip(values).map(move |(&column, &value)| (row, column, value))
                });
                let rows = SparseMatrix::from_triplets(nodes.len(), x.cols(), entries);
                rows.map_or_else(|_| dense_rows(features, nodes), |rows| Map::sparse(&rows))
            }
        });
        let (field, width) = (Field::Real, features.cols());
        Self { plan: Plan::Rows, source: None, train, val, field, width }
    }
}

/// Whether the network on an operator is complex.
pub(super) fn field_of(operator: &MagneticOperator) -> Field {
    if operator.is_real() { Field::Real } else { Field::Complex }
}

/// The rows of some nodes as a dense map.
fn dense_rows(source: &impl RowSource, nodes: &[u32]) -> Map<f32> {
    let shape = Shape { rows: nodes.len(), ..source.shape() };
    let mut numbers = vec![0.0; shape.len()];
    for (row, &node) in numbers.chunks_exact_mut(shape.width().max(1)).zip(nodes) {
        source.copy(node as usize, row);
    }
    let empty = Map::dense(Shape { rows: 0, ..shape }, Vec::new());
    Map::dense(shape, numbers).or(empty).unwrap_or_else(|| unreachable!("the numbers fill it"))
}

/// The rows of h(S) that belong to `nodes`, from its columns: h(S) is its own conjugate transpose,
/// and that of a random walk is up to the degrees.
fn filter_rows(
    operator: &MagneticOperator,
    filter: &Filter,
    nodes: &[u32],
) -> Result<Map<f32>, TrainError> {
    let n = operator.nodes();
    let units = (0..).zip(nodes).map(|(column, &node)| (node as usize, column, 1.0));
    let units = SparseMatrix::from_triplets(n, nodes.len(), units);
    let Ok(units) = units else { unreachable!("every node is one of the graph") };
    let columns = propagate(operator, filter, &Features::Sparse(units), &|_, _| ())?;
    let degree = |u: usize| Some(operator.degrees()[u]).filter(|&d| d != 0.0).unwrap_or(1.0);
    let walk = operator.config().normalize == Normalize::RandomWalk;
    let scale = |u: usize, v: usize| if walk { (degree(v) / degree(u)) as f32 } else { 1.0 };
    let field = columns.shape().field;
    let shape = Shape { rows: nodes.len(), cols: n, field };
    let mut numbers = Vec::with_capacity(shape.len());
    for (column, &u) in nodes.iter().enumerate() {
        for v in 0..n {
            let scale = scale(u as usize, v);
            match &columns {
                Propagated::Real(h) => numbers.push(scale * h.row(v)[column]),
                Propagated::Complex(h) => {
                    let value = h.row(v)[column].conj() * scale;
                    numbers.extend([value.re, value.im]);
                }
            }
        }
    }
    Ok(Map::dense(shape, numbers).unwrap_or_else(|| unreachable!("the numbers fill it")))
}
