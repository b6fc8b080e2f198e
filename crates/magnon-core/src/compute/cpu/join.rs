//! Channels joined into one hidden layer max(a·n(x + b), 0), some entries dropped, and a linear layer on it, row by row: the hidden
//! layer is never written. Which of its entries are not 0 is noted by one bit each; on the way back the rest is computed
//! again.

// Indices keep the loops plain enough to be compiled into vector instructions where they stand.
#![allow(clippy::needless_range_loop)]

use super::kernel::kernel;
use super::mask::{ENTRIES, entries, threshold};
use super::rows::TINY;
use super::{Cpu, Work};
use crate::compute::{DrawKey, Scalar, Shape};
use crate::compute::{JoinedChannels, JoinedGradient};
use rayon::prelude::*;

/// Rows that one task goes over. Sums over rows are made for each task and then added in order.
const ROWS: usize = 128;
/// Numbers that are worked on side by side; channels have a multiple of them.
pub(super) const LANES: usize = 16;
/// Classes up to which a row is read without a dense product.
pub(super) const CLASSES: usize = 32;

/// What all rows have in common.
#[derive(Clone, Copy)]
pub struct Layer<'a, T> {
    biases: &'a [&'a [T]],
    weights: &'a [T],
    normalize: bool,
    dropout: Option<(f64, DrawKey)>,
    /// Vᵀ: one row for each class.
    readout: &'a [T],
}

kernel!(Forward, forward, (layer: Layer<'a, T>, x: &'a [T], last: &'a [T], first: usize, hidden: &'a mut [T], kept: &'a mut [u16], y: &'a mut [T]));
kernel!(Backward, backward, (layer: Layer<'a, T>, x: &'a mut [T], kept: &'a [u16], dy: &'a [T], sums: Sums<'a, T>));

/// Gradients of one task, and room to work in.
pub struct Sums<'a, T> {
    biases: &'a mut [T],
    weights: &'a mut [T],
    readout: &'a mut [T],
    last: &'a mut [T],
    row: &'a mut [T],
}

impl<'a, T: Scalar> Sums<'a, T> {
    /// Numbers that channels, all their columns and classes take.
    fn len(channels: usize, width: usize, classes: usize) -> usize {
        width * (classes + 2) + channels + classes
    }

    fn split(room: &'a mut [T], channels: usize, width: usize, classes: usize) -> Self {
        let (biases, room) = room.split_at_mut(width);
        let (row, room) = room.split_at_mut(width);
        let (readout, room) = room.split_at_mut(width * classes);
        let (weights, last) = room.split_at_mut(channels);
        Self { biases, weights, readout, last, row }
    }
}

impl<T: Scalar> Cpu<T> {
    /// Puts the logits into `y`, and the signs of the hidden layer into `kept`.
    pub(super) fn read_rows(
        &self,
        of: &JoinedChannels<Self>,
        (x, shape): (&[T], Shape),
        last: &[T],
        kept: &mut [T],
        y: &mut [T],
    ) {
        let (width, classes) = (shape.cols(), last.len());
        let turned = self.turned_readout(of);
        let biases: Vec<&[T]> = of.biases.iter().map(|bias| &bias[..]).collect();
        let layer = Layer::new(of, &biases, &turned);
        let tasks = shape.rows().div_ceil(ROWS);
        let mut room = self.take(tasks * width);
        let signs: &mut [u16] = bytemuck::cast_slice_mut(kept);
        type Given<'a, T> = (&'a mut [T], (&'a mut [u16], (&'a mut [T], &'a [T])));
        let work = |(task, (hidden, (kept, (y, x)))): (usize, Given<T>)| {
            let first = task * ROWS;
            self.instructions.compute(Forward { layer, x, last, first, hidden, kept, y });
        };
        let (signs_each, logits_each) = (ROWS * (width / LANES), ROWS * classes);
        self.clock.time(Work::Elementwise, || match self.parallel && tasks > 1 {
            true => {
                let rows = y.par_chunks_mut(logits_each).zip(x.par_chunks(ROWS * width));
                let rows = signs.par_chunks_mut(signs_each).zip(rows);
                room.par_chunks_mut(width).zip(rows).enumerate().for_each(work);
            }
            false => {
                let rows = y.chunks_mut(logits_each).zip(x.chunks(ROWS * width));
                let rows = signs.chunks_mut(signs_each).zip(rows);
                room.chunks_mut(width).zip(rows).enumerate().for_each(work);
            }
        });
        self.give(room);
        self.give(turned);
    }

    pub(super) fn read_rows_gradient(
        &self,
        of: &JoinedChannels<Self>,
        back: JoinedGradient<Self>,
        shape: Shape,
    ) {
        let JoinedGradient { kept, dy, x, biases: of_biases, weights, readout } = back;
        let (width, count, classes) = (shape.cols(), of.biases.len(), readout[1].len());
        let turned = self.turned_readout(of);
        let biases: Vec<&[T]> = of.biases.iter().map(|bias| &bias[..]).collect();
        let layer = Layer::new(of, &biases, &turned);
        let each = Sums::<T>::len(count, width, classes);
        let mut room = self.take(shape.rows().div_ceil(ROWS) * each);
        let signs: &[u16] = bytemuck::cast_slice(kept);
        let work = |(task, (x, room)): (usize, (&mut [T], &mut [T]))| {
            let (first, rows) = (task * ROWS, x.len() / width.max(1));
            let kept = &signs[first * (width / LANES)..][..rows * (width / LANES)];
            let dy = &dy[first * classes..][..rows * classes];
            let sums = Sums::split(room, count, width, classes);
            self.instructions.compute(Backward { layer, x, kept, dy, sums });
        };
        self.clock.time(Work::Elementwise, || match self.parallel && shape.rows() > ROWS {
            true => {
                let rows = x.par_chunks_mut(ROWS * width).zip(room.par_chunks_mut(each));
                rows.enumerate().for_each(work);
            }
            false => {
                let rows = x.chunks_mut(ROWS * width).zip(room.chunks_mut(each));
                rows.enumerate().for_each(work);
            }
        });
        let [of_readout, of_last] = readout;
        let outs: [&mut [T]; 4] = [of_biases, weights, of_readout, of_last];
        let mut outs = outs.map(|out| {
            out.fill(T::ZERO);
            out
        });
        for room in room.chunks_mut(each) {
            let sums = Sums::split(room, count, width, classes);
            let [biases, weights, readout, last] = &mut outs;
            add(sums.biases, biases);
            add(sums.weights, weights);
            add(sums.last, last);
            for (j, row) in readout.chunks_exact_mut(classes.max(1)).enumerate() {
                row.iter_mut().enumerate().for_each(|(k, out)| *out += sums.readout[k * width + j]);
            }
        }
        self.give(room);
        self.give(turned);
    }

    /// Vᵀ.
    fn turned_readout(&self, of: &JoinedChannels<Self>) -> Vec<T> {
        let (v, shape) = of.readout;
        let mut turned = self.take(shape.len());
        for (j, row) in v.chunks_exact(shape.cols().max(1)).enumerate() {
            row.iter().enumerate().for_each(|(k, &value)| turned[k * shape.rows() + j] = value);
        }
        turned
    }
}

fn add<T: Scalar>(sums: &[T], out: &mut [T]) {
    out.iter_mut().zip(sums).for_each(|(out, &sum)| *out += sum);
}

impl<'a, T: Scalar> Layer<'a, T> {
    fn new(of: &JoinedChannels<'a, Cpu<T>>, biases: &'a [&'a [T]], readout: &'a [T]) -> Self {
        let JoinedChannels { weights, normalize, dropout, .. } = *of;
        Self { biases, weights, normalize, dropout, readout }
    }
}

/// The sum of all lanes.
#[inline(always)]
fn total<T: Scalar>(lanes: &[T; LANES]) -> T {
    let mut sum = T::ZERO;
    for i in 0..LANES {
        sum += lanes[i];
    }
    sum
}

/// ‖x + b‖².
#[inline(always)]
fn squares<T: Scalar>(x: &[[T; LANES]], bias: &[[T; LANES]]) -> T {
    let mut squares = [T::ZERO; LANES];
    for c in 0..bias.len() {
        for i in 0..LANES {
            let z = x[c][i] + bias[c][i];
            squares[i] += z * z;
        }
    }
    total(&squares)
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
fn forward<T: Scalar>(
    layer: Layer<T>,
    x: &[T],
    last: &[T],
    first: usize,
    hidden: &mut [T],
    kept: &mut [u16],
    y: &mut [T],
) {
    let Layer { weights, normalize, dropout, .. } = layer;
    let (readout, classes) = (layer.readout.as_chunks::<LANES>().0, last.len());
    let x = x.as_chunks::<LANES>().0;
    let hidden = hidden.as_chunks_mut::<LANES>().0;
    let stride = hidden.len();
    for u in 0..y.len() / classes.max(1) {
        let kept = &mut kept[u * stride..][..stride];
        let mut at = 0;
        for k in 0..weights.len() {
            let bias = layer.biases[k].as_chunks::<LANES>().0;
            let count = bias.len();
            let x = &x[u * stride + at..][..count];
            let factor = scale(normalize, squares(x, bias)).1 * weights[k];
            for c in 0..count {
                for i in 0..LANES {
                    let value = factor * (x[c][i] + bias[c][i]);
                    // NaN stays NaN, so that a broken step is seen.
                    hidden[at + c][i] = if value < T::ZERO { T::ZERO } else { value };
                }
            }
            if let Some((rate, key)) = dropout {
                // What a mask over all channels would drop.
                let place = ((first + u) * stride + at) * LANES;
                let mut mask: [T; ENTRIES] =
                    entries(place / ENTRIES, key, threshold(rate), keep(rate));
                for c in 0..count {
                    let skip = (place + c * LANES) % ENTRIES;
                    if c > 0 && skip == 0 {
                        let block = (place + c * LANES) / ENTRIES;
                        mask = entries(block, key, threshold(rate), keep(rate));
                    }
                    for i in 0..LANES {
                        hidden[at + c][i] *= mask[skip + i];
                    }
                }
            }
            for c in 0..count {
                let mut bits = 0;
                for i in 0..LANES {
                    bits |= if hidden[at + c][i] > T::ZERO { 1 << i } else { 0 };
                }
                kept[at + c] = bits;
            }
            at += count;
        }
        for k in 0..classes {
            let column = &readout[k * stride..][..stride];
            let mut sums = [T::ZERO; LANES];
            for c in 0..stride {
                for i in 0..LANES {
                    sums[i] += hidden[c][i] * column[c][i];
                }
            }
            y[u * classes + k] = total(&sums) + last[k];
        }
    }
}

/// With z = x + b, r = ‖z‖ and g the gradient of a·z/r, which is 0 where the hidden layer is: a has (g·z)/r, and z has
/// (a/r)·(g − (g·z)/r²·z).
#[inline(always)]
fn backward<T: Scalar>(layer: Layer<T>, x: &mut [T], kept: &[u16], dy: &[T], sums: Sums<T>) {
    let Layer { weights, normalize, dropout, .. } = layer;
    let classes = sums.last.len();
    let readout = layer.readout.as_chunks::<LANES>().0;
    let x = x.as_chunks_mut::<LANES>().0;
    let of_readout = sums.readout.as_chunks_mut::<LANES>().0;
    let of_biases = sums.biases.as_chunks_mut::<LANES>().0;
    let row = sums.row.as_chunks_mut::<LANES>().0;
    of_readout.fill([T::ZERO; LANES]);
    of_biases.fill([T::ZERO; LANES]);
    sums.weights.fill(T::ZERO);
    sums.last.fill(T::ZERO);
    let stride = of_biases.len();
    let kept_share = match dropout {
        Some((rate, _)) => keep(rate),
        None => T::ONE,
    };
    for u in 0..kept.len() / stride.max(1) {
        let (kept, dy) = (&kept[u * stride..][..stride], &dy[u * classes..][..classes]);
        for k in 0..classes {
            sums.last[k] += dy[k];
        }
        let mut at = 0;
        for k in 0..weights.len() {
            let bias = layer.biases[k].as_chunks::<LANES>().0;
            let count = bias.len();
            let x = &mut x[u * stride + at..][..count];
            let (scaled, scale) = scale(normalize, squares(x, bias));
            let factor = weights[k] * scale;
            let mut along = [T::ZERO; LANES];
            for c in 0..count {
                let bits = kept[at + c];
                let mut g = [T::ZERO; LANES];
                for k in 0..classes {
                    let v = &readout[k * stride + at + c];
                    for i in 0..LANES {
                        g[i] += dy[k] * v[i];
                    }
                }
                let mut h = [T::ZERO; LANES];
                for i in 0..LANES {
                    let z = x[c][i] + bias[c][i];
                    let share = if bits & (1 << i) == 0 { T::ZERO } else { kept_share };
                    g[i] *= share;
                    along[i] += g[i] * z;
                    h[i] = share * factor * z;
                }
                row[c] = g;
                for k in 0..classes {
                    let sum = &mut of_readout[k * stride + at + c];
                    for i in 0..LANES {
                        sum[i] += dy[k] * h[i];
                    }
                }
            }
            let along = total(&along);
            let back = if scaled { along * scale * scale } else { T::ZERO };
            sums.weights[k] += along * scale;
            for c in 0..count {
                for i in 0..LANES {
                    let z = x[c][i] + bias[c][i];
                    let dz = factor * (row[c][i] - back * z);
                    of_biases[at + c][i] += dz;
                    x[c][i] = dz;
                }
            }
            at += count;
        }
    }
}
