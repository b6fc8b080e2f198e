//! h(S)·x by recurrences, and by conjugate gradients where h is solved for.
//!
//! As in main memory, each product is made only on the rows that later ones need. The recurrences run on
//! z = R·b instead of b, with R = diag(r): no factor at the columns is left in R S R⁻¹, and each step,
//! product and sums together, is one pass.

use super::Cuda;
use super::abi::Factors;
use super::apply::{Gather, Last, Pass, THREADS};
use super::buffer::Buffer;
use super::map::Edges;
use crate::nn::engine::{Done, Side};
use crate::nn::map::check_solvable;
use crate::nn::{EngineError, Field, Series, Shape};
use crate::operator::Neighbourhood;
use cudarc::driver::CudaSlice;

/// S with what its products need.
struct Recurrence<'a> {
    engine: &'a Cuda,
    gather: Gather<'a>,
    seen: &'a Neighbourhood,
    /// r, or its like for the adjoint.
    scale: &'a CudaSlice<f32>,
    side: Side,
    hermitian: bool,
    /// One row of the block, in the field that the recurrence runs in.
    row: Shape,
    /// Rows of the blocks that it works in.
    rows: usize,
}

/// A step: α of S, β of the block itself, γ of the block before, θ of the source.
fn factors(alpha: f64, beta: f64, gamma: f64, theta: f64) -> Factors {
    let [alpha, beta, gamma, theta] = [alpha, beta, gamma, theta].map(|x| x as f32);
    Factors { alpha, beta, gamma, theta }
}

impl Cuda {
    /// y = h(S)x, or the adjoint.
    pub(super) fn filter(
        &self,
        (edges, series, seen): (&Edges, &Series, &Neighbourhood),
        field: Field,
        side: Side,
        x: (&Buffer, Shape),
        y: (&mut Buffer, Shape),
        add: bool,
    ) -> Done {
        let Some(balanced) = &edges.balanced else {
            return Err(EngineError::Unsupported("a filter needs an operator".to_owned()));
        };
        let inner = field.join(x.1.field());
        let row = x.1.with_rows(1).with_field(inner);
        let rows = x.1.rows().max(y.1.rows());
        if row.width() == 0 || rows == 0 {
            return Ok(());
        }
        let scale = match side {
            Side::Forward => &balanced.scale,
            Side::Adjoint => &balanced.adjoint_scale,
        };
        let gather =
            Gather::new(&edges.lists, edges.rows(self, side, true), edges.values.kind(), field);
        let hermitian = edges.hermitian;
        let run = Recurrence { engine: self, gather, seen, scale, side, hermitian, row, rows };
        let mut source = self.take(rows * row.width())?;
        self.widen(x, inner, &mut source)?;
        run.scale_rows(&mut source, x.1.rows(), false)?;
        let mut result = self.take(rows * row.width())?;
        run.run(series, (&source, x.1.rows()), (&mut result, y.1.rows()))?;
        run.scale_rows(&mut result, y.1.rows(), true)?;
        self.narrow((&result, inner), y, add)?;
        self.give(source);
        self.give(result);
        Ok(())
    }
}

/// A block, and the rows of it that count.
type Part<'a> = (&'a Buffer, usize);

impl Recurrence<'_> {
    fn size(&self, steps: usize) -> usize {
        self.seen.size(steps).min(self.rows)
    }

    fn block(&self) -> Result<Buffer, EngineError> {
        self.engine.take(self.rows * self.row.width())
    }

    fn shape(&self, rows: usize) -> Shape {
        self.row.with_rows(rows)
    }

    fn scale_rows(&self, block: &mut Buffer, rows: usize, divide: bool) -> Done {
        let (engine, n) = (self.engine, rows * self.row.width());
        let matrix = engine.matrix_mut(block, n)?;
        engine.launch(
            "scale_rows",
            engine.grid(n)?,
            THREADS,
            &[
                &engine.address(self.scale),
                &i32::from(divide),
                &matrix,
                &matrix,
                &(self.row.width() as i64),
                &(n as i64),
            ],
        )
    }

    /// `next = α·S·now + β·now + γ·last + θ·source`, from a prefix of the rows to another.
    fn step(
        &self,
        factors: Factors,
        now: Part,
        last: Last,
        source: Option<&Buffer>,
        next: (&mut Buffer, usize),
    ) -> Done {
        let pass = Pass { factors, last };
        let (x, y) = ((now.0, self.shape(now.1)), (next.0, self.shape(next.1)));
        self.engine.gather(&self.gather, pass, x, source, y)
    }

    fn axpy(&self, factor: f64, x: &Buffer, y: &mut Buffer, rows: usize, add: bool) -> Done {
        self.engine.axpy(factor, x, y, rows * self.row.width(), add)
    }

    fn run(&self, series: &Series, x: Part, y: (&mut Buffer, usize)) -> Done {
        match (series, self.side) {
            (Series::Powers(theta), Side::Forward) => self.horner(theta, x, y),
            (Series::Powers(theta), Side::Adjoint) => self.powers(theta, x, y),
            (Series::Chebyshev { coefficients, domain }, side) => {
                let centre = 0.5 * (domain.min + domain.max);
                let map = (centre, crate::filter::half_width(*domain));
                match side {
                    Side::Forward => self.clenshaw(coefficients, map, x, y),
                    Side::Adjoint => self.chebyshev(coefficients, map, x, y),
                }
            }
            (Series::Rational { numerator, denominator }, _) => {
                check_solvable(self.hermitian, self.seen)?;
                let mut solution = self.block()?;
                self.solve(denominator, x, &mut solution)?;
                self.horner(numerator, (&solution, x.1), y)?;
                self.engine.give(solution);
                Ok(())
            }
        }
    }

    /// b_k = S b_{k+1} + θ_k x on the rows within k steps, from the last power down.
    fn horner(&self, theta: &[f64], x: Part, y: (&mut Buffer, usize)) -> Done {
        let (mut now, mut next) = (self.block()?, self.block()?);
        let last = theta.len().saturating_sub(1);
        let at = |k: usize| self.size(k).min(x.1.max(y.1));
        let highest = theta.last().copied().unwrap_or_default();
        self.axpy(highest, x.0, &mut now, at(last), false)?;
        for (k, &theta) in theta[..last].iter().enumerate().rev() {
            let factors = factors(1.0, 0.0, 0.0, theta);
            self.step(factors, (&now, at(k + 1)), Last::None, Some(x.0), (&mut next, at(k)))?;
            std::mem::swap(&mut now, &mut next);
        }
        self.axpy(1.0, &now, y.0, y.1, false)?;
        [now, next].into_iter().for_each(|block| self.engine.give(block));
        Ok(())
    }

    /// y = Σ θ_k v_k with v_k = Sᴴ v_{k−1}, on rows that grow by a step each time.
    fn powers(&self, theta: &[f64], x: Part, y: (&mut Buffer, usize)) -> Done {
        let (mut now, mut next) = (self.block()?, self.block()?);
        self.axpy(1.0, x.0, &mut now, x.1, false)?;
        self.engine.fill_zero(y.0)?;
        let at = |k: usize| self.size(k).min(y.1);
        for (k, &theta) in theta.iter().enumerate() {
            if k > 0 {
                let product = factors(1.0, 0.0, 0.0, 0.0);
                self.step(product, (&now, at(k - 1)), Last::None, None, (&mut next, at(k)))?;
                std::mem::swap(&mut now, &mut next);
            }
            self.axpy(theta, &now, y.0, at(k), true)?;
        }
        [now, next].into_iter().for_each(|block| self.engine.give(block));
        Ok(())
    }

    /// b_k = 2 S̃ b_{k+1} − b_{k+2} + c_k x; at k = 0 the factor is 1.
    fn clenshaw(
        &self,
        c: &[f64],
        (centre, half): (f64, f64),
        x: Part,
        y: (&mut Buffer, usize),
    ) -> Done {
        let [mut now, mut next, mut last] = [self.block()?, self.block()?, self.block()?];
        self.engine.fill_zero(&mut now)?;
        self.engine.fill_zero(&mut last)?;
        let at = |k: usize| self.size(k).min(x.1.max(y.1));
        for (k, &c) in c.iter().enumerate().rev() {
            let factor = if k == 0 { 1.0 } else { 2.0 } / half;
            let factors = factors(factor, -factor * centre, -1.0, c);
            let other = Last::Other(&last);
            self.step(factors, (&now, at(k + 1)), other, Some(x.0), (&mut next, at(k)))?;
            std::mem::swap(&mut last, &mut now);
            std::mem::swap(&mut now, &mut next);
        }
        self.axpy(1.0, &now, y.0, y.1, false)?;
        [now, next, last].into_iter().for_each(|block| self.engine.give(block));
        Ok(())
    }

    /// y = Σ c_k t_k with t_{k+1} = 2 S̃ᴴ t_k − t_{k−1}, on rows that grow by a step each time.
    fn chebyshev(
        &self,
        c: &[f64],
        (centre, half): (f64, f64),
        x: Part,
        y: (&mut Buffer, usize),
    ) -> Done {
        let [mut now, mut next, mut last] = [self.block()?, self.block()?, self.block()?];
        [&mut now, &mut next, &mut last]
            .into_iter()
            .try_for_each(|block| self.engine.fill_zero(block))?;
        self.axpy(1.0, x.0, &mut now, x.1, false)?;
        self.engine.fill_zero(y.0)?;
        let at = |k: usize| self.size(k).min(y.1);
        for (k, &c) in c.iter().enumerate() {
            if k > 0 {
                let factor = if k == 1 { 1.0 } else { 2.0 } / half;
                let factors = factors(factor, -factor * centre, -1.0, 0.0);
                let other = Last::Other(&last);
                self.step(factors, (&now, at(k - 1)), other, None, (&mut next, at(k)))?;
                std::mem::swap(&mut last, &mut now);
                std::mem::swap(&mut now, &mut next);
            }
            self.axpy(c, &now, y.0, at(k), true)?;
        }
        [now, next, last].into_iter().for_each(|block| self.engine.give(block));
        Ok(())
    }

    /// Conjugate gradients on p(S) z = x, every column by itself. All rows take part.
    ///
    /// R S R⁻¹ is not Hermitian, so the way goes through b = R⁻¹z, where S is.
    fn solve(&self, denominator: &[f64], x: Part, z: &mut Buffer) -> Done {
        const MOST: usize = 1000;
        /// Steps between two looks at what is left.
        const LOOK: usize = 8;
        let engine = self.engine;
        let rows = x.1;
        let columns = self.row.cols();
        let numbers = rows * self.row.width();
        let [mut r, mut p, mut q, mut scaled] =
            [self.block()?, self.block()?, self.block()?, self.block()?];
        self.axpy(1.0, x.0, &mut r, rows, false)?;
        self.scale_rows(&mut r, rows, true)?;
        self.axpy(1.0, &r, &mut p, rows, false)?;
        engine.fill_zero(z)?;
        let lanes = engine.lanes * columns;
        let [mut squares, mut next, curvature] = [
            engine.zeroed::<f64>(lanes)?,
            engine.zeroed::<f64>(lanes)?,
            engine.zeroed::<f64>(lanes)?,
        ];
        let dots = |a: &Buffer, b: &Buffer, to: &CudaSlice<f64>| {
            let parts = self.row.field().parts() as i32;
            let grid = (columns as u32, 1, engine.lanes as u32);
            engine.launch(
                "column_dots",
                grid,
                THREADS,
                &[
                    &engine.matrix(a, numbers)?,
                    &engine.matrix(b, numbers)?,
                    &engine.address(to),
                    &(rows as i64),
                    &(columns as i64),
                    &parts,
                ],
            )
        };
        // y += sign·(a/b)·x, or y = x + (a/b)·y.
        let update = |x: &Buffer,
                      y: &mut Buffer,
                      a: &CudaSlice<f64>,
                      b: &CudaSlice<f64>,
                      sign: f32,
                      keep: bool| {
            engine.launch(
                "column_update",
                engine.grid(numbers)?,
                THREADS,
                &[
                    &engine.matrix(x, numbers)?,
                    &engine.matrix_mut(y, numbers)?,
                    &engine.address(a),
                    &engine.address(b),
                    &sign,
                    &i32::from(keep),
                    &(columns as i64),
                    &(self.row.field().parts() as i32),
                    &(numbers as i64),
                ],
            )
        };
        dots(&r, &r, &squares)?;
        let mut found = vec![0f64; lanes];
        engine.get(&squares, &mut found)?;
        let limits: Vec<f64> = found.iter().map(|square| 1e-14 * square).collect();
        for step in 0..MOST {
            if step % LOOK == 0 {
                engine.get(&squares, &mut found)?;
                if found.iter().zip(&limits).all(|(square, limit)| square <= limit) {
                    break;
                }
            }
            self.axpy(1.0, &p, &mut scaled, rows, false)?;
            self.scale_rows(&mut scaled, rows, false)?;
            self.horner(denominator, (&scaled, rows), (&mut q, rows))?;
            self.scale_rows(&mut q, rows, true)?;
            dots(&p, &q, &curvature)?;
            update(&p, z, &squares, &curvature, 1.0, false)?;
            update(&q, &mut r, &squares, &curvature, -1.0, false)?;
            dots(&r, &r, &next)?;
            update(&r, &mut p, &next, &squares, 1.0, true)?;
            std::mem::swap(&mut squares, &mut next);
        }
        self.scale_rows(z, rows, false)?;
        [r, p, q, scaled].into_iter().for_each(|block| engine.give(block));
        Ok(())
    }
}
