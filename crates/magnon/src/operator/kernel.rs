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
use super::line::{Line, Real, prefetch};
use super::pattern::{COLUMN, PADDING, Pattern};
use rayon::prelude::*;
use std::ops::Range;

/// How an entry's coefficient t(u,v) = c + i·s is found.
pub trait Coefficients<T>: Copy + Sync {
    /// `[c, s]` of entry `e`, whose packed column is `packed`.
    ///
    /// # Safety
    /// `e` is an entry of the pattern and `packed` its column.
    unsafe fn at(&self, e: usize, packed: u32) -> [T; 2];
}

/// By phase class, from a table that stays in the nearest cache.
#[derive(Clone, Copy)]
pub struct ByClass<'a, T>(pub &'a [[T; 2]; 4]);

impl<T: Real> Coefficients<T> for ByClass<'_, T> {
    #[inline(always)]
    unsafe fn at(&self, _: usize, packed: u32) -> [T; 2] {
        self.0[(packed >> 30) as usize]
    }
}

/// One explicit value for each entry.
#[derive(Clone, Copy)]
pub struct ByEntry<'a, T>(pub &'a [[T; 2]]);

impl<T: Real> Coefficients<T> for ByEntry<'_, T> {
    #[inline(always)]
    unsafe fn at(&self, e: usize, _: u32) -> [T; 2] {
        // SAFETY: the caller names an entry of the pattern, and `Step::new` has checked the length.
        unsafe { *self.0.get_unchecked(e) }
    }
}

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
    pub input: Input<'a, T, N>,
    pub z: &'a [Line<T, N>],
}

impl<T: Real, const N: usize, C: Coefficients<T>> Step<'_, T, N, C> {
    /// Makes the step for all rows on the threads of the current pool.
    ///
    /// `COMPLEX` says how lines are laid out; a real layout ignores the imaginary coefficients.
    pub fn run<const COMPLEX: bool>(&self, out: &mut [Line<T, N>], set: Instructions) {
        self.check(out.len());
        let mut tasks = Vec::with_capacity(self.pattern.blocks.len());
        let mut rest = out;
        for rows in self.pattern.blocks.windows(2) {
            let (head, tail) = rest.split_at_mut(rows[1] - rows[0]);
            tasks.push((rows[0]..rows[1], head));
            rest = tail;
        }
        tasks.into_par_iter().for_each(|(rows, out)| self.dispatch::<COMPLEX>(rows, out, set));
    }

    /// Makes the step for all rows on this thread.
    pub fn run_here<const COMPLEX: bool>(&self, out: &mut [Line<T, N>], set: Instructions) {
        self.check(out.len());
        self.dispatch::<COMPLEX>(0..out.len(), out, set);
    }

    /// What the unchecked accesses of the inner loop rely on.
    fn check(&self, out: usize) {
        let n = self.pattern.nodes();
        assert!([self.z.len(), self.gain.len(), self.own.len(), out].iter().all(|&l| l == n));
        assert!(self.pattern.columns.len() == self.pattern.stored() + PADDING);
    }

    fn dispatch<const COMPLEX: bool>(
        &self,
        rows: Range<usize>,
        out: &mut [Line<T, N>],
        set: Instructions,
    ) {
        if set == Instructions::Portable {
            self.rows::<COMPLEX, FUSED_EVERYWHERE>(rows, out);
        } else {
            set.run(
                #[inline(always)]
                || self.rows::<COMPLEX, true>(rows, out),
            );
        }
    }

    #[inline(always)]
    fn rows<const COMPLEX: bool, const FUSED: bool>(
        &self,
        rows: Range<usize>,
        out: &mut [Line<T, N>],
    ) {
        for (u, out) in rows.zip(out) {
            let product = self.gather::<COMPLEX, FUSED>(u);
            let gain = self.scale * self.gain[u];
            let own = self.scale * self.own[u];
            let z = &self.z[u].0;
            let x = self.input.line(u).0;
            let theta = self.enter.map_or(self.theta, |enter| self.theta * enter[u]);
            // What `out` held counts for nothing when it is not kept, not even as 0 · ∞.
            let before = if self.keep == T::ZERO { [T::ZERO; N] } else { out.0 };
            for i in 0..N {
                let mut sum = gain * product[i];
                sum = fma::<T, FUSED>(own, z[i], sum);
                sum = fma::<T, FUSED>(self.keep, before[i], sum);
                out.0[i] = fma::<T, FUSED>(theta, x[i], sum);
            }
        }
    }

    /// Σ_v t(u,v)·z(v) over the entries of row `u`.
    ///
    /// Sums of c·z and of s·z are kept apart, so that an entry costs two multiply-adds on whole
    /// lines; real and imaginary parts meet once, at the end of the row.
    #[inline(always)]
    fn gather<const COMPLEX: bool, const FUSED: bool>(&self, u: usize) -> [T; N] {
        let mut cosine = [T::ZERO; N];
        let mut sine = [T::ZERO; N];
        let columns = self.pattern.columns.as_slice();
        for e in self.pattern.offsets[u]..self.pattern.offsets[u + 1] {
            // SAFETY: entries run to `stored`, columns to `stored + PADDING` and name nodes below
            // n (the pattern's invariant); z has n lines (`check`).
            let ([c, s], z) = unsafe {
                let packed = *columns.get_unchecked(e);
                let ahead = *columns.get_unchecked(e + PADDING) & COLUMN;
                prefetch(self.z.as_ptr().wrapping_add(ahead as usize));
                let z = &self.z.get_unchecked((packed & COLUMN) as usize).0;
                (self.coefficients.at(e, packed), z)
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

#[inline(always)]
fn fma<T: Real, const FUSED: bool>(a: T, b: T, c: T) -> T {
    if FUSED { a.fused(b, c) } else { a * b + c }
}
