//! In which order X̄W = h(S)XW is evaluated, and the rows that it takes.

use super::source::RowSource;
use crate::model::ModelError;
use magnon_core::compute::{Field, MapSource, Shape};
use magnon_core::filter::{Filter, Propagated, propagate};
use magnon_core::matrix::Features;
use magnon_core::matrix::SparseMatrix;
use magnon_core::operator::{MagneticOperator, Normalize};
use serde::{Deserialize, Serialize};

/// In which order X̄W = h(S)XW is evaluated, training rows only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProductOrder {
    /// (h(S)X)·W: the filtered rows once, then one dense product per step.
    Rows,
    /// H·(X·W): the rows H of the filter matrix once, then a sparse product with X and a dense one
    /// with H per step.
    Factored,
}

/// A sparse product takes about this many times as long per multiplication as a dense one.
const SPARSE_COST: usize = 4;

impl ProductOrder {
    /// The order that takes fewer operations per step.
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

/// The rows of some nodes as a dense map; complex ones as twice as many real columns where `real`.
pub(crate) fn dense_rows(
    source: &(impl RowSource + ?Sized),
    nodes: impl ExactSizeIterator<Item = usize>,
    real: bool,
) -> MapSource {
    let shape = source.shape().with_rows(nodes.len());
    let shape = if real { shape.as_real() } else { shape };
    let mut numbers = Vec::with_capacity(shape.len());
    let mut row = vec![0.0; shape.width()];
    for node in nodes {
        source.copy(node, &mut row);
        numbers.extend(row.iter().copied());
    }
    MapSource::Dense { shape, numbers }
}

/// The features of some nodes: sparse where they are.
pub(crate) fn feature_rows(
    features: &Features,
    nodes: impl ExactSizeIterator<Item = usize> + Clone,
) -> MapSource {
    if let Features::Sparse(x) = features {
        let entries = nodes.clone().enumerate().flat_map(|(row, node)| {
            let (columns, values) = x.row(node);
            columns.iter().zip(values).map(move |(&column, &value)| (row, column, value))
        });
        if let Ok(rows) = SparseMatrix::from_triplets(nodes.len(), x.cols(), entries) {
            return MapSource::Sparse(rows);
        }
    }
    dense_rows(features, nodes, true)
}

/// The rows of h(S) that belong to `nodes`, from its columns: h(S) is its own conjugate transpose,
/// and that of a random walk is up to the degrees.
pub(crate) fn filter_rows(
    operator: &MagneticOperator,
    filter: &Filter,
    nodes: &[u32],
) -> Result<MapSource, ModelError> {
    let n = operator.nodes();
    let units = (0..).zip(nodes).map(|(column, &node)| (node as usize, column, 1.0));
    let units = SparseMatrix::from_triplets(n, nodes.len(), units);
    let Ok(units) = units else { unreachable!("every node is one of the graph") };
    let columns = propagate(operator, filter, &Features::Sparse(units), &())?;
    let degree = |u: usize| Some(operator.degrees()[u]).filter(|&d| d != 0.0).unwrap_or(1.0);
    let walk = operator.config().normalize == Normalize::RandomWalk;
    let scale = |u: usize, v: usize| if walk { (degree(v) / degree(u)) as f32 } else { 1.0 };
    let shape = Shape::new(nodes.len(), n, columns.shape().field());
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
    Ok(MapSource::Dense { shape, numbers })
}
