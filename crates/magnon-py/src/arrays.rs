//! numpy arrays of any layout as vectors of the library, and back.

use crate::errors::Failure;
use magnon::matrix::Matrix;
use num_complex::{Complex32, Complex64};
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// Whole numbers that count nodes, from an array of int32 or int64.
pub fn indices(array: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<u32>> {
    let wrong = |at: usize, value: i64| {
        let words = format!("{what}[{at}] is {value}; nodes are numbered from 0 to 4294967294");
        Failure::data(words).exception(array.py())
    };
    if let Ok(array) = array.extract::<PyReadonlyArray1<'_, i32>>() {
        let numbers = array.as_array();
        let one = |(at, &value): (usize, &i32)| {
            u32::try_from(value).map_err(|_| wrong(at, i64::from(value)))
        };
        return numbers.iter().enumerate().map(one).collect();
    }
    let array = array.extract::<PyReadonlyArray1<'_, i64>>();
    let array = array.map_err(|_| PyTypeError::new_err(format!("{what} must be whole numbers")))?;
    let numbers = array.as_array();
    let one = |(at, &value): (usize, &i64)| u32::try_from(value).map_err(|_| wrong(at, value));
    numbers.iter().enumerate().map(one).collect()
}

/// Offsets of compressed rows, from an array of int32 or int64.
pub fn offsets(array: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let wrong = |_| Failure::data("the row offsets must not be negative").exception(array.py());
    if let Ok(array) = array.extract::<PyReadonlyArray1<'_, i32>>() {
        let numbers = array.as_array();
        return numbers.iter().map(|&at| usize::try_from(at).map_err(wrong)).collect();
    }
    let array = array.extract::<PyReadonlyArray1<'_, i64>>();
    let array = array.map_err(|_| PyTypeError::new_err("row offsets must be whole numbers"))?;
    let numbers = array.as_array();
    numbers.iter().map(|&at| usize::try_from(at).map_err(wrong)).collect()
}

/// Numbers in single precision.
pub fn floats(array: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<f32>> {
    let array = array.extract::<PyReadonlyArray1<'_, f32>>();
    let array = array.map_err(|_| PyTypeError::new_err(format!("{what} must be float32")))?;
    Ok(array.as_array().iter().copied().collect())
}

/// A dense matrix in single precision, from float32 or float64 in any layout. The library owns what it works
/// on, so that this is the one copy of the features.
pub fn dense(array: &Bound<'_, PyAny>, what: &str) -> PyResult<Matrix<f32>> {
    let cells: (usize, usize, Vec<f32>) =
        if let Ok(array) = array.extract::<PyReadonlyArray2<'_, f32>>() {
            let cells = array.as_array();
            let flat = match cells.as_slice() {
                Some(slice) => slice.to_vec(),
                None => cells.iter().copied().collect(),
            };
            (cells.nrows(), cells.ncols(), flat)
        } else {
            let array = array.extract::<PyReadonlyArray2<'_, f64>>();
            let array = array.map_err(|_| {
                PyTypeError::new_err(format!("{what} must be a table of float32 or float64"))
            })?;
            let cells = array.as_array();
            (cells.nrows(), cells.ncols(), cells.iter().map(|&cell| cell as f32).collect())
        };
    let (rows, cols, flat) = cells;
    if let Some(at) = flat.iter().position(|cell| !cell.is_finite()) {
        let (row, column) = (at / cols.max(1), at % cols.max(1));
        let words = format!("{what}: row {row}, column {column} is {}, not a number", flat[at]);
        return Err(Failure::data(words).exception(array.py()));
    }
    Matrix::from_vec(rows, cols, flat)
        .map_err(|_| Failure::data(format!("{what} are not a table")).exception(array.py()))
}

/// A complex matrix in double precision, from complex128 in any layout.
pub fn complex(array: &Bound<'_, PyAny>, what: &str) -> PyResult<Matrix<Complex64>> {
    let array = array.extract::<PyReadonlyArray2<'_, Complex64>>();
    let array =
        array.map_err(|_| PyTypeError::new_err(format!("{what} must be a table of complex128")))?;
    let cells = array.as_array();
    let (rows, cols) = (cells.nrows(), cells.ncols());
    let flat: Vec<Complex64> = cells.iter().copied().collect();
    Matrix::from_vec(rows, cols, flat)
        .map_err(|_| PyTypeError::new_err(format!("{what} are not a table")))
}

/// A vector as an array, without a copy.
pub fn line<'py, T: Element>(py: Python<'py>, numbers: Vec<T>) -> Bound<'py, PyArray1<T>> {
    PyArray1::from_vec(py, numbers)
}

/// A matrix as an array, without a copy.
pub fn table<'py, T: Element>(
    py: Python<'py>,
    matrix: Matrix<T>,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let shape = [matrix.rows(), matrix.cols()];
    PyArray1::from_vec(py, matrix.into_vec()).reshape(shape)
}

/// A real or complex table.
pub enum Cells {
    Single(Matrix<f32>),
    ComplexSingle(Matrix<Complex32>),
    Double(Matrix<f64>),
    ComplexDouble(Matrix<Complex64>),
}

impl Cells {
    /// As an array of its own type.
    pub fn array<'py>(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Self::Single(matrix) => table(py, matrix)?.into_any(),
            Self::ComplexSingle(matrix) => table(py, matrix)?.into_any(),
            Self::Double(matrix) => table(py, matrix)?.into_any(),
            Self::ComplexDouble(matrix) => table(py, matrix)?.into_any(),
        })
    }
}
