//! Sums and copies of rows and columns.

// Indices keep the loops plain enough to be compiled into vector instructions where they stand.
#![allow(clippy::needless_range_loop)]

use super::kernel::kernel;
use crate::compute::Scalar;

kernel!(AddBias, add_bias, (bias: &'a [T], y: &'a mut [T]));
kernel!(SumRows, sum_rows, (y: &'a [T], bias: &'a mut [T], add: bool));
kernel!(Multiply, multiply, (a: &'a [T], x: &'a [T], y: &'a mut [T]));
kernel!(MultiplyAdd, multiply_add, (a: &'a [T], x: &'a [T], y: &'a mut [T]));
kernel!(Dot, dot, (x: &'a [T], y: &'a [T]) -> f64);
kernel!(AddBack, add_back, (y: &'a [T], from: usize, at: usize, x: &'a mut [T], to: usize));
kernel!(Scale, scale, (factor: T, x: &'a [T], y: &'a mut [T], add: bool));

#[inline(always)]
fn add_bias<T: Scalar>(bias: &[T], y: &mut [T]) {
    for row in y.chunks_exact_mut(bias.len().max(1)) {
        for (y, &b) in row.iter_mut().zip(bias) {
            *y += b;
        }
    }
}

#[inline(always)]
fn sum_rows<T: Scalar>(y: &[T], bias: &mut [T], add: bool) {
    if !add {
        bias.fill(T::ZERO);
    }
    for row in y.chunks_exact(bias.len().max(1)) {
        for (b, &y) in bias.iter_mut().zip(row) {
            *b += y;
        }
    }
}

/// `y = a ⊙ x`.
#[inline(always)]
fn multiply<T: Scalar>(a: &[T], x: &[T], y: &mut [T]) {
    for ((y, &a), &x) in y.iter_mut().zip(a).zip(x) {
        *y = a * x;
    }
}

/// `y += a ⊙ x`.
#[inline(always)]
fn multiply_add<T: Scalar>(a: &[T], x: &[T], y: &mut [T]) {
    for ((y, &a), &x) in y.iter_mut().zip(a).zip(x) {
        *y += a * x;
    }
}

/// `y = factor·x`, or `y += factor·x`, as far as both go.
#[inline(always)]
fn scale<T: Scalar>(factor: T, x: &[T], y: &mut [T], add: bool) {
    if add {
        y.iter_mut().zip(x).for_each(|(y, &x)| *y += factor * x);
    } else {
        y.iter_mut().zip(x).for_each(|(y, &x)| *y = factor * x);
    }
}

/// Σ x·y in double precision, in the order of its lanes.
#[inline(always)]
fn dot<T: Scalar>(x: &[T], y: &[T]) -> f64 {
    const LANES: usize = 16;
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (x, y) in x.iter().zip(y) {
        for i in 0..LANES {
            sums[i] += x[i].to_f64() * y[i].to_f64();
        }
    }
    let rest = x_rest.iter().zip(y_rest).map(|(x, y)| x.to_f64() * y.to_f64()).sum::<f64>();
    sums.iter().sum::<f64>() + rest
}

/// Copies rows of `from` numbers into those of `to` numbers, from the place `at` on.
pub fn put<T: Scalar>(x: &[T], from: usize, y: &mut [T], to: usize, at: usize) {
    for (x, y) in x.chunks_exact(from.max(1)).zip(y.chunks_exact_mut(to.max(1))) {
        y[at..at + from].copy_from_slice(x);
    }
}

/// Adds rows of `from` numbers, from the place `at` on, to those of `to` numbers.
#[inline(always)]
fn add_back<T: Scalar>(y: &[T], from: usize, at: usize, x: &mut [T], to: usize) {
    for (x, y) in x.chunks_exact_mut(to.max(1)).zip(y.chunks_exact(from.max(1))) {
        for (x, &y) in x.iter_mut().zip(&y[at..]) {
            *x += y;
        }
    }
}
