//! Rows of numbers, one per node: computed, read, or mapped from a file.

use crate::model::ModelError;
use half::f16;
use magnon_core::compute::{Field, Shape};
use magnon_core::filter::Propagated;
use magnon_core::matrix::Features;
use magnon_data::disk;
use magnon_data::numpy::{Array, Kind};
use std::fs::File;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

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
///
/// Rows are read and not mapped: a mapped file that is cut short ends the process, a read is an
/// error. A row that cannot be read is NaN, so that no number is made up, and
/// [`check`](Self::check) says why.
pub struct MappedRows {
    file: File,
    path: PathBuf,
    start: u64,
    shape: Shape,
    /// Whether numbers have half precision.
    half: bool,
    ahead: Mutex<Ahead>,
    /// What came of the first row that could not be read.
    fault: OnceLock<String>,
}

/// Rows that were read before they were asked for, as whoever asks for a row after the last will
/// mostly ask for the next ones too. A call to the system costs more than a row.
#[derive(Default)]
struct Ahead {
    first: usize,
    numbers: Vec<f32>,
}

/// Bytes that are read ahead.
const AHEAD: usize = 1 << 16;

impl MappedRows {
    /// Opens a file of float32, complex64 or float16 in C order; float16 with a third axis of 2 is complex.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let wrong = |found: String, expected: &str| ModelError::Mismatch {
            what: path.display().to_string(),
            found,
            expected: expected.to_owned(),
        };
        let io = |error: std::io::Error| wrong(error.to_string(), "readable bytes");
        let file = File::open(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        let header = Array::open(&path.display().to_string(), &file, length)
            .map_err(|error| wrong(error.to_string(), "a .npy file"))?
            .into_header();
        let start = (&file).stream_position().map_err(io)?;
        let (field, half) = match (header.dtype.kind, header.dtype.size, header.dtype.big_endian) {
            (Kind::Float, 4, false) => (Field::Real, false),
            (Kind::Complex, 8, false) => (Field::Complex, false),
            (Kind::Float, 2, false) if header.shape.len() == 3 => (Field::Complex, true),
            (Kind::Float, 2, false) => (Field::Real, true),
            _ => return Err(wrong("other numbers".to_owned(), "float32 or complex64, or float16")),
        };
        let (rows, cols) = match header.shape[..] {
            [rows, cols] => (rows, cols),
            [rows, cols, 2] if half => (rows, cols),
            _ => return Err(wrong(format!("{} dimensions", header.shape.len()), "2")),
        };
        if header.fortran {
            return Err(wrong("columns one after the other".to_owned(), "rows (C order)"));
        }
        let bytes = field.parts() * if half { 2 } else { 4 };
        let numbers = rows.checked_mul(cols).and_then(|n| n.checked_mul(bytes));
        if numbers.is_none_or(|bytes| length.saturating_sub(start) < bytes as u64) {
            return Err(wrong(format!("{length} bytes"), "as many as its header says"));
        }
        let (path, ahead, fault) = (path.to_owned(), Mutex::default(), OnceLock::new());
        let shape = Shape::checked(rows, cols, field);
        let shape = shape.ok_or_else(|| wrong(format!("{rows} × {cols} numbers"), "fewer"))?;
        Ok(Self { file, path, start, shape, half, ahead, fault })
    }

    /// Reads rows from `node` on, as many as fill `out`.
    fn read(&self, node: usize, out: &mut [f32]) -> io::Result<()> {
        let bytes = self.shape.width() * if self.half { 2 } else { 4 };
        let at = self.start + node as u64 * bytes as u64;
        if self.half {
            return read_halves(&self.file, out, at);
        }
        disk::read_at(&self.file, bytemuck::cast_slice_mut(out), at)?;
        // The file is little-endian; nearly every machine is too.
        out.iter_mut().for_each(|x| *x = f32::from_bits(u32::from_le(x.to_bits())));
        Ok(())
    }

    /// Copies a row that was read ahead, or reads ahead where rows are asked for in order; `None`
    /// where neither is so.
    fn copy_ahead(&self, node: usize, out: &mut [f32]) -> Option<()> {
        // Where another thread is at it, the row is read by itself.
        let mut ahead = self.ahead.try_lock().ok()?;
        let width = self.shape.width().max(1);
        let end = ahead.first + ahead.numbers.len() / width;
        if node == end {
            let most = (AHEAD / size_of::<f32>() / width).max(1);
            let rows = most.min(self.shape.rows().saturating_sub(node));
            ahead.first = node;
            ahead.numbers.resize(rows * width, 0.0);
            if self.read(node, &mut ahead.numbers).is_err() {
                ahead.numbers.clear();
                return None;
            }
        } else if !(ahead.first..end).contains(&node) {
            ahead.first = node + 1;
            ahead.numbers.clear();
            return None;
        }
        out.copy_from_slice(ahead.numbers.get((node - ahead.first) * width..)?.get(..out.len())?);
        Some(())
    }

    /// Whether its numbers have half precision.
    pub(super) fn is_half(&self) -> bool {
        self.half
    }

    /// An error where a row could not be read since the file was opened, as when it was cut short.
    pub fn check(&self) -> Result<(), ModelError> {
        match self.fault.get() {
            None => Ok(()),
            Some(found) => Err(ModelError::Mismatch {
                what: self.path.display().to_string(),
                found: found.clone(),
                expected: "all rows that it was opened with".to_owned(),
            }),
        }
    }
}

impl RowSource for MappedRows {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn copy(&self, node: usize, out: &mut [f32]) {
        if self.copy_ahead(node, out).is_some() {
            return;
        }
        if let Err(error) = self.read(node, out) {
            out.fill(f32::NAN);
            self.fault.get_or_init(|| format!("a row {node} that cannot be read ({error})"));
        }
    }
}

/// Reads numbers in half precision. They are read into the second half of the memory of the numbers that they become, and
/// unfolded from the front: a number is written where none is left to be read.
fn read_halves(file: &File, out: &mut [f32], at: u64) -> io::Result<()> {
    let halves: &mut [u16] = bytemuck::cast_slice_mut(out);
    let count = halves.len() / 2;
    disk::read_at(file, bytemuck::cast_slice_mut(&mut halves[count..]), at)?;
    for k in 0..count {
        let number = f16::from_bits(u16::from_le(halves[count + k])).to_f32();
        let both: [u16; 2] = bytemuck::cast(number);
        halves[2 * k..2 * k + 2].copy_from_slice(&both);
    }
    Ok(())
}
