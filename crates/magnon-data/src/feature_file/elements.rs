//! Numbers of one type one after the other, as in a `.npy` file or a tensor.

use super::source::{Run, Source, Take};
use crate::DataError;
use crate::allocate::{reserve, zeroed};
use crate::numpy::{Header, check_real, singles};
use crate::store::io_error;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Bytes that are read at once.
const PIECE: usize = 4 << 20;

/// A table of numbers of any real type, in either order, from a place in a file on.
pub(super) struct Elements {
    path: PathBuf,
    header: Header,
    start: u64,
    rows: usize,
    cols: usize,
}

impl Elements {
    /// A table whose header was checked against the size of the file.
    pub(super) fn new(path: &Path, header: Header, start: u64) -> Result<Self, DataError> {
        let label = path.display().to_string();
        check_real(&label, header.dtype)?;
        let (rows, cols) = match header.shape[..] {
            [rows] => (rows, 1),
            [rows, cols] => (rows, cols),
            _ => {
                let axes = header.shape.len();
                let problem = format!("a table is needed, but the array has {axes} axes");
                return Err(DataError::format(label, problem));
            }
        };
        Ok(Self { path: path.to_owned(), header, start, rows, cols })
    }

    /// Hands lines of `length` elements to `take`, from an element on, each with its number. Of a line only
    /// the elements in `part` are decoded.
    fn lines(
        &self,
        first: usize,
        length: usize,
        count: usize,
        part: Range<usize>,
        mut take: impl FnMut(usize, &[f32]) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let (label, dtype) = (self.path.display().to_string(), self.header.dtype);
        let failed = |reason| io_error(&self.path, "read", reason);
        let mut file = File::open(&self.path).map_err(failed)?;
        let at = self.start + first as u64 * dtype.size as u64;
        file.seek(SeekFrom::Start(at)).map_err(failed)?;
        let many = (PIECE / (length * dtype.size)).clamp(1, count);
        let mut piece = zeroed::<u8>(many * length * dtype.size, &label)?;
        let mut numbers = Vec::new();
        reserve(&mut numbers, part.len(), &label)?;
        for line in (0..count).step_by(many) {
            let bytes = &mut piece[..many.min(count - line) * length * dtype.size];
            file.read_exact(bytes).map_err(failed)?;
            for (line, bytes) in (line..).zip(bytes.chunks_exact(length * dtype.size)) {
                numbers.clear();
                singles(
                    dtype,
                    &bytes[part.start * dtype.size..part.end * dtype.size],
                    &mut numbers,
                );
                take(line, &numbers)?;
            }
        }
        Ok(())
    }
}

impl Source for Elements {
    fn rows(&self) -> usize {
        self.rows
    }

    fn cols(&self) -> usize {
        self.cols
    }

    fn runs(&self, columns: Range<usize>, take: Take) -> Result<(), DataError> {
        let (rows, cols) = (self.rows, self.cols);
        if rows == 0 || columns.is_empty() {
            return Ok(());
        }
        if !self.header.fortran {
            let first = columns.start;
            return self.lines(0, cols, rows, columns, |row, numbers| {
                take(Run::of_row(row, first, numbers))
            });
        }
        // A column may be longer than what is read at once.
        let most = (PIECE / self.header.dtype.size).clamp(1, rows);
        for column in columns {
            for row in (0..rows).step_by(most) {
                let count = most.min(rows - row);
                self.lines(column * rows + row, count, 1, 0..count, |_, numbers| {
                    take(Run::of_column(row, column, numbers))
                })?;
            }
        }
        Ok(())
    }
}
