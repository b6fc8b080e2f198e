//! Reading columns of a dense matrix into a tile.

use super::line::{Line, Real};
use super::output::Cell;
use super::stepper::CHUNK;
use crate::compute::instructions::Instructions;
use crate::memory::prefetch_once;
use rayon::prelude::*;

/// Columns `first..first + width` of a dense matrix with `stride` columns.
#[derive(Clone, Copy)]
pub struct Columns<'a, C> {
    /// The matrix, row after row.
    pub data: &'a [C],
    /// Columns of the matrix.
    pub stride: usize,
    /// First column.
    pub first: usize,
    /// Number of columns.
    pub width: usize,
}

/// Rows that are asked for ahead of use.
const AHEAD: usize = 16;

impl<C: Cell> Columns<'_, C> {
    /// Reads the columns into a tile, each row multiplied by its factor; `shared` between the threads of the current pool.
    pub fn load<T: Real, const N: usize>(
        &self,
        factors: Option<&[T]>,
        tile: &mut [Line<T, N>],
        set: Instructions,
        shared: bool,
    ) {
        let load = |(block, lines): (usize, &mut [Line<T, N>])| {
            set.run(
                #[inline(always)]
                || self.load_rows(block * CHUNK, factors, lines),
            );
        };
        if shared {
            tile.par_chunks_mut(CHUNK).enumerate().for_each(load);
        } else {
            tile.chunks_mut(CHUNK).enumerate().for_each(load);
        }
    }

    #[inline(always)]
    fn load_rows<T: Real, const N: usize>(
        &self,
        first: usize,
        factors: Option<&[T]>,
        lines: &mut [Line<T, N>],
    ) {
        for (u, line) in (first..).zip(lines) {
            let start = u * self.stride + self.first;
            // Rows are far apart, and the processor does not guess such strides by itself.
            prefetch_once(self.data.as_ptr().wrapping_add(start + AHEAD * self.stride));
            C::read(&self.data[start..start + self.width], line);
            if let Some(factors) = factors {
                line.0.iter_mut().for_each(|x| *x = factors[u] * *x);
            }
        }
    }
}
