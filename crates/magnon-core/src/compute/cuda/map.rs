//! `Map`: a fixed linear map on a card.

use super::Cuda;
use super::abi::Rows;
use crate::compute::Side;
use crate::compute::pattern::COLUMN;
use crate::compute::{EdgeMatrix, EdgeValues, Neighbourhood, Pattern};
use crate::compute::{EngineError, MapSource, Series, Shape};
use crate::matrix::{SparseError, SparseMatrix};
use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use std::sync::Arc;

use super::buffer::Buffer;
use super::lists::{Lists, Sparse, shared};
use super::series::unsolved;

/// A fixed linear map, prepared for [`Cuda`].
pub struct Map {
    pub(super) shape: Shape,
    pub(super) kind: Kind,
}

/// How a map is stored.
pub(super) enum Kind {
    Dense(Buffer),
    Sparse(Box<Sparse>),
    Edges(Box<Edges>),
    Filter { edges: Box<Edges>, series: Series, seen: Arc<Neighbourhood> },
}

/// l(u)·t(u,v)·r(v) + m(u)·[u = v] over a pattern.
pub(super) struct Edges {
    pub lists: Lists,
    forward: Arc<Half>,
    adjoint: Arc<Half>,
    own: Option<CudaSlice<f32>>,
    pub hermitian: bool,
    /// For filters alone: r, with 1 in place of 0, since such a node has no entries, and the like for the
    /// adjoint, whose l and r have changed places.
    scales: Option<[CudaSlice<f32>; 2]>,
}

/// One side of such a map. A product has r(v) with every entry. A recurrence goes on from R·x instead, with
/// R = diag(r): no factor at the columns is left in R S R⁻¹ = diag(r·l)·T + M.
struct Half {
    /// What the kernels are called that read its entries.
    kind: &'static str,
    /// t by class.
    table: [f32; 8],
    /// r(v), or t(u,v)·r(v) in pairs, by entry.
    values: Option<CudaSlice<f32>>,
    /// l, or r·l.
    left: CudaSlice<f32>,
}

impl Map {
    pub(super) fn new(engine: &Cuda, source: MapSource) -> Result<Self, EngineError> {
        let shape = source.shape();
        let kind = match source {
            MapSource::Dense { numbers, .. } => Kind::Dense(shared(engine, &numbers)?),
            MapSource::Sparse(matrix) => Kind::Sparse(Box::new(Sparse::new(engine, &matrix)?)),
            MapSource::Precise(rows) => {
                let values = rows.values.iter().map(|&value| value as f32).collect();
                let matrix = SparseMatrix::from_csr(rows.cols, rows.offsets, rows.columns, values);
                let refused = |error: SparseError| EngineError::Unsupported(error.to_string());
                Kind::Sparse(Box::new(Sparse::new(engine, &matrix.map_err(refused)?)?))
            }
            MapSource::Edges(edges) => Kind::Edges(Box::new(Edges::new(engine, edges, false)?)),
            MapSource::Filter { edges, series } => {
                let seen = edges.neighbourhood().clone();
                let series = unsolved(&edges, &series).unwrap_or(series);
                Kind::Filter { edges: Box::new(Edges::new(engine, edges, true)?), series, seen }
            }
        };
        Ok(Self { shape, kind })
    }

    /// Dense or sparse maps of one shape, a lane each; `None` for others.
    pub(super) fn stack(engine: &Cuda, maps: &[&Map]) -> Option<Result<Self, EngineError>> {
        let first = maps.first().filter(|_| maps.len() == engine.lanes)?;
        if maps.iter().any(|map| map.shape != first.shape) {
            return None;
        }
        let sparse = maps.iter().map(|map| match &map.kind {
            Kind::Sparse(sparse) if sparse.values.lanes == 1 => Some(sparse.as_ref()),
            _ => None,
        });
        if let Some(all) = sparse.collect::<Option<Vec<&Sparse>>>() {
            let stacked = Sparse::stack(engine, &all)
                .map(|sparse| Self { shape: first.shape, kind: Kind::Sparse(Box::new(sparse)) });
            return Some(stacked);
        }
        let dense = maps.iter().map(|map| match &map.kind {
            Kind::Dense(numbers) if numbers.lanes == 1 => Some(numbers),
            _ => None,
        });
        let all: Vec<&Buffer> = dense.collect::<Option<_>>()?;
        let stacked = engine.buffer(first.shape.len()).and_then(|mut numbers| {
            for (lane, own) in all.into_iter().enumerate() {
                engine.copy_to_lane(lane, own, &mut numbers)?;
            }
            Ok(Self { shape: first.shape, kind: Kind::Dense(numbers) })
        });
        Some(stacked)
    }

    /// Rows, columns and field.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Numbers that it stores, where it is dense or sparse.
    pub fn stored(&self) -> usize {
        match &self.kind {
            Kind::Dense(numbers) => numbers.len,
            Kind::Sparse(sparse) => sparse.values.len,
            _ => 0,
        }
    }
}

impl Edges {
    fn new(engine: &Cuda, edges: EdgeMatrix, filters: bool) -> Result<Self, EngineError> {
        let pattern: &Pattern = edges.neighbourhood.pattern();
        let offsets: Vec<u64> = pattern.offsets.par_iter().map(|&at| at as u64).collect();
        let columns = &pattern.columns[..pattern.stored()];
        let (left, right) = (&edges.left[..], &edges.right[..]);
        let half = |values, left, right| Half::new(engine, columns, values, (left, right), filters);
        let (values, other) = match &edges.values {
            EdgeValues::Classes { forward, adjoint } => {
                (Entry::Classes(forward), Entry::Classes(adjoint))
            }
            EdgeValues::Entries { forward, adjoint } => {
                (Entry::Entries(forward), Entry::Entries(adjoint.as_ref().unwrap_or(forward)))
            }
        };
        let forward = Arc::new(half(values, left, right)?);
        let adjoint = match values == other && (filters || left == right) {
            true => forward.clone(),
            false => Arc::new(half(other, right, left)?),
        };
        let scale = |r: &[f64]| {
            let numbers = r.par_iter().map(|&r| if r == 0.0 { 1.0 } else { r as f32 });
            engine.list(&numbers.collect::<Vec<_>>())
        };
        Ok(Self {
            lists: Lists::new(engine, &offsets, columns, pattern.nodes())?,
            forward,
            adjoint,
            own: match edges.own.is_empty() {
                true => None,
                false => Some(engine.list(&numbers(&edges.own))?),
            },
            hermitian: edges.hermitian,
            scales: match filters {
                true => Some([scale(right)?, scale(left)?]),
                false => None,
            },
        })
    }

    fn half(&self, side: Side) -> &Half {
        match side {
            Side::Forward => &self.forward,
            Side::Adjoint => &self.adjoint,
        }
    }

    /// What the kernels of one side are called.
    pub fn kind(&self, side: Side) -> &'static str {
        self.half(side).kind
    }

    /// What a recurrence multiplies rows with before its first product.
    pub fn scale(&self, side: Side) -> Option<&CudaSlice<f32>> {
        let [forward, adjoint] = self.scales.as_ref()?;
        Some(if side == Side::Forward { forward } else { adjoint })
    }

    /// The addresses of one side.
    pub fn rows(&self, engine: &Cuda, side: Side) -> Rows {
        let half = self.half(side);
        let address =
            |list: &Option<CudaSlice<f32>>| list.as_ref().map_or(0, |l| engine.address(l));
        Rows {
            table: half.table,
            values: address(&half.values),
            left: engine.address(&half.left),
            own: address(&self.own),
            ..self.lists.rows(engine)
        }
    }
}

/// t(u,v) of one side.
#[derive(Clone, Copy, PartialEq)]
enum Entry<'a> {
    Classes(&'a [[f64; 2]; 4]),
    Entries(&'a [[f64; 2]]),
}

impl Half {
    fn new(
        engine: &Cuda,
        columns: &[u32],
        values: Entry,
        (left, right): (&[f64], &[f64]),
        filters: bool,
    ) -> Result<Self, EngineError> {
        let far = |packed: &u32| right[(packed & COLUMN) as usize];
        let scaled = !filters && right.par_iter().any(|&r| r != 1.0);
        let (kind, values, table) = match values {
            Entry::Classes(table) if scaled => {
                let factors = columns.par_iter().map(|packed| far(packed) as f32);
                ("scaled", Some(factors.collect::<Vec<f32>>()), table.as_flattened())
            }
            Entry::Classes(table) => ("classes", None, table.as_flattened()),
            Entry::Entries(pairs) => {
                let factor = |packed: &u32| if scaled { far(packed) } else { 1.0 };
                let pair =
                    |(packed, pair): (&u32, &[f64; 2])| pair.map(|x| (x * factor(packed)) as f32);
                let pairs: Vec<[f32; 2]> = columns.par_iter().zip(pairs).map(pair).collect();
                ("pairs", Some(pairs.into_flattened()), &[][..])
            }
        };
        let mut by_class = [0f32; 8];
        by_class.iter_mut().zip(table).for_each(|(to, &x)| *to = x as f32);
        let balanced: Vec<f64>;
        let left = match filters {
            true => {
                balanced = left.par_iter().zip(right).map(|(l, r)| l * r).collect();
                &balanced
            }
            false => left,
        };
        Ok(Self {
            kind,
            table: by_class,
            values: values.map(|values| engine.list(&values)).transpose()?,
            left: engine.list(&numbers(left))?,
        })
    }
}

/// Numbers in single precision.
fn numbers(values: &[f64]) -> Vec<f32> {
    values.par_iter().map(|&x| x as f32).collect()
}
