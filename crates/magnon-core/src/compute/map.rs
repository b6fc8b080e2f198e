//! `MapSource`: a fixed linear map, as models describe it to an engine.

use super::{EdgeMatrix, EngineError, Field, Neighbourhood, Series, Shape};
use crate::matrix::SparseMatrix;

/// A fixed linear map M. An [`Engine`](super::Engine) prepares it once and then makes y = M x and
/// x = Mᴴ y.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum MapSource {
    /// A dense matrix, such as rows of X̄.
    Dense {
        /// Its shape.
        shape: Shape,
        /// Its numbers, row after row.
        numbers: Vec<f32>,
    },
    /// A sparse real matrix, such as rows of X.
    Sparse(SparseMatrix),
    /// A sparse real matrix that was computed, such as a product of several.
    Precise(PreciseRows),
    /// A matrix over the edges of a neighbourhood, such as the operator S.
    Edges(EdgeMatrix),
    /// h(S) with S over the edges of a neighbourhood: from all its nodes to its targets.
    Filter {
        /// S.
        edges: EdgeMatrix,
        /// h.
        series: Series,
    },
}

/// A sparse real matrix by rows in double precision, which engines round to their own; columns ascend within a row.
#[derive(Clone, Debug, PartialEq)]
pub struct PreciseRows {
    /// Number of columns.
    pub cols: usize,
    /// Where the entries of each row begin, and where the last ones end.
    pub offsets: Vec<usize>,
    /// The columns of all entries, row after row.
    pub columns: Vec<u32>,
    /// Their values.
    pub values: Vec<f64>,
}

impl PreciseRows {
    /// No rows yet.
    pub fn empty(cols: usize) -> Self {
        Self { cols, offsets: vec![0], columns: Vec::new(), values: Vec::new() }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of entries.
    pub fn stored(&self) -> usize {
        self.columns.len()
    }

    /// The entries of a row.
    pub fn row(&self, u: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let span = self.offsets[u]..self.offsets[u + 1];
        self.columns[span.clone()].iter().copied().zip(self.values[span].iter().copied())
    }

    /// Appends a row with these entries.
    pub fn push_row(&mut self, entries: impl IntoIterator<Item = (u32, f64)>) {
        for (column, value) in entries {
            self.columns.push(column);
            self.values.push(value);
        }
        self.offsets.push(self.columns.len());
    }

    /// Some of its rows.
    pub fn select(&self, rows: impl IntoIterator<Item = usize>) -> Self {
        let mut kept = Self::empty(self.cols);
        rows.into_iter().for_each(|u| kept.push_row(self.row(u)));
        kept
    }
}

impl MapSource {
    /// A dense matrix; `None` where the numbers do not fill the shape.
    pub fn dense(shape: Shape, numbers: Vec<f32>) -> Option<Self> {
        (numbers.len() == shape.len()).then_some(Self::Dense { shape, numbers })
    }

    /// Rows, columns and field.
    pub fn shape(&self) -> Shape {
        let field = |edges: &EdgeMatrix| if edges.real { Field::Real } else { Field::Complex };
        let sizes = |edges: &EdgeMatrix| {
            let seen = edges.neighbourhood();
            (seen.size(0), seen.size(seen.steps()))
        };
        match self {
            Self::Dense { shape, .. } => *shape,
            Self::Sparse(matrix) => Shape::real(matrix.rows(), matrix.cols()),
            Self::Precise(matrix) => Shape::real(matrix.rows(), matrix.cols),
            Self::Edges(edges) => Shape::new(sizes(edges).1, sizes(edges).1, field(edges)),
            Self::Filter { edges, .. } => Shape::new(sizes(edges).0, sizes(edges).1, field(edges)),
        }
    }
}

/// Refuses a filter that is solved for where the operator or the rows do not allow it.
pub(crate) fn check_solvable(hermitian: bool, seen: &Neighbourhood) -> Result<(), EngineError> {
    let problem = if !hermitian {
        "a filter that is solved for needs a Hermitian operator; normalise it symmetrically"
    } else if seen.size(0) != seen.size(seen.steps()) {
        "a filter that is solved for reaches every node; put it on all of them and choose rows of its \
         result"
    } else {
        return Ok(());
    };
    Err(EngineError::Unsupported(problem.to_owned()))
}
