//! Sums and copies of rows and columns.

use crate::nn::{Scalar, Shape};

#[inline(always)]
pub fn add_bias<T: Scalar>(bias: &[T], y: &mut [T]) {
    for row in y.chunks_exact_mut(bias.len().max(1)) {
        for (y, &b) in row.iter_mut().zip(bias) {
            *y += b;
        }
    }
}

#[inline(always)]
pub fn sum_rows<T: Scalar>(y: &[T], bias: &mut [T]) {
    for row in y.chunks_exact(bias.len().max(1)) {
        for (b, &y) in bias.iter_mut().zip(row) {
            *b += y;
        }
    }
}

/// `y = f(a, x, y)` entry by entry.
#[inline(always)]
pub fn combine<T: Scalar>(a: &[T], x: &[T], y: &mut [T], f: impl Fn(T, T, T) -> T) {
    for ((y, &a), &x) in y.iter_mut().zip(a).zip(x) {
        *y = f(a, x, *y);
    }
}

/// Copies the columns of `x` into `y`, from the column `at` on.
pub fn put<T: Scalar>(x: (&Vec<T>, Shape), y: (&mut Vec<T>, Shape), at: usize) {
    let (from, to) = (x.1.width(), y.1.width());
    let at = at * y.1.field.parts();
    for (x, y) in x.0.chunks_exact(from.max(1)).zip(y.0.chunks_exact_mut(to.max(1))) {
        y[at..at + from].copy_from_slice(x);
    }
}

/// Adds the columns of `y` from `at` on to `x`.
pub fn add_back<T: Scalar>(y: (&Vec<T>, Shape), at: usize, x: (&mut Vec<T>, Shape)) {
    let (to, from) = (x.1.width(), y.1.width());
    let at = at * y.1.field.parts();
    for (x, y) in x.0.chunks_exact_mut(to.max(1)).zip(y.0.chunks_exact(from.max(1))) {
        for (x, &y) in x.iter_mut().zip(&y[at..]) {
            *x += y;
        }
    }
}
