//! `Map`: a fixed linear map, such as the rows of X̄, of X, or of a filter.

use super::{Field, Scalar, Shape};
use crate::filter::{Filter, Form};
use crate::matrix::SparseMatrix;
use crate::operator::{Bounds, MagneticOperator};
use num_complex::Complex64;

/// A sparse matrix by rows; a complex value is two numbers.
#[derive(Clone, Debug)]
pub(super) struct Rows<T> {
    pub offsets: Vec<usize>,
    pub columns: Vec<u32>,
    pub values: Vec<T>,
}

/// How a map is stored.
#[derive(Clone, Debug)]
pub(super) enum Kind<T> {
    Dense(Vec<T>),
    /// With its conjugate transpose beside it, so that both products gather.
    Sparse {
        forward: Rows<T>,
        adjoint: Rows<T>,
    },
    /// h(S), by its recurrence.
    Filter {
        forward: Rows<T>,
        adjoint: Rows<T>,
        series: Series,
    },
}

/// A polynomial in powers, or a Chebyshev series on an interval.
#[derive(Clone, Debug)]
pub(super) enum Series {
    Powers(Vec<f64>),
    Chebyshev { coefficients: Vec<f64>, domain: Bounds },
}

/// A fixed linear map M, prepared for [`Cpu`](super::Cpu): y = M x and its adjoint.
#[derive(Clone, Debug)]
pub struct Map<T> {
    pub(super) shape: Shape,
    pub(super) kind: Kind<T>,
}

impl<T: Scalar> Map<T> {
    /// A dense matrix; `None` where the numbers do not fill the shape.
    pub fn dense(shape: Shape, numbers: Vec<T>) -> Option<Self> {
        (numbers.len() == shape.len()).then_some(Self { shape, kind: Kind::Dense(numbers) })
    }

    /// A sparse real matrix.
    pub fn sparse(matrix: &SparseMatrix) -> Self {
        let row = |u| {
            let (columns, values) = matrix.row(u);
            columns.iter().zip(values).map(|(&v, &x)| (v, Complex64::from(f64::from(x))))
        };
        let shape = Shape::real(matrix.rows(), matrix.cols());
        let forward = Rows::new(shape, row);
        let adjoint = forward.adjoint(shape);
        Self { shape, kind: Kind::Sparse { forward, adjoint } }
    }

    /// The operator S, real where all its entries are.
    pub fn operator(operator: &MagneticOperator) -> Self {
        let (shape, forward, adjoint) = rows_of(operator);
        Self { shape, kind: Kind::Sparse { forward, adjoint } }
    }

    /// The filter matrix h(S), applied by its recurrence; `None` where h is solved for.
    pub fn filter(operator: &MagneticOperator, filter: &Filter) -> Option<Self> {
        let series = match filter.form() {
            Form::Powers(coefficients) => Series::Powers(coefficients.clone()),
            Form::Chebyshev { coefficients, domain } => {
                Series::Chebyshev { coefficients: coefficients.clone(), domain: *domain }
            }
            Form::Rational { .. } => return None,
        };
        let (shape, forward, adjoint) = rows_of(operator);
        Some(Self { shape, kind: Kind::Filter { forward, adjoint, series } })
    }

    /// Rows, columns and field.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Multiplications of two real numbers in the product with one real column.
    pub fn work(&self) -> usize {
        let parts = self.shape.field.parts();
        match &self.kind {
            Kind::Dense(numbers) => numbers.len() * parts,
            Kind::Sparse { forward, .. } => forward.values.len() * parts,
            Kind::Filter { forward, series, .. } => {
                forward.values.len() * parts * series.coefficients().len().saturating_sub(1)
            }
        }
    }
}

impl Series {
    pub fn coefficients(&self) -> &[f64] {
        match self {
            Self::Powers(coefficients) | Self::Chebyshev { coefficients, .. } => coefficients,
        }
    }
}

fn rows_of<T: Scalar>(operator: &MagneticOperator) -> (Shape, Rows<T>, Rows<T>) {
    let field = if operator.is_real() { Field::Real } else { Field::Complex };
    let shape = Shape { rows: operator.nodes(), cols: operator.nodes(), field };
    let forward = Rows::new(shape, |u| operator.row(u).map(|(v, value)| (v as u32, value)));
    let adjoint = forward.adjoint(shape);
    (shape, forward, adjoint)
}

impl<T: Scalar> Rows<T> {
    fn new<R: Iterator<Item = (u32, Complex64)>>(shape: Shape, row: impl Fn(usize) -> R) -> Self {
        let mut rows = Self { offsets: vec![0], columns: Vec::new(), values: Vec::new() };
        for u in 0..shape.rows {
            for (v, value) in row(u) {
                rows.columns.push(v);
                rows.values.push(T::from_f64(value.re));
                if shape.field == Field::Complex {
                    rows.values.push(T::from_f64(value.im));
                }
            }
            rows.offsets.push(rows.columns.len());
        }
        rows
    }

    /// The conjugate transpose of a matrix of this shape.
    fn adjoint(&self, shape: Shape) -> Self {
        let parts = shape.field.parts();
        let mut offsets = vec![0usize; shape.cols + 1];
        for &v in &self.columns {
            offsets[v as usize + 1] += 1;
        }
        for v in 0..shape.cols {
            offsets[v + 1] += offsets[v];
        }
        let mut next = offsets.clone();
        let mut columns = vec![0; self.columns.len()];
        let mut values = vec![T::ZERO; self.values.len()];
        for u in 0..shape.rows {
            for e in self.offsets[u]..self.offsets[u + 1] {
                let at = &mut next[self.columns[e] as usize];
                columns[*at] = u as u32;
                values[*at * parts] = self.values[e * parts];
                if parts == 2 {
                    values[*at * 2 + 1] = -self.values[e * 2 + 1];
                }
                *at += 1;
            }
        }
        Self { offsets, columns, values }
    }
}
