//! Folders of the Open Graph Benchmark: gzipped csv files under `raw/`, splits under `split/`.

use super::edge_list;
use crate::raw_dataset::{Raw, check_count};
use crate::store::Store;
use crate::{DataError, Features, Split, text};

const EDGES: &str = "raw/edge.csv";

/// The data set's folder, or its `raw` folder.
pub(crate) fn finds(store: &Store) -> Vec<String> {
    let inner = store.has("edge.csv") && store.has("num-node-list.csv");
    match store.only() {
        None if store.has(EDGES) => vec![EDGES.to_owned()],
        None if inner => vec!["edge.csv".to_owned()],
        _ => Vec::new(),
    }
}

/// Reads the folder.
pub(crate) fn read(store: &Store, name: &str) -> Result<Raw, DataError> {
    if name != EDGES {
        // The splits lie beside the folder that was named.
        let whole = std::path::absolute(store.root()).ok();
        let whole = whole.as_deref().and_then(|root| root.parent()).map(Store::open);
        if let Some(Ok(whole)) = whole.filter(|whole| whole.as_ref().is_ok_and(|s| s.has(EDGES))) {
            return read(&whole, EDGES);
        }
    }
    let folder = name.strip_suffix("edge.csv").unwrap_or_default();
    let table = |table: &str| -> Result<Option<(Vec<u8>, String)>, DataError> {
        let name = format!("{folder}{table}.csv");
        let bytes = if store.has(&name) { Some(store.read_text(&name)?) } else { None };
        Ok(bytes.map(|bytes| (bytes, store.label(&name))))
    };
    let file = store.label(name);
    let bytes = store.read_text(name)?;
    let edges = edge_list::node_pairs(&bytes, &file)?;
    let nodes = match table("num-node-list")? {
        Some((bytes, file)) => count(&bytes, &file)?,
        None => edges.iter().map(|&(u, v)| u64::from(u.max(v)) + 1).max().unwrap_or(0),
    };
    let features = match table("node-feat")? {
        Some((bytes, file)) => Some((text::matrix(&bytes, &file)?, file)),
        None => None,
    };
    // Features speak for their nodes; without them a count needs edges to be believed.
    let known = features.as_ref().map_or(0, |(matrix, _)| matrix.rows() as u64);
    let nodes = check_count(&file, "nodes", nodes, known.max(bytes.len() as u64))?;
    let mut raw = Raw { file, edges, nodes, ..Raw::default() };
    if let Some((matrix, file)) = features {
        raw.features = Some(Features::Dense(matrix));
        raw.features_file = Some(file);
    }
    if let Some((bytes, file)) = table("node-label")? {
        raw.labels = Some(text::labels(&bytes, &file)?);
        raw.labels_file = Some(file);
    }
    raw.splits = splits(store)?;
    Ok(raw)
}

/// The number of nodes of the one graph.
fn count(bytes: &[u8], file: &str) -> Result<u64, DataError> {
    match text::indices(bytes, file)?[..] {
        [nodes] => Ok(u64::from(nodes)),
        ref many => {
            let problem = format!("one graph is needed, but there are {}", many.len());
            Err(DataError::format(file, problem))
        }
    }
}

/// The splits of all schemes, by name.
fn splits(store: &Store) -> Result<Vec<Split>, DataError> {
    let schemes = store.names().filter_map(|name| {
        name.strip_prefix("split/").and_then(|name| name.strip_suffix("/train.csv"))
    });
    schemes
        .map(|scheme| {
            let list = |part: &str| {
                let name = format!("split/{scheme}/{part}.csv");
                text::indices(&store.read_text(&name)?, &store.label(&name))
            };
            Ok(Split::from_lists(list("train")?, list("valid")?, list("test")?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Folder;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn gz(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn folders_are_put_together() {
        let folder = Folder::new(&[
            ("raw/edge.csv.gz", &gz("0,1\n3,1\n")),
            ("raw/num-node-list.csv.gz", &gz("4\n")),
            ("raw/node-feat.csv.gz", &gz("0.5,1\n-1,2\n3,4\n5,6\n")),
            ("raw/node-label.csv.gz", &gz("7\n3\nnan\n7\n")),
            ("split/time/train.csv.gz", &gz("0\n3\n")),
            ("split/time/valid.csv.gz", &gz("1\n")),
            ("split/time/test.csv.gz", &gz("2\n")),
            ("mapping/README.md", b"text"),
        ]);
        for path in [folder.root().to_owned(), folder.path("raw")] {
            let store = Store::open(&path).unwrap();
            let raw = read(&store, &finds(&store)[0]).unwrap();
            assert_eq!((raw.edges, raw.nodes), (vec![(0, 1), (3, 1)], 4));
            assert_eq!(raw.features.unwrap().cols(), 2);
            assert_eq!(raw.labels.unwrap().classes, [Some(1), Some(0), None, Some(1)]);
            assert_eq!(raw.splits, [Split { train: vec![0, 3], val: vec![1], test: vec![2] }]);
        }
    }
}
