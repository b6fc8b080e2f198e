//! How large a channel is, without making it: Hutchinson's estimate by a few columns of random signs.

use magnon_core::matrix::Features;
use magnon_core::matrix::Matrix;
use num_complex::Complex32;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Columns of signs: the estimate is good to about √(2/PROBES).
const PROBES: usize = 16;

/// Random signs, the same ones every time.
pub(super) fn plain_signs(rows: usize) -> Matrix<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let mut signs = Matrix::zeros(rows, PROBES);
    let draw = |sign: &mut f32| *sign = if rng.random::<bool>() { 1.0 } else { -1.0 };
    signs.as_mut_slice().iter_mut().for_each(draw);
    signs
}

/// X·Z with random signs Z.
pub(super) fn signs(x: &Features) -> Matrix<f32> {
    let z = plain_signs(x.cols());
    let mut block = Matrix::zeros(x.rows(), PROBES);
    for (u, row) in block.as_mut_slice().chunks_exact_mut(PROBES).enumerate() {
        let mut add = |column: usize, value: f32| {
            row.iter_mut().zip(z.row(column)).for_each(|(sum, sign)| *sum += value * sign);
        };
        match x {
            Features::Sparse(x) => {
                let (columns, values) = x.row(u);
                columns
                    .iter()
                    .zip(values)
                    .for_each(|(&column, &value)| add(column as usize, value));
            }
            Features::Dense(x) => {
                x.row(u).iter().enumerate().for_each(|(column, &value)| add(column, value));
            }
        }
    }
    block
}

/// The block after one step, from the entries of each row.
pub(super) fn step<I: Iterator<Item = (usize, f64)>>(
    block: &Matrix<f32>,
    row: impl Fn(usize) -> I,
) -> Matrix<f32> {
    let mut next = Matrix::zeros(block.rows(), PROBES);
    for (u, sums) in next.as_mut_slice().chunks_exact_mut(PROBES).enumerate() {
        for (v, weight) in row(u) {
            let from = block.row(v).iter();
            sums.iter_mut().zip(from).for_each(|(sum, &x)| *sum += weight as f32 * x);
        }
    }
    next
}

/// Mean over the probes of the sum of squares.
pub(super) fn mean_square(block: &Matrix<f32>) -> f64 {
    block.as_slice().iter().map(|&x| f64::from(x).powi(2)).sum::<f64>() / PROBES as f64
}

/// The same of complex numbers.
pub(super) fn complex_mean_square(block: &Matrix<Complex32>) -> f64 {
    block.as_slice().iter().map(|z| f64::from(z.norm_sqr())).sum::<f64>() / PROBES as f64
}

/// ‖X‖_F² itself.
pub(super) fn square(x: &Features) -> f64 {
    let values = match x {
        Features::Sparse(x) => x.values(),
        Features::Dense(x) => x.as_slice(),
    };
    values.iter().map(|&x| f64::from(x).powi(2)).sum()
}
