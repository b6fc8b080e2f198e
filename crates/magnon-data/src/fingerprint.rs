//! `Fingerprint`: a checksum of each part of the data that results depend on.

use super::{Dataset, Features, Split};
use serde::{Deserialize, Serialize};

/// A checksum of each part of a data set. Work that is resumed compares it with the one it was begun with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fingerprint {
    /// Edges and their weights.
    pub graph: String,
    /// Features, as scaled.
    pub features: String,
    /// The class of each node, and the names of the classes.
    pub labels: String,
    /// Training, validation and test nodes of all splits.
    pub splits: String,
}

impl Fingerprint {
    /// That of a data set.
    pub fn of(dataset: &Dataset) -> Self {
        let sum = |add: &dyn Fn(&mut crc32fast::Hasher)| {
            let mut hasher = crc32fast::Hasher::new();
            add(&mut hasher);
            format!("{:08x}", hasher.finalize())
        };
        let graph = sum(&|hasher| add_graph(hasher, dataset));
        Self {
            graph: format!("{}-{}-{graph}", dataset.graph.nodes(), dataset.graph.edges()),
            features: sum(&|hasher| add_features(hasher, dataset)),
            labels: sum(&|hasher| {
                add_classes(hasher, dataset);
                for name in dataset.labels.iter().flat_map(|labels| &labels.names) {
                    hasher.update(&(name.len() as u64).to_le_bytes());
                    hasher.update(name.as_bytes());
                }
            }),
            splits: sum(&|hasher| add_splits(hasher, &dataset.splits)),
        }
    }

    /// The parts in which another one differs.
    pub fn differences(&self, other: &Self) -> Vec<&'static str> {
        let parts = [
            ("graph", self.graph == other.graph),
            ("features", self.features == other.features),
            ("labels", self.labels == other.labels),
            ("split", self.splits == other.splits),
        ];
        parts.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect()
    }
}

/// A checksum of graph, features and classes in one word, after the numbers of nodes and edges.
pub fn fingerprint(dataset: &Dataset) -> String {
    let mut hasher = crc32fast::Hasher::new();
    add_graph(&mut hasher, dataset);
    add_features(&mut hasher, dataset);
    add_classes(&mut hasher, dataset);
    let (nodes, edges) = (dataset.graph.nodes(), dataset.graph.edges());
    format!("{nodes}-{edges}-{:08x}", hasher.finalize())
}

/// A checksum of splits.
pub fn split_check(splits: &[Split]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    add_splits(&mut hasher, splits);
    hasher.finalize()
}

fn add_graph(hasher: &mut crc32fast::Hasher, dataset: &Dataset) {
    let graph = &dataset.graph;
    for u in 0..graph.nodes() {
        hasher.update(&(graph.targets(u).len() as u64).to_le_bytes());
        hasher.update(bytemuck::cast_slice(graph.targets(u)));
        hasher.update(bytemuck::cast_slice(graph.weights(u).unwrap_or_default()));
    }
}

fn add_features(hasher: &mut crc32fast::Hasher, dataset: &Dataset) {
    let Some(features) = &dataset.features else { return };
    hasher.update(&(features.cols() as u64).to_le_bytes());
    hasher.update(bytemuck::cast_slice(features.values()));
    // Sparse ones are told from dense ones, and the same entries in other rows from each other.
    if let Features::Sparse(matrix) = features {
        hasher.update(b"sparse");
        for row in 0..matrix.rows() {
            let columns = matrix.row(row).0;
            hasher.update(&(columns.len() as u64).to_le_bytes());
            hasher.update(bytemuck::cast_slice(columns));
        }
    }
}

fn add_classes(hasher: &mut crc32fast::Hasher, dataset: &Dataset) {
    for class in dataset.labels.iter().flat_map(|labels| &labels.classes) {
        hasher.update(&class.map_or(u32::MAX, |class| class).to_le_bytes());
    }
}

fn add_splits(hasher: &mut crc32fast::Hasher, splits: &[Split]) {
    for nodes in splits.iter().flat_map(|split| [&split.train, &split.val, &split.test]) {
        hasher.update(&(nodes.len() as u64).to_le_bytes());
        hasher.update(bytemuck::cast_slice(nodes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SyntheticConfig;
    use magnon_core::graph::generate::GeneratorConfig;
    use magnon_core::matrix::{Matrix, SparseMatrix};

    fn with(features: Features) -> Fingerprint {
        let graph = GeneratorConfig { nodes: 2, blocks: 2, ..Default::default() };
        let config = SyntheticConfig { graph, columns: 0, ..Default::default() };
        Fingerprint::of(&Dataset { features: Some(features), ..config.dataset("two").unwrap() })
    }

    #[test]
    fn features_that_differ_by_their_rows_or_their_form_alone_are_told_apart() {
        let sparse = |row| {
            let entries = [(0, 0, 1.0), (row, 1, 1.0)].into_iter();
            Features::Sparse(SparseMatrix::from_triplets(2, 2, entries).unwrap())
        };
        let found = [
            sparse(0),
            sparse(1),
            Features::Dense(Matrix::from_vec(2, 2, vec![1.0, 1.0, 0.0, 0.0]).unwrap()),
        ];
        let found = found.map(with);
        for (at, one) in found.iter().enumerate() {
            for other in &found[..at] {
                assert_eq!(one.differences(other), ["features"]);
            }
        }
    }
}
