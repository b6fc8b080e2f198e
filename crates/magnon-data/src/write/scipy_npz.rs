//! scipy's `save_npz` of compressed rows.

use super::atomic::write_seekable;
use super::npy::{Element, array, header};
use crate::DataError;
use num_complex::Complex64;
use std::io::{self, Seek, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A value that a sparse matrix can hold.
pub trait Scalar: Element {}
impl Scalar for f32 {}
impl Scalar for f64 {}
impl Scalar for Complex64 {}

/// A sparse matrix in compressed rows, as borrowed slices.
#[derive(Clone, Copy, Debug)]
pub struct Compressed<'a, T> {
    /// Rows and columns.
    pub shape: [usize; 2],
    /// Where each row starts in the entries, and where the last one ends.
    pub offsets: &'a [usize],
    /// The column of each entry.
    pub columns: &'a [u32],
    /// The value of each entry.
    pub values: &'a [T],
}

/// Writes a matrix that `scipy.sparse.load_npz` reads.
pub fn write_scipy_npz<T: Scalar>(path: &Path, matrix: Compressed<'_, T>) -> Result<(), DataError> {
    write_seekable(path, |target| fill(target, matrix))
}

fn fill<T: Scalar>(target: impl Write + Seek, matrix: Compressed<'_, T>) -> io::Result<()> {
    let mut zip = ZipWriter::new(target);
    let entries = format!("({},)", matrix.columns.len());
    let rows = format!("({},)", matrix.offsets.len());
    // scipy works with 32-bit indices where all fit.
    let widest = matrix.shape.iter().copied().max().unwrap_or(0).max(matrix.columns.len());
    let narrow = i32::try_from(widest).is_ok();
    start(&mut zip, "indices")?;
    numbers(&mut zip, matrix.columns.iter().map(|&column| column as usize), &entries, narrow)?;
    start(&mut zip, "indptr")?;
    numbers(&mut zip, matrix.offsets.iter().copied(), &rows, narrow)?;
    start(&mut zip, "format")?;
    header(&mut zip, "|S3", "()")?;
    zip.write_all(b"csr")?;
    start(&mut zip, "shape")?;
    numbers(&mut zip, matrix.shape.into_iter(), "(2,)", false)?;
    start(&mut zip, "data")?;
    array(&mut zip, matrix.values, &entries)?;
    zip.finish()?;
    Ok(())
}

fn start(zip: &mut ZipWriter<impl Write + Seek>, name: &str) -> io::Result<()> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .large_file(true);
    Ok(zip.start_file(format!("{name}.npy"), options)?)
}

/// Whole numbers in 32 or 64 bits, converted a piece at a time.
fn numbers(
    target: &mut impl Write,
    mut values: impl Iterator<Item = usize>,
    shape: &str,
    narrow: bool,
) -> io::Result<()> {
    const PIECE: usize = 1 << 14;
    if narrow {
        array::<i32>(target, &[], shape)?;
    } else {
        array::<i64>(target, &[], shape)?;
    }
    loop {
        let piece: Vec<i64> = values.by_ref().take(PIECE).map(|value| value as i64).collect();
        if piece.is_empty() {
            return Ok(());
        }
        if narrow {
            let piece: Vec<i32> = piece.iter().map(|&value| value as i32).collect();
            target.write_all(bytemuck::cast_slice(&piece))?;
        } else {
            target.write_all(bytemuck::cast_slice(&piece))?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::scipy_npz;
    use crate::store::Store;
    use crate::testing::Folder;

    #[test]
    fn what_is_written_reads_back() {
        let folder = Folder::new(&[]);
        let path = folder.path("g.npz");
        let matrix = Compressed {
            shape: [3, 3],
            offsets: &[0, 2, 2, 3],
            columns: &[0, 2, 1],
            values: &[1.0f64, -2.0, 0.5],
        };
        write_scipy_npz(&path, matrix).unwrap();
        let raw = scipy_npz::read(&Store::open(&path).unwrap(), "g.npz").unwrap();
        assert_eq!(raw.edges, [(0, 0), (0, 2), (2, 1)]);
        assert_eq!(raw.weights.unwrap(), [1.0, -2.0, 0.5]);
    }
}
