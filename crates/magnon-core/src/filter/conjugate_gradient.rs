//! Conjugate gradients for Q(S) y = b on tiles.
//!
//! In the space z = r ⊙ x the operator is self-adjoint under the inner product weighted by the
//! degrees, so gradients are taken in that product: symmetric and random-walk normalisation are one
//! case. Every column has step lengths of its own and rests once it has converged.

use super::FilterError;
use super::recurrence::{Between, TileRecurrence};
use crate::compute::conjugate_gradients::{Descent, LinearSystem, solve};
use crate::compute::recurrence::{Basis, BlockOperator, Pair, down};
use crate::compute::steps;
use crate::compute::tile::{CHUNK, F64_LANES as N, Line, Scaling, Stepper, tile};
use rayon::prelude::*;

type Tile = steps::Tile<f64, N>;

/// Relative residual at which a column has converged.
const TOLERANCE: f64 = 1e-12;
/// Relative residual that is accepted where rounding keeps the solver from going lower.
const ACCEPTED: f64 = 1e-9;

/// The tiles that the solver runs on.
pub(crate) type Work = Descent<Tile>;

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
    /// S on tiles that need these factors to enter its space.
    pub(super) fn recurrence<'b>(
        &'b self,
        enter: Option<&'b [f64]>,
    ) -> TileRecurrence<'b, f64, N, COMPLEX> {
        let Self { stepper, scaling, .. } = *self;
        TileRecurrence { stepper, scaling, enter, between: Between::NOTHING }
    }

    /// Solves Q(S) y = x, with y in `work.solution`; `x` has not entered the space of the operator.
    pub fn solve(&self, x: &Tile, work: &mut Work) -> Result<(), FilterError> {
        let mut enter = self.recurrence(self.scaling.enter.as_deref());
        enter.start(1.0, x, &mut work.residual, 0)?;
        work.solution.fill(Line::ZERO);
        work.direction.copy_from_slice(&work.residual);
        let mut columns =
            Columns { system: self, start: [0.0; N], goal: [0.0; N], alpha: [0.0; N] };
        let iterations = solve(&mut columns, work)?;

        // The true residual b − Q(S) y.
        let Work { solution, residual, pair, .. } = work;
        enter.start(1.0, x, residual, 0)?;
        self.product(solution, pair)?;
        update(residual, &pair.now, |b, q, _| b - q);
        let left = self.inner(residual, residual);
        let start = columns.start;
        let relative = |i: usize| if start[i] > 0.0 { (left[i] / start[i]).sqrt() } else { 0.0 };
        let worst = (0..N).map(relative).fold(0.0, f64::max);
        if worst <= ACCEPTED {
            return Ok(());
        }
        Err(FilterError::NotConverged { iterations, residual: worst })
    }

    /// Q(S) x into `pair.now`.
    fn product(&self, x: &Tile, pair: &mut Pair<Tile>) -> Result<(), FilterError> {
        down(&mut self.recurrence(None), (self.denominator, Basis::Powers), x, pair)
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

/// The columns of a tile on their way to the solution.
struct Columns<'a, const COMPLEX: bool> {
    system: &'a System<'a, COMPLEX>,
    /// ⟨b, b⟩.
    start: [f64; N],
    /// ⟨r, r⟩ at which a column has converged.
    goal: [f64; N],
    /// The last steps; 0 where a column rests.
    alpha: [f64; N],
}

impl<const COMPLEX: bool> LinearSystem for Columns<'_, COMPLEX> {
    type Block = Tile;
    type Scalars = [f64; N];
    type Error = FilterError;
    const MAX_ITERATIONS: usize = 20_000;

    fn scalars(&self) -> Result<[f64; N], FilterError> {
        Ok([0.0; N])
    }

    fn product(&mut self, x: &Tile, pair: &mut Pair<Tile>) -> Result<(), FilterError> {
        self.system.product(x, pair)
    }

    fn inner(&mut self, a: &Tile, b: &Tile, to: &mut [f64; N]) -> Result<(), FilterError> {
        *to = self.system.inner(a, b);
        Ok(())
    }

    fn descend(
        &mut self,
        square: &[f64; N],
        curvature: &[f64; N],
        blocks: &mut Work,
    ) -> Result<(), FilterError> {
        let moves = |i: usize| square[i] > self.goal[i] && curvature[i] > 0.0;
        let alpha = std::array::from_fn(|i| if moves(i) { square[i] / curvature[i] } else { 0.0 });
        update(&mut blocks.solution, &blocks.direction, |y, p, i| y + alpha[i] * p);
        update(&mut blocks.residual, &blocks.pair.now, |r, q, i| r - alpha[i] * q);
        self.alpha = alpha;
        Ok(())
    }

    fn redirect(
        &mut self,
        square: &[f64; N],
        before: &[f64; N],
        blocks: &mut Work,
    ) -> Result<(), FilterError> {
        let moved = |i: usize| self.alpha[i] != 0.0;
        let beta: [f64; N] =
            std::array::from_fn(|i| if moved(i) { square[i] / before[i] } else { 0.0 });
        update(&mut blocks.direction, &blocks.residual, |p, r, i| r + beta[i] * p);
        Ok(())
    }

    fn converged(
        &mut self,
        iteration: usize,
        square: &[f64; N],
        before: &[f64; N],
    ) -> Result<bool, FilterError> {
        if iteration == 0 {
            self.start = *square;
            self.goal = square.map(|s| s * TOLERANCE * TOLERANCE);
        }
        let goal = self.goal;
        let left = (0..N).any(|i| square[i] > goal[i]);
        let stuck = || (0..N).all(|i| square[i] == before[i] || square[i] <= goal[i]);
        Ok(!left || (iteration > 0 && stuck()))
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
