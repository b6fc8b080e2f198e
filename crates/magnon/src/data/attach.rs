//! Features, labels and signals from files of their own, for a graph that came without.

use super::load::{set_features, set_labels};
use super::numpy::Array;
use super::read::features;
use super::store::Store;
use super::{DataError, Dataset, FeatureNorm};
use crate::matrix::Matrix;
use num_complex::Complex64;
use std::path::Path;

/// Opens a file by its path.
fn open(path: &Path) -> Result<(Store, String), DataError> {
    let store = Store::open(path)?;
    match store.only().map(str::to_owned) {
        Some(name) => Ok((store, name)),
        None => {
            let problem = "a single file is needed here, not a folder or an archive".to_owned();
            Err(DataError::Unknown { path: path.to_owned(), problem })
        }
    }
}

/// Reads features from `path` (npy, npz, csv or pkl; one row per node) into `dataset`.
pub fn attach_features(
    dataset: &mut Dataset,
    path: &Path,
    norm: FeatureNorm,
) -> Result<(), DataError> {
    let (store, name) = open(path)?;
    let features = features::features(&store, &name)?;
    set_features(dataset, features, &store.label(&name), norm)
}

/// Reads labels from `path` (csv or npy; one per node, in node order) into `dataset`.
pub fn attach_labels(dataset: &mut Dataset, path: &Path) -> Result<(), DataError> {
    let (store, name) = open(path)?;
    let labels = features::labels(&store, &name)?;
    set_labels(dataset, labels, &store.label(&name))
}

/// Reads a signal from the `.npy` file `path`: real or complex, one row per node, kept in double
/// precision.
pub fn read_signal(path: &Path) -> Result<Matrix<Complex64>, DataError> {
    let (store, name) = open(path)?;
    let signal = Array::from_store(&store, &name)?.complex_matrix()?;
    match signal.as_slice().iter().position(|z| !z.is_finite()) {
        None => Ok(signal),
        Some(at) => {
            let (row, column) = (at / signal.cols(), at % signal.cols());
            let problem = format!("row {row}, column {column} is not a finite number");
            Err(DataError::format(store.label(&name), problem))
        }
    }
}
