//! h(S)·x by recurrences, and by conjugate gradients where h is solved for.
//!
//! The recurrences run on z = R·b instead of b, with R = diag(r): no factor at the columns is left in
//! R S R⁻¹, and each step, product and sums together, is one pass.

use super::Cuda;
use super::abi::Factors;
use super::apply::{Gather, Last, Pass, THREADS};
use super::buffer::Buffer;
use super::map::Edges;
use crate::compute::conjugate_gradients::{Descent, LinearSystem, solve};
use crate::compute::map::check_solvable;
use crate::compute::recurrence::{Accumulate, Basis, BlockOperator, Pair, down, up};
use crate::compute::{Done, EngineError, Field, Neighbourhood, Series, Shape, Side, recurrence};
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
    /// Rows of the blocks that it works in, and those that x has.
    rows: usize,
    given: usize,
    /// Centre and half width of the interval that is mapped to [−1, 1].
    map: (f64, f64),
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
        let (given, rows) = (x.1.rows(), x.1.rows().max(y.1.rows()));
        if row.width() == 0 || rows == 0 {
            return Ok(());
        }
        let (rows_of, kind) = (edges.rows(self, side), edges.kind(side));
        let gather = Gather::new(&edges.lists, rows_of, kind, field);
        let (hermitian, map) = (edges.hermitian, series.map());
        let mut run = Recurrence {
            engine: self,
            gather,
            seen,
            scale,
            side,
            hermitian,
            row,
            rows,
            given,
            map,
        };
        let mut source = run.block()?;
        self.widen(x, inner, &mut source)?;
        run.scale_rows(&mut source, given, false)?;
        let mut result = run.evaluate(series, &source)?;
        run.scale_rows(&mut result, y.1.rows(), true)?;
        self.narrow((&result, inner), y, add)?;
        self.give(source);
        self.give(result);
        Ok(())
    }
}

impl Recurrence<'_> {
    /// Rows within so many steps.
    fn size(&self, steps: usize) -> usize {
        self.seen.size(steps).min(self.rows)
    }

    fn numbers(&self, rows: usize) -> usize {
        rows * self.row.width()
    }

    fn block(&self) -> Result<Buffer, EngineError> {
        self.engine.take(self.numbers(self.rows))
    }

    fn pair(&self) -> Result<Pair<Buffer>, EngineError> {
        Ok(Pair { now: self.block()?, next: self.block()? })
    }

    fn copy(&self, from: &Buffer, to: &mut Buffer) -> Done {
        self.engine.axpy(1.0, from, to, self.numbers(self.rows), false)
    }

    fn scale_rows(&self, block: &mut Buffer, rows: usize, divide: bool) -> Done {
        let (engine, n) = (self.engine, self.numbers(rows));
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

    /// h(S)x.
    fn evaluate(&mut self, series: &Series, x: &Buffer) -> Result<Buffer, EngineError> {
        match series {
            Series::Powers(c) | Series::Chebyshev { coefficients: c, .. } => {
                self.sum((c, series.basis()), self.side, x)
            }
            Series::Rational { numerator, denominator } => {
                check_solvable(self.hermitian, self.seen)?;
                let solution = self.solve(denominator, x)?;
                let result = self.sum((numerator, Basis::Powers), Side::Forward, &solution)?;
                self.engine.give(solution);
                Ok(result)
            }
        }
    }

    fn sum(
        &mut self,
        terms: (&[f64], Basis),
        side: Side,
        x: &Buffer,
    ) -> Result<Buffer, EngineError> {
        let mut pair = self.pair()?;
        if side == Side::Forward {
            down(self, terms, x, &mut pair)?;
        } else {
            let mut sum = self.block()?;
            up(self, terms, x, &mut pair, &mut sum)?;
            self.engine.give(std::mem::replace(&mut pair.now, sum));
        }
        self.engine.give(pair.next);
        Ok(pair.now)
    }

    /// Q(S)⁻¹x, every column by itself. All rows take part.
    ///
    /// R S R⁻¹ is not Hermitian, so the way goes through b = R⁻¹z, where S is.
    fn solve(&mut self, denominator: &[f64], x: &Buffer) -> Result<Buffer, EngineError> {
        let (engine, rows) = (self.engine, self.rows);
        let mut blocks = Descent {
            solution: self.block()?,
            residual: self.block()?,
            direction: self.block()?,
            pair: self.pair()?,
        };
        engine.fill_zero(&mut blocks.solution)?;
        self.copy(x, &mut blocks.residual)?;
        self.scale_rows(&mut blocks.residual, rows, true)?;
        self.copy(&blocks.residual, &mut blocks.direction)?;
        let (scaled, lanes) = (self.block()?, engine.lanes * self.row.cols());
        let (found, limits) = (vec![0.0; lanes], Vec::new());
        let mut columns = Columns { recurrence: self, denominator, scaled, found, limits };
        solve(&mut columns, &mut blocks)?;
        let scaled = columns.scaled;
        let Descent { mut solution, residual, direction, pair } = blocks;
        self.scale_rows(&mut solution, rows, false)?;
        let done = [scaled, residual, direction, pair.now, pair.next];
        done.into_iter().for_each(|block| engine.give(block));
        Ok(solution)
    }
}

impl BlockOperator for Recurrence<'_> {
    type Block = Buffer;
    type Error = EngineError;

    fn start(&mut self, theta: f64, x: &Buffer, b: &mut Buffer, within: usize) -> Done {
        let rows = self.size(within).min(self.given);
        self.engine.axpy(theta, x, b, self.numbers(rows), false)
    }

    fn step(
        &mut self,
        factors: recurrence::Factors,
        x: Option<&Buffer>,
        pair: &mut Pair<Buffer>,
        within: [usize; 2],
    ) -> Done {
        let recurrence::Factors { scale, keep, theta } = factors;
        let (centre, half) = self.map;
        let alpha = scale / half;
        let [alpha, beta, gamma, theta] =
            [alpha, -alpha * centre, keep, theta].map(|factor| factor as f32);
        let pass = Pass {
            factors: Factors { alpha, beta, gamma, theta },
            last: if keep == 0.0 { Last::None } else { Last::Result },
        };
        let [from, to] = within.map(|steps| self.row.with_rows(self.size(steps)));
        self.engine.gather(&self.gather, pass, (&pair.now, from), x, (&mut pair.next, to))
    }
}

impl Accumulate for Recurrence<'_> {
    fn clear(&mut self, b: &mut Buffer) -> Done {
        self.engine.fill_zero(b)
    }

    fn add(&mut self, c: f64, t: &Buffer, y: &mut Buffer, within: usize) -> Done {
        self.engine.axpy(c, t, y, self.numbers(self.size(within)), true)
    }
}

/// Q(S) z = x, with numbers for the columns, which stay on the card.
struct Columns<'a, 'b> {
    recurrence: &'a mut Recurrence<'b>,
    denominator: &'a [f64],
    /// R·p.
    scaled: Buffer,
    /// ⟨r, r⟩, as it was seen last, and where a column has converged.
    found: Vec<f64>,
    limits: Vec<f64>,
}

impl Columns<'_, '_> {
    /// y += sign·(a/b)·x, or y = x + (a/b)·y.
    fn update(
        &self,
        (a, b): (&CudaSlice<f64>, &CudaSlice<f64>),
        x: &Buffer,
        y: &mut Buffer,
        sign: f32,
        keep: bool,
    ) -> Done {
        let Recurrence { engine, row, rows, .. } = *self.recurrence;
        let numbers = self.recurrence.numbers(rows);
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
                &(row.cols() as i64),
                &(row.field().parts() as i32),
                &(numbers as i64),
            ],
        )
    }
}

impl LinearSystem for Columns<'_, '_> {
    type Block = Buffer;
    type Scalars = CudaSlice<f64>;
    type Error = EngineError;
    const MAX_ITERATIONS: usize = 1000;

    fn scalars(&self) -> Result<CudaSlice<f64>, EngineError> {
        self.recurrence.engine.zeroed(self.found.len())
    }

    fn product(&mut self, x: &Buffer, pair: &mut Pair<Buffer>) -> Done {
        let (run, scaled) = (&mut *self.recurrence, &mut self.scaled);
        let rows = run.rows;
        run.copy(x, scaled)?;
        run.scale_rows(scaled, rows, false)?;
        down(run, (self.denominator, Basis::Powers), scaled, pair)?;
        run.scale_rows(&mut pair.now, rows, true)
    }

    fn inner(&mut self, a: &Buffer, b: &Buffer, to: &mut CudaSlice<f64>) -> Done {
        let Recurrence { engine, row, rows, .. } = *self.recurrence;
        let numbers = self.recurrence.numbers(rows);
        engine.launch(
            "column_dots",
            (row.cols() as u32, 1, engine.lanes as u32),
            THREADS,
            &[
                &engine.matrix(a, numbers)?,
                &engine.matrix(b, numbers)?,
                &engine.address(to),
                &(rows as i64),
                &(row.cols() as i64),
                &(row.field().parts() as i32),
            ],
        )
    }

    fn descend(
        &mut self,
        square: &CudaSlice<f64>,
        curvature: &CudaSlice<f64>,
        blocks: &mut Descent<Buffer>,
    ) -> Done {
        let (ratio, q) = ((square, curvature), &blocks.pair.now);
        self.update(ratio, &blocks.direction, &mut blocks.solution, 1.0, false)?;
        self.update(ratio, q, &mut blocks.residual, -1.0, false)
    }

    fn redirect(
        &mut self,
        square: &CudaSlice<f64>,
        before: &CudaSlice<f64>,
        blocks: &mut Descent<Buffer>,
    ) -> Done {
        self.update((square, before), &blocks.residual, &mut blocks.direction, 1.0, true)
    }

    fn converged(
        &mut self,
        iteration: usize,
        square: &CudaSlice<f64>,
        _: &CudaSlice<f64>,
    ) -> Result<bool, EngineError> {
        /// Steps between two looks at what is left.
        const LOOK: usize = 8;
        if !iteration.is_multiple_of(LOOK) {
            return Ok(false);
        }
        self.recurrence.engine.get(square, &mut self.found)?;
        if iteration == 0 {
            self.limits = self.found.iter().map(|square| 1e-14 * square).collect();
        }
        Ok(self.found.iter().zip(&self.limits).all(|(square, limit)| square <= limit))
    }
}
