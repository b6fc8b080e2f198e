//! `Map`: a fixed linear map on a card.

use super::Cuda;
use super::abi::Rows;
use crate::matrix::SparseMatrix;
use crate::nn::engine::Side;
use crate::nn::{EngineError, MapSource, Series, Shape};
use crate::operator::pattern::COLUMN;
use crate::operator::{EdgeMatrix, EdgeValues, Neighbourhood, Pattern};
use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use std::sync::Arc;

use super::buffer::Buffer;

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

/// Rows of entries; those with many are cut into segments.
pub(super) struct Lists {
    pub offsets: CudaSlice<u64>,
    pub columns: CudaSlice<u32>,
    /// The row of each segment, and the entry that it begins at.
    segment_rows: CudaSlice<u32>,
    segments: CudaSlice<u64>,
    pub segment_count: usize,
    /// The rows with segments, each with the number of its first one.
    long: CudaSlice<u32>,
    pub long_count: usize,
    /// Columns that entries may have.
    pub cols: usize,
    pub rows: usize,
}

/// Sparse real rows, and the same by columns: the way back is a gather, too. Values that take the place
/// of the stored ones come in the order of the rows, so columns know the places of theirs.
pub(super) struct Sparse {
    pub by_rows: Lists,
    pub by_columns: Lists,
    pub places: CudaSlice<u32>,
    pub values: Buffer,
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

/// Entries from which on a row is cut, and entries of a segment; as in the kernel.
const LONG_ROW: u64 = 256;
const SEGMENT: u64 = 512;

impl Map {
    pub(super) fn new(engine: &Cuda, source: MapSource<f32>) -> Result<Self, EngineError> {
        let shape = source.shape();
        let kind = match source {
            MapSource::Dense { numbers, .. } => Kind::Dense(shared(engine, &numbers)?),
            MapSource::Sparse(matrix) => Kind::Sparse(Box::new(Sparse::new(engine, &matrix)?)),
            MapSource::Edges(edges) => Kind::Edges(Box::new(Edges::new(engine, edges, false)?)),
            MapSource::Filter { edges, series } => {
                let seen = edges.neighbourhood().clone();
                Kind::Filter { edges: Box::new(Edges::new(engine, edges, true)?), series, seen }
            }
        };
        Ok(Self { shape, kind })
    }

    /// Dense maps of one shape, a lane each; `None` for others.
    pub(super) fn stack(engine: &Cuda, maps: &[&Map]) -> Option<Result<Self, EngineError>> {
        let first = maps.first().filter(|_| maps.len() == engine.lanes)?;
        let dense = maps.iter().map(|map| match &map.kind {
            Kind::Dense(numbers) if map.shape == first.shape && numbers.lanes == 1 => Some(numbers),
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

/// Numbers that all lanes share.
fn shared(engine: &Cuda, numbers: &[f32]) -> Result<Buffer, EngineError> {
    Ok(Buffer { slice: engine.list(numbers)?, len: numbers.len(), lanes: 1 })
}

impl Lists {
    pub fn new(
        engine: &Cuda,
        offsets: &[u64],
        columns: &[u32],
        cols: usize,
    ) -> Result<Self, EngineError> {
        let rows = offsets.len() - 1;
        let (mut segment_rows, mut segments, mut long) = (Vec::new(), Vec::new(), Vec::new());
        for u in 0..rows {
            let (begin, end) = (offsets[u], offsets[u + 1]);
            if end - begin > LONG_ROW {
                long.extend([u as u32, segments.len() as u32]);
                segments.extend((begin..end).step_by(SEGMENT as usize));
                segment_rows.resize(segments.len(), u as u32);
            }
        }
        Ok(Self {
            offsets: engine.list(offsets)?,
            columns: engine.list(columns)?,
            segment_count: segments.len(),
            segment_rows: engine.list(&segment_rows)?,
            segments: engine.list(&segments)?,
            long_count: long.len() / 2,
            long: engine.list(&long)?,
            cols,
            rows,
        })
    }

    /// The addresses, with nothing else.
    pub fn rows(&self, engine: &Cuda) -> Rows {
        Rows {
            offsets: engine.address(&self.offsets),
            columns: engine.address(&self.columns),
            segment_rows: engine.address(&self.segment_rows),
            segments: engine.address(&self.segments),
            segment_count: self.segment_count as i64,
            long_rows: engine.address(&self.long),
            long_count: self.long_count as i64,
            ..Rows::default()
        }
    }
}

impl Sparse {
    fn new(engine: &Cuda, matrix: &SparseMatrix) -> Result<Self, EngineError> {
        let (rows, cols) = (matrix.rows(), matrix.cols());
        let (mut offsets, mut columns, mut values) = (vec![0u64], Vec::new(), Vec::new());
        let mut starts = vec![0u64; cols + 1];
        for u in 0..rows {
            let (found, numbers) = matrix.row(u);
            found.iter().for_each(|&v| starts[v as usize + 1] += 1);
            columns.extend_from_slice(found);
            values.extend_from_slice(numbers);
            offsets.push(columns.len() as u64);
        }
        for v in 0..cols {
            starts[v + 1] += starts[v];
        }
        let mut next = starts.clone();
        let mut by_columns = vec![0u32; columns.len()];
        let mut places = vec![0u32; columns.len()];
        for u in 0..rows {
            for e in offsets[u]..offsets[u + 1] {
                let at = &mut next[columns[e as usize] as usize];
                (by_columns[*at as usize], places[*at as usize]) = (u as u32, e as u32);
                *at += 1;
            }
        }
        Ok(Self {
            by_rows: Lists::new(engine, &offsets, &columns, cols)?,
            by_columns: Lists::new(engine, &starts, &by_columns, rows)?,
            places: engine.list(&places)?,
            values: shared(engine, &values)?,
        })
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
