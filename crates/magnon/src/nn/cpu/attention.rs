//! Attention over the neighbours, and its gradients.
//!
//! Weights are not stored: α(u,v) follows from the scores of both ends and two numbers for each row
//! and head, on the way back as on the way there, from either end of an edge.

use super::map::Edges;
use crate::nn::{DrawKey, Scalar};
use crate::operator::instructions::{Instructions, Kernel};
use crate::operator::pattern::COLUMN;
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

impl<T: Scalar> Scores<'_, T> {
    fn width(&self) -> usize {
        self.heads * self.cols
    }

    /// The neighbours of `u` below `limit`, and `u` itself where it is below too.
    #[inline(always)]
    fn neighbours(&self, u: usize, limit: usize) -> impl Iterator<Item = usize> + '_ {
        let pattern = &self.edges.pattern;
        let row = &pattern.columns[pattern.offsets[u]..pattern.offsets[u + 1]];
        let others = row.iter().map(|packed| (packed & COLUMN) as usize);
        let others = others.take_while(move |&v| v < limit).filter(move |&v| v != u);
        others.chain((u < limit).then_some(u))
    }

    /// The score before the exponential, and the slope there.
    #[inline(always)]
    fn score(&self, u: usize, v: usize, head: usize) -> (T, T) {
        let sum = self.target[u * self.heads + head] + self.source[v * self.heads + head];
        if sum > T::ZERO { (sum, T::ONE) } else { (self.slope * sum, self.slope) }
    }

    /// 0 or 1/(1 − rate) for each head of an edge, a function of the key and the two ends.
    #[inline(always)]
    fn mask(&self, u: usize, v: usize, head: usize) -> T {
        let Some((rate, key)) = self.dropout else { return T::ONE };
        let place = (u as u64) << 32 | v as u64;
        let word = key.seed ^ (u64::from(key.epoch) << 32 | u64::from(key.batch));
        let bits = mix(mix(word ^ u64::from(key.site) << 48).wrapping_add(place))
            .wrapping_add(head as u64 / 4);
        let lane = mix(bits) >> (16 * (head % 4)) & 0xFFFF;
        let threshold = (rate * 65_536.0) as u64;
        if lane < threshold { T::ZERO } else { T::from_f64(1.0 / (1.0 - rate)) }
    }

    fn each<'t>(
        &self,
        parts: [(&'t mut [T], usize); 2],
        work: impl Fn(usize, &mut [T], &mut [T]) + Sync + Copy,
    ) where
        T: 't,
    {
        let [(a, wa), (b, wb)] = parts;
        let run = |(block, (a, b)): (usize, (&mut [T], &mut [T]))| {
            for ((u, a), b) in
                (block * ROWS..).zip(a.chunks_exact_mut(wa)).zip(b.chunks_exact_mut(wb))
            {
                self.instructions.compute(RowTask { work: || work(u, a, b) });
            }
        };
        if self.parallel {
            let blocks = a.par_chunks_mut(ROWS * wa).zip(b.par_chunks_mut(ROWS * wb));
            blocks.enumerate().for_each(run);
        } else {
            let blocks = a.chunks_mut(ROWS * wa).zip(b.chunks_mut(ROWS * wb));
            blocks.enumerate().for_each(run);
        }
    }

    /// y and, for each row and head, the largest score and the sum of the exponentials.
    pub fn forward(&self, out: &mut [T], norms: &mut [T]) {
        self.each([(out, self.width()), (norms, 2 * self.heads)], |u, y, norm| {
            y.fill(T::ZERO);
            for head in 0..self.heads {
                let mut most = self.score(u, u, head).0;
                for v in self.neighbours(u, self.seen) {
                    let (e, _) = self.score(u, v, head);
                    most = if e > most { e } else { most };
                }
                (norm[2 * head], norm[2 * head + 1]) = (most, T::ZERO);
            }
            for v in self.neighbours(u, self.seen) {
                let h = &self.features[v * self.width()..][..self.width()];
                for head in 0..self.heads {
                    let weight = Scalar::exp(self.score(u, v, head).0 - norm[2 * head]);
                    norm[2 * head + 1] += weight;
                    let weight = weight * self.mask(u, v, head);
                    let span = head * self.cols..(head + 1) * self.cols;
                    for (y, &h) in y[span.clone()].iter_mut().zip(&h[span]) {
                        *y += weight * h;
                    }
                }
            }
            for (head, y) in y.chunks_exact_mut(self.cols).enumerate() {
                let scale = T::ONE / norm[2 * head + 1];
                y.iter_mut().for_each(|y| *y = *y * scale);
            }
        });
    }

    /// The gradients of h, s and t, added to what is there.
    ///
    /// With dα(u,v) = mask·⟨dy(u), h(v)⟩ the softmax gives de(u,v) = α(u,v)·(dα(u,v) − ⟨dy(u), y(u)⟩).
    pub fn backward(&self, [norms, y, dy]: [&[T]; 3], [features, source, target]: [&mut [T]; 3]) {
        let width = self.width();
        // ∂e(u,v) and mask·α(u,v).
        let edge = |u: usize, v: usize, head: usize| {
            let span = head * self.cols..(head + 1) * self.cols;
            let (h, y, dy) = (
                &self.features[v * width..][span.clone()],
                &y[u * width..][span.clone()],
                &dy[u * width..][span],
            );
            let (score, slope) = self.score(u, v, head);
            let at = 2 * (u * self.heads + head);
            let alpha = Scalar::exp(score - norms[at]) / norms[at + 1];
            let mask = self.mask(u, v, head);
            let (mut to, mut own) = (T::ZERO, T::ZERO);
            for ((&h, &y), &dy) in h.iter().zip(y).zip(dy) {
                to += dy * h;
                own += dy * y;
            }
            (slope * alpha * (mask * to - own), mask * alpha)
        };
        let seen = [(features, width), (source, self.heads)];
        self.each(seen, |v, dh, ds| {
            for u in self.neighbours(v, self.rows) {
                let dy = &dy[u * width..][..width];
                for head in 0..self.heads {
                    let (de, weight) = edge(u, v, head);
                    ds[head] += de;
                    let span = head * self.cols..(head + 1) * self.cols;
                    for (dh, &dy) in dh[span.clone()].iter_mut().zip(&dy[span]) {
                        *dh += weight * dy;
                    }
                }
            }
        });
        let rows = target.len().min(self.rows * self.heads);
        // The second part is not used; one number per row keeps the shape of the walk.
        let mut unused = vec![T::ZERO; self.rows];
        self.each([(&mut target[..rows], self.heads), (&mut unused, 1)], |u, dt, _| {
            for v in self.neighbours(u, self.seen) {
                for (head, dt) in dt.iter_mut().enumerate() {
                    *dt += edge(u, v, head).0;
                }
            }
        });
    }
}

struct RowTask<F> {
    work: F,
}

impl<F: FnOnce()> Kernel for RowTask<F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        (self.work)();
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
