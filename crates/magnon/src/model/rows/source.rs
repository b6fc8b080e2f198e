//! Rows of numbers, one per node: computed, read, or mapped from a file.

use crate::data::Features;
use crate::data::numpy::{Array, Kind};
use crate::filter::Propagated;
use crate::model::ModelError;
use crate::nn::{Field, Shape};
use memmap2::Mmap;
use std::fs::File;
use std::path::Path;

/// Rows of numbers, one per node; complex ones as real part, imaginary part.
pub trait RowSource: Sync {
    /// Nodes, columns and field.
    fn shape(&self) -> Shape;
    /// Copies row `node` into `out`, which has the row's width.
    fn copy(&self, node: usize, out: &mut [f32]);
}

impl RowSource for Propagated {
    fn shape(&self) -> Shape {
        match self {
            Self::Real(x) => Shape::real(x.rows(), x.cols()),
            Self::Complex(x) => Shape::complex(x.rows(), x.cols()),
        }
    }

    fn copy(&self, node: usize, out: &mut [f32]) {
        match self {
            Self::Real(x) => out.copy_from_slice(x.row(node)),
            Self::Complex(x) => out.copy_from_slice(bytemuck::cast_slice(x.row(node))),
        }
    }
}

impl RowSource for Features {
    fn shape(&self) -> Shape {
        Shape::real(self.rows(), self.cols())
    }

    fn copy(&self, node: usize, out: &mut [f32]) {
        match self {
            Self::Dense(x) => out.copy_from_slice(x.row(node)),
            Self::Sparse(x) => {
                out.fill(0.0);
                let (columns, values) = x.row(node);
                for (&column, &value) in columns.iter().zip(values) {
                    out[column as usize] = value;
                }
            }
        }
    }
}

/// Filtered features in a `.npy` file, as `magnon propagate` writes them, read where they lie.
pub struct MappedRows {
    map: Mmap,
    start: usize,
    shape: Shape,
}

impl MappedRows {
    /// Maps a file of float32 or complex64 in C order.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let fault = |found: String, expected: &str| ModelError::Mismatch {
            what: path.display().to_string(),
            found,
            expected: expected.to_owned(),
        };
        let io = |error: std::io::Error| fault(error.to_string(), "readable bytes");
        let file = File::open(path).map_err(io)?;
        // SAFETY: a file that another process changes meanwhile gives other numbers, never
        // anything but numbers: all bit patterns are valid floats. One that is cut short raises a
        // bus error, as for every program that maps files.
        let map = unsafe { Mmap::map(&file) }.map_err(io)?;
        let mut rest = &map[..];
        let length = map.len() as u64;
        let header = Array::open(&path.display().to_string(), &mut rest, length)
            .map_err(|error| fault(error.to_string(), "a .npy file"))?
            .into_header();
        let start = map.len() - rest.len();
        let field = match (header.dtype.kind, header.dtype.size, header.dtype.big_endian) {
            (Kind::Float, 4, false) => Field::Real,
            (Kind::Complex, 8, false) => Field::Complex,
            _ => return Err(fault("other numbers".to_owned(), "float32 or complex64")),
        };
        let [rows, cols] = header.shape[..] else {
            return Err(fault(format!("{} dimensions", header.shape.len()), "2"));
        };
        if header.fortran {
            return Err(fault("columns one after the other".to_owned(), "rows (C order)"));
        }
        let numbers = rows.checked_mul(cols).and_then(|n| n.checked_mul(4 * field.parts()));
        if numbers.is_none_or(|bytes| map.len() - start < bytes) {
            return Err(fault(format!("{} bytes", map.len()), "as many as its header says"));
        }
        let shape = Shape::checked(rows, cols, field);
        let shape = shape.ok_or_else(|| fault(format!("{rows} × {cols} numbers"), "fewer"))?;
        Ok(Self { map, start, shape })
    }
}

impl RowSource for MappedRows {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn copy(&self, node: usize, out: &mut [f32]) {
        let bytes = self.shape.width() * 4;
        let row = &self.map[self.start + node * bytes..][..bytes];
        for (out, number) in out.iter_mut().zip(row.as_chunks().0) {
            *out = f32::from_le_bytes(*number);
        }
    }
}
