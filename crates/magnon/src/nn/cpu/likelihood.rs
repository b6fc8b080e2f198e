//! Log-softmax and negative log likelihood.

use crate::nn::{Scalar, Shape};

/// Row by row: x − max − ln Σ e^{x − max}.
#[inline(always)]
pub fn log_softmax<T: Scalar>(x: &[T], shape: Shape, y: &mut [T]) {
    let cols = shape.cols.max(1);
    for (x, y) in x.chunks_exact(cols).zip(y.chunks_exact_mut(cols)) {
        let most = x.iter().copied().fold(x[0], |a, b| if b > a { b } else { a });
        let mut sum = T::ZERO;
        for &x in x {
            sum += Scalar::exp(x - most);
        }
        let shift = most + Scalar::ln(sum);
        for (x, y) in x.iter().zip(y) {
            *y = *x - shift;
        }
    }
}

/// Mean over the targets, and how many have their largest entry at the target.
pub fn mean<T: Scalar>(y: &[T], shape: Shape, targets: &[(u32, u32)]) -> (f64, usize) {
    let (mut sum, mut right) = (0.0, 0);
    for &(row, class) in targets {
        let row = &y[row as usize * shape.cols..][..shape.cols];
        sum -= row[class as usize].to_f64();
        right += usize::from(largest(row) == class as usize);
    }
    (sum / targets.len().max(1) as f64, right)
}

/// `dx += (softmax(x) − onehot) / targets`.
pub fn gradient<T: Scalar>(y: &[T], shape: Shape, targets: &[(u32, u32)], dx: &mut [T]) {
    let scale = T::from_f64(1.0 / targets.len().max(1) as f64);
    for &(row, class) in targets {
        let at = row as usize * shape.cols;
        let (y, dx) = (&y[at..at + shape.cols], &mut dx[at..at + shape.cols]);
        for (dx, &y) in dx.iter_mut().zip(y) {
            *dx += scale * Scalar::exp(y);
        }
        dx[class as usize] += -scale;
    }
}

/// Place of the largest entry; the first of equals.
pub fn largest<T: Scalar>(row: &[T]) -> usize {
    let mut best = 0;
    for (i, &x) in row.iter().enumerate() {
        if x > row[best] {
            best = i;
        }
    }
    best
}
