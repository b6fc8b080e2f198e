//! Softmax and normalisation of rows, with their gradients, and elementwise maxima.

// Indices keep the loops plain enough to be compiled into vector instructions where they stand.
#![allow(clippy::needless_range_loop)]

use super::kernel::kernel;
use crate::compute::{Scalar, Shape};

kernel!(NormalizeRows, normalize_rows, (x: &'a [T], width: usize, y: &'a mut [T]));
kernel!(NormalizeRowsGradient, normalize_rows_gradient, (x: &'a [T], width: usize, y: &'a [T], dy: &'a [T], dx: &'a mut [T]));
kernel!(Softmax, softmax, (x: &'a [T], shape: Shape, y: &'a mut [T]));
kernel!(SoftmaxGradient, softmax_gradient, (y: &'a [T], shape: Shape, dy: &'a [T], dx: &'a mut [T]));
kernel!(Maximum, maximum, (a: &'a [T], b: &'a [T], y: &'a mut [T]));
kernel!(MaximumGradient, maximum_gradient, (x: &'a [T], other: &'a [T], strict: bool, dy: &'a [T], dx: &'a mut [T]));
kernel!(GroupDot, group_dot, (x: &'a [T], shape: Shape, a: &'a [T], groups: usize, y: &'a mut [T]));
kernel!(GroupDotGradient, group_dot_gradient, (a: &'a [T], groups: usize, dy: &'a [T], dx: &'a mut [T], shape: Shape));
kernel!(GroupSum, group_sum, (x: &'a [T], shape: Shape, groups: usize, dy: &'a [T], da: &'a mut [T]));

/// Below this a row counts as zero and is left as it is.
pub const TINY: f64 = 1e-12;

/// Σ x·y in sixteen sums side by side: in one, each addition would wait for the one before.
#[inline(always)]
fn dot<T: Scalar>(x: &[T], y: &[T]) -> T {
    const LANES: usize = 16;
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    let mut sums = [T::ZERO; LANES];
    for (x, y) in x.iter().zip(y) {
        for i in 0..LANES {
            sums[i] += x[i] * y[i];
        }
    }
    let rest = x_rest.iter().zip(y_rest).map(|(&x, &y)| x * y).sum::<T>();
    sums.iter().copied().sum::<T>() + rest
}

#[inline(always)]
fn norm<T: Scalar>(row: &[T]) -> T {
    dot(row, row).root()
}

#[inline(always)]
fn normalize_rows<T: Scalar>(x: &[T], width: usize, y: &mut [T]) {
    let width = width.max(1);
    for (x, y) in x.chunks_exact(width).zip(y.chunks_exact_mut(width)) {
        let norm = norm(x);
        let scale = if norm.to_f64() > TINY { T::ONE / norm } else { T::ONE };
        for (y, &x) in y.iter_mut().zip(x) {
            *y = scale * x;
        }
    }
}

#[inline(always)]
fn normalize_rows_gradient<T: Scalar>(x: &[T], width: usize, y: &[T], dy: &[T], dx: &mut [T]) {
    let width = width.max(1);
    let rows = x.chunks_exact(width).zip(y.chunks_exact(width));
    let rows = rows.zip(dy.chunks_exact(width)).zip(dx.chunks_exact_mut(width));
    for (((x, y), dy), dx) in rows {
        let norm = norm(x);
        if norm.to_f64() <= TINY {
            dx.iter_mut().zip(dy).for_each(|(dx, &dy)| *dx += dy);
            continue;
        }
        let along = dot(y, dy);
        let scale = T::ONE / norm;
        for ((dx, &y), &dy) in dx.iter_mut().zip(y).zip(dy) {
            *dx += scale * (dy - along * y);
        }
    }
}

#[inline(always)]
fn softmax<T: Scalar>(x: &[T], shape: Shape, y: &mut [T]) {
    let width = shape.width().max(1);
    for (x, y) in x.chunks_exact(width).zip(y.chunks_exact_mut(width)) {
        let top = x.iter().copied().fold(x[0], |a, b| if b > a { b } else { a });
        y.iter_mut().zip(x).for_each(|(y, &x)| *y = Scalar::exp(x - top));
        let scale = T::ONE / y.iter().copied().sum::<T>();
        y.iter_mut().for_each(|y| *y *= scale);
    }
}

#[inline(always)]
fn softmax_gradient<T: Scalar>(y: &[T], shape: Shape, dy: &[T], dx: &mut [T]) {
    let width = shape.width().max(1);
    let rows = y.chunks_exact(width).zip(dy.chunks_exact(width));
    for ((y, dy), dx) in rows.zip(dx.chunks_exact_mut(width)) {
        let along = y.iter().zip(dy).map(|(&y, &dy)| y * dy).sum::<T>();
        for ((dx, &y), &dy) in dx.iter_mut().zip(y).zip(dy) {
            *dx += y * (dy - along);
        }
    }
}

#[inline(always)]
fn maximum<T: Scalar>(a: &[T], b: &[T], y: &mut [T]) {
    for ((y, &a), &b) in y.iter_mut().zip(a).zip(b) {
        *y = if a >= b { a } else { b };
    }
}

#[inline(always)]
fn maximum_gradient<T: Scalar>(x: &[T], other: &[T], strict: bool, dy: &[T], dx: &mut [T]) {
    for (((dx, &x), &other), &dy) in dx.iter_mut().zip(x).zip(other).zip(dy) {
        let taken = if strict { x > other } else { x >= other };
        *dx += if taken { dy } else { T::ZERO };
    }
}

#[inline(always)]
fn group_dot<T: Scalar>(x: &[T], shape: Shape, a: &[T], groups: usize, y: &mut [T]) {
    let (cols, width) = (shape.cols(), shape.cols() / groups.max(1));
    for i in 0..shape.rows() {
        let (x, y) = (&x[i * cols..][..cols], &mut y[i * groups..][..groups]);
        for g in 0..groups {
            let mut sum = T::ZERO;
            for j in g * width..(g + 1) * width {
                sum += x[j] * a[j];
            }
            y[g] = sum;
        }
    }
}

#[inline(always)]
fn group_dot_gradient<T: Scalar>(a: &[T], groups: usize, dy: &[T], dx: &mut [T], shape: Shape) {
    let (cols, width) = (shape.cols(), shape.cols() / groups.max(1));
    for i in 0..shape.rows() {
        let (dx, dy) = (&mut dx[i * cols..][..cols], &dy[i * groups..][..groups]);
        for g in 0..groups {
            for j in g * width..(g + 1) * width {
                dx[j] += dy[g] * a[j];
            }
        }
    }
}

#[inline(always)]
fn group_sum<T: Scalar>(x: &[T], shape: Shape, groups: usize, dy: &[T], da: &mut [T]) {
    let (cols, width) = (shape.cols(), shape.cols() / groups.max(1));
    for i in 0..shape.rows() {
        let (x, dy) = (&x[i * cols..][..cols], &dy[i * groups..][..groups]);
        for g in 0..groups {
            for j in g * width..(g + 1) * width {
                da[j] += dy[g] * x[j];
            }
        }
    }
}
