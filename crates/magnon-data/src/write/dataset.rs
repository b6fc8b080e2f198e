//! A whole data set as a folder that can be read again.

use super::atomic::file_in;
use super::csv::{write_indices, write_labels};
use super::npy::write_npy;
use super::scipy_npz::{Compressed, write_scipy_npz};
use crate::disk;
use crate::{DataError, Dataset, Features};
use magnon_core::graph::DiGraph;
use magnon_core::matrix::SparseMatrix;
use std::path::Path;

/// Writes a data set into `folder`, which is created where it is missing, so that
/// [`load()`](crate::load()) reads it again.
///
/// | file | holds |
/// |---|---|
/// | `adj.npz` | the graph with its weights, as a scipy matrix: row = source, column = target |
/// | `features.npy` or `features.npz` | the features, dense or sparse, as scaled by now |
/// | `labels.csv` | the class of each node, as a number |
/// | `idx_train.csv`, `idx_valid.csv`, `idx_test.csv` | the first split |
///
/// The graph comes last, after one that was there before is removed: a folder in which writing was cut short is no data
/// set, and never one without its labels. Parts that the data set does not have are left out. Not written are the names of nodes and
/// classes, splits after the first, the data set's own name, and its remarks. Files of an earlier
/// data set in the same folder stay where this one has none of that name.
pub fn write_dataset(folder: &Path, dataset: &Dataset) -> Result<(), DataError> {
    let graph = folder.join("adj.npz");
    let failed = |action, reason| DataError::Io { path: folder.to_owned(), action, reason };
    disk::make_folder(folder).map_err(|reason| failed("create", reason))?;
    disk::remove(&graph).map_err(|reason| failed("write", reason))?;
    match &dataset.features {
        Some(Features::Dense(matrix)) => write_npy(&file_in(folder, "features.npy")?, matrix)?,
        Some(Features::Sparse(matrix)) => write_sparse(&file_in(folder, "features.npz")?, matrix)?,
        None => {}
    }
    if let Some(labels) = &dataset.labels {
        write_labels(&file_in(folder, "labels.csv")?, labels)?;
    }
    if let Some(split) = dataset.splits.first() {
        write_indices(&file_in(folder, "idx_train.csv")?, &split.train)?;
        write_indices(&file_in(folder, "idx_valid.csv")?, &split.val)?;
        write_indices(&file_in(folder, "idx_test.csv")?, &split.test)?;
    }
    write_graph(&graph, &dataset.graph)
}

/// Writes a graph as a scipy sparse matrix: row = source, column = target.
pub fn write_graph(path: &Path, graph: &DiGraph) -> Result<(), DataError> {
    let offsets = offsets((0..graph.nodes()).map(|node| graph.out_degree(node)));
    let columns: Vec<u32> = graph.iter().map(|(_, target)| target).collect();
    let values: Vec<f32> = (0..graph.nodes())
        .flat_map(|node| {
            let weights = graph.weights(node);
            (0..graph.out_degree(node))
                .map(move |k| weights.and_then(|weights| weights.get(k)).copied().unwrap_or(1.0))
        })
        .collect();
    let shape = [graph.nodes(), graph.nodes()];
    write_scipy_npz(
        path,
        Compressed { shape, offsets: &offsets, columns: &columns, values: &values },
    )
}

fn write_sparse(path: &Path, matrix: &SparseMatrix) -> Result<(), DataError> {
    let offsets = offsets((0..matrix.rows()).map(|row| matrix.row(row).0.len()));
    let columns: Vec<u32> =
        (0..matrix.rows()).flat_map(|row| matrix.row(row).0.iter().copied()).collect();
    let shape = [matrix.rows(), matrix.cols()];
    let values = matrix.values();
    write_scipy_npz(path, Compressed { shape, offsets: &offsets, columns: &columns, values })
}

/// Where rows of these lengths start and end.
fn offsets(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let ends = lengths.scan(0, |end, length| {
        *end += length;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::faults::{self, Fault};
    use crate::testing::Folder;
    use crate::{SyntheticConfig, load};

    #[test]
    fn a_folder_that_was_cut_short_is_no_data_set_without_labels() {
        let dataset = SyntheticConfig::default().dataset("small").unwrap();
        for at in 0.. {
            let folder = Folder::new(&[]);
            let place = folder.path("data");
            let write = || write_dataset(&place, &dataset);
            let (written, seen) = faults::with(at, Fault::Crash, write);
            if let Ok(found) = load(&place, &Default::default()) {
                assert!(found.labels.is_some() && !found.splits.is_empty(), "operation {at}");
            }
            if seen.len() <= at {
                written.unwrap();
                assert!(load(&place, &Default::default()).unwrap().labels.is_some());
                break;
            }
        }
    }
}
