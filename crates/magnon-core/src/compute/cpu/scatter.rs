//! The adjoint of sparse rows: x = Mᵀ y, without a transpose.
//!
//! A row of y meets the entries of one row of M and goes to as many rows of x. Features have far fewer
//! columns than there are nodes, so that x stays in a near cache while rows of M and y pass by once.
//! Rows are cut into a few parts by their number alone; each part sums for itself, and the parts are
//! added in order, so the result does not depend on the number of threads.

use super::BLOCK;
use super::map::Csr;
use crate::compute::Scalar;
use crate::compute::instructions::{Instructions, Kernel};
use rayon::prelude::*;

/// Below so many rows there is one part.
const SMALL: usize = 4096;
/// Most parts.
const PARTS: usize = 8;

/// Number of parts for a matrix of so many rows, columns and entries.
pub(super) fn parts(rows: usize, cols: usize, stored: usize) -> usize {
    if rows < SMALL { 1 } else { (stored / (4 * cols.max(1))).clamp(1, PARTS) }
}

/// One product.
pub(super) struct Scatter<'a, T> {
    pub rows: &'a Csr<T>,
    /// The values of the entries, which may be others than those stored.
    pub values: &'a [T],
    /// One row for each of M's first ones, of `width` numbers.
    pub y: &'a [T],
    pub width: usize,
    pub parallel: bool,
    pub instructions: Instructions,
}

impl<T: Scalar> Scatter<'_, T> {
    /// Puts the product into `x`, all rows in one part.
    pub fn run_whole(&self, x: &mut [T]) {
        let rows = 0..self.y.len() / self.width.max(1);
        self.instructions.compute(Part { product: self, rows, sums: x });
    }

    /// Puts the product into `x`, or adds it; `room` has as many numbers as `x` for each part.
    pub fn run(&self, x: &mut [T], room: &mut [T], add: bool) {
        let size = x.len().max(1);
        let parts = (room.len() / size).max(1);
        let count = self.y.len() / self.width.max(1);
        let work = |(part, sums): (usize, &mut [T])| {
            let rows = part * count / parts..(part + 1) * count / parts;
            self.instructions.compute(Part { product: self, rows, sums });
        };
        if self.parallel && parts > 1 {
            room.par_chunks_mut(size).enumerate().for_each(work);
        } else {
            room.chunks_mut(size).enumerate().for_each(work);
        }
        let gather = |(block, x): (usize, &mut [T])| {
            for (part, sums) in room.chunks(size).enumerate() {
                let sums = &sums[block * BLOCK..][..x.len()];
                match add || part > 0 {
                    true => x.iter_mut().zip(sums).for_each(|(x, &sum)| *x += sum),
                    false => x.copy_from_slice(sums),
                }
            }
        };
        if self.parallel && x.len() > 2 * BLOCK {
            x.par_chunks_mut(BLOCK).enumerate().for_each(gather);
        } else {
            x.chunks_mut(BLOCK).enumerate().for_each(gather);
        }
    }
}

struct Part<'a, 'b, T> {
    product: &'a Scatter<'a, T>,
    rows: std::ops::Range<usize>,
    sums: &'b mut [T],
}

impl<T: Scalar> Kernel for Part<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.product.width {
            64 => self.of_width::<64>(),
            16 => self.of_width::<16>(),
            _ => self.of_width::<0>(),
        }
    }
}

impl<T: Scalar> Part<'_, '_, T> {
    /// With `W` above 0, the width is that, which the compiler then knows.
    #[inline(always)]
    fn of_width<const W: usize>(self) {
        let Scatter { rows, values, y, .. } = self.product;
        let width = if W == 0 { self.product.width } else { W };
        self.sums.fill(T::ZERO);
        for u in self.rows {
            let y = &y[u * width..][..width];
            let span = rows.offsets[u]..rows.offsets[u + 1];
            for (&v, &a) in rows.columns[span.clone()].iter().zip(&values[span]) {
                let v = v as usize;
                // Entries beyond the rows of x are left out, as on the way there.
                let Some(sums) = self.sums.get_mut(v * width..(v + 1) * width) else { break };
                for i in 0..width {
                    sums[i] += a * y[i];
                }
            }
        }
    }
}
