//! scipy's `save_npz`: a sparse matrix as csr, csc or coo.

use super::npz_with;
use crate::DataError;
use crate::numpy::{Axis, Npz, Sparse};
use crate::raw_dataset::Raw;
use crate::store::Store;

/// Files that hold a sparse matrix. Features are told from graphs by their name.
pub(crate) fn finds(store: &Store) -> Vec<String> {
    let mut files = npz_with(store, |npz| npz.has("format") && npz.has("shape"));
    if store.only().is_none() {
        files.retain(|name| !name.contains("features"));
    }
    files
}

/// Reads the graph whose entry (i, j) is the edge i → j.
pub(crate) fn read(store: &Store, name: &str) -> Result<Raw, DataError> {
    Raw::from_matrix(&store.label(name), matrix(store, name)?)
}

/// Reads the matrix.
pub(crate) fn matrix(store: &Store, name: &str) -> Result<Sparse, DataError> {
    let mut npz = Npz::open(store, name)?;
    if !npz.has("format") {
        let members = npz.names().join(", ");
        let problem = format!("not a sparse matrix of scipy; its members are: {members}");
        return Err(DataError::format(npz.file(), problem));
    }
    match npz.word("format")?.as_str() {
        "csr" => Sparse::from_members(&mut npz, Axis::Rows, ""),
        "csc" => Sparse::from_members(&mut npz, Axis::Columns, ""),
        "coo" => {
            let shape = npz.array("shape")?.indices()?;
            let row = npz.array("row")?.indices()?;
            let col = npz.array("col")?.indices()?;
            let (values, rounded) = npz.array("data")?.rounded_floats()?;
            let mut matrix = Sparse::coordinates(npz.file(), &shape, row, col, values)?;
            matrix.rounded = rounded;
            Ok(matrix)
        }
        other => {
            let problem = format!(
                "sparse matrices of format '{other}' are not read; save it as csr, csc or coo"
            );
            Err(DataError::format(npz.file(), problem))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Folder, bytes_of, npy, zip};

    fn csr(format: &str, indices: &[i32], values: &[f64]) -> Vec<u8> {
        let (indices, values) = (bytes_of(indices), bytes_of(values));
        let count = format!("({},)", values.len() / 8);
        zip(&[
            ("indices.npy", &npy("<i4", &count, &indices)),
            ("indptr.npy", &npy("<i4", "(4,)", &bytes_of(&[0i32, 1, 2, 3]))),
            ("format.npy", &npy("|S3", "()", format.as_bytes())),
            ("shape.npy", &npy("<i8", "(2,)", &bytes_of(&[3i64, 3]))),
            ("data.npy", &npy("<f8", &count, &values)),
        ])
    }

    fn load(bytes: &[u8]) -> Result<Raw, DataError> {
        let folder = Folder::new(&[("g.npz", bytes)]);
        read(&Store::open(&folder.path("g.npz")).unwrap(), "g.npz")
    }

    #[test]
    fn rows_and_columns() {
        let by_rows = load(&csr("csr", &[1, 2, 0], &[1.0, 1.0, 1.0])).unwrap();
        assert_eq!(by_rows.edges, [(0, 1), (1, 2), (2, 0)]);
        assert_eq!(by_rows.weights.unwrap(), [1.0; 3]);
        let by_columns = load(&csr("csc", &[1, 2, 0], &[1.0, 0.0, 2.0])).unwrap();
        assert_eq!(by_columns.edges, [(1, 0), (2, 1), (0, 2)]);
        assert_eq!(by_columns.weights.unwrap(), [1.0, 0.0, 2.0]);
    }

    #[test]
    fn strangers_are_refused() {
        let error = |bytes: &[u8]| load(bytes).unwrap_err().to_string();
        assert!(error(&csr("bsr", &[0, 0, 0], &[1.0; 3])).contains("'bsr' are not read"));
        assert!(error(&csr("csr", &[0, 3, 0], &[1.0; 3])).contains("column 3"));
        assert!(error(&csr("csr", &[0, -1, 0], &[1.0; 3])).contains("negative"));
        let bytes = csr("csr", &[0, 1, 0], &[1.0; 3]);
        assert!(error(&bytes[..bytes.len() - 30]).contains("truncated or not a zip file"));
    }
}
