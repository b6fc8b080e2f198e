//! `Lists`: rows of entries on a card, and sparse matrices of them.

use super::Cuda;
use super::abi::Rows;
use super::buffer::Buffer;
use super::card::failure;
use crate::compute::EngineError;
use crate::matrix::SparseMatrix;
use cudarc::driver::{CudaSlice, DeviceRepr, ValidAsZeroBits};

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
    /// Entries.
    count: usize,
    /// Whether each lane has lists of its own; then those of the lanes that have less end with nothing.
    laned: bool,
}

/// Sparse real rows, and the same by columns: the way back is a gather, too. Values that take the place
/// of the stored ones come in the order of the rows, so columns know the places of theirs.
pub(super) struct Sparse {
    pub by_rows: Lists,
    pub by_columns: Lists,
    pub places: CudaSlice<u32>,
    pub values: Buffer,
}

/// Entries from which on a row is cut, and entries of a segment; as in the kernel.
const LONG_ROW: u64 = 256;
const SEGMENT: u64 = 512;

/// Numbers that all lanes share.
pub(super) fn shared(engine: &Cuda, numbers: &[f32]) -> Result<Buffer, EngineError> {
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
            count: columns.len(),
            laned: false,
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
            offsets_lane: if self.laned { self.rows as i64 + 1 } else { 0 },
            columns_lane: if self.laned { self.count as i64 } else { 0 },
            segments_lane: if self.laned { self.segment_count as i64 } else { 0 },
            long_lane: if self.laned { 2 * self.long_count as i64 } else { 0 },
            ..Rows::default()
        }
    }
}

/// Lists of lanes side by side, each followed by as many of `rest` as it is shorter than the longest.
fn side_by_side<T: DeviceRepr + ValidAsZeroBits + bytemuck::Pod>(
    engine: &Cuda,
    lists: &[(&CudaSlice<T>, usize)],
    rest: T,
) -> Result<CudaSlice<T>, EngineError> {
    let longest = lists.iter().map(|(_, len)| *len).max().unwrap_or(0);
    let mut all = engine.list(&vec![rest; longest * lists.len()])?;
    for (lane, &(list, len)) in lists.iter().enumerate().filter(|(_, (_, len))| *len > 0) {
        let from = list.slice(..len);
        let mut to = all.slice_mut(lane * longest..lane * longest + len);
        engine.stream.memcpy_dtod(&from, &mut to).map_err(failure)?;
    }
    // Their owners may let go of them.
    engine.wait()?;
    Ok(all)
}

impl Lists {
    /// Those of as many rows, a lane each.
    fn stack(engine: &Cuda, all: &[&Lists]) -> Result<Self, EngineError> {
        /// No row has such a number.
        const NOBODY: u32 = u32::MAX;
        let (rows, cols) = all.first().map_or((0, 0), |first| (first.rows, first.cols));
        let most = |of: fn(&Lists) -> usize| all.iter().map(|lists| of(lists)).max().unwrap_or(0);
        let each = |list: fn(&Lists) -> (&CudaSlice<u32>, usize), rest: u32| {
            side_by_side(engine, &all.iter().map(|lists| list(lists)).collect::<Vec<_>>(), rest)
        };
        let long = |list: fn(&Lists) -> (&CudaSlice<u64>, usize)| {
            side_by_side(engine, &all.iter().map(|lists| list(lists)).collect::<Vec<_>>(), 0)
        };
        Ok(Self {
            offsets: long(|lists| (&lists.offsets, lists.rows + 1))?,
            columns: each(|lists| (&lists.columns, lists.count), 0)?,
            segment_rows: each(|lists| (&lists.segment_rows, lists.segment_count), NOBODY)?,
            segments: long(|lists| (&lists.segments, lists.segment_count))?,
            segment_count: most(|lists| lists.segment_count),
            long: each(|lists| (&lists.long, 2 * lists.long_count), NOBODY)?,
            long_count: most(|lists| lists.long_count),
            cols,
            rows,
            count: most(|lists| lists.count),
            laned: true,
        })
    }
}

impl Sparse {
    /// Matrices of one shape, a lane each.
    pub(super) fn stack(engine: &Cuda, all: &[&Sparse]) -> Result<Self, EngineError> {
        let lists = |of: fn(&Sparse) -> &Lists| -> Result<Lists, EngineError> {
            Lists::stack(engine, &all.iter().map(|sparse| of(sparse)).collect::<Vec<_>>())
        };
        let values: Vec<_> = all.iter().map(|of| (&of.values.slice, of.values.len)).collect();
        let places: Vec<_> = all.iter().map(|of| (&of.places, of.values.len)).collect();
        let len = values.iter().map(|(_, len)| *len).max().unwrap_or(0);
        let slice = side_by_side(engine, &values, 0.0)?;
        Ok(Self {
            by_rows: lists(|sparse| &sparse.by_rows)?,
            by_columns: lists(|sparse| &sparse.by_columns)?,
            places: side_by_side(engine, &places, 0)?,
            values: Buffer { slice, len, lanes: all.len() },
        })
    }

    pub(super) fn new(engine: &Cuda, matrix: &SparseMatrix) -> Result<Self, EngineError> {
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
