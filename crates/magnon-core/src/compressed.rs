//! Compressed sparse rows that come from outside, checked before they are trusted.

/// Why arrays are no compressed sparse rows.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowsError {
    /// The offsets do not begin at 0, fall, or do not end at the number of entries.
    #[error(
        "the offsets of the rows must rise from 0 to the number of entries, {entries}; offset {index} \
         is {value}"
    )]
    Offsets {
        /// Which offset.
        index: usize,
        /// What it is.
        value: usize,
        /// Number of entries.
        entries: usize,
    },
    /// A column outside of the matrix.
    #[error("row {row} has an entry in column {column}, but there are {columns} columns")]
    Outside {
        /// The row.
        row: usize,
        /// The column.
        column: u32,
        /// Number of columns.
        columns: usize,
    },
    /// Columns that do not rise within a row.
    #[error("the columns of row {row} must rise, each named once; {column} comes too late")]
    Order {
        /// The row.
        row: usize,
        /// The column.
        column: u32,
    },
    /// As many values as entries are needed.
    #[error("there are {values} values for {entries} entries")]
    Values {
        /// Number of values.
        values: usize,
        /// Number of entries.
        entries: usize,
    },
    /// A value that is NaN or infinite.
    #[error("value {index} is not finite")]
    NotFinite {
        /// Its position.
        index: usize,
    },
}

/// Checks rows of ascending columns, with their values where there are some.
pub(crate) fn check(
    offsets: &[usize],
    targets: &[u32],
    columns: usize,
    values: Option<&[f32]>,
) -> Result<(), RowsError> {
    let entries = targets.len();
    let wrong = |index: usize| RowsError::Offsets {
        index,
        value: offsets.get(index).copied().unwrap_or(0),
        entries,
    };
    if offsets.first() != Some(&0) {
        return Err(wrong(0));
    }
    if let Some(index) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
        return Err(wrong(index + 1));
    }
    if offsets.last() != Some(&entries) {
        return Err(wrong(offsets.len() - 1));
    }
    for (row, span) in offsets.windows(2).enumerate() {
        let mut before = None;
        for &column in &targets[span[0]..span[1]] {
            if column as usize >= columns {
                return Err(RowsError::Outside { row, column, columns });
            }
            if before.is_some_and(|before| before >= column) {
                return Err(RowsError::Order { row, column });
            }
            before = Some(column);
        }
    }
    let Some(values) = values else { return Ok(()) };
    if values.len() != entries {
        return Err(RowsError::Values { values: values.len(), entries });
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(RowsError::NotFinite { index }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{DiGraph, GraphBuilder, GraphError};
    use crate::matrix::SparseMatrix;

    #[test]
    fn rows_from_outside_are_those_that_were_built() {
        let edges = [(0, 2, 1.5), (2, 1, -2.0), (2, 0, 4.0)];
        let built = GraphBuilder::new(3).weighted_edges(edges).build().unwrap().graph;
        let (offsets, targets) = (built.offsets().to_vec(), built.all_targets().to_vec());
        let again = DiGraph::from_csr(offsets, targets, built.all_weights().map(<[f32]>::to_vec));
        assert_eq!(again.unwrap(), built);
        let matrix = SparseMatrix::from_csr(4, vec![0, 2, 2], vec![1, 3], vec![0.5, 2.0]).unwrap();
        assert_eq!(matrix.row(0), (&[1, 3][..], &[0.5, 2.0][..]));
        assert_eq!((matrix.rows(), matrix.row(1).0.len()), (2, 0));
    }

    #[test]
    fn arrays_that_do_not_fit_are_refused() {
        let graph = |offsets: &[usize], targets: &[u32], weights: Option<&[f32]>| {
            let weights = weights.map(<[f32]>::to_vec);
            match DiGraph::from_csr(offsets.to_vec(), targets.to_vec(), weights) {
                Err(GraphError::Rows(error)) => error,
                other => panic!("{other:?}"),
            }
        };
        let offsets = |index, value, entries| RowsError::Offsets { index, value, entries };
        assert_eq!(graph(&[1, 2], &[0, 0], None), offsets(0, 1, 2));
        assert_eq!(graph(&[0, 2, 1], &[0], None), offsets(2, 1, 1));
        assert_eq!(graph(&[0, 9], &[0], None), offsets(1, 9, 1));
        let outside = RowsError::Outside { row: 0, column: 7, columns: 1 };
        assert_eq!(graph(&[0, 1], &[7], None), outside);
        assert_eq!(graph(&[0, 2, 2], &[1, 1], None), RowsError::Order { row: 0, column: 1 });
        let values = RowsError::Values { values: 2, entries: 1 };
        assert_eq!(graph(&[0, 1], &[0], Some(&[1.0, 2.0])), values);
        assert_eq!(graph(&[0, 1], &[0], Some(&[f32::NAN])), RowsError::NotFinite { index: 0 });
        assert_eq!(DiGraph::from_csr(Vec::new(), Vec::new(), None), Err(GraphError::Empty));
    }
}
