//! Functions of single entries, masks and columns, as launches of kernels.

use super::apply::THREADS;
use super::lanes::{kept, thresholds};
use super::map::{Kind, Map};
use super::{Buffer, Cuda, flag};
use crate::compute::{Activation, Done, DrawKey};
use crate::compute::{EngineError, Shape};

/// One number for each entry.
fn entries(shape: Shape) -> usize {
    shape.rows() * shape.cols()
}

fn number(f: Activation) -> i32 {
    match f {
        Activation::Tanh => 0,
        Activation::Relu => 1,
        Activation::Elu => 2,
        Activation::GatedTanh => 3,
        Activation::ExponentialGate => 4,
        Activation::ComplexRelu => 5,
        Activation::SplitRelu => 6,
        Activation::Modulus => 7,
        Activation::RealPart => 8,
        Activation::Lift => 9,
        Activation::Parts => 10,
    }
}

fn not_of(f: Activation, shape: Shape) -> EngineError {
    EngineError::Unsupported(format!("{f:?} of {shape:?}"))
}

impl Cuda {
    pub(super) fn apply_mask(&self, map: &Map, mask: &mut Buffer) -> Done {
        let numbers = match &map.kind {
            Kind::Dense(numbers) => numbers,
            Kind::Sparse(sparse) => &sparse.values,
            _ => return Err(EngineError::Unsupported("this map cannot be masked".to_owned())),
        };
        let n = mask.len;
        self.launch(
            "mask_map",
            self.grid(n)?,
            THREADS,
            &[&self.matrix(numbers, n)?, &self.matrix_mut(mask, n)?, &(n as i64)],
        )
    }

    pub(super) fn add_row(&self, bias: &Buffer, y: (&mut Buffer, Shape)) -> Done {
        let (n, width) = (y.1.len(), y.1.width());
        if n == 0 {
            return Ok(());
        }
        self.launch(
            "add_bias",
            self.grid(n)?,
            THREADS,
            &[&self.matrix(bias, width)?, &self.matrix_mut(y.0, n)?, &(width as i64), &(n as i64)],
        )
    }

    pub(super) fn apply_activation(
        &self,
        f: Activation,
        shape: Shape,
        x: &Buffer,
        y: &mut Buffer,
    ) -> Done {
        let result = f.result(shape).ok_or_else(|| not_of(f, shape))?;
        let n = entries(shape);
        self.launch(
            "activate",
            self.grid(n)?,
            THREADS,
            &[
                &number(f),
                &self.matrix(x, shape.len())?,
                &self.matrix_mut(y, result.len())?,
                &(shape.cols().max(1) as i64),
                &(n as i64),
            ],
        )
    }

    pub(super) fn apply_activation_gradient(
        &self,
        f: Activation,
        shape: Shape,
        x: &Buffer,
        y: &Buffer,
        dy: &Buffer,
        dx: &mut Buffer,
    ) -> Done {
        let result = f.result(shape).ok_or_else(|| not_of(f, shape))?;
        let n = entries(shape);
        self.launch(
            "activate_gradient",
            self.grid(n)?,
            THREADS,
            &[
                &number(f),
                &self.matrix(x, shape.len())?,
                &self.matrix(y, result.len())?,
                &self.matrix(dy, result.len())?,
                &self.matrix_mut(dx, shape.len())?,
                &(shape.cols().max(1) as i64),
                &(n as i64),
            ],
        )
    }

    pub(super) fn draw(&self, rate: f64, key: DrawKey, shape: Shape, mask: &mut Buffer) -> Done {
        let n = entries(shape);
        let (key, cols) = self.key_of(key, shape)?;
        self.launch(
            "draw_mask",
            self.grid(if key.places == 0 { n.div_ceil(4) } else { n })?,
            THREADS,
            &[
                &thresholds(rate)[0],
                &kept(rate),
                &key,
                &(shape.field().parts() as i32),
                &self.matrix_mut(mask, shape.len())?,
                &(n as i64),
                &(cols as i64),
            ],
        )
    }

    pub(super) fn multiply_entries(
        &self,
        a: &Buffer,
        x: &Buffer,
        y: &mut Buffer,
        add: bool,
    ) -> Done {
        let n = y.len;
        self.launch(
            "multiply",
            self.grid(n)?,
            THREADS,
            &[
                &self.matrix(a, n)?,
                &self.matrix(x, n)?,
                &self.matrix_mut(y, n)?,
                &flag(add),
                &(n as i64),
            ],
        )
    }

    pub(super) fn scale_by_entry(
        &self,
        c: (&Buffer, usize),
        x: &Buffer,
        y: &mut Buffer,
        add: bool,
    ) -> Done {
        let n = x.len.min(y.len);
        self.launch(
            "scale_by",
            self.grid(n)?,
            THREADS,
            &[
                &self.matrix(c.0, c.1 + 1)?,
                &(c.1 as i64),
                &self.matrix(x, n)?,
                &self.matrix_mut(y, n)?,
                &flag(add),
                &(n as i64),
            ],
        )
    }

    pub(super) fn inner_product(
        &self,
        x: &Buffer,
        y: &Buffer,
        out: (&mut Buffer, usize),
        add: bool,
    ) -> Done {
        let (parts, blocks) = self.dot_parts(x, y)?;
        self.launch(
            "dot_sum",
            (1, 1, self.lanes as u32),
            THREADS,
            &[
                &self.address(&parts.slice),
                &(blocks as i64),
                &self.matrix_mut(out.0, out.1 + 1)?,
                &(out.1 as i64),
                &flag(add),
            ],
        )?;
        self.give(parts);
        Ok(())
    }

    pub(super) fn larger_entries(&self, a: &Buffer, b: &Buffer, y: &mut Buffer) -> Done {
        let n = y.len;
        self.launch(
            "maximum",
            self.grid(n)?,
            THREADS,
            &[&self.matrix(a, n)?, &self.matrix(b, n)?, &self.matrix_mut(y, n)?, &(n as i64)],
        )
    }

    pub(super) fn larger_entries_gradient(
        &self,
        x: &Buffer,
        other: &Buffer,
        strict: bool,
        dy: &Buffer,
        dx: &mut Buffer,
    ) -> Done {
        let n = dx.len;
        self.launch(
            "maximum_gradient",
            self.grid(n)?,
            THREADS,
            &[
                &self.matrix(x, n)?,
                &self.matrix(other, n)?,
                &flag(strict),
                &self.matrix(dy, n)?,
                &self.matrix_mut(dx, n)?,
                &(n as i64),
            ],
        )
    }

    pub(super) fn copy_columns(
        &self,
        x: (&Buffer, Shape),
        y: (&mut Buffer, Shape),
        at: usize,
    ) -> Done {
        let (n, from, to) = (x.1.len(), x.1.width(), y.1.width());
        let at = at * y.1.field().parts();
        columns_fit(x.1, y.1, at)?;
        self.launch(
            "put_columns",
            self.grid(n)?,
            THREADS,
            &[
                &self.matrix(x.0, n)?,
                &(from.max(1) as i64),
                &self.matrix_mut(y.0, y.1.len())?,
                &(to as i64),
                &(at as i64),
                &(n as i64),
            ],
        )
    }

    pub(super) fn sum_columns_from(
        &self,
        y: (&Buffer, Shape),
        at: usize,
        x: (&mut Buffer, Shape),
    ) -> Done {
        let (n, to, from) = (x.1.len(), x.1.width(), y.1.width());
        let at = at * y.1.field().parts();
        columns_fit(x.1, y.1, at)?;
        self.launch(
            "add_columns",
            self.grid(n)?,
            THREADS,
            &[
                &self.matrix(y.0, y.1.len())?,
                &(from as i64),
                &(at as i64),
                &self.matrix_mut(x.0, n)?,
                &(to.max(1) as i64),
                &(n as i64),
            ],
        )
    }

    pub(super) fn dot_groups(
        &self,
        x: (&Buffer, Shape),
        a: &Buffer,
        groups: usize,
        y: &mut Buffer,
    ) -> Done {
        let (rows, cols) = (x.1.rows(), x.1.cols());
        self.launch(
            "group_dot",
            self.grid(rows * groups)?,
            THREADS,
            &[
                &self.matrix(x.0, x.1.len())?,
                &self.matrix(a, cols)?,
                &self.matrix_mut(y, rows * groups)?,
                &(rows as i64),
                &(cols as i64),
                &(groups.max(1) as i64),
            ],
        )
    }

    pub(super) fn dot_groups_gradient(
        &self,
        a: &Buffer,
        groups: usize,
        dy: &Buffer,
        dx: (&mut Buffer, Shape),
    ) -> Done {
        let (rows, cols) = (dx.1.rows(), dx.1.cols());
        self.launch(
            "group_dot_gradient",
            self.grid(rows * cols)?,
            THREADS,
            &[
                &self.matrix(a, cols)?,
                &self.matrix(dy, rows * groups)?,
                &self.matrix_mut(dx.0, dx.1.len())?,
                &(rows as i64),
                &(cols as i64),
                &(groups.max(1) as i64),
            ],
        )
    }
}

/// Refuses columns that a matrix does not have; `at` counts numbers.
fn columns_fit(narrow: Shape, wide: Shape, at: usize) -> Done {
    match narrow.rows() == wide.rows() && at + narrow.width() <= wide.width() {
        true => Ok(()),
        false => Err(EngineError::Unsupported(format!("{narrow:?} in {wide:?} from {at} on"))),
    }
}
