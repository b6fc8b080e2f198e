//! What the tape asks of the engine, as launches of kernels.

use super::abi::{self, Address, Matrix, Step};
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
use cudarc::driver::CudaSlice;
use std::sync::atomic::Ordering;

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
        let fits = from.lanes == 1 && from.len == to.len && lane < to.lanes;
        let range = lane * to.len..(lane + 1) * to.len;
        match to.slice.try_slice_mut(range) {
            Some(mut to) if fits => {
                from.slice.stream().synchronize().map_err(super::card::failure)?;
                self.stream
                    .memcpy_dtod(&from.slice.slice(..from.len), &mut to)
                    .map_err(super::card::failure)?;
                self.wait()
            }
            _ => Err(EngineError::Unsupported(format!("no lane {lane} of that size"))),
        }
    }

    fn take_lane(&self, lane: usize, from: &Buffer, to: &mut Buffer) -> Done {
        let fits = to.lanes == 1 && from.len == to.len && lane < from.lanes;
        let range = lane * from.len..(lane + 1) * from.len;
        match from.slice.try_slice(range) {
            Some(from) if fits => {
                to.slice.stream().synchronize().map_err(super::card::failure)?;
                let mut to = to.slice.slice_mut(..to.len);
                self.stream.memcpy_dtod(&from, &mut to).map_err(super::card::failure)?;
                self.wait()
            }
            _ => Err(EngineError::Unsupported(format!("no lane {lane} of that size"))),
        }
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
                &Matrix::default(),
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
        let attention = self.attention(input)?;
        let (units, shape) = (input.rows * input.heads, input.features.1);
        self.launch(
            "attend",
            self.warps(units)?,
            THREADS,
            &[
                &attention,
                &self.matrix_mut(out, input.rows * shape.cols())?,
                &self.matrix_mut(norms, 2 * units)?,
            ],
        )
    }

    fn attend_gradient(&self, input: &Attention<Self>, back: AttentionGradient<Self>) -> Done {
        let attention = self.attention(input)?;
        let shape = input.features.1;
        let (units, numbers) = (input.rows * input.heads, input.rows * shape.cols());
        let mut along = self.take(units)?;
        let given = abi::Back {
            norms: self.matrix(back.norms, 2 * units)?,
            out: self.matrix(back.out, numbers)?,
            dy: self.matrix(back.dy, numbers)?,
            along: self.matrix_mut(&mut along, units)?,
        };
        self.launch("attend_along", self.grid(units)?, THREADS, &[&attention, &given])?;
        let seen = shape.rows() * input.heads;
        self.launch(
            "attend_sources",
            self.warps(seen)?,
            THREADS,
            &[
                &attention,
                &given,
                &self.matrix_mut(back.features, shape.len())?,
                &self.matrix_mut(back.source, seen)?,
            ],
        )?;
        self.launch(
            "attend_targets",
            self.warps(units)?,
            THREADS,
            &[&attention, &given, &self.matrix_mut(back.target, units)?],
        )?;
        self.give(along);
        Ok(())
    }

    fn log_softmax(&self, x: (&Buffer, Shape), y: &mut Buffer) -> Done {
        let n = x.1.len();
        self.by_rows("log_softmax", x.1, &[&self.matrix(x.0, n)?, &self.matrix_mut(y, n)?])
    }

    fn targets(&self, pairs: &[(u32, u32)], to: &mut CardTargets) -> Done {
        self.put_targets(pairs, to)
    }

    fn nll_loss(
        &self,
        y: (&Buffer, Shape),
        targets: &CardTargets,
    ) -> Result<(f64, usize), EngineError> {
        let launch = |scores: Address,
                      clock: Address,
                      slot: usize,
                      (slots, base, room): (usize, u32, u32)| {
            self.launch(
                "nll_loss",
                (1, 1, self.lanes as u32),
                1024,
                &[
                    &self.matrix(y.0, y.1.len())?,
                    &targets.inside(self, y.1)?,
                    &(targets.len() as i64),
                    &(y.1.cols() as i64),
                    &scores,
                    &clock,
                    &(slot as i64),
                    &(slots as i64),
                    &base,
                    &room,
                ],
            )
        };
        if let Some(under) = self.under().as_mut() {
            let slot = under.losses;
            under.losses += 1;
            launch(under.scores, under.clock, slot, (under.slots, under.base, under.room))?;
            return Ok((f64::NAN, 0)); // known when the step is replayed
        }
        let scores: CudaSlice<u64> = self.zeroed(2 * self.lanes)?;
        launch(self.address(&scores), 0, 0, (1, 0, 1))?;
        let mut found = [0u64; 2];
        self.get(&scores, &mut found)?;
        // A recording leaves the loss on the card.
        self.crossings.fetch_sub(1, Ordering::Relaxed);
        Ok((f64::from_bits(found[0]), found[1] as usize))
    }

    fn nll_loss_gradient(
        &self,
        y: (&Buffer, Shape),
        targets: &CardTargets,
        dx: &mut Buffer,
    ) -> Done {
        let n = targets.len() * y.1.cols();
        self.launch(
            "nll_loss_gradient",
            self.grid(n)?,
            THREADS,
            &[
                &self.matrix(y.0, y.1.len())?,
                &targets.inside(self, y.1)?,
                &(targets.len() as i64),
                &(y.1.cols().max(1) as i64),
                &self.matrix_mut(dx, y.1.len())?,
            ],
        )
    }

    fn square_norm(&self, x: &Buffer) -> Result<f64, EngineError> {
        let (parts, blocks) = self.dot_parts(x, x)?;
        let mut found = vec![0f32; 2 * blocks];
        self.get(&parts.slice, &mut found)?;
        self.give(parts);
        let doubles: &[f64] = bytemuck::try_cast_slice(&found).unwrap_or_default();
        match doubles.len() == blocks {
            true => Ok(doubles.iter().sum()),
            // Where the list is not aligned for numbers of double precision.
            false => Ok(found
                .as_chunks::<2>()
                .0
                .iter()
                .map(|&[low, high]| {
                    f64::from_bits(u64::from(high.to_bits()) << 32 | u64::from(low.to_bits()))
                })
                .sum()),
        }
    }

    fn adam(
        &self,
        step: AdamStep,
        gradient: &Buffer,
        weights: &mut Buffer,
        first: &mut Buffer,
        second: &mut Buffer,
    ) -> Done {
        let n = weights.len;
        let (schedule, clock, base, room) = self
            .under()
            .as_ref()
            .map_or((0, 0, 0, 1), |under| (under.schedule, under.clock, under.base, under.room));
        let numbers = Step {
            rate: step.rate as f32,
            correction: step.second_correction as f32,
            first: step.first as f32,
            other_first: (1.0 - step.first) as f32,
            second: step.second as f32,
            other_second: (1.0 - step.second) as f32,
            epsilon: step.epsilon as f32,
            l2: step.l2 as f32,
            shrink: step.shrink as f32,
            clip: step.clip as f32,
        };
        self.launch(
            "adam",
            self.grid(n)?,
            THREADS,
            &[
                &numbers,
                &schedule,
                &clock,
                &base,
                &room,
                &self.matrix(gradient, n)?,
                &self.matrix_mut(weights, n)?,
                &self.matrix_mut(first, n)?,
                &self.matrix_mut(second, n)?,
                &(n as i64),
            ],
        )
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
