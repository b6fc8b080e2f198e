//! Cells of dense matrices, and writing tiles back to their columns.

use super::line::{Line, Real};
use super::stepper::CHUNK;
use crate::compute::instructions::Instructions;
use crate::matrix::Matrix;
use crate::memory::prefetch;
use bytemuck::Zeroable;
use num_complex::Complex32;
use rayon::prelude::*;
use std::ops::Range;

/// A cell of a matrix: real, or complex where lines hold both parts.
pub trait Cell: Zeroable + Copy + Send + Sync {
    /// Reads consecutive cells into a line; lanes without a cell are zero.
    fn read<T: Real, const N: usize>(cells: &[Self], line: &mut Line<T, N>);
    /// Writes a line, scaled by `factor`, to consecutive cells.
    fn write<T: Real, const N: usize>(line: &Line<T, N>, factor: T, cells: &mut [Self]);
    /// Neither NaN nor infinite.
    fn is_finite(&self) -> bool;
}

impl Cell for f32 {
    #[inline(always)]
    fn read<T: Real, const N: usize>(cells: &[Self], line: &mut Line<T, N>) {
        let read = |cells: &[Self], line: &mut Line<T, N>| {
            *line = Line::ZERO;
            for (x, cell) in line.0.iter_mut().zip(cells) {
                *x = T::from_f64(f64::from(*cell));
            }
        };
        // Whole lines, and half lines where the other half is for imaginary parts, are the rule; their length is known
        // to the compiler.
        match cells.len() {
            len if len == N => read(&cells[..N], line),
            len if len == N / 2 => read(&cells[..N / 2], line),
            _ => read(cells, line),
        }
    }

    #[inline(always)]
    fn write<T: Real, const N: usize>(line: &Line<T, N>, factor: T, cells: &mut [Self]) {
        let write = |cells: &mut [Self]| {
            for (cell, x) in cells.iter_mut().zip(&line.0) {
                *cell = (factor * *x).to_f64() as f32;
            }
        };
        // A whole line is the rule; its length is known to the compiler.
        if cells.len() == N { write(&mut cells[..N]) } else { write(cells) }
    }

    #[inline(always)]
    fn is_finite(&self) -> bool {
        f32::is_finite(*self)
    }
}

impl Cell for Complex32 {
    #[inline(always)]
    fn read<T: Real, const N: usize>(cells: &[Self], line: &mut Line<T, N>) {
        let read = |cells: &[Self], line: &mut Line<T, N>| {
            for (i, z) in cells.iter().enumerate() {
                line.0[i] = T::from_f64(f64::from(z.re));
                line.0[N / 2 + i] = T::from_f64(f64::from(z.im));
            }
        };
        if cells.len() == N / 2 {
            read(&cells[..N / 2], line);
        } else {
            *line = Line::ZERO;
            read(cells, line);
        }
    }

    #[inline(always)]
    fn write<T: Real, const N: usize>(line: &Line<T, N>, factor: T, cells: &mut [Self]) {
        let part = |x: T| (factor * x).to_f64() as f32;
        let write = |cells: &mut [Self]| {
            for (i, cell) in cells.iter_mut().enumerate() {
                *cell = Complex32::new(part(line.0[i]), part(line.0[N / 2 + i]));
            }
        };
        // A whole line is the rule; its length is known to the compiler.
        if cells.len() == N / 2 { write(&mut cells[..N / 2]) } else { write(cells) }
    }

    #[inline(always)]
    fn is_finite(&self) -> bool {
        self.re.is_finite() & self.im.is_finite()
    }
}

/// Columns of a matrix that a tile belongs to, and the factors 1/r with which it leaves z = r ⊙ x.
pub struct Place<'a, T, C> {
    pub matrix: &'a mut Matrix<C>,
    pub columns: Range<usize>,
    pub leave: Option<&'a [T]>,
}

/// Rows that are asked for ahead of being written.
const AHEAD: usize = 16;

/// Writes tiles to their columns, leaving the space z = r ⊙ x.
pub fn write<T: Real, const N: usize, C: Cell>(
    out: &mut Matrix<C>,
    tiles: &[(Range<usize>, &[Line<T, N>])],
    leave: Option<&[T]>,
    instructions: Instructions,
) {
    let cols = out.cols();
    if cols == 0 {
        return;
    }
    out.as_mut_slice().par_chunks_mut(cols * CHUNK).enumerate().for_each(|(block, rows)| {
        instructions.run(
            #[inline(always)]
            || write_rows(rows, cols, block * CHUNK, tiles, leave),
        );
    });
}

#[inline(always)]
fn write_rows<T: Real, const N: usize, C: Cell>(
    rows: &mut [C],
    cols: usize,
    first: usize,
    tiles: &[(Range<usize>, &[Line<T, N>])],
    leave: Option<&[T]>,
) {
    for (u, row) in (first..).zip(rows.chunks_exact_mut(cols)) {
        let leave = leave.map_or(T::from_f64(1.0), |leave| leave[u]);
        for (columns, lines) in tiles {
            prefetch(row.as_ptr().wrapping_add(AHEAD * cols + columns.start));
            C::write(&lines[u], leave, &mut row[columns.clone()]);
        }
    }
}

/// The first cell that is NaN or infinite.
pub fn first_not_finite<C: Cell>(cells: &[C]) -> Option<usize> {
    // Whole chunks without an early way out, which the compiler turns into vector code.
    let bad = |chunk: &&[C]| chunk.iter().fold(false, |bad, cell| bad | !cell.is_finite());
    let chunk = cells.par_chunks(CHUNK).position_first(|chunk| bad(&chunk))?;
    let start = chunk * CHUNK;
    cells[start..].iter().position(|cell| !cell.is_finite()).map(|at| start + at)
}
