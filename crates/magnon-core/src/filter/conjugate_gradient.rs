//! Conjugate gradients for Q(S) y = b, all columns of a tile side by side.
//!
//! In the space z = r ⊙ x the operator is self-adjoint under the inner product weighted by the
//! degrees, so gradients are taken in that product: symmetric and random-walk normalisation are one
//! case. Every column has step lengths of its own and rests once it has converged.

use super::FilterError;
use super::recurrence::{Between, Pair, powers};
use crate::compute::tile::Scaling;
use crate::compute::tile::{CHUNK, Source, Stepper};
use crate::compute::tile::{F64_LANES as N, Line, tile};
use rayon::prelude::*;

type Tile = Vec<Line<f64, N>>;

/// Relative residual at which a column has converged.
const TOLERANCE: f64 = 1e-12;
/// Relative residual that is accepted where rounding keeps the solver from going lower.
const ACCEPTED: f64 = 1e-9;
const MAX_ITERATIONS: usize = 20_000;

/// The tiles that the solver runs on.
pub(crate) struct Work {
    pub solution: Tile,
    residual: Tile,
    direction: Tile,
    pair: Pair<f64, N>,
}

impl Work {
    pub fn new(nodes: usize) -> Self {
        let pair = Pair { now: tile(nodes), next: tile(nodes) };
        Self { solution: tile(nodes), residual: tile(nodes), direction: tile(nodes), pair }
    }
}

/// Q(S) and the inner product.
pub(crate) struct System<'a, const COMPLEX: bool> {
    pub stepper: &'a Stepper<'a, f64, N, COMPLEX>,
    pub scaling: &'a Scaling<f64>,
    pub denominator: &'a [f64],
    pub weights: &'a [f64],
}

impl<const COMPLEX: bool> System<'_, COMPLEX> {
    /// Solves Q(S) y = source, with y in `work.solution`.
    pub fn solve(&self, source: Source<f64, N>, work: &mut Work) -> Result<(), FilterError> {
        let Work { solution, residual, direction, pair } = work;
        solution.fill(Line::ZERO);
        // r = p = b, through the polynomial 1.
        powers(self.stepper, &[1.0], self.scaling, source, pair, Between::NOTHING)?;
        residual.copy_from_slice(&pair.now);
        direction.copy_from_slice(&pair.now);

        let mut square = self.inner(residual, residual);
        let goal = square.map(|s| s * TOLERANCE * TOLERANCE);
        let start = square;
        let mut iterations = 0;
        while (0..N).any(|i| square[i] > goal[i]) && iterations < MAX_ITERATIONS {
            iterations += 1;
            let along = Source { lines: Some(direction), enter: None };
            powers(self.stepper, self.denominator, self.scaling, along, pair, Between::NOTHING)?;
            let curvature = self.inner(direction, &pair.now);
            let mut alpha = [0.0; N];
            for i in 0..N {
                if square[i] > goal[i] && curvature[i] > 0.0 {
                    alpha[i] = square[i] / curvature[i];
                }
            }
            update(solution, direction, |y, p, i| y + alpha[i] * p);
            update(residual, &pair.now, |r, q, i| r - alpha[i] * q);
            let next = self.inner(residual, residual);
            let mut beta = [0.0; N];
            for i in 0..N {
                if alpha[i] != 0.0 {
                    beta[i] = next[i] / square[i];
                }
            }
            update(direction, residual, |p, r, i| r + beta[i] * p);
            let stuck = (0..N).all(|i| next[i] == square[i] || next[i] <= goal[i]);
            square = next;
            if stuck {
                break;
            }
        }
        self.confirm(source, work, start, iterations)
    }

    /// Checks the true residual b − Q(S) y.
    fn confirm(
        &self,
        source: Source<f64, N>,
        work: &mut Work,
        start: [f64; N],
        iterations: usize,
    ) -> Result<(), FilterError> {
        let Work { solution, residual, pair, .. } = work;
        powers(self.stepper, &[1.0], self.scaling, source, pair, Between::NOTHING)?;
        residual.copy_from_slice(&pair.now);
        let at = Source { lines: Some(solution), enter: None };
        powers(self.stepper, self.denominator, self.scaling, at, pair, Between::NOTHING)?;
        update(residual, &pair.now, |b, q, _| b - q);
        let left = self.inner(residual, residual);
        let relative = |i: usize| if start[i] > 0.0 { (left[i] / start[i]).sqrt() } else { 0.0 };
        let worst = (0..N).map(relative).fold(0.0, f64::max);
        if worst <= ACCEPTED {
            return Ok(());
        }
        Err(FilterError::NotConverged { iterations, residual: worst })
    }

    /// Σ_u w(u)·Re(conj(a(u))·b(u)) for every column; complex columns find theirs in both halves.
    ///
    /// Sums run over fixed chunks in a fixed order, whatever the number of threads.
    fn inner(&self, a: &[Line<f64, N>], b: &[Line<f64, N>]) -> [f64; N] {
        let chunk = |k: usize| {
            let mut sum = [0.0; N];
            let rows = k * CHUNK..((k + 1) * CHUNK).min(a.len());
            for ((w, a), b) in self.weights[rows.clone()].iter().zip(&a[rows.clone()]).zip(&b[rows])
            {
                (0..N).for_each(|j| sum[j] += w * a.0[j] * b.0[j]);
            }
            sum
        };
        let chunks = 0..a.len().div_ceil(CHUNK);
        let parts: Vec<[f64; N]> = match self.stepper.shared {
            true => chunks.into_par_iter().map(chunk).collect(),
            false => chunks.map(chunk).collect(),
        };
        let mut total = [0.0; N];
        for part in parts {
            (0..N).for_each(|j| total[j] += part[j]);
        }
        if COMPLEX {
            for j in 0..N / 2 {
                let both = total[j] + total[j + N / 2];
                (total[j], total[j + N / 2]) = (both, both);
            }
        }
        total
    }
}

/// a ← f(a, b, column), entry by entry.
fn update(a: &mut [Line<f64, N>], b: &[Line<f64, N>], f: impl Fn(f64, f64, usize) -> f64 + Sync) {
    a.par_iter_mut().zip(b).with_min_len(CHUNK).for_each(|(a, b)| {
        for i in 0..N {
            a.0[i] = f(a.0[i], b.0[i], i);
        }
    });
}
