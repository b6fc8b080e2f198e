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
use crate::compute::Neighbourhood;
use crate::compute::map::check_solvable;
use crate::compute::{Done, Side};
use crate::compute::{EngineError, Field, Series, Shape};
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
        let Some(scale) = edges.scale(side) else {
            return Err(EngineError::Unsupported("a filter needs an operator".to_owned()));
        };
        let inner = field.join(x.1.field());
        let row = x.1.with_rows(1).with_field(inner);
        let rows = x.1.rows().max(y.1.rows());
        if row.width() == 0 || rows == 0 {
            return Ok(());
        }
        let (rows_of, kind) = (edges.rows(self, side), edges.kind(side));
        let gather = Gather::new(&edges.lists, rows_of, kind, field);
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

/// α, β and γ of a recurrence's steps, at its end and elsewhere, and whether it has three terms.
#[derive(Clone, Copy)]
struct Terms<'a> {
    of: &'a dyn Fn(bool) -> [f64; 3],
    three: bool,
}

/// S^k.
const POWERS: Terms = Terms { of: &|_| [1.0, 0.0, 0.0], three: false };

/// The blocks that a recurrence works in.
struct Blocks {
    now: Buffer,
    next: Buffer,
    last: Option<Buffer>,
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
        let sum = |c: &[f64], terms: Terms, y| match self.side {
            Side::Forward => self.down(c, terms, x, y),
            Side::Adjoint => self.up(c, terms, x, y),
        };
        match series {
            Series::Powers(theta) => sum(theta, POWERS, y),
            Series::Chebyshev { coefficients, domain } => {
                let (centre, half) = (domain.centre(), domain.half_width());
                let terms = |end: bool| {
                    let factor = if end { 1.0 } else { 2.0 } / half;
                    [factor, -factor * centre, -1.0]
                };
                sum(coefficients, Terms { of: &terms, three: true }, y)
            }
            Series::Rational { numerator, denominator } => {
                check_solvable(self.hermitian, self.seen)?;
                let mut solution = self.block()?;
                self.solve(denominator, x, &mut solution)?;
                self.down(numerator, POWERS, (&solution, x.1), y)?;
                self.engine.give(solution);
                Ok(())
            }
        }
    }

    /// Blocks for a recurrence; those of one with three terms begin with zeros.
    fn blocks(&self, three: bool) -> Result<Blocks, EngineError> {
        let mut blocks = Blocks { now: self.block()?, next: self.block()?, last: None };
        if three {
            let mut last = self.block()?;
            for block in [&mut blocks.now, &mut blocks.next, &mut last] {
                self.engine.fill_zero(block)?;
            }
            blocks.last = Some(last);
        }
        Ok(blocks)
    }

    /// One step from so many rows to so many.
    fn turn(
        &self,
        blocks: &mut Blocks,
        ([alpha, beta, gamma], theta): ([f64; 3], f64),
        source: Option<&Buffer>,
        [from, to]: [usize; 2],
    ) -> Done {
        let factors = factors(alpha, beta, gamma, theta);
        let last = blocks.last.as_ref().map_or(Last::None, Last::Other);
        self.step(factors, (&blocks.now, from), last, source, (&mut blocks.next, to))?;
        if let Some(last) = &mut blocks.last {
            std::mem::swap(last, &mut blocks.now);
        }
        std::mem::swap(&mut blocks.now, &mut blocks.next);
        Ok(())
    }

    fn give(&self, blocks: Blocks) {
        let Blocks { now, next, last } = blocks;
        [now, next].into_iter().chain(last).for_each(|block| self.engine.give(block));
    }

    /// b_k = α·S b_{k+1} + β·b_{k+1} + γ·b_{k+2} + c_k x on the rows within k steps, from the last k down:
    /// Horner's rule, or Clenshaw's.
    fn down(&self, c: &[f64], terms: Terms, x: Part, y: (&mut Buffer, usize)) -> Done {
        let mut blocks = self.blocks(terms.three)?;
        let last = c.len().saturating_sub(1);
        let at = |k: usize| self.size(k).min(x.1.max(y.1));
        let highest = c.last().copied().unwrap_or_default();
        self.axpy(highest, x.0, &mut blocks.now, at(last), false)?;
        for (k, &c) in c[..last].iter().enumerate().rev() {
            self.turn(&mut blocks, ((terms.of)(k == 0), c), Some(x.0), [at(k + 1), at(k)])?;
        }
        self.axpy(1.0, &blocks.now, y.0, y.1, false)?;
        self.give(blocks);
        Ok(())
    }

    /// y = Σ c_k t_k with t_{k+1} = α·Sᴴ t_k + β·t_k + γ·t_{k−1}, on rows that grow by a step each time.
    fn up(&self, c: &[f64], terms: Terms, x: Part, y: (&mut Buffer, usize)) -> Done {
        let mut blocks = self.blocks(terms.three)?;
        self.axpy(1.0, x.0, &mut blocks.now, x.1, false)?;
        self.engine.fill_zero(y.0)?;
        let at = |k: usize| self.size(k).min(y.1);
        for (k, &c) in c.iter().enumerate() {
            if k > 0 {
                self.turn(&mut blocks, ((terms.of)(k == 1), 0.0), None, [at(k - 1), at(k)])?;
            }
            self.axpy(c, &blocks.now, y.0, at(k), true)?;
        }
        self.give(blocks);
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
            self.down(denominator, POWERS, (&scaled, rows), (&mut q, rows))?;
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
