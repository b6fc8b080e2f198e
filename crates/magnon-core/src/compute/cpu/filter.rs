//! h(S)·x by recurrences, and by conjugate gradients where h is solved for.
//!
//! The result is wanted on the targets of a neighbourhood. Each product of a recurrence is made only
//! on the rows that later ones need: those within k steps for the k-th from the end, and the other
//! way round for the adjoint.

use super::Cpu;
use super::gather::{Product, edges};
use super::map::Edges;
use crate::compute::Neighbourhood;
use crate::compute::Side;
use crate::compute::map::check_solvable;
use crate::compute::{EngineError, Field, Scalar, Series, Shape};

/// S with what its products need.
pub(super) struct Recurrence<'a, T> {
    pub cpu: &'a Cpu<T>,
    pub edges: &'a Edges<T>,
    pub seen: &'a Neighbourhood,
    pub field: Field,
    pub side: Side,
    /// One row of the block, in the field that the recurrence runs in.
    pub row: Shape,
}

impl<T: Scalar> Recurrence<'_, T> {
    fn numbers(&self, steps: usize) -> usize {
        self.seen.size(steps) * self.row.width()
    }

    /// y = S x, or its adjoint, from a prefix of the rows to another.
    fn multiply(&self, x: &[T], y: &mut [T]) {
        let rows = |numbers: &[T]| numbers.len() / self.row.width().max(1);
        let (from, to) = (self.row.with_rows(rows(x)), self.row.with_rows(rows(y)));
        let product = Product {
            x: (x, from),
            field: self.field,
            left: &[],
            own: &[],
            add: false,
            parallel: self.cpu.parallel,
            instructions: self.cpu.instructions,
        };
        edges(self.edges, self.side, product, (y, to));
    }

    /// Puts h(S)x into `y`; both have the row's field.
    pub fn run(&self, series: &Series, x: &[T], y: &mut [T]) -> Result<(), EngineError> {
        match (series, self.side) {
            (Series::Powers(theta), Side::Forward) => self.horner(theta, x, y),
            (Series::Powers(theta), Side::Adjoint) => self.powers(theta, x, y),
            (Series::Chebyshev { coefficients, domain }, _) => {
                let map = (domain.centre(), domain.half_width());
                match self.side {
                    Side::Forward => self.clenshaw(coefficients, map, x, y),
                    Side::Adjoint => self.chebyshev(coefficients, map, x, y),
                }
            }
            (Series::Rational { numerator, denominator }, _) => {
                check_solvable(self.edges.hermitian, self.seen)?;
                let mut solution = self.cpu.take(x.len());
                self.solve(denominator, x, &mut solution);
                self.horner(numerator, &solution, y);
                self.cpu.give(solution);
            }
        }
        Ok(())
    }

    /// b_k = S b_{k+1} + θ_k x on the rows within k steps, from the last power down.
    fn horner(&self, theta: &[f64], x: &[T], y: &mut [T]) {
        let size = x.len().max(y.len());
        let (mut now, mut next) = (self.cpu.take(size), self.cpu.take(size));
        now.fill(T::ZERO);
        let last = theta.len().saturating_sub(1);
        for (k, &theta) in theta.iter().enumerate().rev() {
            let rows = self.numbers(k).min(size);
            if k < last {
                self.multiply(&now[..self.numbers(k + 1).min(size)], &mut next[..rows]);
            } else {
                next[..rows].fill(T::ZERO);
            }
            axpy(theta, &x[..rows], &mut next[..rows]);
            std::mem::swap(&mut now, &mut next);
        }
        y.copy_from_slice(&now[..y.len()]);
        [now, next].into_iter().for_each(|block| self.cpu.give(block));
    }

    /// y = Σ θ_k v_k with v_k = Sᴴ v_{k−1}, on rows that grow by a step each time.
    fn powers(&self, theta: &[f64], x: &[T], y: &mut [T]) {
        let size = y.len();
        let (mut now, mut next) = (self.cpu.take(size), self.cpu.take(size));
        now[..x.len()].copy_from_slice(x);
        y.fill(T::ZERO);
        for (k, &theta) in theta.iter().enumerate() {
            let rows = self.numbers(k).min(size);
            if k > 0 {
                self.multiply(&now[..self.numbers(k - 1).min(size)], &mut next[..rows]);
                std::mem::swap(&mut now, &mut next);
            }
            axpy(theta, &now[..rows], &mut y[..rows]);
        }
        [now, next].into_iter().for_each(|block| self.cpu.give(block));
    }

    /// b_k = 2 S̃ b_{k+1} − b_{k+2} + c_k x; at k = 0 the factor is 1.
    fn clenshaw(&self, c: &[f64], (centre, half): (f64, f64), x: &[T], y: &mut [T]) {
        let size = x.len().max(y.len());
        let [mut now, mut next, mut last] = [(); 3].map(|()| self.cpu.take(size));
        now.fill(T::ZERO);
        last.fill(T::ZERO);
        for (k, &c) in c.iter().enumerate().rev() {
            let rows = self.numbers(k).min(size);
            let factor = T::from_f64(if k == 0 { 1.0 } else { 2.0 } / half);
            self.multiply(&now[..self.numbers(k + 1).min(size)], &mut next[..rows]);
            let (shift, c) = (T::from_f64(centre), T::from_f64(c));
            for i in 0..rows {
                next[i] = factor * (next[i] - shift * now[i]) - last[i] + c * x[i];
            }
            std::mem::swap(&mut last, &mut now);
            std::mem::swap(&mut now, &mut next);
        }
        y.copy_from_slice(&now[..y.len()]);
        [now, next, last].into_iter().for_each(|block| self.cpu.give(block));
    }

    /// y = Σ c_k t_k with t_{k+1} = 2 S̃ᴴ t_k − t_{k−1}, on rows that grow by a step each time.
    fn chebyshev(&self, c: &[f64], (centre, half): (f64, f64), x: &[T], y: &mut [T]) {
        let size = y.len();
        let [mut now, mut next, mut last] = [(); 3].map(|()| self.cpu.take(size));
        [&mut now, &mut last].into_iter().for_each(|block| block.fill(T::ZERO));
        now[..x.len()].copy_from_slice(x);
        y.fill(T::ZERO);
        for (k, &c) in c.iter().enumerate() {
            let rows = self.numbers(k).min(size);
            if k > 0 {
                let factor = T::from_f64(if k == 1 { 1.0 } else { 2.0 } / half);
                let shift = T::from_f64(centre);
                self.multiply(&now[..self.numbers(k - 1).min(size)], &mut next[..rows]);
                for i in 0..rows {
                    next[i] = factor * (next[i] - shift * now[i]) - last[i];
                }
                next[rows..].fill(T::ZERO);
                std::mem::swap(&mut last, &mut now);
                std::mem::swap(&mut now, &mut next);
            }
            axpy(c, &now[..rows], &mut y[..rows]);
        }
        [now, next, last].into_iter().for_each(|block| self.cpu.give(block));
    }

    /// Conjugate gradients on p(S) z = x, every column by itself. All rows take part.
    fn solve(&self, denominator: &[f64], x: &[T], z: &mut [T]) {
        const MOST: usize = 1000;
        let size = x.len();
        let [mut r, mut p, mut q] = [(); 3].map(|()| self.cpu.take(size));
        z.fill(T::ZERO);
        r.copy_from_slice(x);
        p.copy_from_slice(x);
        let (width, parts) = (self.row.width().max(1), self.row.field().parts());
        let columns = width / parts;
        // Several rows are looked at together: a few numbers a row would cost more to reach than to use.
        let together = width * 64usize.div_ceil(width);
        let dots = |a: &[T], b: &[T]| {
            let mut sums = vec![0.0; together];
            for (a, b) in a.chunks(together).zip(b.chunks(together)) {
                for ((sum, &a), &b) in sums.iter_mut().zip(a).zip(b) {
                    *sum += a.to_f64() * b.to_f64();
                }
            }
            let mut by_column = vec![0.0; columns];
            sums.iter().enumerate().for_each(|(i, sum)| by_column[i % width / parts] += sum);
            by_column
        };
        let ratio = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
        // A coefficient for each number of the rows that are looked at together.
        let coefficients = |a: &[f64], b: &[f64], sign: f64| -> Vec<T> {
            let of =
                |i: usize| T::from_f64(sign * ratio(a[i % width / parts], b[i % width / parts]));
            (0..together).map(of).collect()
        };
        let tolerance = if size_of::<T>() == 4 { 1e-14 } else { 1e-26 };
        let mut squares = dots(&r, &r);
        let limits: Vec<f64> = squares.iter().map(|square| tolerance * square).collect();
        for _ in 0..MOST {
            if squares.iter().zip(&limits).all(|(square, limit)| square <= limit) {
                break;
            }
            self.horner(denominator, &p, &mut q);
            let curvature = dots(&p, &q);
            let step = coefficients(&squares, &curvature, 1.0);
            let both = z.chunks_mut(together).zip(p.chunks(together));
            both.for_each(|(z, p)| add_scaled(&step, p, z));
            let step = coefficients(&squares, &curvature, -1.0);
            let both = r.chunks_mut(together).zip(q.chunks(together));
            both.for_each(|(r, q)| add_scaled(&step, q, r));
            let next = dots(&r, &r);
            let keep = coefficients(&next, &squares, 1.0);
            for (p, r) in p.chunks_mut(together).zip(r.chunks(together)) {
                for ((p, &r), &keep) in p.iter_mut().zip(r).zip(&keep) {
                    *p = r + keep * *p;
                }
            }
            squares = next;
        }
        [r, p, q].into_iter().for_each(|block| self.cpu.give(block));
    }
}

/// y += a∘x, number by number.
fn add_scaled<T: Scalar>(a: &[T], x: &[T], y: &mut [T]) {
    for ((y, &x), &a) in y.iter_mut().zip(x).zip(a) {
        *y += a * x;
    }
}

/// y += a·x.
fn axpy<T: Scalar>(a: f64, x: &[T], y: &mut [T]) {
    let a = T::from_f64(a);
    for (y, &x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// Copies `x` into a block whose field may be larger.
pub(super) fn widen<T: Scalar>(x: (&[T], Shape), field: Field, to: &mut [T]) {
    if x.1.field() == field {
        to.copy_from_slice(x.0);
        return;
    }
    for (to, &x) in to.as_chunks_mut().0.iter_mut().zip(x.0) {
        *to = [x, T::ZERO];
    }
}

/// Writes or adds `x` to a block whose field may be smaller: then its real part is taken.
pub(super) fn narrow<T: Scalar>(x: (&[T], Field), y: (&mut [T], Shape), add: bool) {
    let step = x.1.parts() / y.1.field().parts().min(x.1.parts());
    for (y, &x) in y.0.iter_mut().zip(x.0.iter().step_by(step)) {
        *y = if add { *y + x } else { x };
    }
}
