//! Features by tiles: a few columns at a time, in lines.

use crate::compute::instructions::Instructions;
use crate::compute::tile::Columns;
use crate::compute::tile::{Line, Real};
use crate::matrix::Features;
use crate::matrix::SparseMatrix;
use std::ops::Range;

/// Features ready to be handed out tile by tile.
pub(super) enum Tiles<'a> {
    /// Dense features.
    Dense { data: &'a [f32], stride: usize },
    /// Sparse features are sorted by tile once, and scattered into a tile of zeros.
    Sparse(SparseTiles),
}

/// Stored entries of a sparse matrix, grouped by tiles of `width` columns.
pub(super) struct SparseTiles {
    width: usize,
    offsets: Vec<usize>,
    cells: Vec<Cell>,
}

struct Cell {
    row: u32,
    lane: u32,
    value: f32,
}

impl<'a> Tiles<'a> {
    /// Prepares tiles of `width` columns, counted from the first of `columns`.
    pub fn new(features: &'a Features, columns: Range<usize>, width: usize) -> Self {
        match features {
            Features::Dense(matrix) => {
                Self::Dense { data: matrix.as_slice(), stride: matrix.cols() }
            }
            Features::Sparse(matrix) => Self::Sparse(SparseTiles::new(matrix, columns, width)),
        }
    }

    /// Reads the columns of a tile, `index`-th of all; `shared` between the threads of the current pool.
    pub fn load<T: Real, const N: usize>(
        &self,
        index: usize,
        columns: Range<usize>,
        lines: &mut [Line<T, N>],
        set: Instructions,
        shared: bool,
    ) {
        match self {
            Self::Dense { data, stride } => {
                let (first, width) = (columns.start, columns.len());
                Columns { data, stride: *stride, first, width }.load(None, lines, set, shared);
            }
            Self::Sparse(tiles) => tiles.fill(index, lines),
        }
    }
}

impl SparseTiles {
    fn new(matrix: &SparseMatrix, columns: Range<usize>, width: usize) -> Self {
        let tiles = columns.len().div_ceil(width);
        let mut offsets = vec![0usize; tiles + 1];
        let entries = |visit: &mut dyn FnMut(usize, Cell)| {
            for row in 0..matrix.rows() {
                let (places, values) = matrix.row(row);
                for (&column, &value) in places.iter().zip(values) {
                    if columns.contains(&(column as usize)) {
                        let column = column as usize - columns.start;
                        let lane = (column % width) as u32;
                        visit(column / width, Cell { row: row as u32, lane, value });
                    }
                }
            }
        };
        entries(&mut |tile, _| offsets[tile + 1] += 1);
        for t in 0..tiles {
            offsets[t + 1] += offsets[t];
        }
        let mut next = offsets.clone();
        let mut cells: Vec<Cell> = Vec::new();
        cells.resize_with(offsets[tiles], || Cell { row: 0, lane: 0, value: 0.0 });
        entries(&mut |tile, cell| {
            cells[next[tile]] = cell;
            next[tile] += 1;
        });
        Self { width, offsets, cells }
    }

    fn fill<T: Real, const N: usize>(&self, index: usize, lines: &mut [Line<T, N>]) {
        debug_assert!(self.width <= N);
        lines.fill(Line::ZERO);
        for cell in &self.cells[self.offsets[index]..self.offsets[index + 1]] {
            lines[cell.row as usize].0[cell.lane as usize] = T::from_f64(f64::from(cell.value));
        }
    }
}
