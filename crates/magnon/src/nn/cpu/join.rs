//! Channels joined into one hidden layer: max(a·n(x + b), 0), some entries dropped, in one sweep; and the way back in
//! another, which takes from the result what was positive and was kept.

// Indices keep the loops plain enough to be compiled into vector instructions where they stand.
#![allow(clippy::needless_range_loop)]

use super::Cpu;
use super::kernel::kernel;
use super::mask::{ENTRIES, entries, threshold};
use super::rows::TINY;
use crate::nn::join::{JoinedChannel, JoinedGradient};
use crate::nn::{DrawKey, Scalar, Shape};
use rayon::prelude::*;

/// Rows that one task sweeps over. Sums over rows are made for each task and then added in order.
const ROWS: usize = 128;

/// One channel: its numbers, and where they go.
#[derive(Clone, Copy)]
pub struct Channel<'a, T> {
    x: &'a [T],
    bias: &'a [T],
    weight: T,
    normalize: bool,
    dropout: Option<(f64, DrawKey)>,
    /// Columns of all channels, and the first of this one's.
    width: usize,
    at: usize,
}

kernel!(Forward, forward, (channel: Channel<'a, T>, first: usize, y: &'a mut [T]));
kernel!(Backward, backward, (channel: Channel<'a, T>, y: &'a [T], dy: &'a [T], add: bool, dx: &'a mut [T], bias: &'a mut [T]) -> f64);

impl<T: Scalar> Cpu<T> {
    pub(super) fn joined(&self, of: &JoinedChannel<Self>, y: &mut [T], shape: Shape) {
        let channel = Channel::new(of, shape);
        let cols = channel.bias.len();
        self.sweep_rows(shape.width(), y, |first, y| {
            let rows = y.len() / shape.width().max(1);
            let x = &channel.x[first * cols..][..rows * cols];
            self.instructions.compute(Forward { channel: Channel { x, ..channel }, first, y });
        });
    }

    pub(super) fn joined_gradient(&self, of: &JoinedChannel<Self>, back: JoinedGradient<Self>) {
        let (y, shape) = back.y;
        let channel = Channel::new(of, shape);
        let (cols, width) = (channel.bias.len().max(1), shape.width());
        let (dx, add) = back.dx;
        // A row of sums for each task, the weight's last.
        let mut room = self.take(shape.rows().div_ceil(ROWS) * (cols + 1));
        let work = |(task, (dx, sums)): (usize, (&mut [T], &mut [T]))| {
            let (first, rows) = (task * ROWS, dx.len() / cols);
            let x = &channel.x[first * cols..][..rows * cols];
            let [y, dy] = [y, back.dy].map(|all| &all[first * width..][..rows * width]);
            let Some((weight, bias)) = sums.split_last_mut() else { return };
            let channel = Channel { x, ..channel };
            let sum = self.instructions.compute(Backward { channel, y, dy, add, dx, bias });
            *weight = T::from_f64(sum);
        };
        self.clock.time(super::Work::Elementwise, || match self.parallel && shape.rows() > ROWS {
            true => {
                let sums = room.par_chunks_mut(cols + 1);
                dx.par_chunks_mut(ROWS * cols).zip(sums).enumerate().for_each(work);
            }
            false => {
                let sums = room.chunks_mut(cols + 1);
                dx.chunks_mut(ROWS * cols).zip(sums).enumerate().for_each(work);
            }
        });
        back.bias.fill(T::ZERO);
        let mut weight = 0.0;
        for sums in room.chunks(cols + 1) {
            back.bias.iter_mut().zip(sums).for_each(|(bias, &sum)| *bias += sum);
            weight += sums[cols].to_f64();
        }
        back.weights[of.weight.1] += T::from_f64(weight);
        self.give(room);
    }
}

impl<'a, T: Scalar> Channel<'a, T> {
    fn new(of: &JoinedChannel<'a, Cpu<T>>, shape: Shape) -> Self {
        Self {
            x: of.x.0,
            bias: of.bias,
            weight: of.weight.0[of.weight.1],
            normalize: of.normalize,
            dropout: of.dropout,
            width: shape.width(),
            at: of.at,
        }
    }
}

/// Numbers that are worked on side by side; channels have a multiple of them.
pub(super) const LANES: usize = 16;

/// The sum of all lanes.
#[inline(always)]
fn total<T: Scalar>(lanes: &[T; LANES]) -> T {
    let mut sum = T::ZERO;
    for i in 0..LANES {
        sum += lanes[i];
    }
    sum
}

/// 1/‖z‖ where rows are scaled, and 1 for those of zeros.
#[inline(always)]
fn scale<T: Scalar>(normalize: bool, squares: T) -> (bool, T) {
    let norm = squares.root();
    match normalize && norm.to_f64() > TINY {
        true => (true, T::ONE / norm),
        false => (false, T::ONE),
    }
}

#[inline(always)]
fn keep<T: Scalar>(rate: f64) -> T {
    T::from_f64(1.0 / (1.0 - rate))
}

// Loops over indices and no closures: what is not inlined here is compiled without the processor's vectors.
#[inline(always)]
fn forward<T: Scalar>(channel: Channel<T>, first: usize, y: &mut [T]) {
    let Channel { weight, normalize, dropout, width, at, .. } = channel;
    let (x, bias) = (channel.x.as_chunks::<LANES>().0, channel.bias.as_chunks::<LANES>().0);
    let y = y.as_chunks_mut::<LANES>().0;
    let (count, stride, at) = (bias.len(), width / LANES, at / LANES);
    for u in 0..x.len() / count.max(1) {
        let x = &x[u * count..][..count];
        let y = &mut y[u * stride + at..][..count];
        let mut squares = [T::ZERO; LANES];
        for c in 0..count {
            for i in 0..LANES {
                let z = x[c][i] + bias[c][i];
                y[c][i] = z;
                squares[i] += z * z;
            }
        }
        let factor = scale(normalize, total(&squares)).1 * weight;
        for c in 0..count {
            for i in 0..LANES {
                let value = factor * y[c][i];
                // NaN stays NaN, so that a broken step is seen.
                y[c][i] = if value < T::ZERO { T::ZERO } else { value };
            }
        }
        let Some((rate, key)) = dropout else { continue };
        // What a mask over all channels would drop.
        let place = (first + u) * width + at * LANES;
        let mut mask: [T; ENTRIES] = entries(place / ENTRIES, key, threshold(rate), keep(rate));
        for c in 0..count {
            let skip = (place + c * LANES) % ENTRIES;
            if c > 0 && skip == 0 {
                mask = entries((place + c * LANES) / ENTRIES, key, threshold(rate), keep(rate));
            }
            for i in 0..LANES {
                y[c][i] *= mask[skip + i];
            }
        }
    }
}

/// With z = x + b, r = ‖z‖ and g the gradient of a·z/r, which is 0 where y is: a has (g·z)/r, and z has
/// (a/r)·(g − (g·z)/r²·z).
#[inline(always)]
fn backward<T: Scalar>(
    channel: Channel<T>,
    y: &[T],
    dy: &[T],
    add: bool,
    dx: &mut [T],
    bias_sums: &mut [T],
) -> f64 {
    let Channel { weight, normalize, dropout, width, at, .. } = channel;
    let (x, bias) = (channel.x.as_chunks::<LANES>().0, channel.bias.as_chunks::<LANES>().0);
    let (y, dy) = (y.as_chunks::<LANES>().0, dy.as_chunks::<LANES>().0);
    let (dx, sums) = (dx.as_chunks_mut::<LANES>().0, bias_sums.as_chunks_mut::<LANES>().0);
    let (count, stride, at) = (bias.len(), width / LANES, at / LANES);
    let sums = &mut sums[..count];
    sums.fill([T::ZERO; LANES]);
    let kept = match dropout {
        Some((rate, _)) => keep(rate),
        None => T::ONE,
    };
    let mut weight_sum = 0.0;
    for u in 0..x.len() / count.max(1) {
        let x = &x[u * count..][..count];
        let (y, dy) = (&y[u * stride + at..][..count], &dy[u * stride + at..][..count]);
        let dx = &mut dx[u * count..][..count];
        let (mut squares, mut along) = ([T::ZERO; LANES], [T::ZERO; LANES]);
        for c in 0..count {
            for i in 0..LANES {
                let z = x[c][i] + bias[c][i];
                let g = if y[c][i] > T::ZERO { kept * dy[c][i] } else { T::ZERO };
                squares[i] += z * z;
                along[i] += g * z;
            }
        }
        let along = total(&along);
        let (scaled, scale) = scale(normalize, total(&squares));
        let factor = weight * scale;
        let back = if scaled { along * scale * scale } else { T::ZERO };
        weight_sum += (along * scale).to_f64();
        for c in 0..count {
            for i in 0..LANES {
                let z = x[c][i] + bias[c][i];
                let g = if y[c][i] > T::ZERO { kept * dy[c][i] } else { T::ZERO };
                let dz = factor * (g - back * z);
                sums[c][i] += dz;
                dx[c][i] = if add { dx[c][i] + dz } else { dz };
            }
        }
    }
    weight_sum
}
