//! What every kind of file gives: runs of numbers.

use crate::DataError;
use std::ops::Range;

/// Numbers beside each other in a row, or below each other in a column.
pub(super) struct Run<'a> {
    row: usize,
    column: usize,
    /// Whether they are of one row.
    along_row: bool,
    numbers: &'a [f32],
}

/// Takes a run after the other.
pub(super) type Take<'a> = &'a mut dyn FnMut(Run) -> Result<(), DataError>;

/// A table of features in a file.
pub(super) trait Source: Send + Sync {
    /// Number of rows in the file.
    fn rows(&self) -> usize;
    /// Number of columns that are features.
    fn cols(&self) -> usize;
    /// Reads columns. Rows ascend within a column, and columns within a row, whatever the order of the file: so sums
    /// are those of the whole table.
    fn runs(&self, columns: Range<usize>, take: Take) -> Result<(), DataError>;
}

impl<'a> Run<'a> {
    pub(super) fn of_row(row: usize, column: usize, numbers: &'a [f32]) -> Self {
        Self { row, column, along_row: true, numbers }
    }

    pub(super) fn of_column(row: usize, column: usize, numbers: &'a [f32]) -> Self {
        Self { row, column, along_row: false, numbers }
    }

    /// Visits each number with its row and column.
    #[inline]
    pub(super) fn each(
        &self,
        mut visit: impl FnMut(usize, usize, f32) -> Result<(), String>,
    ) -> Result<(), String> {
        let numbers = self.numbers.iter().enumerate();
        match self.along_row {
            true => numbers.into_iter().try_for_each(|(k, &x)| visit(self.row, self.column + k, x)),
            false => {
                numbers.into_iter().try_for_each(|(k, &x)| visit(self.row + k, self.column, x))
            }
        }
    }
}
