//! Matrices that carry node features: dense row-major, and sparse by rows.

mod feature_columns;
mod features;

pub use features::Features;
pub use features::spread;

use crate::memory;
use std::ops::Range;

/// A dense matrix in C order: row `i` is `data[i * cols..(i + 1) * cols]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix<T> {
    rows: usize,
    cols: usize,
    data: Vec<T>,
}

impl<T> Matrix<T> {
    /// Wraps `data`, or gives it back when its length is not `rows * cols`.
    pub fn from_vec(rows: usize, cols: usize, data: Vec<T>) -> Result<Self, Vec<T>> {
        match rows.checked_mul(cols) {
            Some(len) if len == data.len() => Ok(Self { rows, cols, data }),
            _ => Err(data),
        }
    }

    /// A matrix of zeros.
    ///
    /// # Panics
    /// Where there is no memory for it; [`try_zeros`](Self::try_zeros) says so instead.
    pub fn zeros(rows: usize, cols: usize) -> Self
    where
        T: bytemuck::Zeroable,
    {
        Self { rows, cols, data: memory::zeroed(rows * cols) }
    }

    /// A matrix of zeros, or `None` where there is no memory for it.
    pub fn try_zeros(rows: usize, cols: usize) -> Option<Self>
    where
        T: bytemuck::Zeroable,
    {
        let data = memory::try_zeroed(rows.checked_mul(cols)?)?;
        Some(Self { rows, cols, data })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Row `i` as a slice.
    pub fn row(&self, i: usize) -> &[T] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// All entries, row after row.
    pub fn as_slice(&self) -> &[T] {
        &self.data
    }

    /// All entries, row after row, for writing.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// The entries, row after row.
    pub fn into_vec(self) -> Vec<T> {
        self.data
    }
}

/// A sparse real matrix by rows; columns ascend within a row and appear once.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseMatrix {
    cols: usize,
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

/// Why a sparse matrix cannot be built.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SparseError {
    /// An entry lies outside of the shape.
    #[error("the entry in row {row}, column {column} lies outside of a {rows} x {cols} matrix")]
    Outside {
        /// Its row, counted from 0.
        row: usize,
        /// Its column, counted from 0.
        column: u32,
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        cols: usize,
    },
    /// Arrays that are no compressed sparse rows.
    #[error(transparent)]
    Rows(#[from] crate::RowsError),
    /// There is no memory for the matrix.
    #[error(
        "out of memory: {bytes} bytes are needed for a sparse matrix of {rows} rows and {entries} \
         entries; use a larger machine, or a part of the data"
    )]
    OutOfMemory {
        /// Rows of the matrix.
        rows: usize,
        /// Entries of the matrix.
        entries: usize,
        /// Bytes that were asked for.
        bytes: usize,
    },
}

impl SparseMatrix {
    /// The matrix with its zeros.
    pub fn to_dense(&self) -> Matrix<f32> {
        let mut dense = Matrix::zeros(self.rows(), self.cols());
        let cols = self.cols().max(1);
        for (row, place) in dense.as_mut_slice().chunks_exact_mut(cols).enumerate() {
            let (columns, values) = self.row(row);
            columns.iter().zip(values).for_each(|(&column, &value)| place[column as usize] = value);
        }
        dense
    }

    /// Builds the matrix from `(row, column, value)` in any order; equal places are summed.
    pub fn from_triplets(
        rows: usize,
        cols: usize,
        entries: impl Iterator<Item = (usize, u32, f32)> + Clone,
    ) -> Result<Self, SparseError> {
        let refused = |entries, bytes| SparseError::OutOfMemory { rows, entries, bytes };
        let offsets = rows.checked_add(1).and_then(memory::try_zeroed::<usize>);
        let mut offsets = offsets.ok_or(refused(0, rows.saturating_mul(size_of::<usize>())))?;
        for (row, column, _) in entries.clone() {
            if row >= rows || column as usize >= cols {
                return Err(SparseError::Outside { row, column, rows, cols });
            }
            offsets[row + 1] += 1;
        }
        for i in 0..rows {
            offsets[i + 1] += offsets[i];
        }
        let stored = offsets[rows];
        let bytes = stored.saturating_mul(size_of::<(u32, f32)>());
        let cells = memory::try_zeroed::<(u32, f32)>(stored);
        let mut cells = cells.ok_or(refused(stored, bytes))?;
        let next = memory::try_collect(offsets.iter().copied());
        let mut next = next.ok_or(refused(stored, size_of_val(&offsets[..])))?;
        for (row, column, value) in entries {
            cells[next[row]] = (column, value);
            next[row] += 1;
        }
        drop(next);
        // Sort each row and sum equal places, packing towards the front.
        let (mut kept, mut start) = (0, 0);
        for row in 0..rows {
            let end = offsets[row + 1];
            cells[start..end].sort_by_key(|cell| cell.0);
            let row_start = kept;
            for i in start..end {
                if kept > row_start && cells[kept - 1].0 == cells[i].0 {
                    cells[kept - 1].1 += cells[i].1;
                } else {
                    cells[kept] = cells[i];
                    kept += 1;
                }
            }
            offsets[row + 1] = kept;
            start = end;
        }
        cells.truncate(kept);
        let columns = memory::try_collect(cells.iter().map(|cell| cell.0));
        let values = memory::try_collect(cells.iter().map(|cell| cell.1));
        let (Some(columns), Some(values)) = (columns, values) else {
            return Err(refused(kept, bytes));
        };
        Ok(Self { cols, offsets, columns, values })
    }

    /// Takes compressed sparse rows as they are, without copying: `offsets` has where the entries of each row
    /// begin, and where the last ones end; columns ascend within a row, each once.
    pub fn from_csr(
        cols: usize,
        offsets: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<f32>,
    ) -> Result<Self, SparseError> {
        crate::compressed::check(&offsets, &columns, cols, Some(&values))?;
        Ok(Self { cols, offsets, columns, values })
    }

    /// Where the entries of each row begin, and where the last ones end.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The columns of all entries, row after row.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Some of its rows.
    pub fn select(&self, rows: &[u32]) -> Self {
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for &row in rows {
            let span = self.span(row as usize);
            columns.extend_from_slice(&self.columns[span.clone()]);
            values.extend_from_slice(&self.values[span]);
            offsets.push(columns.len());
        }
        Self { cols: self.cols, offsets, columns, values }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of stored entries.
    pub fn stored(&self) -> usize {
        self.values.len()
    }

    /// Where row `i` lies in the stored entries.
    fn span(&self, i: usize) -> Range<usize> {
        self.offsets[i]..self.offsets[i + 1]
    }

    /// Row `i` as ascending columns and their values.
    pub fn row(&self, i: usize) -> (&[u32], &[f32]) {
        let span = self.span(i);
        (&self.columns[span.clone()], &self.values[span])
    }

    /// The stored values of row `i`, for writing.
    pub fn row_values_mut(&mut self, i: usize) -> &mut [f32] {
        let span = self.span(i);
        &mut self.values[span]
    }

    /// All stored values, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triplets_are_sorted_and_summed() {
        let entries = [(1, 2, 1.0), (0, 1, 2.0), (1, 0, 3.0), (1, 2, 4.0)];
        let matrix = SparseMatrix::from_triplets(3, 3, entries.into_iter()).unwrap();
        assert_eq!(matrix.row(0), (&[1][..], &[2.0][..]));
        assert_eq!(matrix.row(1), (&[0, 2][..], &[3.0, 5.0][..]));
        assert_eq!(matrix.row(2), (&[][..], &[][..]));
    }

    #[test]
    fn triplets_outside_are_refused() {
        let matrix = SparseMatrix::from_triplets(1, 1, [(0, 1, 1.0)].into_iter());
        assert_eq!(matrix, Err(SparseError::Outside { row: 0, column: 1, rows: 1, cols: 1 }));
        for rows in [usize::MAX, isize::MAX as usize] {
            let matrix = SparseMatrix::from_triplets(rows, 1, std::iter::empty());
            assert!(matches!(matrix, Err(SparseError::OutOfMemory { .. })));
        }
    }
}
