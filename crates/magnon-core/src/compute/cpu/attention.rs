//! Attention over the neighbours, and its gradients.
//!
//! Weights are not stored: α(u,v) follows from the scores of both ends and two numbers for each row
//! and head, on the way back as on the way there, from either end of an edge.

// Indices keep the loops plain enough to be compiled into vector instructions where they stand.
#![allow(clippy::needless_range_loop)]

use super::map::Edges;
use crate::compute::instructions::{Instructions, Kernel};
use crate::compute::pattern::COLUMN;
use crate::compute::{DrawKey, Scalar};
use rayon::prelude::*;

/// What all rows share.
#[derive(Clone, Copy)]
pub(super) struct Scores<'a, T> {
    pub edges: &'a Edges<T>,
    /// One row per node seen, heads × columns.
    pub features: &'a [T],
    pub source: &'a [T],
    pub target: &'a [T],
    pub heads: usize,
    /// Columns of a head.
    pub cols: usize,
    /// Nodes seen, and rows of the result.
    pub seen: usize,
    pub rows: usize,
    pub slope: T,
    pub dropout: Option<(f64, DrawKey)>,
    pub parallel: bool,
    pub instructions: Instructions,
}

/// Rows that one task makes.
const ROWS: usize = 64;

/// Visits the neighbours of `u` below `limit`, and `u` itself where it is below too. A macro, as the
/// body of a closure is not certain to be compiled for the instructions of the loop around it.
macro_rules! visit {
    ($scores:expr, $u:expr, $limit:expr, $v:ident => $body:block) => {{
        let (pattern, u, limit) = (&$scores.edges.pattern, $u, $limit);
        let end = pattern.offsets[u + 1];
        for e in pattern.offsets[u]..=end {
            let own = e == end;
            let $v = if own { u } else { (pattern.columns[e] & COLUMN) as usize };
            // Columns ascend, and a stored self loop counts once.
            if $v >= limit || ($v == u && !own) {
                continue;
            }
            $body
        }
    }};
}

/// One walk over rows, whose results go into two blocks of numbers, each with a row for each.
trait Walk<T>: Copy + Sync {
    /// One row; `weights` has room for three numbers per head. With `H` and `C` above 0, heads and
    /// columns are so many, which the compiler then knows.
    fn row<const H: usize, const C: usize>(
        self,
        u: usize,
        first: &mut [T],
        second: &mut [T],
        weights: &mut [T],
    );
}

impl<T: Scalar> Scores<'_, T> {
    /// Runs a walk over blocks of rows, on all threads where there are several.
    fn walk<W: Walk<T>>(&self, walk: W, first: (&mut [T], usize), second: (&mut [T], usize)) {
        let (heads, cols, set) = (self.heads, self.cols, self.instructions);
        let widths = (first.1, second.1);
        let run = |(block, (first, second)): (usize, (&mut [T], &mut [T]))| {
            let start = block * ROWS;
            set.compute(Block { walk, heads, cols, start, first, second, widths });
        };
        let (size_first, size_second) = (ROWS * widths.0, ROWS * widths.1);
        if self.parallel {
            let blocks =
                first.0.par_chunks_mut(size_first).zip(second.0.par_chunks_mut(size_second));
            blocks.enumerate().for_each(run);
        } else {
            let blocks = first.0.chunks_mut(size_first).zip(second.0.chunks_mut(size_second));
            blocks.enumerate().for_each(run);
        }
    }

    /// LeakyReLU(t(u) + s(v)) for each head.
    #[inline(always)]
    fn scores(&self, u: usize, v: usize, heads: usize, out: &mut [T]) {
        let target = &self.target[u * heads..][..heads];
        let source = &self.source[v * heads..][..heads];
        let out = &mut out[..heads];
        for i in 0..heads {
            let sum = target[i] + source[i];
            out[i] = if sum > T::ZERO { sum } else { self.slope * sum };
        }
    }

    /// 0 or 1/(1 − rate) for each head of an edge, a function of the key and the two ends.
    #[inline(always)]
    fn masks(&self, u: usize, v: usize, heads: usize, out: &mut [T]) {
        let out = &mut out[..heads];
        let Some((rate, key)) = self.dropout else {
            out.fill(T::ONE);
            return;
        };
        let (keep, threshold) = (T::from_f64(1.0 / (1.0 - rate)), (rate * 65_536.0) as u64);
        let place = (u as u64) << 32 | v as u64;
        let word = key.seed ^ (u64::from(key.epoch) << 32 | u64::from(key.batch));
        let start = mix(mix(word ^ (u64::from(key.site) << 48)).wrapping_add(place));
        let mut bits = 0;
        for i in 0..heads {
            if i % 4 == 0 {
                bits = mix(start.wrapping_add(i as u64 / 4));
            }
            out[i] = if bits & 0xFFFF < threshold { T::ZERO } else { keep };
            bits >>= 16;
        }
    }

    /// y and, for each row and head, the largest score and the sum of the exponentials.
    pub fn forward(&self, out: &mut [T], norms: &mut [T]) {
        self.walk(Forward(self), (out, self.heads * self.cols), (norms, 2 * self.heads));
    }

    /// The gradients of h, s and t, added to what is there.
    ///
    /// With dα(u,v) = mask·⟨dy(u), h(v)⟩ the softmax gives de(u,v) = α(u,v)·(dα(u,v) − ⟨dy(u), y(u)⟩).
    /// The last two blocks are room to work in: a number for each row and head, and one for each row.
    pub fn backward(
        &self,
        [norms, y, dy]: [&[T]; 3],
        [features, source, target]: [&mut [T]; 3],
        [along, unused]: [&mut [T]; 2],
    ) {
        let (heads, width) = (self.heads, self.heads * self.cols);
        self.instructions.compute(Alongs { y, dy, cols: self.cols, along: &mut *along });
        let back = Backward { scores: self, norms, dy, along };
        self.walk(Sources(back), (features, width), (source, heads));
        let target = &mut target[..self.rows * heads];
        self.walk(Targets(back), (target, heads), (unused, 1));
    }
}

/// ⟨dy(u), y(u)⟩ for each row and head.
struct Alongs<'a, T> {
    y: &'a [T],
    dy: &'a [T],
    cols: usize,
    along: &'a mut [T],
}

impl<T: Scalar> Kernel for Alongs<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { y, dy, cols, along } = self;
        for (i, along) in along.iter_mut().enumerate() {
            let (y, dy) = (&y[i * cols..][..cols], &dy[i * cols..][..cols]);
            let mut sum = T::ZERO;
            for at in 0..cols {
                sum += y[at] * dy[at];
            }
            *along = sum;
        }
    }
}

/// Some rows of a walk.
struct Block<'b, T, W> {
    walk: W,
    heads: usize,
    cols: usize,
    start: usize,
    first: &'b mut [T],
    second: &'b mut [T],
    widths: (usize, usize),
}

impl<T: Scalar, W: Walk<T>> Kernel for Block<'_, T, W> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // The sizes of the published models are known to the compiler.
        match (self.heads, self.cols) {
            (8, 8) => self.rows::<8, 8>(),
            (1, _) => self.rows::<1, 0>(),
            _ => self.rows::<0, 0>(),
        }
    }
}

impl<T: Scalar, W: Walk<T>> Block<'_, T, W> {
    #[inline(always)]
    fn rows<const H: usize, const C: usize>(self) {
        let mut room = [T::ZERO; 3 * 256];
        let weights = &mut room[..3 * self.heads.min(256)];
        let (first, second) = self.widths;
        for (k, row) in self.first.chunks_exact_mut(first).enumerate() {
            let beside = &mut self.second[k * second..(k + 1) * second];
            self.walk.row::<H, C>(self.start + k, row, beside, weights);
        }
    }
}

/// The number that the compiler knows, or the one that it does not.
#[inline(always)]
fn known<const N: usize>(number: usize) -> usize {
    if N == 0 { number } else { N }
}

#[derive(Clone, Copy)]
struct Forward<'a, T>(&'a Scores<'a, T>);

impl<T: Scalar> Walk<T> for Forward<'_, T> {
    #[inline(always)]
    fn row<const H: usize, const C: usize>(
        self,
        u: usize,
        y: &mut [T],
        norms: &mut [T],
        weights: &mut [T],
    ) {
        let scores = self.0;
        let (heads, cols) = (known::<H>(scores.heads), known::<C>(scores.cols));
        let width = heads * cols;
        let (most, rest) = weights.split_at_mut(heads);
        let (sums, e) = rest.split_at_mut(heads);
        let (y, e) = (&mut y[..width], &mut e[..heads]);
        scores.scores(u, u, heads, most);
        visit!(scores, u, scores.seen, v => {
            scores.scores(u, v, heads, e);
            for i in 0..heads {
                most[i] = if e[i] > most[i] { e[i] } else { most[i] };
            }
        });
        sums.fill(T::ZERO);
        y.fill(T::ZERO);
        let mut masks = [T::ONE; 256];
        visit!(scores, u, scores.seen, v => {
            scores.scores(u, v, heads, e);
            for i in 0..heads {
                e[i] = Scalar::exp(e[i] - most[i]);
                sums[i] += e[i];
            }
            if scores.dropout.is_some() {
                scores.masks(u, v, heads, &mut masks);
                for i in 0..heads {
                    e[i] *= masks[i];
                }
            }
            let h = &scores.features[v * width..][..width];
            for head in 0..heads {
                for at in head * cols..(head + 1) * cols {
                    y[at] += e[head] * h[at];
                }
            }
        });
        for head in 0..heads {
            let scale = T::ONE / sums[head];
            for at in head * cols..(head + 1) * cols {
                y[at] *= scale;
            }
            (norms[2 * head], norms[2 * head + 1]) = (most[head], sums[head]);
        }
    }
}

/// What both walks of the way back share.
#[derive(Clone, Copy)]
struct Backward<'a, T> {
    scores: &'a Scores<'a, T>,
    norms: &'a [T],
    dy: &'a [T],
    /// ⟨dy(u), y(u)⟩ for each row and head.
    along: &'a [T],
}

impl<T: Scalar> Backward<'_, T> {
    /// For each head of an edge ∂e(u,v), the slope of LeakyReLU included, and mask·α(u,v).
    #[inline(always)]
    fn edge<const H: usize, const C: usize>(&self, u: usize, v: usize, de: &mut [T], w: &mut [T]) {
        let Self { scores, norms, dy, along } = self;
        let (heads, cols) = (known::<H>(scores.heads), known::<C>(scores.cols));
        let width = heads * cols;
        scores.scores(u, v, heads, w);
        let norms = &norms[2 * u * heads..][..2 * heads];
        let along = &along[u * heads..][..heads];
        scores.masks(u, v, heads, de);
        let (h, dy) = (&scores.features[v * width..][..width], &dy[u * width..][..width]);
        let (de, w) = (&mut de[..heads], &mut w[..heads]);
        for head in 0..heads {
            let slope = if w[head] > T::ZERO { T::ONE } else { scores.slope };
            let alpha = Scalar::exp(w[head] - norms[2 * head]) / norms[2 * head + 1];
            let mut to = T::ZERO;
            for at in head * cols..(head + 1) * cols {
                to += h[at] * dy[at];
            }
            let mask = de[head];
            de[head] = slope * alpha * (mask * to - along[head]);
            w[head] = mask * alpha;
        }
    }
}

/// Gradients of h(v) and s(v), from all rows that v takes part in.
#[derive(Clone, Copy)]
struct Sources<'a, T>(Backward<'a, T>);

impl<T: Scalar> Walk<T> for Sources<'_, T> {
    #[inline(always)]
    fn row<const H: usize, const C: usize>(
        self,
        v: usize,
        dh: &mut [T],
        ds: &mut [T],
        weights: &mut [T],
    ) {
        let back = self.0;
        let (heads, cols) = (known::<H>(back.scores.heads), known::<C>(back.scores.cols));
        let width = heads * cols;
        let (de, w) = weights.split_at_mut(heads);
        let (dh, ds, w) = (&mut dh[..width], &mut ds[..heads], &mut w[..heads]);
        visit!(back.scores, v, back.scores.rows, u => {
            back.edge::<H, C>(u, v, de, w);
            let dy = &back.dy[u * width..][..width];
            for head in 0..heads {
                ds[head] += de[head];
                for at in head * cols..(head + 1) * cols {
                    dh[at] += w[head] * dy[at];
                }
            }
        });
    }
}

/// Gradient of t(u), from all neighbours of u.
#[derive(Clone, Copy)]
struct Targets<'a, T>(Backward<'a, T>);

impl<T: Scalar> Walk<T> for Targets<'_, T> {
    #[inline(always)]
    fn row<const H: usize, const C: usize>(
        self,
        u: usize,
        dt: &mut [T],
        _: &mut [T],
        weights: &mut [T],
    ) {
        let back = self.0;
        let heads = known::<H>(back.scores.heads);
        let (de, w) = weights.split_at_mut(heads);
        let dt = &mut dt[..heads];
        visit!(back.scores, u, back.scores.seen, v => {
            back.edge::<H, C>(u, v, de, &mut w[..heads]);
            for head in 0..heads {
                dt[head] += de[head];
            }
        });
    }
}

/// A bijection of 64 bits whose every output bit depends on every input bit (the finisher of
/// SplitMix64).
#[inline(always)]
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
