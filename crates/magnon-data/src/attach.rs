//! Features, labels and signals from files of their own, put beside the nodes of a graph.

use super::allocate::collect;
use super::load::{set_features, set_labels};
use super::numpy::Array;
use super::read::features;
use super::store::Store;
use super::table::{
    Holds, Joined, NAMED, NodeIndex, NodeTable, Table, TableKind, join, node_needs,
};
use super::{DataError, Dataset, ExtraIds, Features, Labels, LoadConfig, NodeNames, Split};
use magnon_core::matrix::Matrix;
use num_complex::Complex64;
use std::path::Path;
use std::sync::Arc;

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

/// Reads features from `path` into `dataset`. A table with a column of ids (csv, tsv, parquet, feather)
/// is joined by id; arrays and tables without ids (npy, npz, safetensors, pkl, csv) have one row per node.
pub fn attach_features(
    dataset: &mut Dataset,
    path: &Path,
    config: &LoadConfig,
) -> Result<(), DataError> {
    let (store, name) = open(path)?;
    attach(dataset, &store, &name, TableKind::Features, config)
}

/// Reads labels from `path` into `dataset`, like [`attach_features`].
pub fn attach_labels(
    dataset: &mut Dataset,
    path: &Path,
    config: &LoadConfig,
) -> Result<(), DataError> {
    let (store, name) = open(path)?;
    attach(dataset, &store, &name, TableKind::Labels, config)
}

/// Puts a file of a store beside the nodes.
pub(super) fn attach(
    dataset: &mut Dataset,
    store: &Store,
    name: &str,
    kind: TableKind,
    config: &LoadConfig,
) -> Result<(), DataError> {
    let label = store.label(name);
    if !Table::is_one(name) {
        return match kind {
            TableKind::Labels => {
                let labels = features::labels(store, name)?;
                set_labels(dataset, labels, &label, config)
            }
            TableKind::Features | TableKind::Nodes => {
                let features = features::features(store, name)?;
                set_features(dataset, features, &label, config.feature_norm)
            }
        };
    }
    let needs =
        |names: &[&str], holds: &[Holds]| Ok(node_needs(kind, &config.columns, names, holds));
    let table = Table::read(store, name, &needs)?;
    let index = NodeIndex::new(dataset.node_names.as_ref(), dataset.graph.nodes(), &table.file)?;
    let table = table.into_nodes(kind, &config.columns, &|id| index.get(id).is_some())?;
    match &table.ids {
        None => by_position(dataset, table, kind, config),
        Some(ids) => {
            let joined = join(ids, &index, dataset.graph.nodes(), &table.file)?;
            by_id(dataset, table, joined, kind, config)
        }
    }
}

/// The last part of a path, for remarks.
pub(super) fn short(file: &str) -> String {
    let name = Path::new(file).file_name();
    name.map_or_else(|| file.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Rows in the order of the nodes.
fn by_position(
    dataset: &mut Dataset,
    table: NodeTable,
    kind: TableKind,
    config: &LoadConfig,
) -> Result<(), DataError> {
    let NodeTable { file, rows, features, labels, parts, remarks, .. } = table;
    let short = short(&file);
    dataset.remarks.extend(remarks.into_iter().map(|remark| format!("{short}: {remark}")));
    // Nodes that are called 0, 1, 2… leave no doubt.
    if let Some(names) = &dataset.node_names {
        let first = (0..NAMED).filter_map(|node| names.name(node)).collect::<Vec<_>>().join(", ");
        dataset.remarks.push(format!(
            "{short}: it has no ids, so its rows were taken for the nodes in their order: {first}, …"
        ));
    }
    if features.is_none() && labels.is_none() && rows > 0 {
        return Err(DataError::format(
            file,
            "there is neither a column of numbers nor labels in it",
        ));
    }
    if let Some(features) = features.filter(|_| takes_features(dataset, kind)) {
        set_features(dataset, Features::Dense(features), &file, config.feature_norm)?;
    }
    if let Some(labels) = labels {
        set_labels(dataset, Labels::from_texts(&labels, &file)?, &file, config)?;
    }
    if let Some(parts) = parts {
        dataset.splits.push(Split::from_parts(&parts));
    }
    Ok(())
}

/// Rows that name their nodes.
fn by_id(
    dataset: &mut Dataset,
    table: NodeTable,
    mut joined: Joined,
    kind: TableKind,
    config: &LoadConfig,
) -> Result<(), DataError> {
    let ids = table.ids.as_deref().unwrap_or_default();
    let file = table.file.as_str();
    let short = short(file);
    dataset.remarks.extend(table.remarks.iter().map(|remark| format!("{short}: {remark}")));
    settle_extra(dataset, ids, &mut joined, kind, config, file)?;
    if let Some(features) = table.features.as_ref().filter(|_| takes_features(dataset, kind)) {
        let remark = missing_rows(dataset, &joined, file)?;
        dataset.remarks.extend(remark);
        let matrix = in_node_order(features, &joined.rows, file)?;
        set_features(dataset, Features::Dense(matrix), file, config.feature_norm)?;
    }
    let pick = |cells: &[Option<Arc<str>>]| {
        let cell = |row: &Option<u32>| row.and_then(|row| cells.get(row as usize)?.clone());
        collect(joined.rows.iter().map(cell), file)
    };
    if let Some(labels) = &table.labels {
        set_labels(dataset, Labels::from_texts(&pick(labels)?, file)?, file, config)?;
    }
    if let Some(parts) = &table.parts {
        dataset.splits.push(Split::from_parts(&pick(parts)?));
    }
    Ok(())
}

/// Whether the numbers of a table become the features: a table of nodes gives way to one of features.
fn takes_features(dataset: &Dataset, kind: TableKind) -> bool {
    kind == TableKind::Features || dataset.features.is_none()
}

/// One in so many nodes may lack a row of features.
const MISSING_SHARE: usize = 10;

/// Nodes without a row of features: a remark about a few, an error about many.
pub(super) fn missing_rows(
    dataset: &Dataset,
    joined: &Joined,
    file: &str,
) -> Result<Option<String>, DataError> {
    let (missing, nodes) = (joined.missing().count(), joined.rows.len());
    let names = joined.missing().take(NAMED).map(|node| dataset.node_name(node));
    let examples = names.collect::<Vec<_>>().join(", ");
    if missing * MISSING_SHARE > nodes {
        let problem = format!(
            "{missing} of {nodes} nodes of the graph have no row here, such as {examples}; nodes without \
             features cannot be told apart, so add their rows or leave them out of the edges"
        );
        return Err(DataError::format(file, problem));
    }
    let short = short(file);
    Ok((missing > 0)
        .then(|| format!("{short}: {missing} nodes have no row and get features of 0: {examples}")))
}

/// What becomes of rows whose id no edge has, `Add` or `Drop`, and examples of them; `None` where there are none.
pub(super) fn extra_rule(
    dataset: &Dataset,
    ids: &[Arc<str>],
    joined: &Joined,
    kind: TableKind,
    config: &LoadConfig,
    file: &str,
) -> Result<Option<(ExtraIds, String)>, DataError> {
    let (rows, extra) = (ids.len(), joined.extra.len());
    if extra == 0 {
        return Ok(None);
    }
    let names = joined.extra.iter().filter_map(|&row| ids.get(row as usize));
    let examples = names.take(NAMED).map(|id| &**id).collect::<Vec<_>>().join(", ");
    let first: Vec<String> =
        (0..NAMED.min(dataset.graph.nodes())).map(|node| dataset.node_name(node)).collect();
    if extra == rows {
        let problem = format!(
            "none of its {rows} ids is a node of the graph: the ids are {examples}, …, the nodes {}, …; \
             is another column the id (--id-column COLUMN)?",
            first.join(", ")
        );
        return Err(DataError::format(file, problem));
    }
    let rule = match (config.extra_ids, kind) {
        (ExtraIds::Auto, _) if extra * 2 > rows => {
            let problem = format!(
                "{extra} of its {rows} ids are not in the edges, such as {examples}; --extra-ids add \
                 takes them as nodes without edges, --extra-ids drop leaves them out"
            );
            return Err(DataError::format(file, problem));
        }
        (ExtraIds::Auto, TableKind::Labels) => ExtraIds::Drop,
        (ExtraIds::Auto, _) => ExtraIds::Add,
        (rule, _) => rule,
    };
    Ok(Some((rule, examples)))
}

/// Decides about rows whose id no edge has: nodes without edges are added, where the table speaks of
/// this graph at all.
fn settle_extra(
    dataset: &mut Dataset,
    ids: &[Arc<str>],
    joined: &mut Joined,
    kind: TableKind,
    config: &LoadConfig,
    file: &str,
) -> Result<(), DataError> {
    let (rows, extra) = (ids.len(), joined.extra.len());
    let Some((rule, examples)) = extra_rule(dataset, ids, joined, kind, config, file)? else {
        return Ok(());
    };
    let fate = match rule {
        ExtraIds::Add => {
            let added: Vec<&str> = joined
                .extra
                .iter()
                .filter_map(|&row| ids.get(row as usize))
                .map(|id| &**id)
                .collect();
            dataset.add_nodes(&added, file)?;
            joined.rows.extend(joined.extra.iter().map(|&row| Some(row)));
            "have no edge and were added as nodes"
        }
        _ => "are not in the graph and were left out",
    };
    dataset.remarks.push(format!("{}: {extra} of {rows} ids {fate}: {examples}", short(file)));
    Ok(())
}

/// The rows of a matrix in the order of the nodes; zeros where a node has none.
fn in_node_order(
    matrix: &Matrix<f32>,
    rows: &[Option<u32>],
    file: &str,
) -> Result<Matrix<f32>, DataError> {
    let width = matrix.cols();
    let mut values = super::allocate::zeroed(rows.len().saturating_mul(width), file)?;
    for (place, row) in values.chunks_exact_mut(width.max(1)).zip(rows) {
        if let Some(row) = row {
            place.copy_from_slice(matrix.row(*row as usize));
        }
    }
    Matrix::from_vec(rows.len(), width, values)
        .map_err(|_| DataError::format(file, "the table does not fill its shape"))
}

impl Dataset {
    /// What the source calls a node.
    pub fn node_name(&self, node: usize) -> String {
        let name = self.node_names.as_ref().and_then(|names| names.name(node));
        name.map_or_else(|| node.to_string(), |name| name.into_owned())
    }

    /// Adds nodes without edges behind the others.
    fn add_nodes(&mut self, names: &[&str], file: &str) -> Result<(), DataError> {
        let before = self.graph.nodes();
        let after = before + names.len();
        let numbers: Option<Vec<u64>> = names.iter().map(|name| name.parse().ok()).collect();
        self.node_names = match (self.node_names.take(), numbers) {
            (Some(NodeNames::Words(mut words)), _) => {
                words.extend(names.iter().map(|&name| name.to_owned()));
                Some(NodeNames::Words(words))
            }
            (Some(NodeNames::Numbers(mut ids)), Some(numbers)) => {
                ids.extend(numbers);
                Some(NodeNames::Numbers(ids))
            }
            // The nodes go on counting.
            (None, Some(numbers)) if numbers.iter().copied().eq(before as u64..after as u64) => {
                None
            }
            (None, Some(numbers)) => {
                Some(NodeNames::Numbers((0..before as u64).chain(numbers).collect()))
            }
            (old, None) => {
                let name = |node| match &old {
                    Some(names) => {
                        names.name(node).map(|name| name.into_owned()).unwrap_or_default()
                    }
                    None => node.to_string(),
                };
                let words = (0..before).map(name).chain(names.iter().map(|&name| name.to_owned()));
                Some(NodeNames::Words(words.collect()))
            }
        };
        let grown = self.graph.add_isolated(names.len());
        grown.map_err(|reason| DataError::Graph { file: file.to_owned(), reason })?;
        if let Some(labels) = &mut self.labels {
            labels.classes.resize(after, None);
        }
        Ok(())
    }
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
