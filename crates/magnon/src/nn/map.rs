//! `MapSource`: a fixed linear map, as models describe it to an engine.

use super::{EngineError, Field, Shape};
use crate::filter::{Filter, Form};
use crate::matrix::SparseMatrix;
use crate::operator::{Bounds, EdgeMatrix, MagneticOperator, Neighbourhood, Pattern};
use std::sync::Arc;

/// A fixed linear map M. An [`Engine`](super::Engine) prepares it once and then makes y = M x and
/// x = Mᴴ y.
#[derive(Clone, Debug)]
pub enum MapSource<T> {
    /// A dense matrix, such as rows of X̄.
    Dense {
        /// Its shape.
        shape: Shape,
        /// Its numbers, row after row.
        numbers: Vec<T>,
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

/// How h(S)x is evaluated.
#[derive(Clone, Debug, PartialEq)]
pub enum Series {
    /// Σ θ_k S^k x, by Horner's rule.
    Powers(Vec<f64>),
    /// Σ c_k T_k(S̃) x, by Clenshaw's recurrence, S̃ having its domain mapped to [−1, 1].
    Chebyshev {
        /// The c_k.
        coefficients: Vec<f64>,
        /// The interval that is mapped to [−1, 1].
        domain: Bounds,
    },
    /// Σ ζ_f S^f (Σ η_b S^b)^{-1} x, by conjugate gradients.
    Rational {
        /// The ζ_f.
        numerator: Vec<f64>,
        /// The η_b, η_0 included.
        denominator: Vec<f64>,
    },
}

impl Series {
    /// The form that a filter is evaluated in.
    pub fn of(filter: &Filter) -> Self {
        match filter.form() {
            Form::Powers(coefficients) => Self::Powers(coefficients.clone()),
            Form::Chebyshev { coefficients, domain } => {
                Self::Chebyshev { coefficients: coefficients.clone(), domain: *domain }
            }
            Form::Rational { numerator, denominator } => {
                Self::Rational { numerator: numerator.clone(), denominator: denominator.clone() }
            }
        }
    }

    /// Steps that a row looks away; `None` where it sees everything.
    pub fn steps(&self) -> Option<usize> {
        match self {
            Self::Powers(coefficients) | Self::Chebyshev { coefficients, .. } => {
                Some(coefficients.len().saturating_sub(1))
            }
            Self::Rational { .. } => None,
        }
    }
}

impl<T> MapSource<T> {
    /// A dense matrix; `None` where the numbers do not fill the shape.
    pub fn dense(shape: Shape, numbers: Vec<T>) -> Option<Self> {
        (numbers.len() == shape.len()).then_some(Self::Dense { shape, numbers })
    }

    /// The operator S on all nodes.
    pub fn operator(operator: &MagneticOperator) -> Self {
        Self::Edges(EdgeMatrix::operator(operator, &everyone(operator.pattern())))
    }

    /// The filter matrix h(S) on all nodes.
    pub fn filter(operator: &MagneticOperator, filter: &Filter) -> Self {
        let edges = EdgeMatrix::operator(operator, &everyone(operator.pattern()));
        Self::Filter { edges, series: Series::of(filter) }
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

/// All nodes of a pattern, in their own order.
pub(crate) fn everyone(pattern: &Arc<Pattern>) -> Arc<Neighbourhood> {
    let all: Vec<u32> = (0..pattern.nodes() as u32).collect();
    Arc::new(Neighbourhood::new(pattern, &all, 0))
}
