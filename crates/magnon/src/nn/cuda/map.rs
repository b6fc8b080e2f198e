//! `Map`: a fixed linear map on a card.

use super::Cuda;
use super::abi::Rows;
use crate::matrix::SparseMatrix;
use crate::nn::{EngineError, MapSource, Series, Shape};
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
    pub values: Values,
    pub left: CudaSlice<f32>,
    pub right: CudaSlice<f32>,
    pub own: Option<CudaSlice<f32>>,
    pub hermitian: bool,
    /// What a recurrence runs with, which multiplies rows before the first product, not entries in
    /// every one; for operators alone.
    pub balanced: Option<Balanced>,
}

/// With R = diag(r), R S R⁻¹ = diag(r·l)·T + M: no factor at the columns is left.
pub(super) struct Balanced {
    /// r, with 1 in place of 0: such a node has no entries.
    pub scale: CudaSlice<f32>,
    /// r·l, for the adjoint too.
    pub left: CudaSlice<f32>,
    /// The scale of the adjoint, whose l and r have changed places.
    pub adjoint_scale: CudaSlice<f32>,
}

/// t(u,v), forward and adjoint.
pub(super) enum Values {
    Classes { forward: [f32; 8], adjoint: [f32; 8] },
    Entries { forward: CudaSlice<f32>, adjoint: Option<CudaSlice<f32>> },
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
        let numbers = |values: &[f64]| values.par_iter().map(|&x| x as f32).collect::<Vec<_>>();
        let pairs = |values: &[[f64; 2]]| numbers(values.as_flattened());
        let table = |values: &[[f64; 2]; 4]| {
            let mut table = [0f32; 8];
            table.iter_mut().zip(values.as_flattened()).for_each(|(to, &x)| *to = x as f32);
            table
        };
        let values = match &edges.values {
            EdgeValues::Classes { forward, adjoint } => {
                Values::Classes { forward: table(forward), adjoint: table(adjoint) }
            }
            EdgeValues::Entries { forward, adjoint } => Values::Entries {
                forward: engine.list(&pairs(forward))?,
                adjoint: match adjoint {
                    Some(adjoint) => Some(engine.list(&pairs(adjoint))?),
                    None => None,
                },
            },
        };
        let balanced = match filters {
            true => Some(Balanced::new(engine, &edges.left, &edges.right)?),
            false => None,
        };
        Ok(Self {
            lists: Lists::new(engine, &offsets, columns, pattern.nodes())?,
            values,
            left: engine.list(&numbers(&edges.left))?,
            right: engine.list(&numbers(&edges.right))?,
            own: match edges.own.is_empty() {
                true => None,
                false => Some(engine.list(&numbers(&edges.own))?),
            },
            hermitian: edges.hermitian,
            balanced,
        })
    }
}

impl Balanced {
    fn new(engine: &Cuda, left: &[f64], right: &[f64]) -> Result<Self, EngineError> {
        let scale = |r: &[f64]| -> Vec<f32> {
            r.par_iter().map(|&r| if r == 0.0 { 1.0 } else { r as f32 }).collect()
        };
        let product: Vec<f32> = left.par_iter().zip(right).map(|(l, r)| (l * r) as f32).collect();
        Ok(Self {
            scale: engine.list(&scale(right))?,
            left: engine.list(&product)?,
            adjoint_scale: engine.list(&scale(left))?,
        })
    }
}
