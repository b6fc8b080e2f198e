//! Products: dense ones, and those with maps.

use super::abi::{Block, Factors, Matrix, Operand, Rows};
use super::buffer::Buffer;
use super::lists::{Lists, Sparse};
use super::map::{Kind, Map};
use super::{Cuda, ceil, flag, grid};
use crate::compute::{Done, Factor, Side};
use crate::compute::{EngineError, Field, Shape};

/// Threads of a block.
pub(super) const THREADS: u32 = 256;
/// Threads of a block that gathers rows; as in the kernel.
const GATHER: u32 = 128;
/// Inner numbers that a block of a dense product works on at a time.
const INNER: usize = 16;
/// Blocks that keep a card busy.
const BUSY: usize = 396;
/// Blocks from which on larger ones, each with more to do, take less time.
const MANY: usize = 2048;

/// A factor of a dense product: shape as stored, and whether its conjugate transpose is meant.
#[derive(Clone, Copy)]
pub(super) struct Dense {
    pub matrix: Matrix,
    pub shape: Shape,
    pub adjoint: bool,
}

impl Dense {
    fn rows(&self) -> usize {
        if self.adjoint { self.shape.cols() } else { self.shape.rows() }
    }

    fn cols(&self) -> usize {
        if self.adjoint { self.shape.rows() } else { self.shape.cols() }
    }

    fn operand(&self) -> Operand {
        let (width, parts) = (self.shape.width() as i64, self.shape.field().parts() as i64);
        let (row, col) = if self.adjoint { (parts, width) } else { (width, parts) };
        let complex = flag(self.shape.field() == Field::Complex);
        Operand {
            matrix: self.matrix,
            row,
            col,
            complex,
            conjugate: flag(self.adjoint),
            unused: [0; 2],
        }
    }

    /// Its parts as columns of their own; only for a matrix that is not transposed.
    fn as_real(self) -> Self {
        Self { shape: self.shape.as_real(), ..self }
    }
}

/// Rows and columns that a block of a dense product makes, by the columns that there are.
fn tile(cols: usize) -> (usize, usize) {
    if cols <= 16 { (128, 16) } else { (64, 32) }
}

/// The parts that a sum over `inner` numbers is cut into, for a result of so many rows and columns.
fn splits(rows: usize, cols: usize, inner: usize) -> usize {
    let (high, wide) = tile(cols);
    let tiles = rows.div_ceil(high) * cols.div_ceil(wide);
    (BUSY / tiles.max(1)).clamp(1, 32).min(inner / (4 * INNER)).max(1)
}

impl Cuda {
    /// A factor, after a look at its size.
    pub(super) fn dense(&self, factor: &Factor<Buffer>) -> Result<Dense, EngineError> {
        let matrix = self.matrix(factor.buffer, factor.shape.len())?;
        Ok(Dense { matrix, shape: factor.shape, adjoint: factor.adjoint })
    }

    /// `out = left·right`; the real part where `out` is real and the product is not.
    pub(super) fn dense_product(
        &self,
        left: Dense,
        right: Dense,
        out: (&mut Buffer, Shape),
        add: bool,
    ) -> Done {
        let (m, n, k) = (left.rows(), right.cols(), left.cols());
        if right.rows() != k || (out.1.rows(), out.1.cols()) != (m, n) {
            return Err(EngineError::Unsupported(format!(
                "a product of {m} × {k} and {} × {n} into {:?}",
                right.rows(),
                out.1
            )));
        }
        let fields = [left.shape.field(), right.shape.field(), out.1.field()];
        // A real matrix treats the parts of a complex one as columns of their own.
        if fields == [Field::Real, Field::Complex, Field::Complex] && !right.adjoint {
            let shape = out.1.as_real();
            return self.dense_product(left, right.as_real(), (out.0, shape), add);
        }
        let numbers = out.1.len();
        if numbers == 0 {
            return Ok(());
        }
        if k == 0 {
            return if add { Ok(()) } else { self.fill_zero(out.0) };
        }
        let complex = fields[0] == Field::Complex || fields[1] == Field::Complex;
        let splits = splits(m, n, k);
        let (high, wide) = tile(n);
        let many = m.div_ceil(high) * n.div_ceil(wide) * splits * self.lanes >= MANY && n > 32;
        // Kernels for many blocks cut sums as the others do: the bits are the same.
        let (name, high, wide) = match (complex, wide, many) {
            (false, 16, _) => ("product_real_narrow", high, wide),
            (false, _, false) => ("product_real", high, wide),
            (false, _, true) => ("product_real_many", 128, 32),
            (true, 16, _) => ("product_complex_narrow", high, wide),
            (true, _, false) => ("product_complex", high, wide),
            (true, _, true) => ("product_complex_many", 64, 64),
        };
        let launch = |to: Matrix, add: bool| {
            let blocks = (ceil(m, high)?, ceil(n, wide)?, (self.lanes * splits) as u32);
            self.launch(
                name,
                blocks,
                128,
                &[
                    &left.operand(),
                    &right.operand(),
                    &to,
                    &flag(out.1.field() == Field::Complex),
                    &flag(add),
                    &(m as i64),
                    &(n as i64),
                    &(k as i64),
                    &(splits as i32),
                ],
            )
        };
        if splits == 1 {
            return launch(self.matrix_mut(out.0, numbers)?, add);
        }
        let mut parts = self.take(splits * numbers)?;
        launch(self.matrix_mut(&mut parts, splits * numbers)?, false)?;
        self.sum_parts(&parts, out.0, numbers, splits, add)?;
        self.give(parts);
        Ok(())
    }

    /// `out` becomes the sum of `count` parts of `len` numbers, in order.
    pub(super) fn sum_parts(
        &self,
        parts: &Buffer,
        out: &mut Buffer,
        len: usize,
        count: usize,
        add: bool,
    ) -> Done {
        self.launch(
            "sum_parts",
            self.grid(len)?,
            THREADS,
            &[
                &self.matrix(parts, len * count)?,
                &self.matrix_mut(out, len)?,
                &flag(add),
                &(len as i64),
                &(count as i64),
            ],
        )
    }

    /// Products with maps.
    pub(super) fn apply(
        &self,
        map: &Map,
        side: Side,
        values: Option<&Buffer>,
        x: (&Buffer, Shape),
        y: (&mut Buffer, Shape),
        add: bool,
    ) -> Done {
        let (rows, cols) = match side {
            Side::Forward => (map.shape.rows(), map.shape.cols()),
            Side::Adjoint => (map.shape.cols(), map.shape.rows()),
        };
        if y.1.rows() > rows || x.1.rows() > cols || y.1.cols() != x.1.cols() {
            let problem = format!("a map {:?} from {:?} to {:?}", map.shape, x.1, y.1);
            return Err(EngineError::Unsupported(problem));
        }
        match &map.kind {
            Kind::Dense(numbers) => {
                // Rows that are not asked for come last.
                let rows = if side == Side::Adjoint { x.1.rows() } else { y.1.rows() };
                let shape = map.shape.with_rows(rows);
                let matrix = self.matrix(values.unwrap_or(numbers), shape.len())?;
                let left = Dense { matrix, shape, adjoint: side == Side::Adjoint };
                let right =
                    Dense { matrix: self.matrix(x.0, x.1.len())?, shape: x.1, adjoint: false };
                self.dense_product(left, right, y, add)
            }
            Kind::Sparse(sparse) => self.sparse(sparse, side, values, x, y, add),
            Kind::Edges(edges) => {
                let (rows, kind) = (edges.rows(self, side), edges.kind(side));
                let gather = Gather::new(&edges.lists, rows, kind, map.shape.field());
                self.gather(&gather, Pass::product(add), x, None, y)
            }
            Kind::Filter { edges, series, seen } => {
                self.filter((edges, series, seen), map.shape.field(), side, x, y, add)
            }
        }
    }

    fn sparse(
        &self,
        sparse: &Sparse,
        side: Side,
        values: Option<&Buffer>,
        x: (&Buffer, Shape),
        y: (&mut Buffer, Shape),
        add: bool,
    ) -> Done {
        let (lists, kind) = match side {
            Side::Forward => (&sparse.by_rows, "values"),
            Side::Adjoint => (&sparse.by_columns, "placed"),
        };
        let numbers = values.unwrap_or(&sparse.values);
        let matrix = self.matrix(numbers, sparse.values.len)?;
        let mut rows = lists.rows(self);
        (rows.values, rows.values_lane) = (matrix.at, matrix.lane);
        rows.places = self.address(&sparse.places);
        self.gather(&Gather::new(lists, rows, kind, Field::Real), Pass::product(add), x, None, y)
    }

    /// One step over sparse rows; see the kernel.
    pub(super) fn gather(
        &self,
        gather: &Gather,
        pass: Pass,
        x: (&Buffer, Shape),
        source: Option<&Buffer>,
        y: (&mut Buffer, Shape),
    ) -> Done {
        let width = x.1.width();
        if width == 0 || y.1.is_empty() {
            return Ok(());
        }
        let field = match (gather.field, x.1.field(), y.1.field()) {
            (Field::Real, from, to) if from == to => "real",
            (Field::Complex, Field::Complex, Field::Complex) => "complex",
            (Field::Complex, Field::Complex, Field::Real) => "to_real",
            (Field::Complex, Field::Real, Field::Complex) => "from_real",
            (map, from, to) => {
                let problem = format!("a {map:?} map of {from:?} numbers to {to:?} ones");
                return Err(EngineError::Unsupported(problem));
            }
        };
        let least = if matches!(field, "complex" | "to_real") { 2 } else { 1 };
        let together = if width.is_multiple_of(4) { 4 } else { least };
        let units = width / together;
        let threads = units.next_power_of_two().min(32);
        if y.1.rows() > gather.lists.rows {
            let problem = format!("{} rows of {}", y.1.rows(), gather.lists.rows);
            return Err(EngineError::Unsupported(problem));
        }
        let out = self.matrix_mut(y.0, y.1.len())?;
        let segments = gather.lists.segment_count;
        let mut partial = match segments {
            0 => None,
            _ => Some(self.take(segments * y.1.width())?),
        };
        let block = Block {
            x: self.matrix(x.0, x.1.len())?,
            last: match pass.last {
                Last::None => Matrix::default(),
                Last::Result => out,
            },
            source: match source {
                Some(source) => self.matrix(source, y.1.len())?,
                None => Matrix::default(),
            },
            y: out,
            partial: match &mut partial {
                Some(partial) => self.matrix_mut(partial, segments * y.1.width())?,
                None => Matrix::default(),
            },
            x_rows: x.1.rows() as i64,
            y_rows: y.1.rows() as i64,
            width: width as i64,
            threads: threads as i32,
            limited: flag(x.1.rows() < gather.lists.cols),
        };
        let name = format!("{field}_{together}");
        let (strips, lanes) = (ceil(units, threads)?, self.lanes as u32);
        let arguments: [&dyn super::abi::Argument; 3] = [&gather.rows, &block, &pass.factors];
        let blocks = segments as u32 + ceil(y.1.rows() * threads, GATHER as usize)?;
        let kernel = format!("gather_{}_{name}", gather.kind);
        self.launch(&kernel, (blocks, strips, lanes), GATHER, &arguments)?;
        if let Some(partial) = partial {
            let blocks = ceil(gather.lists.long_count * threads, GATHER as usize)?;
            let name = format!("gather_long_{name}");
            self.launch(&name, (blocks, strips, lanes), GATHER, &arguments)?;
            self.give(partial);
        }
        Ok(())
    }

    /// Blocks for `n` numbers.
    pub(super) fn grid(&self, n: usize) -> Result<(u32, u32, u32), EngineError> {
        grid(n, self.lanes)
    }
}

/// Sparse rows with what the kernel is called.
pub(super) struct Gather<'a> {
    lists: &'a Lists,
    rows: Rows,
    kind: &'static str,
    field: Field,
}

impl<'a> Gather<'a> {
    pub fn new(lists: &'a Lists, rows: Rows, kind: &'static str, field: Field) -> Self {
        Self { lists, rows, kind, field }
    }
}

/// What goes into a step besides the product.
pub(super) struct Pass {
    pub factors: Factors,
    pub last: Last,
}

/// The block that is added as it is.
pub(super) enum Last {
    None,
    /// What the result's own buffer holds.
    Result,
}

impl Pass {
    /// The product alone, or on top of what is there.
    pub fn product(add: bool) -> Self {
        Self {
            factors: Factors { alpha: 1.0, beta: 0.0, gamma: 1.0, theta: 0.0 },
            last: if add { Last::Result } else { Last::None },
        }
    }
}
