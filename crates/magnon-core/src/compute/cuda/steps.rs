//! What several operations of the engine are made of: sums, copies, keys and sizes.

use super::abi::{self, Key, Matrix};
use super::apply::THREADS;
use super::{Buffer, Cuda, ceil, flag};
use crate::compute::{Done, DrawKey};
use crate::compute::{EngineError, Field, Shape};

/// Rows that one thread sums before their parts are added.
const PART: usize = 128;
/// Blocks that a sum over all numbers is cut into at most.
const DOTS: usize = 256;

impl Cuda {
    pub(super) fn fill_zero(&self, buffer: &mut Buffer) -> Done {
        self.current().memset_zeros(&mut buffer.slice).map_err(super::card::failure)
    }

    /// `y = factor·x` over the first `n` numbers.
    pub(super) fn axpy(
        &self,
        factor: f64,
        x: &Buffer,
        y: &mut Buffer,
        n: usize,
        add: bool,
    ) -> Done {
        if n == 0 {
            return Ok(());
        }
        self.launch(
            "scale",
            self.grid(n)?,
            THREADS,
            &[
                &(factor as f32),
                &self.matrix(x, n)?,
                &self.matrix_mut(y, n)?,
                &flag(add),
                &(n as i64),
            ],
        )
    }

    /// A block whose field may be larger.
    pub(super) fn widen(&self, x: (&Buffer, Shape), field: Field, to: &mut Buffer) -> Done {
        let n = x.1.len();
        if x.1.field() == field {
            return self.axpy(1.0, x.0, to, n, false);
        }
        self.launch(
            "widen",
            self.grid(n)?,
            THREADS,
            &[&self.matrix(x.0, n)?, &self.matrix_mut(to, 2 * n)?, &(n as i64)],
        )
    }

    /// A block whose field may be smaller: then its real part is taken.
    pub(super) fn narrow(&self, x: (&Buffer, Field), y: (&mut Buffer, Shape), add: bool) -> Done {
        let n = y.1.len();
        if x.1 == y.1.field() {
            return self.axpy(1.0, x.0, y.0, n, add);
        }
        self.launch(
            "narrow",
            self.grid(n)?,
            THREADS,
            &[&self.matrix(x.0, 2 * n)?, &self.matrix_mut(y.0, n)?, &flag(add), &(n as i64)],
        )
    }

    /// What draws are a function of, by the places of nodes where those are others than here.
    pub(super) fn key(&self, key: DrawKey) -> Key {
        let clock = self.under().as_ref().map_or(0, |under| under.clock);
        let seeds = self.seeds.as_ref().map_or(0, |seeds| self.address(seeds));
        let DrawKey { seed, epoch, batch, site } = key;
        let rates = self.rates.as_ref().map_or(0, |rates| self.address(rates));
        let (places, places_lane) = self.places_of_nodes();
        Key { seed, epoch, batch, site, unused: 0, clock, seeds, places, places_lane, rates }
    }

    /// Sums over the rows of `x`, weighted by `weights` in groups where there are some.
    pub(super) fn sum_columns(
        &self,
        x: (&Buffer, usize, usize),
        weights: Option<(&Buffer, usize)>,
        out: &mut Buffer,
        add: bool,
    ) -> Done {
        let (buffer, rows, cols) = x;
        if cols == 0 {
            return Ok(());
        }
        let (weights, weighted, groups) = match weights {
            Some((weights, groups)) => (self.matrix(weights, rows * groups)?, true, groups),
            None => (Matrix::default(), false, 1),
        };
        let count = rows.div_ceil(PART).clamp(1, 65_535);
        let part = rows.div_ceil(count);
        let launch = |to: Matrix| {
            let blocks = (ceil(cols, THREADS as usize)?, count as u32, self.lanes as u32);
            self.launch(
                "column_parts",
                blocks,
                THREADS,
                &[
                    &self.matrix(buffer, rows * cols)?,
                    &weights,
                    &flag(weighted),
                    &to,
                    &(rows as i64),
                    &(cols as i64),
                    &(groups.max(1) as i64),
                    &(part as i64),
                ],
            )
        };
        if count == 1 && !add {
            return launch(self.matrix_mut(out, cols)?);
        }
        let mut parts = self.take(count * cols)?;
        launch(self.matrix_mut(&mut parts, count * cols)?)?;
        self.sum_parts(&parts, out, cols, count, add)?;
        self.give(parts);
        Ok(())
    }

    /// One warp for each row.
    pub(super) fn by_rows(
        &self,
        name: &str,
        shape: Shape,
        arguments: &[&dyn abi::Argument],
    ) -> Done {
        if shape.is_empty() {
            return Ok(());
        }
        let blocks = (ceil(shape.rows() * 32, THREADS as usize)?, 1, self.lanes as u32);
        let (rows, width) = (shape.rows() as i64, shape.width() as i64);
        let sizes: [&dyn abi::Argument; 2] = [&rows, &width];
        let all: Vec<&dyn abi::Argument> = arguments.iter().copied().chain(sizes).collect();
        self.launch(name, blocks, THREADS, &all)
    }

    /// Σ x·y, into a list of one number for each block.
    pub(super) fn dot_parts(&self, x: &Buffer, y: &Buffer) -> Result<(Buffer, usize), EngineError> {
        let n = x.len.min(y.len);
        let blocks = n.div_ceil(4 * THREADS as usize).clamp(1, DOTS);
        // Numbers of double precision in a block of single ones.
        let parts = self.take(2 * blocks)?;
        self.launch(
            "dot_parts",
            (blocks as u32, 1, self.lanes as u32),
            THREADS,
            &[&self.matrix(x, n)?, &self.matrix(y, n)?, &self.address(&parts.slice), &(n as i64)],
        )?;
        Ok((parts, blocks))
    }

    pub(super) fn warps(&self, count: usize) -> Result<(u32, u32, u32), EngineError> {
        Ok((ceil(count * 32, THREADS as usize)?.max(1), 1, self.lanes as u32))
    }
}
