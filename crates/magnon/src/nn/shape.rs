//! The shape of a matrix on the tape.

/// Real or complex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// One number an entry.
    Real,
    /// Two numbers an entry: real part, imaginary part.
    Complex,
}

impl Field {
    /// Numbers an entry.
    pub fn parts(self) -> usize {
        match self {
            Self::Real => 1,
            Self::Complex => 2,
        }
    }

    /// The field that holds numbers of both.
    pub fn join(self, other: Self) -> Self {
        if self == Self::Complex { self } else { other }
    }
}

/// Rows, columns and field of a matrix in row-major order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Real or complex.
    pub field: Field,
}

impl Shape {
    /// A real matrix.
    pub fn real(rows: usize, cols: usize) -> Self {
        Self { rows, cols, field: Field::Real }
    }

    /// A complex matrix.
    pub fn complex(rows: usize, cols: usize) -> Self {
        Self { rows, cols, field: Field::Complex }
    }

    /// Numbers a row.
    pub fn width(self) -> usize {
        self.cols * self.field.parts()
    }

    /// Numbers in all.
    pub fn len(self) -> usize {
        self.rows * self.width()
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}
