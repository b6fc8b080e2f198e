//! `Features`: a matrix of node features, dense or sparse.

use super::{Matrix, SparseMatrix};

/// Node features X, one row per node.
#[derive(Clone, Debug, PartialEq)]
pub enum Features {
    /// Every entry stored.
    Dense(Matrix<f32>),
    /// Only non-zero entries stored.
    Sparse(SparseMatrix),
}

impl Features {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Dense(matrix) => matrix.rows(),
            Self::Sparse(matrix) => matrix.rows(),
        }
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        match self {
            Self::Dense(matrix) => matrix.cols(),
            Self::Sparse(matrix) => matrix.cols(),
        }
    }

    /// The stored values, row after row.
    pub fn values(&self) -> &[f32] {
        match self {
            Self::Dense(matrix) => matrix.as_slice(),
            Self::Sparse(matrix) => matrix.values(),
        }
    }

    /// The stored values of a row, for changing.
    pub fn row_values_mut(&mut self, row: usize) -> &mut [f32] {
        match self {
            Self::Dense(matrix) => {
                let cols = matrix.cols();
                &mut matrix.as_mut_slice()[row * cols..(row + 1) * cols]
            }
            Self::Sparse(matrix) => matrix.row_values_mut(row),
        }
    }

    /// Divides every row by the sum of its absolute values; rows of zeros stay.
    pub fn normalize_rows(&mut self) {
        self.divide_rows(|values| values.iter().map(|v| f64::from(v.abs())).sum());
    }

    /// Divides every row by its largest absolute value; rows of zeros stay. Rows of 0 and 1 that were scaled are what they were.
    pub fn scale_rows_to_one(&mut self) {
        self.divide_rows(|values| values.iter().map(|v| f64::from(v.abs())).fold(0.0, f64::max));
    }

    fn divide_rows(&mut self, size: impl Fn(&[f32]) -> f64) {
        for row in 0..self.rows() {
            let values = self.row_values_mut(row);
            let size = size(values);
            if size > 0.0 {
                values.iter_mut().for_each(|v| *v = (f64::from(*v) / size) as f32);
            }
        }
    }

    /// The rows of some nodes.
    pub fn select(&self, nodes: &[u32]) -> Self {
        match self {
            Self::Dense(x) => {
                let numbers: Vec<f32> =
                    nodes.iter().flat_map(|&u| x.row(u as usize).iter().copied()).collect();
                let part = Matrix::from_vec(nodes.len(), x.cols(), numbers);
                Self::Dense(part.unwrap_or_else(|_| Matrix::zeros(0, x.cols())))
            }
            Self::Sparse(x) => Self::Sparse(x.select(nodes)),
        }
    }

    /// Mean and standard deviation of each column, over all rows.
    pub fn moments(&self) -> (Vec<f64>, Vec<f64>) {
        let (rows, cols) = (self.rows().max(1) as f64, self.cols());
        let (mut sums, mut squares) = (vec![0.0; cols], vec![0.0; cols]);
        self.for_each(|column, value| sums[column] += value);
        let mean: Vec<f64> = sums.iter().map(|sum| sum / rows).collect();
        let mut stored = vec![0usize; cols];
        self.for_each(|column, value| {
            stored[column] += 1;
            squares[column] += (value - mean[column]).powi(2);
        });
        let std = |column: usize| {
            // What is not stored is 0.
            let zeros = rows - stored[column] as f64;
            ((squares[column] + zeros * mean[column].powi(2)) / rows).sqrt()
        };
        let std = (0..cols).map(std).collect();
        (mean, std)
    }

    fn for_each(&self, mut visit: impl FnMut(usize, f64)) {
        match self {
            Self::Dense(matrix) => (0..matrix.rows()).for_each(|row| {
                matrix.row(row).iter().enumerate().for_each(|(k, &v)| visit(k, f64::from(v)));
            }),
            Self::Sparse(matrix) => (0..matrix.rows()).for_each(|row| {
                let (columns, values) = matrix.row(row);
                columns.iter().zip(values).for_each(|(&k, &v)| visit(k as usize, f64::from(v)));
            }),
        }
    }

    /// Whether these are dense columns whose scales differ by more than a hundredfold, such as ages beside
    /// incomes: most entries are not 0, and the typical sizes of columns lie far apart.
    pub fn are_unlike(&self) -> bool {
        let Self::Dense(matrix) = self else { return false };
        let filled = matrix.as_slice().iter().filter(|&&value| value != 0.0).count();
        if filled * 2 < matrix.as_slice().len() {
            return false;
        }
        let (mean, std) = self.moments();
        spread(&mean, &std)
    }

    /// Whether every value is a count: a whole number, not negative.
    pub fn are_counts(&self) -> bool {
        self.values().iter().all(|&v| v >= 0.0 && v.fract() == 0.0)
    }
}

/// Whether the typical sizes of columns lie more than a hundredfold apart.
pub fn spread(mean: &[f64], std: &[f64]) -> bool {
    const FAR: f64 = 100.0;
    let sizes = mean.iter().zip(std).map(|(mean, std)| mean.hypot(*std));
    let sizes: Vec<f64> = sizes.filter(|size| *size > 0.0).collect();
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    let smallest = sizes.iter().copied().fold(f64::INFINITY, f64::min);
    largest > FAR * smallest
}
