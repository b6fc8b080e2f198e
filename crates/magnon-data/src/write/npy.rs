//! NumPy arrays.

use super::atomic::write_atomic;
use crate::DataError;
use bytemuck::NoUninit;
use magnon_core::matrix::Matrix;
use num_complex::Complex32;
use std::io::{self, Write};
use std::path::Path;

/// An element that NumPy has a type for.
pub trait Element: NoUninit {
    /// NumPy's name of the type, without byte order.
    const TYPE: &'static str;
}

impl Element for f32 {
    const TYPE: &'static str = "f4";
}
impl Element for f64 {
    const TYPE: &'static str = "f8";
}
impl Element for Complex32 {
    const TYPE: &'static str = "c8";
}
impl Element for num_complex::Complex64 {
    const TYPE: &'static str = "c16";
}
impl Element for i32 {
    const TYPE: &'static str = "i4";
}
impl Element for i64 {
    const TYPE: &'static str = "i8";
}

/// Writes a matrix in C order, straight from memory.
///
/// ```
/// use magnon_core::matrix::Matrix;
/// use magnon_data::write::write_npy;
/// let path = std::env::temp_dir().join("magnon-doc.npy");
/// write_npy(&path, &Matrix::<f32>::zeros(2, 3))?;
/// assert_eq!(std::fs::metadata(&path).map(|meta| meta.len()).ok(), Some(128 + 24));
/// # std::fs::remove_file(&path).ok();
/// # Ok::<(), magnon_data::DataError>(())
/// ```
pub fn write_npy<T: Element>(path: &Path, matrix: &Matrix<T>) -> Result<(), DataError> {
    let shape = format!("({}, {})", matrix.rows(), matrix.cols());
    write_atomic(path, |mut target| array(&mut target, matrix.as_slice(), &shape))
}

/// Writes an array whose bytes come from elsewhere, as `content` hands them on in C order. `dtype` is NumPy's name of the
/// type, without byte order.
pub fn write_npy_rows(
    path: &Path,
    dtype: &str,
    shape: &[usize],
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), DataError> {
    let order = if cfg!(target_endian = "big") { '>' } else { '<' };
    let axes: Vec<String> = shape.iter().map(usize::to_string).collect();
    write_atomic(path, |mut target| {
        header(&mut target, &format!("{order}{dtype}"), &format!("({})", axes.join(", ")))?;
        content(&mut target)
    })
}

/// Writes elements under a header of the shape given.
pub(super) fn array<T: Element>(
    target: &mut impl Write,
    elements: &[T],
    shape: &str,
) -> io::Result<()> {
    let order = if cfg!(target_endian = "big") { '>' } else { '<' };
    header(target, &format!("{order}{}", T::TYPE), shape)?;
    target.write_all(bytemuck::cast_slice(elements))
}

/// The header, padded so that the payload starts at a multiple of 64 as NumPy has it.
pub(super) fn header(target: &mut impl Write, descr: &str, shape: &str) -> io::Result<()> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    target.write_all(b"\x93NUMPY\x01\x00")?;
    target.write_all(&(length as u16).to_le_bytes())?;
    writeln!(target, "{text:<width$}", width = length - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numpy::Array;

    #[test]
    fn what_is_written_reads_back() {
        let mut bytes = Vec::new();
        array(&mut bytes, &[1f32, -2.5, 3.0, 0.0, 5.0, 6.0], "(3, 2)").unwrap();
        assert_eq!(bytes.len(), 128 + 24);
        let array = Array::open("f", &bytes[..], bytes.len() as u64).unwrap();
        assert_eq!(array.matrix().unwrap().row(1), [3.0, 0.0]);
    }
}
