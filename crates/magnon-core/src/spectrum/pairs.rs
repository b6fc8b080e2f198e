//! Eigenpairs of one block, in a basis that does not depend on how they were found.

use crate::matrix::Matrix;
use crate::operator::MagneticOperator;
use num_complex::Complex64;
use rayon::prelude::*;
use std::ops::Range;

/// Ascending eigenvalues and, where asked for, orthonormal eigenvectors in columns.
pub struct Pairs {
    pub values: Vec<f64>,
    pub vectors: Option<Matrix<Complex64>>,
}

/// Entries that agree so far in square count as equally large.
const TIE: f64 = 1e-7;

impl Pairs {
    /// Keeps the pairs `wanted`, and gives every eigenspace the basis that its projector P = UUᴴ
    /// names: the first vector is the column of P at the node with the largest P(u,u), normalised; it
    /// is projected out, and so on.
    ///
    /// Of nodes that are equally large the first is taken. P does not depend on the basis U, so
    /// neither does the result, up to rounding. For a simple eigenvalue this makes the entry of
    /// largest modulus real and positive. Eigenvalues closer than `width` share an eigenspace; of one
    /// that is not wanted as a whole the first vectors are kept, and the others cost nothing.
    pub fn canonicalise(&mut self, width: f64, wanted: Range<usize>) {
        let values = &self.values;
        if let Some(vectors) = &mut self.vectors {
            let mut kept = Matrix::zeros(vectors.rows(), wanted.len());
            let mut first = 0;
            for last in 1..=values.len() {
                if last < values.len() && values[last] - values[last - 1] <= width {
                    continue;
                }
                let (from, to) = (first.max(wanted.start), last.min(wanted.end));
                if from < to {
                    let out = from - wanted.start..to - wanted.start;
                    canonical_basis(vectors, first..last, &mut kept, out);
                }
                first = last;
            }
            *vectors = kept;
        }
        self.values.truncate(wanted.end);
        self.values.drain(..wanted.start);
    }

    /// ‖Su − λu‖ of every pair.
    pub fn residuals(&self, operator: &MagneticOperator) -> Option<Vec<f64>> {
        let vectors = self.vectors.as_ref()?;
        let count = self.values.len();
        const ROWS: usize = 256;
        let starts: Vec<usize> = (0..vectors.rows()).step_by(ROWS).collect();
        let parts: Vec<Vec<f64>> = starts
            .into_par_iter()
            .map(|first| {
                let mut squares = vec![0.0; count];
                let mut sum = vec![Complex64::default(); count];
                for u in first..(first + ROWS).min(vectors.rows()) {
                    for ((sum, x), value) in sum.iter_mut().zip(vectors.row(u)).zip(&self.values) {
                        *sum = -value * x;
                    }
                    for (v, s) in operator.row(u) {
                        sum.iter_mut().zip(vectors.row(v)).for_each(|(sum, x)| *sum += s * x);
                    }
                    squares.iter_mut().zip(&sum).for_each(|(square, x)| *square += x.norm_sqr());
                }
                squares
            })
            .collect();
        let mut squares = vec![0.0; count];
        for part in parts {
            squares.iter_mut().zip(part).for_each(|(sum, square)| *sum += square);
        }
        Some(squares.into_iter().map(f64::sqrt).collect())
    }
}

/// Puts the first vectors of the canonical basis of what the columns `group` span into the columns
/// `out` of `kept`.
fn canonical_basis(
    vectors: &Matrix<Complex64>,
    group: Range<usize>,
    kept: &mut Matrix<Complex64>,
    out: Range<usize>,
) {
    let cols = kept.cols();
    let size = group.len();
    let block: Vec<Complex64> =
        (0..vectors.rows()).flat_map(|u| vectors.row(u)[group.clone()].to_vec()).collect();
    let mut left: Vec<f64> =
        block.chunks_exact(size).map(|row| row.iter().map(Complex64::norm_sqr).sum()).collect();
    let mut chosen: Vec<Vec<Complex64>> = Vec::with_capacity(out.len());
    for column in out {
        let largest = left.iter().copied().fold(0.0, f64::max);
        let pivot = left.iter().position(|&p| p >= (1.0 - TIE) * largest).unwrap_or(0);
        let row = &block[pivot * size..(pivot + 1) * size];
        let mut direction: Vec<Complex64> = row.iter().map(Complex64::conj).collect();
        // Twice is enough to be orthogonal to what was chosen before.
        for _ in 0..2 {
            for other in &chosen {
                let along: Complex64 =
                    other.iter().zip(&direction).map(|(a, b)| a.conj() * b).sum();
                direction.iter_mut().zip(other).for_each(|(x, a)| *x -= along * a);
            }
        }
        let norm = direction.iter().map(Complex64::norm_sqr).sum::<f64>().sqrt();
        if norm > 0.0 {
            direction.iter_mut().for_each(|x| *x /= norm);
        }
        let rows = kept.as_mut_slice().par_chunks_mut(cols);
        rows.zip(block.par_chunks_exact(size)).zip(&mut left).with_min_len(64).for_each(
            |((out, row), left)| {
                let value: Complex64 = row.iter().zip(&direction).map(|(a, b)| a * b).sum();
                out[column] = value;
                *left = (*left - value.norm_sqr()).max(0.0);
            },
        );
        chosen.push(direction);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three orthonormal vectors of ℂ⁵ and the same space in another basis.
    #[test]
    fn rotations_of_an_eigenspace_change_nothing() {
        let wave = |u: usize, k: usize| {
            Complex64::from_polar(0.2f64.sqrt(), std::f64::consts::TAU * (u * k) as f64 / 5.0)
        };
        let mixed = |rotation: [[Complex64; 3]; 3]| {
            let value = |u: usize, j: usize| -> Complex64 {
                (0..3).map(|k| wave(u, k) * (1.0 + u as f64 * 0.0) * rotation[k][j]).sum()
            };
            let cells = (0..15).map(|i| value(i / 3, i % 3)).collect();
            let vectors = Matrix::from_vec(5, 3, cells).unwrap();
            let mut pairs = Pairs { values: vec![1.0, 1.0 + 1e-14, 1.0], vectors: Some(vectors) };
            pairs.canonicalise(1e-10, 0..3);
            pairs.vectors.unwrap()
        };
        let (c, s) = (0.6, 0.8);
        let one = Complex64::from(1.0);
        let zero = Complex64::default();
        let plain = mixed([[one, zero, zero], [zero, one, zero], [zero, zero, one]]);
        let phase = Complex64::from_polar(1.0, 0.7);
        let turned = mixed([
            [one * c, phase * s, zero],
            [zero, zero, Complex64::i()],
            [-phase.conj() * s * phase, phase * c, zero],
        ]);
        for (a, b) in plain.as_slice().iter().zip(turned.as_slice()) {
            assert!((a - b).norm() < 1e-12, "{a} {b}");
        }
        // All P(u,u) are equal here, so the first vector belongs to node 0.
        assert!(plain.row(0)[0].im.abs() < 1e-14 && plain.row(0)[0].re > 0.7);
    }
}
