//! Features by tiles: a few columns at a time, in lines.

use crate::data::Features;
use crate::matrix::SparseMatrix;
use crate::operator::input::{Columns, Input};
use crate::operator::line::{Line, Real, tile};
use rayon::prelude::*;
use std::ops::Range;

/// Features ready to be handed out tile by tile.
pub(super) enum Tiles<'a> {
    /// Dense features are read in place.
    Dense { data: &'a [f32], stride: usize },
    /// Sparse features are sorted by tile once, and scattered into a tile of zeros.
    Sparse(SparseTiles),
}

/// Stored entries of a sparse matrix, grouped by tiles of `width` columns.
pub(super) struct SparseTiles {
    width: usize,
    nodes: usize,
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

    /// The columns `first..first + width` as the input of a step; `scratch` is used where there is
    /// nothing to read in place.
    pub fn input<'b, T: Real, const N: usize>(
        &'b self,
        index: usize,
        columns: Range<usize>,
        scratch: &'b mut InputScratch<T, N>,
    ) -> Input<'b, T, N> {
        match self {
            Self::Dense { data, stride } if *stride > columns.len() && scratch.gathers => {
                scratch.gather(data, *stride, columns.clone());
                let (stride, width) = (columns.len(), columns.len());
                Input::Real(Columns { data: &scratch.columns, stride, first: 0, width })
            }
            Self::Dense { data, stride } => Input::Real(Columns {
                data,
                stride: *stride,
                first: columns.start,
                width: columns.len(),
            }),
            Self::Sparse(tiles) => {
                tiles.fill(index, &mut scratch.lines);
                Input::Tile(&scratch.lines)
            }
        }
    }
}

/// Where the columns of a tile lie close together: every product reads them again.
pub(super) struct InputScratch<T, const N: usize> {
    lines: Vec<Line<T, N>>,
    columns: Vec<f32>,
    /// Whether columns of a wider matrix are gathered, on the threads of the current pool.
    gathers: bool,
}

/// Rows that are gathered at a time.
const ROWS: usize = 4096;

impl<T: Real, const N: usize> InputScratch<T, N> {
    pub fn new(gathers: bool) -> Self {
        Self { lines: Vec::new(), columns: Vec::new(), gathers }
    }

    /// Copies columns of a matrix with `stride` columns.
    fn gather(&mut self, data: &[f32], stride: usize, columns: Range<usize>) {
        let (rows, width) = (data.len() / stride, columns.len());
        if self.columns.len() != rows * width {
            self.columns = crate::memory::zeroed(rows * width);
        }
        let parts = self.columns.par_chunks_mut(ROWS * width).zip(data.par_chunks(ROWS * stride));
        parts.for_each(|(to, from)| {
            for (to, from) in to.chunks_exact_mut(width).zip(from.chunks_exact(stride)) {
                to.copy_from_slice(&from[columns.clone()]);
            }
        });
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
        Self { width, nodes: matrix.rows(), offsets, cells }
    }

    fn fill<T: Real, const N: usize>(&self, index: usize, lines: &mut Vec<Line<T, N>>) {
        debug_assert!(self.width <= N);
        if lines.len() == self.nodes {
            lines.fill(Line::ZERO);
        } else {
            *lines = tile(self.nodes);
        }
        for cell in &self.cells[self.offsets[index]..self.offsets[index + 1]] {
            lines[cell.row as usize].0[cell.lane as usize] = T::from_f64(f64::from(cell.value));
        }
    }
}
