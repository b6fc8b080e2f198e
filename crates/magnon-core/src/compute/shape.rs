//! The shape of a matrix on the tape.

/// Real or complex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// One number per entry.
    Real,
    /// Two numbers per entry: real part, imaginary part.
    Complex,
}

impl Field {
    /// Numbers per entry.
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

/// Rows, columns and field of a matrix in row-major order. Its numbers can be counted: no shape
/// overflows, so that code that relies on [`len`](Self::len) is sound for every shape there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    rows: usize,
    cols: usize,
    field: Field,
}

impl Shape {
    /// A shape, or `None` where its numbers, as bytes, are more than memory can address.
    pub fn checked(rows: usize, cols: usize, field: Field) -> Option<Self> {
        let numbers = rows.checked_mul(cols)?.checked_mul(field.parts())?;
        (numbers <= isize::MAX as usize / 16).then_some(Self { rows, cols, field })
    }

    /// A shape.
    ///
    /// # Panics
    /// Where [`checked`](Self::checked) gives `None`: no such matrix can exist.
    pub fn new(rows: usize, cols: usize, field: Field) -> Self {
        let shape = Self::checked(rows, cols, field);
        assert!(shape.is_some(), "a matrix of {rows} × {cols} numbers exceeds all memory");
        shape.unwrap_or(Self { rows: 0, cols: 0, field })
    }

    /// A real matrix; panics as [`new`](Self::new).
    pub fn real(rows: usize, cols: usize) -> Self {
        Self::new(rows, cols, Field::Real)
    }

    /// A complex matrix; panics as [`new`](Self::new).
    pub fn complex(rows: usize, cols: usize) -> Self {
        Self::new(rows, cols, Field::Complex)
    }

    /// The same with another number of rows; panics as [`new`](Self::new).
    pub fn with_rows(self, rows: usize) -> Self {
        Self::new(rows, self.cols, self.field)
    }

    /// The same with another number of columns; panics as [`new`](Self::new).
    pub fn with_cols(self, cols: usize) -> Self {
        Self::new(self.rows, cols, self.field)
    }

    /// The same over another field; panics as [`new`](Self::new).
    pub fn with_field(self, field: Field) -> Self {
        Self::new(self.rows, self.cols, field)
    }

    /// The same numbers as a real matrix: real and imaginary parts are columns of their own.
    pub fn as_real(self) -> Self {
        Self { rows: self.rows, cols: self.width(), field: Field::Real }
    }

    /// Number of rows.
    pub fn rows(self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(self) -> usize {
        self.cols
    }

    /// Real or complex.
    pub fn field(self) -> Field {
        self.field
    }

    /// Numbers per row.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_shape_overflows() {
        assert!(Shape::checked((1 << 62) + 1, 4, Field::Real).is_none());
        assert!(Shape::checked(usize::MAX, 1, Field::Complex).is_none());
        assert!(Shape::checked(1 << 60, 1, Field::Real).is_none());
        assert_eq!(Shape::checked(3, 5, Field::Complex).map(Shape::len), Some(30));
    }

    #[test]
    #[should_panic(expected = "exceeds all memory")]
    fn a_shape_beyond_memory_is_refused() {
        Shape::real((1 << 62) + 1, 4);
    }
}
