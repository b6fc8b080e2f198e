//! `info`: what a data set looks like.

use crate::Error;
use crate::data::{Dataset, Features, Reading, Split};
use crate::graph::{Measures, homophily, try_measure};
use serde::Serialize;

/// What a data set looks like.
#[derive(Clone, Debug, Serialize)]
pub struct DataInfo {
    /// Its name.
    pub name: String,
    /// Nodes.
    pub nodes: usize,
    /// Edges of the data, self loops that were dropped included.
    pub edges: usize,
    /// Self loops of the data.
    pub self_loops: usize,
    /// Edges that were there more than once.
    pub duplicates: usize,
    /// Whether edges have weights.
    pub weighted: bool,
    /// Measures of the graph.
    #[serde(flatten)]
    pub measures: Measures,
    /// Feature columns.
    pub features: Option<usize>,
    /// How many numbers of them are stored, where they are sparse.
    pub features_stored: Option<usize>,
    /// Number of classes.
    pub classes: Option<usize>,
    /// Their names.
    pub class_names: Option<Vec<String>>,
    /// Nodes of each.
    pub class_sizes: Option<Vec<usize>>,
    /// Nodes without a label.
    pub unlabelled: Option<usize>,
    /// The paper's index of homophily.
    pub node_homophily: Option<f64>,
    /// Share of neighbouring pairs that share a label.
    pub edge_homophily: Option<f64>,
    /// Sizes of the splits that came with the data.
    pub splits: Vec<SplitSize>,
    /// Sizes of the split that was asked for.
    pub split: Option<SplitSize>,
    /// What was taken for what in the file of the edges.
    pub reading: Reading,
    /// What a user should know about the reading.
    pub remarks: Vec<String>,
    /// Self loops that were kept.
    #[serde(skip)]
    pub kept_self_loops: usize,
}

/// Sizes of the parts of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SplitSize {
    /// Training nodes.
    pub train: usize,
    /// Validation nodes.
    pub val: usize,
    /// Test nodes.
    pub test: usize,
}

impl SplitSize {
    fn of(split: &Split) -> Self {
        Self { train: split.train.len(), val: split.val.len(), test: split.test.len() }
    }
}

/// Measures a data set; `split` is the one that was asked for.
pub fn info(dataset: &Dataset, split: Option<&Split>) -> Result<DataInfo, Error> {
    let graph = &dataset.graph;
    let met = dataset.report;
    // Self loops that were dropped are still edges of the data.
    let kept = (0..graph.nodes()).filter(|&u| graph.has_edge(u, u as u32)).count();
    let labels = dataset.labels.as_ref();
    let index = labels.map(|labels| homophily(graph, &labels.classes));
    Ok(DataInfo {
        name: dataset.name.clone(),
        nodes: graph.nodes(),
        edges: graph.edges() + met.self_loops - kept,
        self_loops: met.self_loops,
        duplicates: met.duplicates,
        weighted: graph.is_weighted(),
        measures: try_measure(graph)?,
        features: dataset.features.as_ref().map(Features::cols),
        features_stored: match &dataset.features {
            Some(Features::Sparse(matrix)) => Some(matrix.stored()),
            _ => None,
        },
        classes: labels.map(|labels| labels.names.len()),
        class_names: labels.map(|labels| labels.names.clone()),
        class_sizes: labels.map(|labels| labels.sizes()),
        unlabelled: labels.map(|labels| labels.classes.iter().filter(|c| c.is_none()).count()),
        node_homophily: index.and_then(|index| index.node),
        edge_homophily: index.and_then(|index| index.edge),
        splits: dataset.splits.iter().map(SplitSize::of).collect(),
        split: split.map(SplitSize::of),
        reading: dataset.reading.clone(),
        remarks: dataset.remarks.clone(),
        kept_self_loops: kept,
    })
}
