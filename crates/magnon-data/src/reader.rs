//! `Reader`: formats of other crates.

use super::raw_dataset::Raw;
use super::{DataError, Features, Labels, NodeNames, Split};
use std::path::Path;
use std::sync::{PoisonError, RwLock};

/// Reads data sets of one format. [`register`] adds it to the formats that [`load`](crate::load()) knows.
pub trait Reader: Send + Sync {
    /// What a user calls the format, such as "a table of flights (.flights)".
    fn format(&self) -> String;
    /// Whether the file or folder looks like the format: by its name, or by its first bytes.
    fn knows(&self, path: &Path) -> bool;
    /// Reads it.
    fn read(&self, path: &Path) -> Result<RawData, DataError>;
}

/// What a [`Reader`] found, as it stands in the file. Scaling, self loops and duplicates are not its business.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawData {
    /// Number of nodes.
    pub nodes: usize,
    /// Edges as source and target.
    pub edges: Vec<(u32, u32)>,
    /// A weight for each edge.
    pub weights: Option<Vec<f32>>,
    /// A row for each node.
    pub features: Option<Features>,
    /// The class of each node, where it has one.
    pub labels: Option<Vec<Option<String>>>,
    /// Training, validation and test nodes.
    pub splits: Vec<Split>,
    /// What each node is called.
    pub names: Option<Vec<String>>,
}

static REGISTERED: RwLock<Vec<Box<dyn Reader>>> = RwLock::new(Vec::new());

/// Adds a format, which is tried before all others.
pub fn register(reader: impl Reader + 'static) {
    REGISTERED.write().unwrap_or_else(PoisonError::into_inner).push(Box::new(reader));
}

/// What the first registered reader finds that knows the path, with its format.
pub(crate) fn read(path: &Path) -> Result<Option<(String, RawData)>, DataError> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    match registered.iter().find(|reader| reader.knows(path)) {
        Some(reader) => Ok(Some((reader.format(), reader.read(path)?))),
        None => Ok(None),
    }
}

impl RawData {
    /// The same for the policies that follow, after a look at its sizes.
    pub(crate) fn into_raw(self, path: &Path) -> Result<Raw, DataError> {
        let Self { nodes, edges, weights, features, labels, splits, names } = self;
        let file = path.display().to_string();
        let problem = |text: String| Err(DataError::format(&file, text));
        if let Some(&(u, v)) = edges.iter().find(|(u, v)| *u.max(v) as usize >= nodes) {
            return problem(format!("the edge {u} to {v} leaves the {nodes} nodes"));
        }
        let counts = [
            ("weights", weights.as_ref().map(Vec::len), edges.len()),
            ("rows of features", features.as_ref().map(Features::rows), nodes),
            ("labels", labels.as_ref().map(Vec::len), nodes),
            ("names", names.as_ref().map(Vec::len), nodes),
        ];
        for (what, found, expected) in counts {
            if let Some(found) = found.filter(|&found| found != expected) {
                return problem(format!("there are {found} {what}, not {expected}"));
            }
        }
        if let Some(weight) = weights.iter().flatten().find(|weight| !weight.is_finite()) {
            return problem(format!("the weight {weight} is not a finite number"));
        }
        let parts = splits.iter().flat_map(|split| [&split.train, &split.val, &split.test]);
        if let Some(node) = parts.flatten().find(|&&node| node as usize >= nodes) {
            return problem(format!("a split names the node {node} of {nodes} nodes"));
        }
        let labels = match &labels {
            Some(words) => Some(Labels::from_texts(words, &file)?),
            None => None,
        };
        let node_names = names.map(NodeNames::Words);
        Ok(Raw {
            file,
            edges,
            weights,
            nodes,
            features,
            labels,
            splits,
            node_names,
            ..Raw::default()
        })
    }
}
