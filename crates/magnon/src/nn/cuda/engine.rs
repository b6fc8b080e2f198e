//! What the tape asks of the engine, as launches of kernels.

use super::apply::{Dense, THREADS};
use super::map::{Kind, Map};
use super::{Buffer, CardTargets, Cuda, Recording, flag};
use crate::data::Features;
use crate::filter::{Filter, FilterError, Progress, Propagated};
use crate::nn::attention::{Attention, AttentionGradient};
use crate::nn::engine::{Activation, AdamStep, Done, DrawKey, Engine, Factor, Side};
use crate::nn::replay::ReplayConfig;
use crate::nn::{EngineError, MapSource, Shape};
use crate::operator::MagneticOperator;

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

impl Engine for Cuda {
    type Real = f32;
    type Buffer = Buffer;
    type Map = Map;
    type Targets = CardTargets;
    type Replay = Recording;

    /// The threads of a card are not shared out: another stream, so that work goes side by side.
    fn sequential(&self) -> Self {
        let stream = self.stream.context().new_stream().unwrap_or_else(|_| self.stream.clone());
        Self::on(self.card.clone(), stream)
    }

    fn lanes(&self, seeds: &[u64]) -> Option<Result<Self, EngineError>> {
        let mut engine = self.sequential();
        engine.lanes = seeds.len();
        Some(self.list(seeds).map(|seeds| Self { seeds: Some(seeds), ..engine }))
    }

    fn put_lane(&self, lane: usize, from: &Buffer, to: &mut Buffer) -> Done {
        self.copy_to_lane(lane, from, to)
    }

    fn take_lane(&self, lane: usize, from: &Buffer, to: &mut Buffer) -> Done {
        self.copy_from_lane(lane, from, to)
    }

    fn stack(&self, maps: &[&Map]) -> Option<Result<Map, EngineError>> {
        Map::stack(self, maps)
    }

    fn zeros(&self, len: usize) -> Result<Buffer, EngineError> {
        self.buffer(len)
    }

    fn len(&self, buffer: &Buffer) -> usize {
        buffer.len
    }

    fn scratch_bytes(&self) -> usize {
        self.pool().iter().map(Buffer::bytes).sum()
    }

    fn clear(&self, buffer: &mut Buffer) -> Done {
        self.fill_zero(buffer)
    }

    fn upload(&self, numbers: &[f32], to: &mut Buffer) -> Done {
        if numbers.len() != to.len {
            let problem = format!("{} numbers for {}", numbers.len(), to.len);
            return Err(EngineError::Unsupported(problem));
        }
        self.put_numbers(numbers, to)
    }

    fn copy(&self, from: &Buffer, to: &mut Buffer) -> Done {
        let n = from.len.max(to.len);
        self.axpy(1.0, from, to, n, false)
    }

    fn download(&self, from: &Buffer, numbers: &mut [f32]) -> Done {
        if numbers.len() != from.len {
            let problem = format!("{} numbers into {}", from.len, numbers.len());
            return Err(EngineError::Unsupported(problem));
        }
        self.get(&from.slice, numbers)
    }

    fn product(
        &self,
        left: Factor<Buffer>,
        right: Factor<Buffer>,
        out: (&mut Buffer, Shape),
        add: bool,
    ) -> Done {
        let (left, right): (Dense, Dense) = (self.dense(&left)?, self.dense(&right)?);
        self.dense_product(left, right, out, add)
    }

    fn propagate(
        &self,
        operator: &MagneticOperator,
        filter: &Filter,
        features: &Features,
        progress: Progress,
    ) -> Result<Propagated, FilterError> {
        self.filter_features(operator, filter, features, progress)
    }

    fn prepare(&self, source: MapSource<f32>) -> Result<Map, EngineError> {
        let map = Map::new(self, source)?;
        // Other engines on the card may use it at once.
        self.wait()?;
        Ok(map)
    }

    fn map_shape(&self, map: &Map) -> Shape {
        map.shape()
    }

    fn map_stored(&self, map: &Map) -> usize {
        map.stored()
    }

    fn map(
        &self,
        map: &Map,
        side: Side,
        values: Option<&Buffer>,
        x: (&Buffer, Shape),
        y: (&mut Buffer, Shape),
        add: bool,
    ) -> Done {
        self.apply(map, side, values, x, y, add)
    }

    fn mask_map(&self, map: &Map, mask: &mut Buffer) -> Done {
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

    fn add_bias(&self, bias: &Buffer, y: (&mut Buffer, Shape)) -> Done {
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

    fn sum_rows(&self, y: (&Buffer, Shape), bias: &mut Buffer, add: bool) -> Done {
        self.sum_columns((y.0, y.1.rows(), y.1.width()), None, bias, add)
    }

    fn activate(&self, f: Activation, shape: Shape, x: &Buffer, y: &mut Buffer) -> Done {
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

    fn activate_gradient(
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

    fn draw_mask(&self, rate: f64, key: DrawKey, shape: Shape, mask: &mut Buffer) -> Done {
        let n = entries(shape);
        self.launch(
            "draw_mask",
            self.grid(n.div_ceil(4))?,
            THREADS,
            &[
                &((rate * 4_294_967_296.0) as u32),
                &((1.0 / (1.0 - rate)) as f32),
                &self.key(key),
                &(shape.field().parts() as i32),
                &self.matrix_mut(mask, shape.len())?,
                &(n as i64),
            ],
        )
    }

    fn multiply(&self, a: &Buffer, x: &Buffer, y: &mut Buffer, add: bool) -> Done {
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

    fn scale(&self, factor: f64, x: &Buffer, y: &mut Buffer, add: bool) -> Done {
        let n = x.len.min(y.len);
        self.axpy(factor, x, y, n, add)
    }

    fn scale_by(&self, c: (&Buffer, usize), x: &Buffer, y: &mut Buffer, add: bool) -> Done {
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

    fn dot(&self, x: &Buffer, y: &Buffer, out: (&mut Buffer, usize), add: bool) -> Done {
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

    fn maximum(&self, a: &Buffer, b: &Buffer, y: &mut Buffer) -> Done {
        let n = y.len;
        self.launch(
            "maximum",
            self.grid(n)?,
            THREADS,
            &[&self.matrix(a, n)?, &self.matrix(b, n)?, &self.matrix_mut(y, n)?, &(n as i64)],
        )
    }

    fn maximum_gradient(
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

    fn put_columns(&self, x: (&Buffer, Shape), y: (&mut Buffer, Shape), at: usize) -> Done {
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

    fn add_columns(&self, y: (&Buffer, Shape), at: usize, x: (&mut Buffer, Shape)) -> Done {
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

    fn normalize_rows(&self, x: (&Buffer, Shape), y: &mut Buffer) -> Done {
        let n = x.1.len();
        self.by_rows("normalize_rows", x.1, &[&self.matrix(x.0, n)?, &self.matrix_mut(y, n)?])
    }

    fn normalize_rows_gradient(
        &self,
        x: (&Buffer, Shape),
        y: &Buffer,
        dy: &Buffer,
        dx: &mut Buffer,
    ) -> Done {
        let n = x.1.len();
        self.by_rows(
            "normalize_rows_gradient",
            x.1,
            &[
                &self.matrix(x.0, n)?,
                &self.matrix(y, n)?,
                &self.matrix(dy, n)?,
                &self.matrix_mut(dx, n)?,
            ],
        )
    }

    fn softmax(&self, x: (&Buffer, Shape), y: &mut Buffer) -> Done {
        let n = x.1.len();
        self.by_rows("softmax", x.1, &[&self.matrix(x.0, n)?, &self.matrix_mut(y, n)?])
    }

    fn softmax_gradient(&self, y: (&Buffer, Shape), dy: &Buffer, dx: &mut Buffer) -> Done {
        let n = y.1.len();
        self.by_rows(
            "softmax_gradient",
            y.1,
            &[&self.matrix(y.0, n)?, &self.matrix(dy, n)?, &self.matrix_mut(dx, n)?],
        )
    }

    fn group_dot(&self, x: (&Buffer, Shape), a: &Buffer, groups: usize, y: &mut Buffer) -> Done {
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

    fn group_dot_gradient(
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

    fn group_sum(&self, x: (&Buffer, Shape), groups: usize, dy: &Buffer, da: &mut Buffer) -> Done {
        self.sum_columns((x.0, x.1.rows(), x.1.cols()), Some((dy, groups)), da, true)
    }

    fn attend(&self, input: &Attention<Self>, out: &mut Buffer, norms: &mut Buffer) -> Done {
        self.run_attention(input, out, norms)
    }

    fn attend_gradient(&self, input: &Attention<Self>, back: AttentionGradient<Self>) -> Done {
        self.run_attention_gradient(input, back)
    }

    fn log_softmax(&self, x: (&Buffer, Shape), y: &mut Buffer) -> Done {
        let n = x.1.len();
        self.by_rows("log_softmax", x.1, &[&self.matrix(x.0, n)?, &self.matrix_mut(y, n)?])
    }

    fn targets(&self, lanes: &[&[(u32, u32)]], to: &mut CardTargets) -> Done {
        self.put_targets(lanes, to)
    }

    fn nll_loss(
        &self,
        y: (&Buffer, Shape),
        targets: &CardTargets,
    ) -> Result<(f64, usize), EngineError> {
        self.loss(y, targets)
    }

    fn nll_loss_gradient(
        &self,
        y: (&Buffer, Shape),
        targets: &CardTargets,
        dx: &mut Buffer,
    ) -> Done {
        self.loss_gradient(y, targets, dx)
    }

    fn square_norm(&self, x: &Buffer) -> Result<f64, EngineError> {
        self.sum_of_squares(x)
    }

    fn adam(
        &self,
        step: AdamStep,
        gradient: &Buffer,
        weights: &mut Buffer,
        first: &mut Buffer,
        second: &mut Buffer,
    ) -> Done {
        self.adam_step(step, gradient, weights, [first, second])
    }

    fn replay(&self, config: &ReplayConfig) -> Option<Result<Recording, EngineError>> {
        Some(Recording::new(self, config))
    }
}

/// Refuses columns that a matrix does not have; `at` counts numbers.
fn columns_fit(narrow: Shape, wide: Shape, at: usize) -> Done {
    match narrow.rows() == wide.rows() && at + narrow.width() <= wide.width() {
        true => Ok(()),
        false => Err(EngineError::Unsupported(format!("{narrow:?} in {wide:?} from {at} on"))),
    }
}
