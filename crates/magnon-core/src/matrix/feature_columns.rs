//! Features side by side: given ones, and others that were made from the graph.

use super::{Features, Matrix, SparseMatrix};
use std::ops::Range;

impl Features {
    /// These columns and others beside them. Sparse where one of the two is: a dense block with a column for each node
    /// could be far larger than either.
    pub fn beside(&self, other: &Self) -> Self {
        let (rows, first) = (self.rows(), self.cols());
        let cols = first + other.cols();
        match (self, other) {
            (Self::Dense(a), Self::Dense(b)) => {
                let numbers = (0..rows).flat_map(|u| a.row(u).iter().chain(b.row(u)).copied());
                let joined = Matrix::from_vec(rows, cols, numbers.collect());
                Self::Dense(joined.unwrap_or_else(|_| Matrix::zeros(0, cols)))
            }
            _ => {
                let mut entries = Vec::new();
                self.for_each_entry(|u, column, value| entries.push((u, column as u32, value)));
                other.for_each_entry(|u, column, value| {
                    entries.push((u, (first + column) as u32, value));
                });
                Self::sparse(rows, cols, entries)
            }
        }
    }

    /// The first columns, and the others.
    pub fn split_at(&self, columns: usize) -> [Self; 2] {
        let columns = columns.min(self.cols());
        [self.columns(0..columns), self.columns(columns..self.cols())]
    }

    /// Some columns.
    pub fn columns(&self, range: Range<usize>) -> Self {
        match self {
            Self::Dense(x) => {
                let rows = (0..x.rows()).flat_map(|u| x.row(u)[range.clone()].iter().copied());
                let part = Matrix::from_vec(x.rows(), range.len(), rows.collect());
                Self::Dense(part.unwrap_or_else(|_| Matrix::zeros(0, range.len())))
            }
            Self::Sparse(x) => {
                let mut entries = Vec::new();
                self.for_each_entry(|u, column, value| {
                    if range.contains(&column) {
                        entries.push((u, (column - range.start) as u32, value));
                    }
                });
                Self::sparse(x.rows(), range.len(), entries)
            }
        }
    }

    fn sparse(rows: usize, cols: usize, entries: Vec<(usize, u32, f32)>) -> Self {
        match SparseMatrix::from_triplets(rows, cols, entries.into_iter()) {
            Ok(matrix) => Self::Sparse(matrix),
            Err(_) => unreachable!("the entries are those of matrices of these sizes"),
        }
    }

    fn for_each_entry(&self, mut visit: impl FnMut(usize, usize, f32)) {
        for u in 0..self.rows() {
            match self {
                Self::Dense(x) => {
                    let stored = x.row(u).iter().enumerate().filter(|(_, value)| **value != 0.0);
                    stored.for_each(|(column, &value)| visit(u, column, value));
                }
                Self::Sparse(x) => {
                    let (columns, values) = x.row(u);
                    columns.iter().zip(values).for_each(|(&c, &value)| visit(u, c as usize, value));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_joined_comes_apart_again() {
        let dense = Features::Dense(Matrix::from_vec(2, 2, vec![1.0, 0.0, 3.0, 4.0]).unwrap());
        let sparse =
            SparseMatrix::from_triplets(2, 3, [(0, 2, 5.0), (1, 0, 6.0)].into_iter()).unwrap();
        let sparse = Features::Sparse(sparse);
        for (a, b) in [(&dense, &dense), (&dense, &sparse), (&sparse, &dense), (&sparse, &sparse)] {
            let joined = a.beside(b);
            assert_eq!((joined.rows(), joined.cols()), (2, a.cols() + b.cols()));
            let [first, rest] = joined.split_at(a.cols());
            for (part, given) in [(&first, a), (&rest, b)] {
                assert_eq!(whole(part), whole(given));
            }
        }
    }

    fn whole(features: &Features) -> Vec<f32> {
        match features {
            Features::Dense(x) => x.as_slice().to_vec(),
            Features::Sparse(x) => x.to_dense().into_vec(),
        }
    }
}
