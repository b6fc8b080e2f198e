//! Log-softmax and negative log likelihood.

use super::kernel::kernel;
use crate::compute::{Scalar, Shape};

kernel!(LogSoftmax, log_softmax, (x: &'a [T], shape: Shape, y: &'a mut [T]));
kernel!(Mean, mean, (y: &'a [T], shape: Shape, targets: &'a [(u32, u32)]) -> (f64, usize));
kernel!(Gradient, gradient, (y: &'a [T], shape: Shape, targets: &'a [(u32, u32)], dx: &'a mut [T]));

/// Row by row: x − max − ln Σ e^{x − max}.
#[inline(always)]
fn log_softmax<T: Scalar>(x: &[T], shape: Shape, y: &mut [T]) {
    let cols = shape.cols().max(1);
    // Rows are short, so the exponentials are taken over many rows at a time.
    const ROWS: usize = 64;
    let mut tops = [T::ZERO; ROWS];
    for (x, y) in x.chunks(ROWS * cols).zip(y.chunks_mut(ROWS * cols)) {
        for ((x, y), top) in x.chunks_exact(cols).zip(y.chunks_exact_mut(cols)).zip(&mut tops) {
            *top = x.iter().copied().fold(x[0], |a, b| if b > a { b } else { a });
            for (x, y) in x.iter().zip(y) {
                *y = *x - *top;
            }
        }
        y.iter_mut().for_each(|y| *y = Scalar::exp(*y));
        for ((x, y), &top) in x.chunks_exact(cols).zip(y.chunks_exact_mut(cols)).zip(&tops) {
            let shift = top + Scalar::ln(y.iter().copied().sum::<T>());
            for (x, y) in x.iter().zip(y) {
                *y = *x - shift;
            }
        }
    }
}

/// Mean over the targets, and how many have their argmax entry at the target.
#[inline(always)]
fn mean<T: Scalar>(y: &[T], shape: Shape, targets: &[(u32, u32)]) -> (f64, usize) {
    let (mut sum, mut right) = (0.0, 0);
    for &(row, class) in targets {
        let row = &y[row as usize * shape.cols()..][..shape.cols()];
        sum -= row[class as usize].to_f64();
        right += usize::from(argmax(row) == class as usize);
    }
    (sum / targets.len().max(1) as f64, right)
}

/// `dx = (softmax(x) − onehot) / targets` on the rows of the targets; the others stay.
#[inline(always)]
fn gradient<T: Scalar>(y: &[T], shape: Shape, targets: &[(u32, u32)], dx: &mut [T]) {
    let scale = T::from_f64(1.0 / targets.len().max(1) as f64);
    let all = targets.len() == shape.rows();
    if all {
        for (dx, &y) in dx.iter_mut().zip(y) {
            *dx = scale * Scalar::exp(y);
        }
    }
    for &(row, class) in targets {
        let at = row as usize * shape.cols();
        let (y, dx) = (&y[at..at + shape.cols()], &mut dx[at..at + shape.cols()]);
        if !all {
            for (dx, &y) in dx.iter_mut().zip(y) {
                *dx = scale * Scalar::exp(y);
            }
        }
        dx[class as usize] += -scale;
    }
}

/// Place of the argmax entry; the first of equals.
#[inline(always)]
fn argmax<T: Scalar>(row: &[T]) -> usize {
    let mut best = 0;
    for (i, &x) in row.iter().enumerate() {
        if x > row[best] {
            best = i;
        }
    }
    best
}
