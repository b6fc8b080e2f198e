//! Features that stay on disk: blocks of their columns are read when they are needed.

use super::DataError;
use super::dataset::{FeatureNorm, Features, Scaling};
use super::numpy::{Array, Header, floats, is_native_f32};
use super::room::zeroed;
use super::store::io_error;
use crate::matrix::Matrix;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Bytes that are read at once.
const PIECE: usize = 4 << 20;

/// A table of features in a `.npy` file, of any real type, in either order.
pub struct FeatureFile {
    path: PathBuf,
    header: Header,
    start: u64,
    rows: usize,
    cols: usize,
}

/// What is done to features that are read in parts; the same as to those that are read whole.
#[derive(Clone, Debug, Default)]
pub struct PartScaling {
    scaling: Scaling,
    /// The sum of absolute values of each row, where rows are divided by it.
    row_sums: Vec<f64>,
}

impl PartScaling {
    /// What was done, in words; `None` where nothing was.
    pub fn words(&self) -> Option<&'static str> {
        self.scaling.words()
    }
}

impl FeatureFile {
    /// Opens a file and checks its header against its size.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let label = path.display().to_string();
        let failed = |reason| io_error(path, "read", reason);
        let file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let array = Array::open(&label, &file, length)?;
        let (rows, cols) = array.table()?;
        let header = array.into_header();
        let start = (&file).stream_position().map_err(failed)?;
        Ok(Self { path: path.to_owned(), header, start, rows, cols })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    fn label(&self) -> String {
        self.path.display().to_string()
    }

    /// The payload from an element on.
    fn payload(&self, element: usize) -> Result<BufReader<File>, DataError> {
        let failed = |reason| io_error(&self.path, "read", reason);
        let mut file = File::open(&self.path).map_err(failed)?;
        let at = self.start + element as u64 * self.header.dtype.size as u64;
        file.seek(SeekFrom::Start(at)).map_err(failed)?;
        Ok(BufReader::with_capacity(PIECE, file))
    }

    /// Visits every element of the columns, with its row and column. Rows ascend within a column, and columns
    /// within a row, whatever the order of the file.
    fn each(
        &self,
        columns: Range<usize>,
        mut visit: impl FnMut(usize, usize, f32) -> Result<(), String>,
    ) -> Result<(), DataError> {
        let (label, dtype, rows, cols) = (self.label(), self.header.dtype, self.rows, self.cols);
        if rows == 0 || columns.is_empty() {
            return Ok(());
        }
        let wrong = |problem: String| DataError::format(&label, problem);
        if self.header.fortran {
            let source = self.payload(columns.start * rows)?;
            floats(&label, dtype, columns.len() * rows, source, |k, value| {
                visit(k % rows, columns.start + k / rows, value).map_err(&wrong)
            })?;
            return Ok(());
        }
        if !is_native_f32(dtype) {
            let (mut row, mut column) = (0, 0);
            floats(&label, dtype, rows * cols, self.payload(0)?, |_, value| {
                let visited = match columns.contains(&column) {
                    true => visit(row, column, value),
                    false => Ok(()),
                };
                column += 1;
                if column == cols {
                    (row, column) = (row + 1, 0);
                }
                visited.map_err(&wrong)
            })?;
            return Ok(());
        }
        let mut source = self.payload(0)?;
        let many = (PIECE / 4 / cols).clamp(1, rows);
        let mut piece = zeroed::<f32>(many * cols, &label)?;
        for first in (0..rows).step_by(many) {
            let count = many.min(rows - first);
            let numbers = &mut piece[..count * cols];
            let read = source.read_exact(bytemuck::cast_slice_mut(numbers));
            read.map_err(|reason| io_error(&self.path, "read", reason))?;
            for (row, numbers) in (first..).zip(numbers.chunks_exact(cols)) {
                for (column, &value) in columns.clone().zip(&numbers[columns.clone()]) {
                    visit(row, column, value).map_err(&wrong)?;
                }
            }
        }
        Ok(())
    }

    /// What a rule does to these features, found in passes over the file.
    pub fn survey(&self, norm: FeatureNorm) -> Result<PartScaling, DataError> {
        let (rows, cols) = (self.rows, self.cols);
        if norm == FeatureNorm::None || rows == 0 {
            return Ok(PartScaling::default());
        }
        let (mut sums, mut counts, mut filled) = (vec![0.0; cols], true, 0usize);
        let needs_rows = norm != FeatureNorm::Standard;
        let mut row_sums = zeroed::<f64>(if needs_rows { rows } else { 0 }, &self.label())?;
        self.each(0..cols, |row, column, value| {
            sums[column] += f64::from(value);
            counts &= value >= 0.0 && value.fract() == 0.0;
            filled += usize::from(value != 0.0);
            if let Some(sum) = row_sums.get_mut(row) {
                *sum += f64::from(value.abs());
            }
            Ok(())
        })?;
        let mean: Vec<f64> = sums.iter().map(|sum| sum / rows as f64).collect();
        let dense = norm == FeatureNorm::Auto && filled * 2 >= rows * cols;
        if norm == FeatureNorm::Standard || dense {
            let mut squares = vec![0.0; cols];
            self.each(0..cols, |_, column, value| {
                squares[column] += (f64::from(value) - mean[column]).powi(2);
                Ok(())
            })?;
            let std: Vec<f64> = squares.iter().map(|sum| (sum / rows as f64).sqrt()).collect();
            if norm == FeatureNorm::Standard || super::dataset::spread(&mean, &std) {
                let std = std.into_iter().map(|std| if std > 0.0 { std } else { 1.0 }).collect();
                let scaling = Scaling::Standard { mean, std };
                return Ok(PartScaling { scaling, row_sums: Vec::new() });
            }
        }
        match norm == FeatureNorm::Row || counts {
            true => Ok(PartScaling { scaling: Scaling::Rows, row_sums }),
            false => Ok(PartScaling::default()),
        }
    }

    /// Some columns, scaled as all are.
    pub fn columns(
        &self,
        columns: Range<usize>,
        scaling: &PartScaling,
    ) -> Result<Features, DataError> {
        let (label, width) = (self.label(), columns.len());
        let bytes = self.rows.saturating_mul(width).saturating_mul(4);
        let matrix = Matrix::<f32>::try_zeros(self.rows, width);
        let mut matrix = matrix.ok_or_else(|| super::room::out_of_memory(&label, bytes as u64))?;
        let cells = matrix.as_mut_slice();
        self.each(columns.clone(), |row, column, value| {
            if !value.is_finite() {
                let problem =
                    format!("the feature in row {row}, column {column} is {value}, not finite");
                return Err(problem);
            }
            let value = match &scaling.scaling {
                Scaling::None | Scaling::Joined { .. } => value, // a file has no added columns
                Scaling::Rows => match scaling.row_sums.get(row) {
                    Some(&sum) if sum > 0.0 => (f64::from(value) / sum) as f32,
                    _ => value,
                },
                Scaling::Standard { mean, std } => {
                    ((f64::from(value) - mean[column]) / std[column]) as f32
                }
            };
            cells[row * width + column - columns.start] = value;
            Ok(())
        })?;
        Ok(Features::Dense(matrix))
    }
}
