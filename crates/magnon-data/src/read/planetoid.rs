//! Planetoid's pickles: `ind.NAME.x`, `.tx`, `.allx`, `.y`, `.ty`, `.ally`, `.graph` and the text
//! `.test.index`.

use crate::allocate::reserve;
use crate::pickle::{self, Pickle};
use crate::raw_dataset::{Raw, check_count};
use crate::store::Store;
use crate::{DataError, Features, Labels, Split, text};
use magnon_core::matrix::{Matrix, SparseError, SparseMatrix};

/// Labelled nodes after the training nodes that are for validation, by Planetoid's custom.
const VALIDATION: usize = 500;

const NEEDED: [&str; 7] = ["x", "tx", "allx", "y", "ty", "ally", "graph"];

/// Prefixes such as `ind.cora` for which all files are there.
pub(crate) fn finds(store: &Store) -> Vec<String> {
    let prefix = |name: &str| {
        let file = name.rsplit('/').next().unwrap_or(name);
        if !file.starts_with("ind.") {
            return None;
        }
        let parts = NEEDED.iter().chain(&["test.index"]);
        let prefix = parts.map(|part| name.strip_suffix(&format!(".{part}"))).find_map(|p| p)?;
        let prefix = prefix.strip_suffix(".test").unwrap_or(prefix);
        let whole = NEEDED.iter().chain(&["test.index"]);
        whole
            .into_iter()
            .all(|part| store.has(&format!("{prefix}.{part}")))
            .then(|| prefix.to_owned())
    };
    let mut prefixes: Vec<String> = store.candidates().filter_map(prefix).collect();
    prefixes.sort();
    prefixes.dedup();
    prefixes
}

/// Reads the files and puts them together as Planetoid means it: the rows of `tx` go where
/// `test.index` says; places that it leaves out are nodes without features and label.
pub(crate) fn read(store: &Store, prefix: &str) -> Result<Raw, DataError> {
    let name = |part: &str| format!("{prefix}.{part}");
    let label = |part: &str| store.label(&name(part));
    let bytes = |part: &str| store.read(&name(part));
    let test = text::indices(&store.read_text(&name("test.index"))?, &label("test.index"))?;
    let base = features(&bytes("allx")?, &label("allx"))?;
    let tested = features(&bytes("tx")?, &label("tx"))?;
    if tested.rows() != test.len() || tested.cols() != base.cols() {
        let problem = format!(
            "{} x {} features do not fit the {} test nodes and {} columns of the other files",
            tested.rows(),
            tested.cols(),
            test.len(),
            base.cols()
        );
        return Err(DataError::format(label("tx"), problem));
    }
    let end = test.iter().map(|&node| u64::from(node) + 1).max().unwrap_or(0);
    let bytes_known = base.stored() as u64;
    let claimed = end.max(base.rows() as u64);
    let nodes = check_count(&label("test.index"), "nodes", claimed, bytes_known)?;
    let entries = rows(&base, |row| row).chain(rows(&tested, |row| test[row] as usize));
    let unfit = |error: SparseError| DataError::format(label("tx"), error.to_string());
    let features = SparseMatrix::from_triplets(nodes, base.cols(), entries).map_err(unfit)?;

    let known = one_hot(&bytes("ally")?, &label("ally"))?;
    let asked = one_hot(&bytes("ty")?, &label("ty"))?;
    let first = one_hot(&bytes("y")?, &label("y"))?;
    if known.rows.len() != base.rows() || asked.rows.len() != test.len() {
        let problem = format!("{} rows for {} nodes", known.rows.len(), base.rows());
        return Err(DataError::format(label("ally"), problem));
    }
    let mut classes = known.rows;
    reserve(&mut classes, nodes.saturating_sub(base.rows()), &label("test.index"))?;
    classes.resize(nodes, None);
    for (&node, class) in test.iter().zip(asked.rows) {
        if let Some(place) = classes.get_mut(node as usize) {
            *place = class;
        }
    }
    let width = known.width.max(asked.width);
    let labels = Labels { classes, names: (0..width).map(|class| class.to_string()).collect() };

    let mut raw = Raw { file: label("graph"), nodes, ..Raw::default() };
    edges(&pickle::parse(&bytes("graph")?, &raw.file)?, &mut raw)?;
    raw.features = Some(Features::Sparse(features));
    raw.features_file = Some(label("allx"));
    raw.labels = Some(labels);
    raw.labels_file = Some(label("ally"));
    let train = first.rows.len().min(base.rows());
    let val = (train + VALIDATION).min(base.rows());
    let range = |from: usize, to: usize| (from as u32..to as u32).collect();
    raw.splits.push(Split::from_lists(range(0, train), range(train, val), test));
    raw.remarks.push("Planetoid graphs are undirected: both directions are stored".into());
    Ok(raw)
}

fn features(bytes: &[u8], file: &str) -> Result<SparseMatrix, DataError> {
    match pickle::features(bytes, file)? {
        Features::Sparse(matrix) => Ok(matrix),
        Features::Dense(_) => Err(DataError::format(file, "a sparse matrix is needed")),
    }
}

/// The entries of a matrix with its rows put elsewhere.
fn rows(
    matrix: &SparseMatrix,
    place: impl Fn(usize) -> usize + Clone,
) -> impl Iterator<Item = (usize, u32, f32)> + Clone {
    (0..matrix.rows()).flat_map(move |row| {
        let (columns, values) = matrix.row(row);
        let row = place(row);
        columns.iter().zip(values).map(move |(&column, &value)| (row, column, value))
    })
}

/// Classes from rows of 0 with one 1.
struct OneHot {
    rows: Vec<Option<u32>>,
    width: usize,
}

fn one_hot(bytes: &[u8], file: &str) -> Result<OneHot, DataError> {
    let Features::Dense(matrix) = pickle::features(bytes, file)? else {
        return Err(DataError::format(file, "a dense matrix is needed"));
    };
    let class = |row: &[f32]| row.iter().position(|&value| value > 0.0).map(|class| class as u32);
    let classes = |matrix: &Matrix<f32>| (0..matrix.rows()).map(|i| class(matrix.row(i))).collect();
    Ok(OneHot { rows: classes(&matrix), width: matrix.cols() })
}

/// The edges of a dictionary from a node to the list of its neighbours.
fn edges(graph: &Pickle<'_>, raw: &mut Raw) -> Result<(), DataError> {
    let bad = |problem: &str| DataError::format(&raw.file, problem);
    let pairs = graph.pairs(graph.root());
    let pairs = pairs.ok_or_else(|| bad("a dictionary of neighbour lists is needed"))?;
    let node = |id| graph.integer(id).and_then(|node| u32::try_from(node).ok());
    let (mut edges, most) = (Vec::new(), graph.length());
    for &(key, list) in pairs {
        let source = node(key).ok_or_else(|| bad("a key is not a node number"))?;
        let list = graph.items(list).ok_or_else(|| bad("neighbours must be a list"))?;
        // A neighbour takes two bytes where it is written, but none where its list is shared.
        if edges.len() + list.len() > most {
            return Err(bad(&format!(
                "more than {most} neighbours in {most} bytes: nodes share their lists; save a \
                 list of its own for each node"
            )));
        }
        reserve(&mut edges, list.len(), &raw.file)?;
        for &target in list {
            let target = node(target).ok_or_else(|| bad("a neighbour is not a node number"))?;
            edges.push((source, target));
        }
    }
    raw.edges = edges;
    Ok(())
}
