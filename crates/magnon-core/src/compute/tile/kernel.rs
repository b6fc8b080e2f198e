//! The product with a tile, and the recurrences built on it, row by row.
//!
//! All filters are evaluated by steps of one shape,
//!
//! out(u) ← Σ_v g(u)·t(u,v)·z(v) + m(u)·z(u) + b·out(u) + θ·x(u),
//!
//! where t = A_s ⊙ T_q and the vectors g and m carry normalisation, sign, self loops and diagonal.
//! Each row is computed by one thread in one order, so results do not depend on the number of
//! threads.

use super::coefficients::Coefficients;
use super::line::{LINE, Line, Real};
use super::output::{Cell, Place};
use crate::compute::instructions::{FUSED_EVERYWHERE, Instructions};
use crate::compute::pattern::{COLUMN, PADDING, Pattern};
use crate::memory::{prefetch, prefetch_once};
use rayon::prelude::*;
use std::ops::Range;

/// The vectors and scalars of one step; see the [module](self).
pub struct Step<'a, T, const N: usize, C> {
    pub pattern: &'a Pattern,
    pub coefficients: C,
    /// g, one for each node.
    pub gain: &'a [T],
    /// m, one for each node.
    pub own: &'a [T],
    /// Factor of the whole product g·t·z + m·z.
    pub scale: T,
    /// b, the factor of what `out` held before.
    pub keep: T,
    /// θ, the factor of x.
    pub theta: T,
    /// Factor of x(u) for each node, where x comes unscaled.
    pub enter: Option<&'a [T]>,
    /// x as a tile; nothing where it is zero.
    pub x: Option<&'a [Line<T, N>]>,
    pub z: &'a [Line<T, N>],
}

/// Entries that are asked for ahead of use; the pattern's columns run on that far.
///
/// Lines come from memory where a tile is larger than the caches, and a core can wait for dozens of them at a time: asked for
/// too late, they are not there yet when their turn comes. On 1 M nodes with 20 entries a row a product took 79 ms with 40,
/// 41 ms with 160 to 200 and 49 ms with 500; on 200,000 nodes 6.0, 4.9 and 5.7 ms.
const AHEAD: usize = 160;
/// Entries whose columns are asked for ahead of use: they are read once, from first to last, but not fast enough for
/// the processor to run ahead of the prefetches above by itself.
const COLUMNS_AHEAD: usize = 1024;
/// Columns in a cache line.
const COLUMNS: usize = LINE / size_of::<u32>();
/// Rows whose lines in x and in the result are asked for ahead of use.
const ROWS_AHEAD: usize = 8;
/// Rows whose factors are asked for ahead of use.
const FACTORS_AHEAD: usize = 64;
const _: () = assert!(AHEAD <= PADDING);

impl<T: Real, const N: usize, C: Coefficients<T>> Step<'_, T, N, C> {
    /// Makes the step for all rows on the threads of the current pool.
    ///
    /// `COMPLEX` says how lines are laid out; a real layout ignores the imaginary coefficients.
    pub fn run<const COMPLEX: bool>(&self, out: &mut [Line<T, N>], set: Instructions) {
        self.check(out.len());
        by_blocks(&self.pattern.blocks, 1, out, |rows, out| {
            self.lines::<COMPLEX>(rows, out, set);
        });
    }

    /// Makes the step for all rows on this thread.
    pub fn run_here<const COMPLEX: bool>(&self, out: &mut [Line<T, N>], set: Instructions) {
        self.check(out.len());
        self.lines::<COMPLEX>(0..out.len(), out, set);
    }

    /// Makes the step, keeping nothing, and writes the rows to their place in a matrix.
    pub fn run_into<const COMPLEX: bool, R: Cell>(&self, out: &mut Place<T, R>, set: Instructions) {
        let cols = out.matrix.cols();
        self.check(out.matrix.rows());
        let (columns, leave) = (&out.columns, out.leave);
        by_blocks(&self.pattern.blocks, cols, out.matrix.as_mut_slice(), |rows, cells| {
            set.run(
                #[inline(always)]
                || {
                    for (u, row) in rows.zip(cells.chunks_exact_mut(cols)) {
                        let line = self.row_on::<COMPLEX>(u, [T::ZERO; N], set);
                        let factor = leave.map_or(T::from_f64(1.0), |leave| leave[u]);
                        prefetch(row.as_ptr().wrapping_add(ROWS_AHEAD * cols + columns.start));
                        R::write(&Line(line), factor, &mut row[columns.clone()]);
                    }
                },
            );
        });
    }

    /// What the unchecked accesses of the inner loop rely on.
    fn check(&self, out: usize) {
        let n = self.pattern.nodes();
        assert!([self.z.len(), self.gain.len(), self.own.len(), out].iter().all(|&l| l == n));
        assert!(self.pattern.columns.len() == self.pattern.stored() + PADDING);
        assert!(self.coefficients.covers(self.pattern));
    }

    fn lines<const COMPLEX: bool>(
        &self,
        rows: Range<usize>,
        out: &mut [Line<T, N>],
        set: Instructions,
    ) {
        set.run(
            #[inline(always)]
            || {
                for (u, out) in rows.zip(out) {
                    prefetch(std::ptr::from_ref(out).wrapping_add(ROWS_AHEAD));
                    out.0 = self.row_on::<COMPLEX>(u, out.0, set);
                }
            },
        );
    }

    /// The new line of node `u`, with fused multiplications where `set` has them.
    #[inline(always)]
    fn row_on<const COMPLEX: bool>(&self, u: usize, before: [T; N], set: Instructions) -> [T; N] {
        if set == Instructions::Portable {
            self.row::<COMPLEX, FUSED_EVERYWHERE>(u, before)
        } else {
            self.row::<COMPLEX, true>(u, before)
        }
    }

    /// The new line of node `u`, which held `before`.
    #[inline(always)]
    fn row<const COMPLEX: bool, const FUSED: bool>(&self, u: usize, before: [T; N]) -> [T; N] {
        let entries = self.pattern.offsets[u]..self.pattern.offsets[u + 1];
        self.prefetch_row(u, entries.start);
        self.complete::<FUSED>(u, self.gather::<COMPLEX, FUSED>(u, entries), before)
    }

    /// Asks for what later rows read in order. Between two rows lie so many gathers that the processor has lost sight of
    /// that order by itself.
    #[inline(always)]
    fn prefetch_row(&self, u: usize, first: usize) {
        // Two lines for each row; the processor follows rows that have more by itself.
        let columns = self.pattern.columns.as_ptr().wrapping_add(first + COLUMNS_AHEAD);
        prefetch_once(columns);
        prefetch_once(columns.wrapping_add(COLUMNS));
        prefetch(self.gain.as_ptr().wrapping_add(u + FACTORS_AHEAD));
        prefetch(self.own.as_ptr().wrapping_add(u + FACTORS_AHEAD));
        if let Some(x) = self.x {
            prefetch_once(x.as_ptr().wrapping_add(u + ROWS_AHEAD));
        }
    }

    /// The new line of node `u`, which held `before`, from the sum over its entries.
    #[inline(always)]
    fn complete<const FUSED: bool>(&self, u: usize, sum: [T; N], before: [T; N]) -> [T; N] {
        let gain = self.scale * self.gain[u];
        let own = self.scale * self.own[u];
        let z = &self.z[u].0;
        let theta = self.enter.map_or(self.theta, |enter| self.theta * enter[u]);
        // What was there counts for nothing when it is not kept, not even as 0 · ∞.
        let before = if self.keep == T::ZERO { [T::ZERO; N] } else { before };
        let mut line = sum;
        for i in 0..N {
            let mut sum = gain * line[i];
            sum = fma::<T, FUSED>(own, z[i], sum);
            line[i] = fma::<T, FUSED>(self.keep, before[i], sum);
        }
        let Some(x) = self.x else { return line };
        let x = &x[u].0;
        for i in 0..N {
            line[i] = fma::<T, FUSED>(theta, x[i], line[i]);
        }
        line
    }

    /// Σ_v t(u,v)·z(v) over the entries of row `u`.
    ///
    /// Sums of c·z and of s·z are kept apart, so that an entry costs two multiply-adds on whole
    /// lines; real and imaginary parts meet once, at the end of the row.
    #[inline(always)]
    fn gather<const COMPLEX: bool, const FUSED: bool>(
        &self,
        u: usize,
        entries: Range<usize>,
    ) -> [T; N] {
        let columns = &*self.pattern.columns;
        let mut cosine = [T::ZERO; N];
        let mut sine = [T::ZERO; N];
        for e in entries {
            // SAFETY: entries run to `stored`, columns to `stored + PADDING` and name nodes below
            // n (the pattern's invariant); z has n lines (`check`). Tested by
            // `every_entry_is_gathered_once`, also under Miri, and `short_vectors_are_refused`.
            let ([c, s], z) = unsafe {
                let packed = *columns.get_unchecked(e);
                let ahead = *columns.get_unchecked(e + AHEAD) & COLUMN;
                prefetch(self.z.as_ptr().wrapping_add(ahead as usize));
                let z = &self.z.get_unchecked((packed & COLUMN) as usize).0;
                (self.coefficients.at(u, e, packed), z)
            };
            for i in 0..N {
                cosine[i] = fma::<T, FUSED>(c, z[i], cosine[i]);
                if COMPLEX {
                    sine[i] = fma::<T, FUSED>(s, z[i], sine[i]);
                }
            }
        }
        if COMPLEX {
            let half = N / 2;
            for i in 0..half {
                cosine[i] = cosine[i] - sine[half + i];
                cosine[half + i] = cosine[half + i] + sine[i];
            }
        }
        cosine
    }
}

/// Shares rows of `width` items between threads at the cuts of `blocks`.
fn by_blocks<I: Send>(
    blocks: &[usize],
    width: usize,
    mut items: &mut [I],
    work: impl Fn(Range<usize>, &mut [I]) + Sync,
) {
    let mut tasks = Vec::with_capacity(blocks.len());
    for rows in blocks.windows(2) {
        let (head, tail) = items.split_at_mut(width * (rows[1] - rows[0]));
        tasks.push((rows[0]..rows[1], head));
        items = tail;
    }
    tasks.into_par_iter().for_each(|(rows, items)| work(rows, items));
}

#[inline(always)]
fn fma<T: Real, const FUSED: bool>(a: T, b: T, c: T) -> T {
    if FUSED { a.fused(b, c) } else { a * b + c }
}

#[cfg(test)]
mod tests {
    use super::super::coefficients::{ByClass, ByEntry};
    use super::*;
    use crate::compute::pattern::Weights;
    use crate::graph::GraphBuilder;

    const NODES: usize = 6;

    fn pattern(weighted: bool) -> Pattern {
        let weight = |v: u32| if weighted { f32::from(v as u8) + 0.5 } else { 1.0 };
        let edges = [(0, 1), (1, 0), (1, 2), (3, 1), (5, 0), (2, 5)];
        let edges = edges.map(|(u, v)| (u, v, weight(v)));
        let built = GraphBuilder::new(NODES).weighted_edges(edges).build().unwrap();
        Pattern::new(&built.graph).unwrap()
    }

    /// Sums the rows of z = 1, 2, 3…, with `gain` and lines of these lengths.
    fn sums<C: Coefficients<f32>>(
        pattern: &Pattern,
        coefficients: C,
        nodes: usize,
    ) -> Vec<Line<f32, 4>> {
        let (ones, zeros) = (vec![1.0; NODES], vec![0.0; NODES]);
        let z: Vec<_> = (0..nodes).map(|u| Line([u as f32 + 1.0; 4])).collect();
        let step = Step {
            pattern,
            coefficients,
            gain: &ones,
            own: &zeros,
            scale: 1.0,
            keep: 0.0,
            theta: 0.0,
            enter: None,
            x: None,
            z: &z,
        };
        let mut out = vec![Line([f32::NAN; 4]); NODES];
        step.run_here::<false>(&mut out, Instructions::Portable);
        out
    }

    const REAL: [[f32; 2]; 4] = [[1.0, 0.0]; 4];

    #[test]
    fn every_entry_is_gathered_once() {
        let unit = pattern(false);
        let expected = |u: usize| unit.row(u).map(|(v, ..)| v as f32 + 1.0).sum::<f32>();
        for (u, line) in sums(&unit, ByClass(&REAL), NODES).iter().enumerate() {
            assert_eq!(line.0, [expected(u); 4]);
        }
        let weighted = pattern(true);
        let Weights::Explicit(values) = &weighted.weights else { panic!("weights") };
        let expected = |u: usize| {
            weighted.row(u).map(|(v, out, _)| out as f32 * (v as f32 + 1.0)).sum::<f32>()
        };
        for (u, line) in sums(&weighted, ByEntry(values), NODES).iter().enumerate() {
            assert_eq!(line.0, [expected(u); 4]);
        }
    }

    #[test]
    #[should_panic(expected = "assertion failed")]
    fn short_vectors_are_refused() {
        sums(&pattern(false), ByClass(&REAL), NODES - 1);
    }

    #[test]
    #[should_panic(expected = "assertion failed")]
    fn missing_coefficients_are_refused() {
        sums(&pattern(false), ByEntry(&REAL), NODES);
    }
}
