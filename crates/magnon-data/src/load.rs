//! `load`: from a path to a checked [`Dataset`].

use super::allocate::out_of_memory;
use super::attach::attach;
use super::companions::{self, Companion};
use super::detect::{self, Found};
use super::raw_dataset::Raw;
use super::{DataError, Dataset, FeatureNorm, Features, Labels, NodeNames, Scaling};
use magnon_core::graph::{Built, Duplicates, GraphBuilder, SelfLoops};
use magnon_core::memory;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// How data are read.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `reverse` | `false` | turns every edge round after reading |
/// | `duplicates` | `sum` | what becomes of an edge that is there twice |
/// | `self_loops` | `drop` | what becomes of edges from a node to itself |
/// | `feature_norm` | `auto` | how the rows of the features are scaled |
/// | `nodes` | as found | number of nodes of an edge list whose ids are 0, 1, 2… with gaps |
/// | `columns` | by header | which columns of tables are source, target, weight, id and label |
/// | `unweighted` | `false` | whether weights of edges are left out |
/// | `weight_transform` | `none` | what is done to weights |
/// | `header` | as found | whether the first line of an edge list names its columns |
/// | `missing` | none | further words that mark a node without a label |
/// | `extra_ids` | `auto` | what becomes of rows of a table whose id no edge has |
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LoadConfig {
    /// Turns every edge round after reading.
    pub reverse: bool,
    /// What becomes of an edge that is there twice.
    pub duplicates: Duplicates,
    /// What becomes of edges from a node to itself.
    pub self_loops: SelfLoops,
    /// How the rows of the features are scaled.
    pub feature_norm: FeatureNorm,
    /// Number of nodes. An edge list does not tell of nodes without edges: normally its nodes are
    /// the ids that appear; with this, they are 0 to `nodes` − 1.
    pub nodes: Option<usize>,
    /// Which columns of tables mean what, where their headers do not say.
    pub columns: TableColumns,
    /// Leaves out the weights of edges: every edge weighs 1.
    pub unweighted: bool,
    /// What is done to weights.
    pub weight_transform: WeightTransform,
    /// Whether the first line of an edge list is a header; `None` to find out.
    pub header: Option<bool>,
    /// Further words that mark a node without a label.
    pub missing: Vec<String>,
    /// What becomes of rows of a table whose id no edge has.
    pub extra_ids: ExtraIds,
}

/// Columns of tables: each by its header or by its number, counted from 1.
///
/// | name | default | purpose |
/// |---|---|---|
/// | `source` | by header, or the first | where an edge starts |
/// | `target` | by header, or the second | where an edge ends |
/// | `weight` | by header, or the third of three | the weight of an edge |
/// | `id` | by header | the node of a row of features or labels; `none` for rows in the nodes' order |
/// | `label` | by header, or the only other one | the class of a node |
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TableColumns {
    /// Where an edge starts.
    pub source: Option<String>,
    /// Where an edge ends.
    pub target: Option<String>,
    /// The weight of an edge.
    pub weight: Option<String>,
    /// The node that a row of features or labels belongs to.
    pub id: Option<String>,
    /// The class of a node.
    pub label: Option<String>,
}

/// What is done to the weights of edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum WeightTransform {
    /// Weights stay as they are
    #[default]
    None,
    /// w becomes ln(1 + |w|) with the sign of w, for amounts that differ by orders of magnitude
    Log,
    /// Weights are divided by the mean of |w|
    Scale,
}

/// What becomes of rows of a table whose id no edge has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum ExtraIds {
    /// Nodes where features are given, nothing where only labels are; more than half are refused
    #[default]
    Auto,
    /// They become nodes without edges
    Add,
    /// They are left out
    Drop,
}

/// Reads the data set at `path`: a folder, a file or an archive, in any known format.
pub fn load(path: &Path, config: &LoadConfig) -> Result<Dataset, DataError> {
    let Found { name, raw, store, companions } = detect::read(path, config)?;
    let mut dataset = build(name, raw, config)?;
    for Companion { file, kind } in &companions {
        attach(&mut dataset, &store, file, *kind, config)?;
    }
    dataset.remarks.extend(companions::unused(&store));
    Ok(dataset)
}

/// Builds the graph and checks all that came with it.
fn build(name: String, mut raw: Raw, config: &LoadConfig) -> Result<Dataset, DataError> {
    if let Some(nodes) = config.nodes.filter(|_| raw.built.is_none()) {
        spread(&mut raw, nodes)?;
    }
    if config.unweighted {
        raw.weights = None;
        raw.rounded = false;
    }
    raw.settle_weights(config.weight_transform)?;
    if config.reverse {
        raw.turn("every edge was turned round, as asked");
    }
    raw.reading.first_edge = raw.first_edge();
    let built = match raw.built.take() {
        Some(Built { graph, report }) if config.reverse => {
            Built { graph: graph.transpose(), report }
        }
        Some(built) => built,
        None => {
            let (edges, weights) = (std::mem::take(&mut raw.edges), raw.weights.take());
            let builder = GraphBuilder::new(raw.nodes).lists(edges, weights);
            let builder = builder.duplicates(config.duplicates).self_loops(config.self_loops);
            let file = raw.file.clone();
            builder.build().map_err(|reason| DataError::Graph { file, reason })?
        }
    };
    let mut remarks = raw.remarks;
    if raw.rounded {
        remarks.push("weights of edges were rounded to single precision, about 7 digits".into());
    }
    if built.report.self_loops > 0 && config.self_loops == SelfLoops::Drop {
        remarks.push(format!("{} self loops were dropped", built.report.self_loops));
    }
    if built.report.duplicates > 0 {
        remarks.push(format!("{} repeated edges were merged", built.report.duplicates));
    }
    for split in &raw.splits {
        split.check(built.graph.nodes())?;
    }
    let mut dataset = Dataset {
        name,
        graph: built.graph,
        report: built.report,
        features: None,
        scaling: Scaling::None,
        labels: None,
        splits: raw.splits,
        node_names: raw.node_names,
        reading: raw.reading,
        remarks,
    };
    if let Some(features) = raw.features {
        let file = raw.features_file.as_ref().unwrap_or(&raw.file);
        set_features(&mut dataset, features, file, config.feature_norm)?;
    }
    if let Some(labels) = raw.labels {
        let file = raw.labels_file.as_ref().unwrap_or(&raw.file);
        set_labels(&mut dataset, labels, file, config)?;
    }
    Ok(dataset)
}

/// Operators number nodes with 30 bits.
const MOST_NODES: usize = 1 << 30;

/// Refuses a number of nodes that no operator could take, or for which there is no memory: the
/// offsets of a graph need 8 bytes per node, and again as many while it is built.
fn check_nodes(file: &str, nodes: usize) -> Result<(), DataError> {
    if nodes > MOST_NODES {
        let problem = format!("{nodes} nodes were asked for, but {MOST_NODES} are the most");
        return Err(DataError::format(file, problem));
    }
    let bytes = nodes.saturating_mul(16);
    match memory::is_granted(bytes) {
        true => Ok(()),
        false => Err(out_of_memory(file, bytes as u64)),
    }
}

/// Takes the ids of an edge list at their word: node `i` is the one with the id `i`.
fn spread(raw: &mut Raw, nodes: usize) -> Result<(), DataError> {
    check_nodes(&raw.file, nodes)?;
    let highest = match &raw.node_names {
        Some(NodeNames::Numbers(ids)) => ids.iter().copied().max().unwrap_or(0),
        _ => (raw.nodes as u64).saturating_sub(1),
    };
    let words = matches!(raw.node_names, Some(NodeNames::Words(_)));
    if highest >= nodes as u64 || (words && raw.nodes != nodes) {
        let problem = match words {
            true => format!("the graph has {} named nodes, not {nodes}", raw.nodes),
            false => format!("node {highest} is not below the number of nodes {nodes}"),
        };
        return Err(DataError::format(raw.file.clone(), problem));
    }
    if let Some(NodeNames::Numbers(ids)) = raw.node_names.take_if(|_| !words) {
        let id = |rank: u32| ids.get(rank as usize).map_or(rank, |&id| id as u32);
        raw.edges.iter_mut().for_each(|(u, v)| (*u, *v) = (id(*u), id(*v)));
    }
    raw.nodes = nodes;
    Ok(())
}

/// Puts checked and scaled features in place.
pub fn set_features(
    dataset: &mut Dataset,
    mut features: Features,
    file: &str,
    norm: FeatureNorm,
) -> Result<(), DataError> {
    let (rows, nodes) = (features.rows(), dataset.graph.nodes());
    if rows != nodes {
        let problem = format!(
            "the features have {rows} rows, but the graph has {nodes} nodes{}",
            hint(dataset, rows)
        );
        return Err(DataError::format(file, problem));
    }
    if let Some((row, column, value)) = first_not_finite(&features) {
        let problem = format!("the feature in row {row}, column {column} is {value}, not finite");
        return Err(DataError::format(file, problem));
    }
    dataset.scaling = norm.apply(&mut features);
    dataset.remarks.extend(dataset.scaling.words().map(str::to_owned));
    dataset.features = Some(features);
    Ok(())
}

/// What to do where an edge list has left out nodes that have no edge.
fn hint(dataset: &Dataset, rows: usize) -> String {
    match &dataset.node_names {
        Some(NodeNames::Numbers(ids)) if ids.iter().all(|&id| id < rows as u64) => {
            format!(" with edges; if its ids count nodes from 0, give the number of nodes {rows}")
        }
        _ => String::new(),
    }
}

/// Where the first feature stands that is NaN or infinite; rows and columns count from 0.
fn first_not_finite(features: &Features) -> Option<(usize, usize, f32)> {
    let at = features.values().iter().position(|value| !value.is_finite())?;
    let value = *features.values().get(at)?;
    match features {
        Features::Dense(matrix) => {
            let cols = matrix.cols().max(1);
            Some((at / cols, at % cols, value))
        }
        Features::Sparse(matrix) => (0..matrix.rows()).find_map(|row| {
            let (columns, values) = matrix.row(row);
            let place = values.iter().position(|value| !value.is_finite())?;
            Some((row, columns.get(place).map_or(0, |&column| column as usize), value))
        }),
    }
}

/// Puts checked labels in place.
pub(super) fn set_labels(
    dataset: &mut Dataset,
    mut labels: Labels,
    file: &str,
    config: &LoadConfig,
) -> Result<(), DataError> {
    let (found, nodes) = (labels.classes.len(), dataset.graph.nodes());
    if found != nodes {
        let problem = format!(
            "there are {found} labels, but the graph has {nodes} nodes{}",
            hint(dataset, found)
        );
        return Err(DataError::format(file, problem));
    }
    if let Some(word) = labels.drop_missing(&config.missing) {
        dataset.remarks.push(format!("the label {word} marks nodes without a label"));
    }
    let unlabelled = labels.classes.iter().filter(|class| class.is_none()).count();
    if unlabelled > 0 {
        dataset.remarks.push(format!("{unlabelled} of {nodes} nodes have no label"));
    }
    dataset.labels = Some(labels);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::write_npy;
    use magnon_core::matrix::Matrix;

    /// Weights in double precision, and decimals of more digits than single precision has.
    #[test]
    fn rounded_weights_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let said = |path: &Path| {
            let dataset = load(path, &LoadConfig::default()).unwrap();
            dataset.remarks.iter().any(|remark| remark.contains("single precision"))
        };
        let text = folder.path().join("graph.csv");
        for (weight, rounded) in [("0.1", false), ("-2.5", false), ("0.123456789", true)] {
            for ids in ["0,1", "a,b"] {
                std::fs::write(&text, format!("{ids},{weight}\n")).unwrap();
                assert_eq!(said(&text), rounded, "{ids} {weight}");
            }
        }
        let array = folder.path().join("graph.npy");
        for (weight, rounded) in [(0.5, false), (1.0 / 3.0, true)] {
            let cells = vec![0.0, weight, 1.0, 0.0];
            write_npy(&array, &Matrix::<f64>::from_vec(2, 2, cells).unwrap()).unwrap();
            assert_eq!(said(&array), rounded, "{weight}");
        }
    }
}
