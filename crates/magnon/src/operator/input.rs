//! Where the x of a step comes from.

use super::line::{Line, Real};
use crate::memory::prefetch_once;
use num_complex::Complex32;

/// A few columns of a matrix, as lines.
#[derive(Clone, Copy)]
pub enum Input<'a, T, const N: usize> {
    /// Zeros.
    Zero,
    /// A tile.
    Tile(&'a [Line<T, N>]),
    /// Columns of a real matrix.
    Real(Columns<'a, f32>),
    /// Columns of a complex matrix.
    Complex(Columns<'a, Complex32>),
}

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

impl<'a, C> Columns<'a, C> {
    #[inline(always)]
    fn row(&self, u: usize) -> &'a [C] {
        let start = u * self.stride + self.first;
        // Rows are far apart, and the processor does not guess such strides by itself.
        prefetch_once(self.data.as_ptr().wrapping_add(start + AHEAD * self.stride));
        &self.data[start..start + self.width]
    }
}

impl<T: Real, const N: usize> Input<'_, T, N> {
    /// The line of node `u`.
    #[inline(always)]
    pub fn line(&self, u: usize) -> Line<T, N> {
        let mut line = Line::ZERO;
        match self {
            Self::Zero => {}
            Self::Tile(lines) => line = lines[u],
            Self::Real(columns) => {
                let row = columns.row(u);
                // Whole lines and half lines are the rule; their length is known to the compiler.
                if row.len() == N {
                    copy(&mut line.0, &row[..N]);
                } else if row.len() == N / 2 {
                    copy(&mut line.0[..N / 2], &row[..N / 2]);
                } else {
                    copy(&mut line.0, row);
                }
            }
            Self::Complex(columns) => {
                let row = columns.row(u);
                let row = if row.len() == N / 2 { &row[..N / 2] } else { row };
                for (i, z) in row.iter().enumerate() {
                    line.0[i] = T::from_f64(f64::from(z.re));
                    line.0[N / 2 + i] = T::from_f64(f64::from(z.im));
                }
            }
        }
        line
    }
}

#[inline(always)]
fn copy<T: Real>(to: &mut [T], from: &[f32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = T::from_f64(f64::from(*from));
    }
}
