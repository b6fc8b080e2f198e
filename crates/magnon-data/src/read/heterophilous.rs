//! The heterophilous benchmarks: one `.npz` with edges, features, labels and masks.

use super::npz_with;
use crate::allocate::collect;
use crate::numpy::Npz;
use crate::raw_dataset::Raw;
use crate::store::Store;
use crate::{DataError, Features, Labels, Split};
use magnon_core::matrix::{Matrix, SparseMatrix};

/// Files with edges and labels. A filtered copy yields to the whole graph beside it.
pub(crate) fn finds(store: &Store) -> Vec<String> {
    let files = npz_with(store, |npz| npz.has("edges") && npz.has("node_labels"));
    // Names come in order.
    let found = |name: String| files.binary_search(&name).is_ok();
    let whole =
        |name: &String| !name.contains("_filtered") || !found(name.replacen("_filtered", "", 1));
    files.iter().filter(|name| whole(name)).cloned().collect()
}

/// Reads the file.
pub(crate) fn read(store: &Store, name: &str) -> Result<Raw, DataError> {
    let file = store.label(name);
    let mut npz = Npz::open(store, name)?;
    let labels = npz.array("node_labels")?.integers()?;
    let nodes = labels.len();
    let edges = npz.array("edges")?;
    if !matches!(edges.shape(), [_, 2]) {
        let problem =
            format!("'edges' must have two columns, but its shape is {:?}", edges.shape());
        return Err(DataError::format(file, problem));
    }
    let numbers = edges.indices()?;
    let edges = collect(numbers.chunks_exact(2).map(|edge| (edge[0], edge[1])), &file)?;
    let mut raw = Raw { file, edges, nodes, ..Raw::default() };
    if npz.has("node_features") {
        raw.features = Some(thin(npz.array("node_features")?.matrix()?));
    }
    let labels = collect(labels.into_iter().map(Some), &raw.file)?;
    raw.labels = Some(Labels::from_numbers(&labels, &raw.file)?);
    if ["train_masks", "val_masks", "test_masks"].iter().all(|name| npz.has(name)) {
        let train = npz.array("train_masks")?.masks()?;
        let val = npz.array("val_masks")?.masks()?;
        let test = npz.array("test_masks")?.masks()?;
        let masks = train.iter().zip(&val).zip(&test);
        raw.splits = masks.map(|((t, v), s)| Split::from_masks(t, v, s)).collect();
    }
    Ok(raw)
}

/// Stores words of a bag sparsely: only where at most one value in eight is not zero.
fn thin(matrix: Matrix<f32>) -> Features {
    let stored = matrix.as_slice().iter().filter(|&&value| value != 0.0).count();
    if stored > matrix.as_slice().len() / 8 {
        return Features::Dense(matrix);
    }
    let cells = (0..matrix.rows()).flat_map(|row| {
        let values = matrix.row(row).iter().enumerate().filter(|(_, value)| **value != 0.0);
        values.map(move |(column, &value)| (row, column as u32, value))
    });
    match SparseMatrix::from_triplets(matrix.rows(), matrix.cols(), cells) {
        Ok(sparse) => Features::Sparse(sparse),
        Err(_) => Features::Dense(matrix),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Folder, bytes_of, npy, zip};

    #[test]
    fn members_are_put_together() {
        let masks = npy("|b1", "(1, 3)", &[1, 0, 0]);
        let bytes = zip(&[
            ("edges.npy", &npy("<i8", "(2, 2)", &bytes_of(&[0i64, 2, 2, 1]))),
            ("node_labels.npy", &npy("<i8", "(3,)", &bytes_of(&[4i64, 3, 4]))),
            ("node_features.npy", &npy("<f4", "(3, 1)", &bytes_of(&[0f32, 0.5, 1.0]))),
            ("train_masks.npy", &masks),
            ("val_masks.npy", &npy("|b1", "(1, 3)", &[0, 1, 0])),
            ("test_masks.npy", &npy("|b1", "(1, 3)", &[0, 0, 1])),
        ]);
        let folder =
            Folder::new(&[("a_directed.npz", &bytes), ("a_filtered_directed.npz", &bytes)]);
        let store = Store::open(folder.root()).unwrap();
        assert_eq!(finds(&store), ["a_directed.npz"]);
        let raw = read(&store, "a_directed.npz").unwrap();
        assert_eq!(raw.edges, [(0, 2), (2, 1)]);
        assert_eq!(raw.splits, [Split { train: vec![0], val: vec![1], test: vec![2] }]);
        assert_eq!(raw.labels.unwrap().names, ["3", "4"]);
        assert!(matches!(raw.features, Some(Features::Dense(_))));
    }
}
