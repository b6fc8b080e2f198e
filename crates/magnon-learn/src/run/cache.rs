//! `PredictionCache`: what a run predicted, and from what.
//!
//! With the graph and a fingerprint of each row of the features beside the predictions, a later
//! prediction on a changed graph computes only the rows that the change can reach.

use crate::tensors::{Encoded, FileError, Tensors, bytes_of};
use magnon_core::graph::DiGraph;
use magnon_core::matrix::Features;
use magnon_core::matrix::Matrix;
use safetensors::Dtype;
use std::path::Path;

const FORMAT: &str = "magnon-predictions";

/// Predictions for all nodes of a graph, with the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictionCache {
    /// Where the edges of each node start, and where the last one's end.
    offsets: Vec<u64>,
    targets: Vec<u32>,
    weights: Option<Vec<f32>>,
    /// Fingerprint of each node's features.
    fingerprints: Vec<u64>,
    /// Log-probabilities of the classes, one row per node.
    pub log_probabilities: Matrix<f32>,
}

impl PredictionCache {
    /// Notes what was predicted on a graph with these features.
    pub fn new(graph: &DiGraph, features: &Features, log_probabilities: Matrix<f32>) -> Self {
        let mut offsets = vec![0];
        let (mut targets, mut weights) = (Vec::new(), Vec::new());
        for u in 0..graph.nodes() {
            targets.extend_from_slice(graph.targets(u));
            weights.extend_from_slice(graph.weights(u).unwrap_or_default());
            offsets.push(targets.len() as u64);
        }
        let weights = graph.is_weighted().then_some(weights);
        let fingerprints = (0..graph.nodes()).map(|u| fingerprint(features, u)).collect();
        Self { offsets, targets, weights, fingerprints, log_probabilities }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.fingerprints.len()
    }

    /// Whether the graphs are weighted alike, without which no row can be taken over.
    pub(super) fn fits(&self, graph: &DiGraph) -> bool {
        self.weights.is_some() == graph.is_weighted() && self.nodes() <= graph.nodes()
    }

    /// Targets and weights of node `u`, where it is there.
    pub(super) fn edges(&self, u: usize) -> (&[u32], Option<&[f32]>) {
        let Some(&[start, end]) = self.offsets.get(u..u + 2) else { return (&[], None) };
        let span = start as usize..end as usize;
        (&self.targets[span.clone()], self.weights.as_ref().map(|weights| &weights[span]))
    }

    /// Whether the features of node `u` are those that were seen.
    pub(super) fn has_features(&self, features: &Features, u: usize) -> bool {
        self.fingerprints.get(u) == Some(&fingerprint(features, u))
    }

    /// Writes the file.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        self.encode(path)?.write(path)
    }

    /// The file that is to be written to a path.
    pub(super) fn encode(&self, path: &Path) -> Result<Encoded, FileError> {
        let mut file = Tensors::default();
        let mut row =
            |name: &str, dtype, len, bytes: &[u8]| file.push(name, dtype, vec![len], bytes);
        row("offsets", Dtype::U64, self.offsets.len(), bytemuck::cast_slice(&self.offsets));
        row("targets", Dtype::U32, self.targets.len(), bytemuck::cast_slice(&self.targets));
        if let Some(weights) = &self.weights {
            row("weights", Dtype::F32, weights.len(), bytemuck::cast_slice(weights));
        }
        let prints = &self.fingerprints;
        row("fingerprints", Dtype::U64, prints.len(), bytemuck::cast_slice(prints));
        let table = &self.log_probabilities;
        let axes = vec![table.rows(), table.cols()];
        file.push("log_probabilities", Dtype::F32, axes, bytemuck::cast_slice(table.as_slice()));
        file.encode(path, FORMAT)
    }

    /// Reads a file and checks that its parts fit together.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        Self::parse(path, &bytes_of(path)?)
    }

    /// The same of the bytes of the file.
    pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Self, FileError> {
        let file = Tensors::parse(path, bytes, FORMAT)?;
        Self::of(&file).map_err(|problem| FileError::Broken { path: path.to_owned(), problem })
    }

    fn of(file: &Tensors) -> Result<Self, String> {
        let words = |name: &str| -> Result<Vec<u64>, String> {
            let (_, bytes) = file.get(name, Dtype::U64)?;
            Ok(bytes.as_chunks().0.iter().map(|b| u64::from_le_bytes(*b)).collect())
        };
        let (_, bytes) = file.get("targets", Dtype::U32)?;
        let targets: Vec<u32> =
            bytes.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
        let weights = file.numbers("weights").ok();
        let (offsets, fingerprints) = (words("offsets")?, words("fingerprints")?);
        let (axes, _) = file.get("log_probabilities", Dtype::F32)?;
        let &[rows, cols] = axes else { return Err("log_probabilities is no table".to_owned()) };
        let table = Matrix::from_vec(rows, cols, file.numbers("log_probabilities")?);
        let log_probabilities = table.map_err(|_| "log_probabilities is no table".to_owned())?;
        let ascending = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        let whole = offsets.len() == fingerprints.len() + 1
            && rows == fingerprints.len()
            && ascending
            && targets.iter().all(|&target| (target as usize) < rows)
            && offsets.last() == Some(&(targets.len() as u64))
            && weights.as_ref().is_none_or(|weights| weights.len() == targets.len());
        if !whole {
            return Err("its parts do not fit together; train the model again".to_owned());
        }
        if let Some(bad) = log_probabilities.as_slice().iter().find(|x| x.is_nan() || **x > 0.0) {
            return Err(format!("log_probabilities holds {bad}; train the model again"));
        }
        Ok(Self { offsets, targets, weights, fingerprints, log_probabilities })
    }
}

/// FNV-1a over the non-zero entries of a row, columns included.
fn fingerprint(features: &Features, u: usize) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut take = |column: u32, value: f32| {
        if value != 0.0 {
            for byte in column.to_le_bytes().into_iter().chain(value.to_le_bytes()) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    };
    match features {
        Features::Dense(x) => (0..).zip(x.row(u)).for_each(|(j, &value)| take(j, value)),
        Features::Sparse(x) => {
            let (columns, values) = x.row(u);
            columns.iter().zip(values).for_each(|(&column, &value)| take(column, value));
        }
    }
    hash
}
