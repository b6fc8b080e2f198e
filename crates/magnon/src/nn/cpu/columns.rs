//! Sums and copies of rows and columns.

use super::kernel::kernel;
use crate::nn::{Scalar, Shape};

kernel!(AddBias, add_bias, (bias: &'a [T], y: &'a mut [T]));
kernel!(SumRows, sum_rows, (y: &'a [T], bias: &'a mut [T], add: bool));
kernel!(Multiply, multiply, (a: &'a [T], x: &'a [T], y: &'a mut [T]));
kernel!(MultiplyAdd, multiply_add, (a: &'a [T], x: &'a [T], y: &'a mut [T]));
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

/// Copies the columns of `x` into `y`, from the column `at` on.
pub fn put<T: Scalar>(x: (&Vec<T>, Shape), y: (&mut Vec<T>, Shape), at: usize) {
    let (from, to) = (x.1.width(), y.1.width());
    let at = at * y.1.field().parts();
    for (x, y) in x.0.chunks_exact(from.max(1)).zip(y.0.chunks_exact_mut(to.max(1))) {
        y[at..at + from].copy_from_slice(x);
    }
}

/// Adds the columns of `y` from `at` on to `x`.
pub fn add_back<T: Scalar>(y: (&Vec<T>, Shape), at: usize, x: (&mut Vec<T>, Shape)) {
    let (to, from) = (x.1.width(), y.1.width());
    let at = at * y.1.field().parts();
    for (x, y) in x.0.chunks_exact_mut(to.max(1)).zip(y.0.chunks_exact(from.max(1))) {
        for (x, &y) in x.iter_mut().zip(&y[at..]) {
            *x += y;
        }
    }
}
