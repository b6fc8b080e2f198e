//! Whether a file of filtered features holds what a configuration gives.

use super::source::{MappedRows, RowSource};
use crate::model::ModelError;
use magnon_core::filter::{Filter, Propagated, propagate_block};
use magnon_core::matrix::Features;
use magnon_core::matrix::Matrix;
use magnon_core::operator::MagneticOperator;

/// What may be between the file and the filter: a share of the row's norm, and one of the largest norm of all rows.
struct Tolerance {
    row: f64,
    largest: f64,
}

/// For numbers in single precision, which were summed up in another order.
const SINGLE: Tolerance = Tolerance { row: 1e-4, largest: 1e-5 };
/// For numbers that were rounded to half precision: eight times the error of rounding.
const HALF: Tolerance = Tolerance { row: 4e-3, largest: 1e-3 };

/// Holds a file X̄ against h(S)X.
///
/// With signs w, one for each column, X̄ w = h(S)(X w). The right side is one column to filter; the left side reads every
/// number of the file, so other features in any column are found, and damaged numbers.
pub(super) fn check_mapped(
    features: &Features,
    mapped: &MappedRows,
    operator: &MagneticOperator,
    filter: &Filter,
) -> Result<(), ModelError> {
    let wrong = |found: String, expected: &str| ModelError::Mismatch {
        what: "the file of filtered features".to_owned(),
        found,
        expected: expected.to_owned(),
    };
    let other = mapped.shape();
    if (other.rows(), other.cols()) != (features.rows(), features.cols()) {
        let sizes = |rows, cols| format!("{rows} × {cols} numbers");
        let expected = sizes(features.rows(), features.cols());
        return Err(wrong(sizes(other.rows(), other.cols()), &expected));
    }
    let signs: Vec<f64> = (0..features.cols()).map(sign).collect();
    let mixed = Features::Dense(mix(features, &signs));
    let ours: Propagated = propagate_block(operator, filter, &mixed, 0..1, &())?;
    let shape = ours.shape();
    let unlike = "other numbers than this configuration gives";
    let same = "those of the same features, charge, pass, filter, order and operator";
    if shape.field() != other.field() {
        return Err(wrong(unlike.to_owned(), same));
    }
    let parts = shape.width();
    let (mut row, mut own) = (vec![0.0f32; other.width()], vec![0.0f32; parts]);
    // Of each row, the distance from ours and the norm.
    let mut found = Vec::with_capacity(other.rows());
    for u in 0..other.rows() {
        mapped.copy(u, &mut row);
        ours.copy(u, &mut own);
        let mut sums = [0.0f64; 2];
        for (numbers, sign) in row.chunks_exact(parts).zip(&signs) {
            sums.iter_mut().zip(numbers).for_each(|(sum, &x)| *sum += sign * f64::from(x));
        }
        let apart = sums.iter().zip(&own).map(|(sum, &x)| (sum - f64::from(x)).abs());
        let norm = row.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
        found.push((apart.fold(0.0, f64::max), norm));
    }
    mapped.check()?;
    let largest = found.iter().map(|&(_, norm)| norm).fold(f64::from(f32::MIN_POSITIVE), f64::max);
    let allowed = if mapped.is_half() { HALF } else { SINGLE };
    let fits = |&(apart, norm): &(f64, f64)| {
        apart.is_finite() && apart <= allowed.row * norm + allowed.largest * largest
    };
    match found.iter().position(|row| !fits(row)) {
        None => Ok(()),
        Some(0) => Err(wrong(unlike.to_owned(), same)),
        Some(row) => Err(wrong(format!("{unlike}, from row {row} on"), same)),
    }
}

/// A sign for a column: any that do not follow a pattern serve, and the same ones each time.
fn sign(column: usize) -> f64 {
    let bits = (column as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ (bits >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    if (bits >> 40) & 1 == 0 { 1.0 } else { -1.0 }
}

/// X w.
fn mix(features: &Features, signs: &[f64]) -> Matrix<f32> {
    let mut mixed = Matrix::zeros(features.rows(), 1);
    for (u, out) in mixed.as_mut_slice().iter_mut().enumerate() {
        let sum: f64 = match features {
            Features::Dense(x) => x.row(u).iter().zip(signs).map(|(&x, w)| w * f64::from(x)).sum(),
            Features::Sparse(x) => {
                let (columns, values) = x.row(u);
                let sign = |&column: &u32| signs.get(column as usize).copied().unwrap_or_default();
                columns.iter().map(sign).zip(values).map(|(w, &x)| w * f64::from(x)).sum()
            }
        };
        *out = sum as f32;
    }
    mixed
}
