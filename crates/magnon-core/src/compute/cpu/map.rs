//! `Map`: a fixed linear map in main memory.

use crate::compute::edge_list::EdgeList;
use crate::compute::pattern::PADDING;
use crate::compute::{Along, EdgeMatrix, EdgeValues, Neighbourhood, Pattern};
use crate::compute::{MapSource, PreciseRows, Scalar, Series, Shape};
use crate::matrix::SparseMatrix;
use std::sync::Arc;

/// A fixed linear map, prepared for [`Cpu`](crate::compute::Cpu).
#[derive(Clone, Debug)]
pub struct Map<T> {
    pub(super) shape: Shape,
    pub(super) kind: Kind<T>,
}

/// How a map is stored.
#[derive(Clone, Debug)]
pub(super) enum Kind<T> {
    Dense(Vec<T>),
    Sparse(Csr<T>),
    Edges(Box<Edges<T>>),
    Filter { edges: Box<Edges<T>>, series: Series, seen: Arc<Neighbourhood> },
}

/// Compressed sparse rows; columns run on for [`PADDING`] zeros.
#[derive(Clone, Debug)]
pub(super) struct Csr<T> {
    pub offsets: Vec<usize>,
    pub columns: Vec<u32>,
    pub values: Vec<T>,
    /// The transpose, where the way back takes it.
    pub turned: Option<Box<Csr<T>>>,
}

/// l(u)·t(u,v)·r(v) + m(u)·[u = v] over a pattern.
#[derive(Clone, Debug)]
pub(super) struct Edges<T> {
    pub pattern: Arc<Pattern>,
    pub values: Values<T>,
    pub left: Vec<T>,
    pub right: Vec<T>,
    /// Empty where there is no such diagonal.
    pub own: Vec<T>,
    pub hermitian: bool,
}

/// t(u,v), forward and adjoint.
#[derive(Clone, Debug)]
pub(super) enum Values<T> {
    Classes {
        forward: [[T; 2]; 4],
        adjoint: [[T; 2]; 4],
    },
    Entries {
        forward: Vec<[T; 2]>,
        adjoint: Option<Vec<[T; 2]>>,
    },
    /// Edges of one way: only those are gone over.
    Edges {
        forward: Listed<T>,
        adjoint: Listed<T>,
    },
}

/// Edges of one way, with their weights.
#[derive(Clone, Debug)]
pub(super) struct Listed<T> {
    pub list: Arc<EdgeList>,
    /// Empty where all are 1.
    pub weights: Vec<T>,
}

impl<T: Scalar> Map<T> {
    pub(super) fn new(source: MapSource) -> Self {
        let shape = source.shape();
        let kind = match source {
            MapSource::Dense { numbers, .. } => {
                Kind::Dense(numbers.into_iter().map(T::from_f32).collect())
            }
            MapSource::Sparse(matrix) => Kind::Sparse(Csr::new(&matrix)),
            MapSource::Precise(matrix) => Kind::Sparse(Csr::precise(matrix)),
            MapSource::Edges(edges) => Kind::Edges(Box::new(Edges::new(edges))),
            MapSource::Filter { edges, series } => {
                let seen = edges.neighbourhood().clone();
                Kind::Filter { edges: Box::new(Edges::new(edges)), series, seen }
            }
        };
        Self { shape, kind }
    }

    /// Rows, columns and field.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Numbers that it stores, where it is dense or sparse.
    pub fn stored(&self) -> usize {
        match &self.kind {
            Kind::Dense(numbers) => numbers.len(),
            Kind::Sparse(rows) => rows.values.len(),
            _ => 0,
        }
    }

    /// Multiplications of two real numbers in the product with one real column.
    pub fn work(&self) -> usize {
        let parts = self.shape.field().parts();
        match &self.kind {
            Kind::Dense(numbers) => numbers.len() * parts,
            Kind::Sparse(rows) => rows.values.len(),
            Kind::Edges(edges) => edges.stored() * parts,
            Kind::Filter { edges, series, .. } => {
                edges.stored() * parts * series.steps().unwrap_or(1)
            }
        }
    }
}

impl<T: Scalar> Csr<T> {
    fn new(matrix: &SparseMatrix) -> Self {
        let mut rows = Self::empty();
        for u in 0..matrix.rows() {
            let (columns, values) = matrix.row(u);
            rows.columns.extend_from_slice(columns);
            rows.values.extend(values.iter().map(|&x| T::from_f32(x)));
            rows.offsets.push(rows.columns.len());
        }
        rows.columns.resize(rows.columns.len() + PADDING, 0);
        rows
    }

    fn precise(matrix: PreciseRows) -> Self {
        let PreciseRows { cols, offsets, mut columns, values } = matrix;
        columns.resize(columns.len() + PADDING, 0);
        let values = values.into_iter().map(T::from_f64).collect();
        let mut rows = Self { offsets, columns, values, turned: None };
        rows.turned = Some(Box::new(rows.turn(cols)));
        rows
    }

    fn empty() -> Self {
        Self { offsets: vec![0], columns: Vec::new(), values: Vec::new(), turned: None }
    }

    /// The transpose of rows with so many columns.
    fn turn(&self, cols: usize) -> Self {
        let stored = self.values.len();
        let mut places = vec![0; cols + 1];
        self.columns[..stored].iter().for_each(|&v| places[v as usize + 1] += 1);
        (0..cols).for_each(|v| places[v + 1] += places[v]);
        let mut turned = Self::empty();
        turned.offsets = places.clone();
        turned.columns = vec![0; stored + PADDING];
        turned.values = vec![T::ZERO; stored];
        for u in 0..self.offsets.len() - 1 {
            for e in self.offsets[u]..self.offsets[u + 1] {
                let place = &mut places[self.columns[e] as usize];
                turned.columns[*place] = u as u32;
                turned.values[*place] = self.values[e];
                *place += 1;
            }
        }
        turned
    }
}

impl<T: Scalar> Edges<T> {
    fn new(edges: EdgeMatrix) -> Self {
        let numbers = |values: Vec<f64>| values.into_iter().map(T::from_f64).collect();
        let pair = |[a, b]: [f64; 2]| [T::from_f64(a), T::from_f64(b)];
        let pairs = |values: Vec<[f64; 2]>| values.into_iter().map(pair).collect::<Vec<_>>();
        let values = match (edges.along, edges.values) {
            (Some(along), values) => Values::listed(&edges.neighbourhood, along, &values),
            (None, EdgeValues::Classes { forward, adjoint }) => {
                Values::Classes { forward: forward.map(pair), adjoint: adjoint.map(pair) }
            }
            (None, EdgeValues::Entries { forward, adjoint }) => {
                Values::Entries { forward: pairs(forward), adjoint: adjoint.map(pairs) }
            }
        };
        Self {
            pattern: edges.neighbourhood.pattern().clone(),
            values,
            left: numbers(edges.left),
            right: numbers(edges.right),
            own: numbers(edges.own),
            hermitian: edges.hermitian,
        }
    }

    /// Entries that a product goes over.
    fn stored(&self) -> usize {
        match &self.values {
            Values::Edges { forward, .. } => forward.list.len(),
            _ => self.pattern.stored(),
        }
    }
}

impl<T: Scalar> Values<T> {
    /// Real values of edges of one way, and of the same edges seen from their other ends.
    fn listed(seen: &Neighbourhood, along: Along, values: &EdgeValues) -> Self {
        let listed = |along: Along, values: Option<&Vec<[f64; 2]>>| {
            let values = values.map(|values| EdgeList::select(seen.pattern(), along, values));
            let weights = values.into_iter().flatten().map(|[weight, _]| T::from_f64(weight));
            Listed { list: seen.edges(along).clone(), weights: weights.collect() }
        };
        let (forward, adjoint) = match values {
            EdgeValues::Classes { .. } => (None, None),
            EdgeValues::Entries { forward, adjoint } => {
                (Some(forward), Some(adjoint.as_ref().unwrap_or(forward)))
            }
        };
        Self::Edges { forward: listed(along, forward), adjoint: listed(along.reversed(), adjoint) }
    }
}
