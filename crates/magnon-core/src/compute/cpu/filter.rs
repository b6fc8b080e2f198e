//! h(S)·x by recurrences, and by conjugate gradients where h is solved for.

use super::Cpu;
use super::gather::{Product, edges};
use super::map::Edges;
use crate::compute::conjugate_gradients::{Descent, LinearSystem, solve};
use crate::compute::map::check_solvable;
use crate::compute::recurrence::{Accumulate, Basis, BlockOperator, Factors, Pair, down, up};
use crate::compute::{Done, EngineError, Field, Neighbourhood, Scalar, Series, Shape, Side};

impl<T: Scalar> Cpu<T> {
    /// y = h(S)x, or the adjoint.
    pub(super) fn filter(
        &self,
        (edges, series, seen): (&Edges<T>, &Series, &Neighbourhood),
        field: Field,
        side: Side,
        x: (&[T], Shape),
        y: (&mut [T], Shape),
        add: bool,
    ) -> Done {
        let inner = field.join(x.1.field());
        let row = x.1.with_rows(1).with_field(inner);
        let size = x.1.rows().max(y.1.rows()) * row.width();
        let map = series.map();
        let product = (series.basis() != Basis::Powers).then(|| self.take(size));
        let mut run = Recurrence { cpu: self, edges, seen, field, side, row, size, map, product };
        let mut source = self.take(x.1.rows() * row.width());
        widen(x, inner, &mut source);
        let result = run.evaluate(series, &source)?;
        narrow((&result, inner), y, add);
        [source, result].into_iter().chain(run.product).for_each(|block| self.give(block));
        Ok(())
    }
}

/// S with what its products need.
struct Recurrence<'a, T> {
    cpu: &'a Cpu<T>,
    edges: &'a Edges<T>,
    seen: &'a Neighbourhood,
    field: Field,
    side: Side,
    /// One row of the block, in the field that the recurrence runs in.
    row: Shape,
    /// Numbers of a block.
    size: usize,
    /// Centre and half width of the interval that is mapped to [−1, 1].
    map: (f64, f64),
    /// Room for S b, where a step is more than S b + θ·x.
    product: Option<Vec<T>>,
}

impl<T: Scalar> Recurrence<'_, T> {
    /// Numbers of the rows within so many steps.
    fn numbers(&self, steps: usize) -> usize {
        (self.seen.size(steps) * self.row.width()).min(self.size)
    }

    fn block(&self) -> Vec<T> {
        self.cpu.take(self.size)
    }

    fn pair(&self) -> Pair<Vec<T>> {
        Pair { now: self.block(), next: self.block() }
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

    /// h(S)x; both have the row's field.
    fn evaluate(&mut self, series: &Series, x: &Vec<T>) -> Result<Vec<T>, EngineError> {
        match series {
            Series::Powers(c) | Series::Chebyshev { coefficients: c, .. } => {
                self.sum((c, series.basis()), self.side, x)
            }
            Series::Rational { numerator, denominator } => {
                check_solvable(self.edges.hermitian, self.seen)?;
                let solution = self.solve(denominator, x)?;
                let result = self.sum((numerator, Basis::Powers), Side::Forward, &solution)?;
                self.cpu.give(solution);
                Ok(result)
            }
        }
    }

    fn sum(
        &mut self,
        terms: (&[f64], Basis),
        side: Side,
        x: &Vec<T>,
    ) -> Result<Vec<T>, EngineError> {
        let mut pair = self.pair();
        if side == Side::Forward {
            down(self, terms, x, &mut pair)?;
        } else {
            let mut sum = self.block();
            up(self, terms, x, &mut pair, &mut sum)?;
            self.cpu.give(std::mem::replace(&mut pair.now, sum));
        }
        self.cpu.give(pair.next);
        Ok(pair.now)
    }

    /// Q(S)⁻¹x, every column by itself. All rows take part.
    fn solve(&mut self, denominator: &[f64], x: &Vec<T>) -> Result<Vec<T>, EngineError> {
        let mut blocks = Descent {
            solution: self.block(),
            residual: self.block(),
            direction: self.block(),
            pair: self.pair(),
        };
        blocks.solution.fill(T::ZERO);
        self.start(1.0, x, &mut blocks.residual, 0)?;
        blocks.direction.copy_from_slice(&blocks.residual);
        let width = self.row.width().max(1);
        // Several rows are looked at together: a few numbers a row would cost more to reach than to use.
        let together = width * 64usize.div_ceil(width);
        let (cpu, parts) = (self.cpu, self.row.field().parts());
        let (sums, factors) = (vec![0.0; together], vec![T::ZERO; together]);
        let limits = Vec::new();
        let mut columns =
            Columns { recurrence: self, denominator, width, parts, sums, factors, limits };
        solve(&mut columns, &mut blocks)?;
        let Descent { solution, residual, direction, pair } = blocks;
        [residual, direction, pair.now, pair.next].into_iter().for_each(|block| cpu.give(block));
        Ok(solution)
    }
}

impl<T: Scalar> BlockOperator for Recurrence<'_, T> {
    type Block = Vec<T>;
    type Error = EngineError;

    fn start(&mut self, theta: f64, x: &Vec<T>, b: &mut Vec<T>, within: usize) -> Done {
        let theta = T::from_f64(theta);
        for (b, &x) in b[..self.numbers(within)].iter_mut().zip(x) {
            *b = theta * x;
        }
        Ok(())
    }

    fn step(
        &mut self,
        factors: Factors,
        x: Option<&Vec<T>>,
        pair: &mut Pair<Vec<T>>,
        within: [usize; 2],
    ) -> Done {
        let [from, to] = within.map(|steps| self.numbers(steps));
        let (now, next) = (&pair.now[..from], &mut pair.next[..to]);
        let Some(mut product) = self.product.take() else {
            self.multiply(now, next);
            if let Some(x) = x {
                axpy(factors.theta, x, next);
            }
            return Ok(());
        };
        self.multiply(now, &mut product[..to]);
        if factors.keep == 0.0 {
            next.fill(T::ZERO);
        }
        let (centre, half) = self.map;
        let [scale, shift, keep, theta] =
            [factors.scale / half, centre, factors.keep, factors.theta].map(T::from_f64);
        let (now, made) = (&pair.now[..to], &product[..to]);
        let kept = |i: usize, next: T| scale * (made[i] - shift * now[i]) + keep * next;
        match x.map(|x| &x[..to]) {
            Some(x) => (0..to).for_each(|i| next[i] = kept(i, next[i]) + theta * x[i]),
            None => (0..to).for_each(|i| next[i] = kept(i, next[i])),
        }
        self.product = Some(product);
        Ok(())
    }
}

impl<T: Scalar> Accumulate for Recurrence<'_, T> {
    fn clear(&mut self, b: &mut Vec<T>) -> Done {
        b.fill(T::ZERO);
        Ok(())
    }

    fn add(&mut self, c: f64, t: &Vec<T>, y: &mut Vec<T>, within: usize) -> Done {
        axpy(c, t, &mut y[..self.numbers(within)]);
        Ok(())
    }
}

/// Q(S) z = x, with numbers for the columns.
struct Columns<'a, 'b, T> {
    recurrence: &'a mut Recurrence<'b, T>,
    denominator: &'a [f64],
    /// Numbers of a row, and of an entry.
    width: usize,
    parts: usize,
    /// A sum, and a factor, for each number of the rows that are looked at together.
    sums: Vec<f64>,
    factors: Vec<T>,
    /// ⟨r, r⟩ at which a column has converged.
    limits: Vec<f64>,
}

impl<T: Scalar> Columns<'_, '_, T> {
    /// y ← f(factor, x, y) with sign·a/b of each column as factor.
    fn update(
        &mut self,
        (sign, a, b): (f64, &[f64], &[f64]),
        x: &[T],
        y: &mut [T],
        f: impl Fn(T, T, T) -> T,
    ) {
        let ratio = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
        for (i, factor) in self.factors.iter_mut().enumerate() {
            let column = i % self.width / self.parts;
            *factor = T::from_f64(sign * ratio(a[column], b[column]));
        }
        let together = self.factors.len();
        for (y, x) in y.chunks_mut(together).zip(x.chunks(together)) {
            for ((y, &x), &factor) in y.iter_mut().zip(x).zip(&self.factors) {
                *y = f(factor, x, *y);
            }
        }
    }
}

impl<T: Scalar> LinearSystem for Columns<'_, '_, T> {
    type Block = Vec<T>;
    type Scalars = Vec<f64>;
    type Error = EngineError;
    const MAX_ITERATIONS: usize = 1000;

    fn scalars(&self) -> Result<Vec<f64>, EngineError> {
        Ok(vec![0.0; self.width / self.parts])
    }

    fn product(&mut self, x: &Vec<T>, pair: &mut Pair<Vec<T>>) -> Done {
        down(self.recurrence, (self.denominator, Basis::Powers), x, pair)
    }

    fn inner(&mut self, a: &Vec<T>, b: &Vec<T>, to: &mut Vec<f64>) -> Done {
        let together = self.sums.len();
        self.sums.fill(0.0);
        for (a, b) in a.chunks(together).zip(b.chunks(together)) {
            for ((sum, &a), &b) in self.sums.iter_mut().zip(a).zip(b) {
                *sum += a.to_f64() * b.to_f64();
            }
        }
        to.fill(0.0);
        let (width, parts) = (self.width, self.parts);
        self.sums.iter().enumerate().for_each(|(i, sum)| to[i % width / parts] += sum);
        Ok(())
    }

    fn descend(
        &mut self,
        square: &Vec<f64>,
        curvature: &Vec<f64>,
        blocks: &mut Descent<Vec<T>>,
    ) -> Done {
        let Descent { solution, residual, direction, pair } = blocks;
        self.update((1.0, square, curvature), direction, solution, |a, p, y| y + a * p);
        self.update((-1.0, square, curvature), &pair.now, residual, |a, q, r| r + a * q);
        Ok(())
    }

    fn redirect(
        &mut self,
        square: &Vec<f64>,
        before: &Vec<f64>,
        blocks: &mut Descent<Vec<T>>,
    ) -> Done {
        let Descent { residual, direction, .. } = blocks;
        self.update((1.0, square, before), residual, direction, |b, r, p| r + b * p);
        Ok(())
    }

    fn converged(
        &mut self,
        iteration: usize,
        square: &Vec<f64>,
        _: &Vec<f64>,
    ) -> Result<bool, EngineError> {
        if iteration == 0 {
            let tolerance = if size_of::<T>() == 4 { 1e-14 } else { 1e-26 };
            self.limits = square.iter().map(|square| tolerance * square).collect();
        }
        Ok(square.iter().zip(&self.limits).all(|(square, limit)| square <= limit))
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
fn widen<T: Scalar>(x: (&[T], Shape), field: Field, to: &mut [T]) {
    if x.1.field() == field {
        to.copy_from_slice(x.0);
        return;
    }
    for (to, &x) in to.as_chunks_mut().0.iter_mut().zip(x.0) {
        *to = [x, T::ZERO];
    }
}

/// Writes or adds `x` to a block whose field may be smaller: then its real part is taken.
fn narrow<T: Scalar>(x: (&[T], Field), y: (&mut [T], Shape), add: bool) {
    let step = x.1.parts() / y.1.field().parts().min(x.1.parts());
    for (y, &x) in y.0.iter_mut().zip(x.0.iter().step_by(step)) {
        *y = if add { *y + x } else { x };
    }
}
