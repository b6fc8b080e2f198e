//! Filtered features as numbers of a file: in single precision, or rounded once to half precision.

use crate::data::DataError;
use crate::data::write::write_npy_rows;
use crate::filter::Propagated;
use half::f16;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

/// The precision that a result is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum Precision {
    /// float32, or complex64 of a complex operator: 7 digits.
    #[default]
    #[serde(rename = "float32")]
    #[cfg_attr(feature = "clap", value(name = "float32", alias = "single"))]
    Single,
    /// float16, with a last axis for real and imaginary part of a complex operator: 3 digits, up to 65504.
    #[serde(rename = "float16")]
    #[cfg_attr(feature = "clap", value(name = "float16", alias = "half"))]
    Half,
}

/// Bytes that are rounded and written at once.
const PIECE: usize = 4 << 20;

impl Precision {
    /// NumPy's type of the numbers of a real operator, or of a complex one. NumPy has no complex numbers in half
    /// precision: they are pairs.
    pub fn dtype(self, real: bool) -> &'static str {
        match (self, real) {
            (Self::Single, true) => "float32",
            (Self::Single, false) => "complex64",
            (Self::Half, true) => "float16",
            (Self::Half, false) => "float16 pairs",
        }
    }

    /// Bytes of a number.
    pub(super) fn bytes(self, real: bool) -> usize {
        let part = if self == Self::Single { 4 } else { 2 };
        if real { part } else { 2 * part }
    }

    /// The shape of an array of so many rows and columns, and the type of its elements.
    fn array(self, real: bool, rows: usize, cols: usize) -> (&'static str, Vec<usize>) {
        match (self, real) {
            (Self::Single, true) => ("f4", vec![rows, cols]),
            (Self::Single, false) => ("c8", vec![rows, cols]),
            (Self::Half, true) => ("f2", vec![rows, cols]),
            (Self::Half, false) => ("f2", vec![rows, cols, 2]),
        }
    }

    /// Writes an array whose bytes come from elsewhere.
    pub(super) fn write_rows(
        self,
        path: &Path,
        real: bool,
        [rows, cols]: [usize; 2],
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), DataError> {
        let (dtype, shape) = self.array(real, rows, cols);
        write_npy_rows(path, dtype, &shape, content)
    }

    /// Refuses numbers that half precision cannot hold, which would be infinite. `columns` are those of the result
    /// that these are.
    pub(super) fn check(
        self,
        result: &Propagated,
        columns: Range<usize>,
        output: &Path,
    ) -> Result<(), DataError> {
        let numbers = parts(result);
        let lost = |x: &f32| f16::from_f32(*x).is_infinite();
        if self == Self::Single || columns.is_empty() || !numbers.iter().any(lost) {
            return Ok(());
        }
        let at = numbers.iter().position(lost).unwrap_or_default();
        let number = numbers.get(at).copied().unwrap_or_default();
        let cell = at / if matches!(result, Propagated::Real(_)) { 1 } else { 2 };
        let (row, column) = (cell / columns.len(), columns.start + cell % columns.len());
        let problem = format!(
            "the number {number} in row {row}, column {column} of the result is beyond 65504, the largest of half \
             precision; write float32, or scale the features (--feature-norm)"
        );
        Err(DataError::format(output.display().to_string(), problem))
    }

    /// Hands on the bytes of a result; each number is rounded once.
    pub(super) fn put(self, result: &Propagated, target: &mut dyn Write) -> io::Result<()> {
        let numbers = parts(result);
        if self == Self::Single {
            return target.write_all(bytemuck::cast_slice(numbers));
        }
        let mut halves = vec![0u16; (PIECE / 2).min(numbers.len())];
        for piece in numbers.chunks(PIECE / 2) {
            let halves = halves.get_mut(..piece.len()).unwrap_or_default();
            halves.iter_mut().zip(piece).for_each(|(half, &x)| *half = f16::from_f32(x).to_bits());
            target.write_all(bytemuck::cast_slice(halves))?;
        }
        Ok(())
    }
}

/// All numbers, those of a complex one as real part, imaginary part.
fn parts(result: &Propagated) -> &[f32] {
    match result {
        Propagated::Real(matrix) => matrix.as_slice(),
        Propagated::Complex(matrix) => bytemuck::cast_slice(matrix.as_slice()),
    }
}

/// Writes filtered features to a `.npy` file.
pub fn write_filtered(
    path: &Path,
    result: &Propagated,
    precision: Precision,
) -> Result<(), DataError> {
    let (real, [rows, cols]) = match result {
        Propagated::Real(x) => (true, [x.rows(), x.cols()]),
        Propagated::Complex(x) => (false, [x.rows(), x.cols()]),
    };
    precision.check(result, 0..cols, path)?;
    precision.write_rows(path, real, [rows, cols], |target| precision.put(result, target))
}
