//! What the tape asks of the engine, as launches of kernels.

use super::apply::Dense;
use super::map::Map;
use super::{Buffer, CardTargets, Cuda, Recording};
use crate::compute::activation::Activation;
use crate::compute::attention::{Attention, AttentionGradient};
use crate::compute::kernels::{Kernels, Storage};
use crate::compute::lanes::{LaneConfig, Relabelling};
use crate::compute::operands::{Done, DrawKey, Factor, Side};
use crate::compute::replay::ReplayConfig;
use crate::compute::{EngineError, MapSource, Shape};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

impl Storage for Cuda {
    type Buffer = Buffer;
    type Map = Map;
}

impl Kernels for Cuda {
    type Real = f32;
    type Targets = CardTargets;

    /// The threads of a card are not shared out: another stream, so that work goes side by side.
    fn sequential(&self) -> Self {
        let stream = self.stream.context().new_stream().unwrap_or_else(|_| self.stream.clone());
        Self::on(self.card.clone(), stream)
    }

    fn has_lanes(&self) -> bool {
        true
    }

    fn relabel(&self, lanes: &[Relabelling]) -> Done {
        self.put_places(lanes)
    }

    fn put_lane(&self, lane: usize, from: &Buffer, to: &mut Buffer) -> Done {
        self.copy_to_lane(lane, from, to)
    }

    fn take_lane(&self, lane: usize, from: &Buffer, to: &mut Buffer) -> Done {
        self.copy_from_lane(lane, from, to)
    }

    fn zeros(&self, len: usize) -> Result<Buffer, EngineError> {
        self.buffer(len)
    }

    fn scratch_bytes(&self) -> usize {
        let held = |pool: &Mutex<Vec<Buffer>>| -> usize {
            let pool = pool.lock().unwrap_or_else(PoisonError::into_inner);
            pool.iter().map(Buffer::bytes).sum()
        };
        self.scratch.iter().map(held).sum()
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

    fn prepare(&self, source: MapSource) -> Result<Map, EngineError> {
        let map = Map::new(self, source)?;
        // Other engines on the card may use it at once.
        self.wait()?;
        Ok(map)
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
        self.apply_mask(map, mask)
    }

    fn add_bias(&self, bias: &Buffer, y: (&mut Buffer, Shape)) -> Done {
        self.add_row(bias, y)
    }

    fn sum_rows(&self, y: (&Buffer, Shape), bias: &mut Buffer, add: bool) -> Done {
        self.sum_columns((y.0, y.1.rows(), y.1.width()), None, bias, add)
    }

    fn activate(&self, f: Activation, shape: Shape, x: &Buffer, y: &mut Buffer) -> Done {
        self.apply_activation(f, shape, x, y)
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
        self.apply_activation_gradient(f, shape, x, y, dy, dx)
    }

    fn draw_mask(&self, rate: f64, key: DrawKey, shape: Shape, mask: &mut Buffer) -> Done {
        self.draw(rate, key, shape, mask)
    }

    fn multiply(&self, a: &Buffer, x: &Buffer, y: &mut Buffer, add: bool) -> Done {
        self.multiply_entries(a, x, y, add)
    }

    fn scale(&self, factor: f64, x: &Buffer, y: &mut Buffer, add: bool) -> Done {
        let n = x.len.min(y.len);
        self.axpy(factor, x, y, n, add)
    }

    fn scale_by(&self, c: (&Buffer, usize), x: &Buffer, y: &mut Buffer, add: bool) -> Done {
        self.scale_by_entry(c, x, y, add)
    }

    fn dot(&self, x: &Buffer, y: &Buffer, out: (&mut Buffer, usize), add: bool) -> Done {
        self.inner_product(x, y, out, add)
    }

    fn maximum(&self, a: &Buffer, b: &Buffer, y: &mut Buffer) -> Done {
        self.larger_entries(a, b, y)
    }

    fn maximum_gradient(
        &self,
        x: &Buffer,
        other: &Buffer,
        strict: bool,
        dy: &Buffer,
        dx: &mut Buffer,
    ) -> Done {
        self.larger_entries_gradient(x, other, strict, dy, dx)
    }

    fn put_columns(&self, x: (&Buffer, Shape), y: (&mut Buffer, Shape), at: usize) -> Done {
        self.copy_columns(x, y, at)
    }

    fn add_columns(&self, y: (&Buffer, Shape), at: usize, x: (&mut Buffer, Shape)) -> Done {
        self.sum_columns_from(y, at, x)
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
        self.dot_groups(x, a, groups, y)
    }

    fn group_dot_gradient(
        &self,
        a: &Buffer,
        groups: usize,
        dy: &Buffer,
        dx: (&mut Buffer, Shape),
    ) -> Done {
        self.dot_groups_gradient(a, groups, dy, dx)
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

    fn fork(&self) -> Done {
        self.fork_stream()
    }

    fn aside(&self, aside: bool) {
        self.aside.store(aside, Ordering::Relaxed);
    }

    fn join(&self) -> Done {
        self.join_stream()
    }
}

impl Cuda {
    /// Prepares to repeat whole steps; `None` where nothing is to be recorded.
    pub fn replay(&self, config: &ReplayConfig) -> Option<Result<Recording, EngineError>> {
        (!self.stepwise).then(|| Recording::new(self, config))
    }

    /// An engine that does everything for several seeds at once, each in its own lane.
    pub fn lanes(&self, lanes: &[LaneConfig]) -> Option<Result<Self, EngineError>> {
        Some(self.with_lanes(lanes))
    }

    /// One map for each lane, as one; `None` where they are not of a kind that can lie side by side.
    pub fn stack(&self, maps: &[&Map]) -> Option<Result<Map, EngineError>> {
        Map::stack(self, maps)
    }
}
