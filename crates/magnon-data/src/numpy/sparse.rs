//! Sparse matrices as scipy stores them, checked before use.

use super::Npz;
use crate::DataError;
use crate::allocate::{collect, reserve};
use crate::raw_dataset::check_count;
use magnon_core::matrix::SparseMatrix;

/// What the pointers of a compressed matrix run over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    Rows,
    Columns,
}

/// The entries of a sparse matrix, all within its shape.
#[derive(Debug)]
pub(crate) struct Sparse {
    rows: usize,
    cols: usize,
    row: Vec<u32>,
    col: Vec<u32>,
    values: Vec<f32>,
    /// Whether single precision has changed a value.
    pub(crate) rounded: bool,
}

impl Sparse {
    /// From rows, columns and values.
    pub(crate) fn coordinates(
        file: &str,
        shape: &[u32],
        row: Vec<u32>,
        col: Vec<u32>,
        values: Vec<f32>,
    ) -> Result<Self, DataError> {
        let &[rows, cols] = shape else {
            let problem = format!("a matrix has two lengths, but its shape has {}", shape.len());
            return Err(DataError::format(file, problem));
        };
        if row.len() != values.len() || col.len() != values.len() {
            let problem = format!(
                "{} rows, {} columns and {} values do not match",
                row.len(),
                col.len(),
                values.len()
            );
            return Err(DataError::format(file, problem));
        }
        for (indices, bound, what) in [(&row, rows, "row"), (&col, cols, "column")] {
            if let Some(k) = indices.iter().position(|&index| index >= bound) {
                let problem = format!(
                    "entry {k} lies in {what} {}, but {what}s run from 0 below {bound}",
                    indices[k]
                );
                return Err(DataError::format(file, problem));
            }
        }
        // Memory is needed for each row later on, whether it holds entries or not.
        check_count(file, "rows", u64::from(rows), (values.len() as u64).saturating_mul(12))?;
        let (rows, cols) = (rows as usize, cols as usize);
        Ok(Self { rows, cols, row, col, values, rounded: false })
    }

    /// From compressed rows or columns.
    pub(crate) fn compressed(
        file: &str,
        axis: Axis,
        shape: &[u32],
        pointers: &[u32],
        mut indices: Vec<u32>,
        mut values: Vec<f32>,
    ) -> Result<Self, DataError> {
        let bad = |problem: String| DataError::format(file, problem);
        let major = match (axis, shape) {
            (Axis::Rows, &[rows, _]) => rows as usize,
            (Axis::Columns, &[_, cols]) => cols as usize,
            _ => return Err(bad(format!("a matrix needs two lengths, not {}", shape.len()))),
        };
        if major.checked_add(1) != Some(pointers.len()) {
            let found = pointers.len();
            return Err(bad(format!(
                "its shape needs {major} + 1 pointers, but {found} are there"
            )));
        }
        let stored = pointers.last().map_or(0, |&end| end as usize);
        if pointers.first() != Some(&0) || !pointers.is_sorted() {
            return Err(bad("its pointers must ascend from 0".into()));
        }
        if indices.len() < stored || values.len() < stored {
            let (i, v) = (indices.len(), values.len());
            return Err(bad(format!("it needs {stored} entries, but has {i} indices, {v} values")));
        }
        indices.truncate(stored);
        values.truncate(stored);
        let mut outer = Vec::new();
        reserve(&mut outer, stored, file)?;
        for (line, span) in pointers.windows(2).enumerate() {
            let count = (span[1] - span[0]) as usize;
            outer.extend(std::iter::repeat_n(line as u32, count));
        }
        let (row, col) = match axis {
            Axis::Rows => (outer, indices),
            Axis::Columns => (indices, outer),
        };
        Self::coordinates(file, shape, row, col, values)
    }

    /// A compressed matrix from the members `{prefix}data`, `{prefix}indices`, `{prefix}indptr`
    /// and `{prefix}shape`.
    pub(crate) fn from_members(npz: &mut Npz, axis: Axis, prefix: &str) -> Result<Self, DataError> {
        let file = npz.file().to_owned();
        let shape = npz.array(&format!("{prefix}shape"))?.indices()?;
        let pointers = npz.array(&format!("{prefix}indptr"))?.indices()?;
        let indices = npz.array(&format!("{prefix}indices"))?.indices()?;
        let (values, rounded) = npz.array(&format!("{prefix}data"))?.rounded_floats()?;
        let matrix = Self::compressed(&file, axis, &shape, &pointers, indices, values)?;
        Ok(Self { rounded, ..matrix })
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub(crate) fn cols(&self) -> usize {
        self.cols
    }

    /// Every entry as row, column and value.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (u32, u32, f32)> + Clone + '_ {
        let places = self.row.iter().copied().zip(self.col.iter().copied());
        places.zip(self.values.iter().copied()).map(|((row, col), value)| (row, col, value))
    }

    /// As features. Explicit zeros are left out.
    pub(crate) fn into_features(self, file: &str) -> Result<SparseMatrix, DataError> {
        let entries = self.entries().filter(|entry| entry.2 != 0.0);
        let entries = entries.map(|(row, col, value)| (row as usize, col, value));
        SparseMatrix::from_triplets(self.rows, self.cols, entries)
            .map_err(|error| DataError::format(file, error.to_string()))
    }

    /// As the edges of a graph, with their weights.
    pub(crate) fn into_edges(self, file: &str) -> Result<Edges, DataError> {
        let pairs = collect(self.row.into_iter().zip(self.col), file)?;
        Ok(Edges { pairs, weights: self.values })
    }
}

/// A sparse matrix as edges.
pub(crate) struct Edges {
    pub(crate) pairs: Vec<(u32, u32)>,
    pub(crate) weights: Vec<f32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_turn_into_rows() {
        let values = vec![1.0, 2.0, 3.0];
        let sparse =
            Sparse::compressed("f", Axis::Columns, &[2, 3], &[0, 1, 1, 3], vec![1, 0, 1], values);
        let entries: Vec<_> = sparse.unwrap().entries().collect();
        assert_eq!(entries, [(1, 0, 1.0), (0, 2, 2.0), (1, 2, 3.0)]);
    }

    #[test]
    fn bad_parts_are_refused() {
        let csr = |pointers: &[u32], indices: &[u32]| {
            let values = vec![1.0; indices.len()];
            Sparse::compressed("f", Axis::Rows, &[2, 2], pointers, indices.to_vec(), values)
                .err()
                .unwrap()
                .to_string()
        };
        assert!(csr(&[0, 1], &[0]).contains("2 + 1 pointers"));
        assert!(csr(&[0, 2, 1], &[0]).contains("ascend"));
        assert!(csr(&[0, 1, 2], &[0]).contains("2 entries"));
        assert!(csr(&[0, 1, 2], &[0, 2]).contains("column 2"));
    }

    #[test]
    fn vast_shapes_without_entries_are_refused() {
        let shape = [u32::MAX, u32::MAX];
        let empty = Sparse::coordinates("f", &shape, vec![], vec![], vec![]);
        assert!(empty.err().unwrap().to_string().contains("rows"));
    }
}
