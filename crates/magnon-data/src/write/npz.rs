//! Several NumPy arrays in one file, as `numpy.savez` writes them.

use super::atomic::write_seekable;
use super::npy::{Element, array};
use crate::DataError;
use crate::disk::WriteSeek;
use magnon_core::matrix::{Matrix, SparseMatrix};
use std::io::{self, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A file of arrays that is being written.
pub struct NpzArrays<'a>(ZipWriter<&'a mut dyn WriteSeek>);

impl NpzArrays<'_> {
    /// Adds a matrix.
    pub fn add<T: Element>(&mut self, name: &str, matrix: &Matrix<T>) -> io::Result<()> {
        self.start(name)?;
        array(&mut self.0, matrix.as_slice(), &shape(matrix.rows(), matrix.cols()))
    }

    /// Adds a sparse matrix with its zeros, a row at a time.
    pub fn add_sparse(&mut self, name: &str, matrix: &SparseMatrix) -> io::Result<()> {
        self.start(name)?;
        array::<f32>(&mut self.0, &[], &shape(matrix.rows(), matrix.cols()))?;
        let mut full = vec![0f32; matrix.cols()];
        for row in 0..matrix.rows() {
            full.fill(0.0);
            let (columns, values) = matrix.row(row);
            columns.iter().zip(values).for_each(|(&column, &value)| full[column as usize] = value);
            self.0.write_all(bytemuck::cast_slice(&full))?;
        }
        Ok(())
    }

    fn start(&mut self, name: &str) -> io::Result<()> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(true);
        Ok(self.0.start_file(format!("{name}.npy"), options)?)
    }
}

fn shape(rows: usize, cols: usize) -> String {
    format!("({rows}, {cols})")
}

/// Writes arrays one after the other, so that one at a time need be in memory.
pub fn write_npz(
    path: &Path,
    content: impl FnOnce(&mut NpzArrays) -> io::Result<()>,
) -> Result<(), DataError> {
    write_seekable(path, |target| {
        let mut arrays = NpzArrays(ZipWriter::new(target));
        content(&mut arrays)?;
        arrays.0.finish()?;
        Ok(())
    })
}
