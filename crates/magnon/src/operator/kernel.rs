//! The product with a tile, and the recurrences built on it, row by row.
//!
//! All filters are evaluated by steps of one shape,
//!
//! out(u) ← Σ_v g(u)·t(u,v)·z(v) + m(u)·z(u) + b·out(u) + θ·x(u),
//!
//! where t = A_s ⊙ T_q and the vectors g and m carry normalisation, sign, self loops and diagonal.
//! Each row is computed by one thread in one order, so results do not depend on the number of
//! threads.

use super::input::Input;
use super::instructions::{FUSED_EVERYWHERE, Instructions};
use super::line::{Line, Real};
use super::output::{Cell, Place};
use super::pattern::{COLUMN, PADDING, Pattern};
use super::slices::Slices;
use crate::memory::prefetch;
use rayon::prelude::*;
use std::ops::Range;

/// How an entry's coefficient t(u,v) = c + i·s is found.
pub trait Coefficients<T>: Copy + Sync {
    /// `[c, s]` of entry `e` in row `u`, whose packed column is `packed`.
    ///
    /// # Safety
    /// `e` is an entry of row `u` of the pattern and `packed` its column.
    unsafe fn at(&self, u: usize, e: usize, packed: u32) -> [T; 2];

    /// Whether there is a coefficient for each entry of the pattern.
    fn covers(&self, pattern: &Pattern) -> bool;
}

/// By phase class, from a table that stays in the nearest cache.
#[derive(Clone, Copy)]
pub struct ByClass<'a, T>(pub &'a [[T; 2]; 4]);

impl<T: Real> Coefficients<T> for ByClass<'_, T> {
    #[inline(always)]
    unsafe fn at(&self, _: usize, _: usize, packed: u32) -> [T; 2] {
        self.0[(packed >> 30) as usize]
    }

    fn covers(&self, _: &Pattern) -> bool {
        true
    }
}

/// ½(e^{i2πq}P(u,v) + e^{−i2πq}P(v,u)) with P(u,v) = A(u,v)·a(u)·b(v), from which of both edges exist and two
/// factors for each node.
#[derive(Clone, Copy)]
pub struct ByDegree<'a, T> {
    /// A(u,v) and A(v,u), by phase class.
    pub classes: &'a [[T; 2]; 4],
    /// [a, b] of each node: 1/√(degree out), 1/√(degree in).
    pub factors: &'a [[T; 2]],
    /// ½ cos 2πq, ½ sin 2πq.
    pub turn: [T; 2],
}

impl<T: Real> Coefficients<T> for ByDegree<'_, T> {
    #[inline(always)]
    unsafe fn at(&self, u: usize, _: usize, packed: u32) -> [T; 2] {
        // SAFETY: `u` is a row of the pattern and the column names a node; `Step::check` has seen that there
        // are factors for each. Tested by `missing_coefficients_are_refused`.
        let ([a, b], [far_a, far_b]) = unsafe {
            let far = (packed & COLUMN) as usize;
            (*self.factors.get_unchecked(u), *self.factors.get_unchecked(far))
        };
        let [out, back] = self.classes[(packed >> 30) as usize];
        let (out, back) = (out * a * far_b, back * far_a * b);
        [self.turn[0] * (out + back), self.turn[1] * (out - back)]
    }

    fn covers(&self, pattern: &Pattern) -> bool {
        self.factors.len() >= pattern.nodes()
    }
}

/// One explicit value for each entry.
#[derive(Clone, Copy)]
pub struct ByEntry<'a, T>(pub &'a [[T; 2]]);

impl<T: Real> Coefficients<T> for ByEntry<'_, T> {
    #[inline(always)]
    unsafe fn at(&self, _: usize, e: usize, _: u32) -> [T; 2] {
        // SAFETY: the caller names an entry of the pattern, and `Step::check` has seen that there is
        // a value for each. Tested by `missing_coefficients_are_refused`.
        unsafe { *self.0.get_unchecked(e) }
    }

    fn covers(&self, pattern: &Pattern) -> bool {
        self.0.len() >= pattern.stored()
    }
}

/// The vectors and scalars of one step; see the [module](self).
pub struct Step<'a, T, const N: usize, C> {
    pub pattern: &'a Pattern,
    /// The entries of the pattern by slices, where a step goes slice by slice.
    pub slices: Option<&'a Slices>,
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
    pub input: Input<'a, T, N>,
    pub z: &'a [Line<T, N>],
}

/// Entries that are asked for ahead of use; the pattern's columns run on that far.
const AHEAD: usize = 40;
/// Rows of the result that are asked for ahead of being written.
const WRITE_AHEAD: usize = 8;
const _: () = assert!(AHEAD <= PADDING);

impl<T: Real, const N: usize, C: Coefficients<T>> Step<'_, T, N, C> {
    /// Makes the step for all rows on the threads of the current pool.
    ///
    /// `COMPLEX` says how lines are laid out; a real layout ignores the imaginary coefficients.
    pub fn run<const COMPLEX: bool>(&self, out: &mut [Line<T, N>], set: Instructions) {
        self.check(out.len());
        let Some(slices) = self.slices else {
            return by_blocks(&self.pattern.blocks, 1, out, |rows, out| {
                self.lines::<COMPLEX>(rows, out, set);
            });
        };
        // All threads are in one slice at a time, whose lines they share in the cache.
        for slice in 0..slices.count() {
            by_blocks(&self.pattern.blocks, 1, out, |rows, out| {
                self.slice_lines::<COMPLEX>(slices, slice, rows, out, set);
            });
        }
    }

    /// Makes the step for all rows on this thread.
    pub fn run_here<const COMPLEX: bool>(&self, out: &mut [Line<T, N>], set: Instructions) {
        self.check(out.len());
        match self.slices {
            None => self.lines::<COMPLEX>(0..out.len(), out, set),
            Some(slices) => (0..slices.count()).for_each(|slice| {
                self.slice_lines::<COMPLEX>(slices, slice, 0..out.len(), out, set);
            }),
        }
    }

    /// Makes the step, keeping nothing, and writes the rows to their place in a matrix. There are no slices.
    pub fn run_into<const COMPLEX: bool, R: Cell>(&self, out: &mut Place<T, R>, set: Instructions) {
        let cols = out.matrix.cols();
        self.check(out.matrix.rows());
        assert!(self.slices.is_none(), "sums of slices wait in lines");
        let (columns, leave) = (&out.columns, out.leave);
        by_blocks(&self.pattern.blocks, cols, out.matrix.as_mut_slice(), |rows, cells| {
            set.run(
                #[inline(always)]
                || {
                    for (u, row) in rows.zip(cells.chunks_exact_mut(cols)) {
                        let line = self.row_on::<COMPLEX>(u, [T::ZERO; N], set);
                        let factor = leave.map_or(T::from_f64(1.0), |leave| leave[u]);
                        prefetch(row.as_ptr().wrapping_add(WRITE_AHEAD * cols + columns.start));
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
        if let Some(slices) = self.slices {
            assert!(slices.nodes() == n && slices.columns().len() == self.pattern.columns.len());
        }
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
                    out.0 = self.row_on::<COMPLEX>(u, out.0, set);
                }
            },
        );
    }

    /// What one slice adds to some rows; the first one adds all the rest, too.
    fn slice_lines<const COMPLEX: bool>(
        &self,
        slices: &Slices,
        slice: usize,
        rows: Range<usize>,
        out: &mut [Line<T, N>],
        set: Instructions,
    ) {
        let (start, offsets) = slices.slice(slice);
        let ends = &offsets[rows.start..=rows.end];
        set.run(
            #[inline(always)]
            || {
                // By numbers: an iterator over all of these is not always compiled into the loop.
                for i in 0..out.len() {
                    let u = rows.start + i;
                    let entries = start + ends[i] as usize..start + ends[i + 1] as usize;
                    // Most rows of the later slices have few entries, and some none.
                    if slice > 0 && entries.is_empty() {
                        continue;
                    }
                    let line = &mut out[i].0;
                    *line = match set {
                        Instructions::Portable => self.slice_row::<COMPLEX, FUSED_EVERYWHERE>(
                            slices,
                            u,
                            entries,
                            slice == 0,
                            *line,
                        ),
                        _ => self.slice_row::<COMPLEX, true>(slices, u, entries, slice == 0, *line),
                    };
                }
            },
        );
    }

    /// The line of node `u` with what entries of one slice add to it.
    #[inline(always)]
    fn slice_row<const COMPLEX: bool, const FUSED: bool>(
        &self,
        slices: &Slices,
        u: usize,
        entries: Range<usize>,
        first: bool,
        before: [T; N],
    ) -> [T; N] {
        let sum = self.gather::<COMPLEX, FUSED>(u, slices.columns(), entries);
        let gain = self.scale * self.gain[u];
        let mut line = before;
        if first {
            let own = self.scale * self.own[u];
            let (z, x) = (&self.z[u].0, self.input.line(u).0);
            let theta = self.enter.map_or(self.theta, |enter| self.theta * enter[u]);
            let before = if self.keep == T::ZERO { [T::ZERO; N] } else { before };
            for i in 0..N {
                let kept = fma::<T, FUSED>(self.keep, before[i], theta * x[i]);
                line[i] = fma::<T, FUSED>(own, z[i], kept);
            }
        }
        for i in 0..N {
            line[i] = fma::<T, FUSED>(gain, sum[i], line[i]);
        }
        line
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
        let mut line = self.gather::<COMPLEX, FUSED>(u, &self.pattern.columns, entries);
        let gain = self.scale * self.gain[u];
        let own = self.scale * self.own[u];
        let z = &self.z[u].0;
        let x = self.input.line(u).0;
        let theta = self.enter.map_or(self.theta, |enter| self.theta * enter[u]);
        // What was there counts for nothing when it is not kept, not even as 0 · ∞.
        let before = if self.keep == T::ZERO { [T::ZERO; N] } else { before };
        for i in 0..N {
            let mut sum = gain * line[i];
            sum = fma::<T, FUSED>(own, z[i], sum);
            sum = fma::<T, FUSED>(self.keep, before[i], sum);
            line[i] = fma::<T, FUSED>(theta, x[i], sum);
        }
        line
    }

    /// Σ_v t(u,v)·z(v) over entries of row `u` among `columns`, which are the pattern's or those of its slices.
    ///
    /// Sums of c·z and of s·z are kept apart, so that an entry costs two multiply-adds on whole
    /// lines; real and imaginary parts meet once, at the end of the row.
    #[inline(always)]
    fn gather<const COMPLEX: bool, const FUSED: bool>(
        &self,
        u: usize,
        columns: &[u32],
        entries: Range<usize>,
    ) -> [T; N] {
        let mut cosine = [T::ZERO; N];
        let mut sine = [T::ZERO; N];
        for e in entries {
            // SAFETY: entries run to `stored`, columns to `stored + PADDING` and name nodes below
            // n (the pattern's invariant, whose entries slices put in another order); z has n lines (`check`). Tested by
            // `every_entry_is_gathered_once` and `slices_give_the_same_sums`, also under Miri, and
            // `short_vectors_are_refused`.
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
    use super::*;
    use crate::graph::GraphBuilder;
    use crate::operator::pattern::Weights;

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
        sliced_sums(pattern, None, coefficients, nodes)
    }

    fn sliced_sums<C: Coefficients<f32>>(
        pattern: &Pattern,
        slices: Option<&Slices>,
        coefficients: C,
        nodes: usize,
    ) -> Vec<Line<f32, 4>> {
        let (ones, zeros) = (vec![1.0; NODES], vec![0.0; NODES]);
        let z: Vec<_> = (0..nodes).map(|u| Line([u as f32 + 1.0; 4])).collect();
        let step = Step {
            pattern,
            slices,
            coefficients,
            gain: &ones,
            own: &zeros,
            scale: 1.0,
            keep: 0.0,
            theta: 0.0,
            enter: None,
            input: Input::Zero,
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

    /// Whole numbers are added up exactly, in whatever order.
    #[test]
    fn slices_give_the_same_sums() {
        let unit = pattern(false);
        let whole = sums(&unit, ByClass(&REAL), NODES);
        for width in [1, 2, 4, 6] {
            let slices = Slices::of_width(&unit, width).unwrap();
            let found = sliced_sums(&unit, Some(&slices), ByClass(&REAL), NODES);
            assert!(whole.iter().zip(&found).all(|(a, b)| a.0 == b.0), "width {width}");
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
