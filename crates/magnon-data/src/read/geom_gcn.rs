//! Geom-GCN text: `out1_graph_edges.txt`, `out1_node_feature_label.txt` and split files.

use super::edge_list;
use super::geom_gcn_nodes::Nodes;
use crate::numpy::Npz;
use crate::raw_dataset::{Raw, check_count};
use crate::store::Store;
use crate::{DataError, Split};
use std::path::Path;

const EDGES: &str = "out1_graph_edges.txt";
const NODES: &str = "out1_node_feature_label.txt";

/// Graphs whose lines name the target first.
const WEBKB: [&str; 4] = ["cornell", "texas", "washington", "wisconsin"];

/// The folder, when both files are there, or either file when it was named.
pub(crate) fn finds(store: &Store) -> Vec<String> {
    let named = store.only().is_some_and(|name| [EDGES, NODES].contains(&name));
    let whole = store.only().is_none() && store.has(NODES);
    if store.has(EDGES) && (named || whole) { vec![EDGES.to_owned()] } else { Vec::new() }
}

/// Reads edges and splits, and the features and labels where they are there.
pub(crate) fn read(store: &Store, name: &str) -> Result<Raw, DataError> {
    let file = store.label(name);
    let text = store.read_text(name)?;
    let edges = edge_list::node_pairs(&text, &file)?;
    let top = edges.iter().map(|&(u, v)| u64::from(u.max(v)) + 1).max().unwrap_or(0);
    let nodes = check_count(&file, "nodes", top, text.len() as u64)?;
    let mut raw = Raw { file, edges, nodes, ..Raw::default() };
    if store.has(NODES) {
        let nodes = Nodes::parse(&store.read_text(NODES)?, &store.label(NODES))?;
        raw.nodes = nodes.count;
        raw.features = Some(nodes.features);
        raw.features_file = Some(store.label(NODES));
        raw.labels = Some(nodes.labels);
    }
    let splits = split_files(store);
    if is_webkb(&title(store, &splits)) {
        raw.turn("edges listed target first, as in WebKB, were turned");
    } else {
        let remark = "edges taken as source target; give --reverse if they are listed target first";
        raw.remarks.push(remark.into());
    }
    for (_, name) in splits {
        raw.splits.push(read_split(store, &name)?);
    }
    if !store.has(NODES) {
        // Without the nodes' own file, the masks know best how many there are.
        let most = raw.splits.iter().flat_map(|s| [&s.train, &s.val, &s.test]).flatten().max();
        raw.nodes = raw.nodes.max(most.map_or(0, |&node| node as usize + 1));
    }
    Ok(raw)
}

/// What the data set is called: by its split files or, without them, by its folder or archive.
fn title(store: &Store, splits: &[(u32, String)]) -> String {
    if let Some((prefix, _)) = splits.first().and_then(|(_, name)| name.split_once("_split_")) {
        return prefix.to_owned();
    }
    // However the path is spelt, the folder is the same; an empty path is the current one.
    let root = Path::new(".").join(store.root());
    let root = std::fs::canonicalize(&root).unwrap_or(root);
    root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Whether one of the words of a title is a university of WebKB.
fn is_webkb(title: &str) -> bool {
    let mut words = title.split(|c: char| !c.is_alphanumeric());
    words.any(|word| WEBKB.contains(&word.to_lowercase().as_str()))
}

/// The split files with their numbers, in the order of these.
fn split_files(store: &Store) -> Vec<(u32, String)> {
    let number = |name: &str| -> Option<u32> {
        let stem = name.strip_suffix(".npz")?;
        let (_, shares) = stem.split_once("_split_")?;
        shares.rsplit('_').next()?.parse().ok()
    };
    let mut files: Vec<(u32, String)> =
        store.names().filter_map(|name| Some((number(name)?, name.to_owned()))).collect();
    files.sort();
    files
}

fn read_split(store: &Store, name: &str) -> Result<Split, DataError> {
    let mut npz = Npz::open(store, name)?;
    let mut mask = |name: &str| -> Result<Vec<bool>, DataError> {
        Ok(npz.array(name)?.masks()?.into_iter().next().unwrap_or_default())
    };
    Ok(Split::from_masks(&mask("train_mask")?, &mask("val_mask")?, &mask("test_mask")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Folder, npy, zip};

    const TEXT: &[u8] = b"node_id\tnode_id\n0\t1\n1\t2\n";
    const TABLE: &[u8] = b"node_id\tfeature\tlabel\n2\t0,0\t1\n0\t1,0\t0\n1\t0,1\t0\n";

    fn split() -> Vec<u8> {
        let mask = |bytes: &[u8]| npy("|b1", "(3,)", bytes);
        zip(&[
            ("train_mask.npy", &mask(&[1, 0, 0])),
            ("val_mask.npy", &mask(&[0, 1, 0])),
            ("test_mask.npy", &mask(&[0, 0, 1])),
        ])
    }

    #[test]
    fn webkb_edges_are_turned() {
        for (prefix, edges) in [("x", [(0, 1), (1, 2)]), ("texas", [(1, 0), (2, 1)])] {
            let (ten, two) =
                (format!("{prefix}_split_0.6_0.2_10.npz"), format!("{prefix}_split_0.6_0.2_2.npz"));
            let split = split();
            let folder =
                Folder::new(&[(EDGES, TEXT), (NODES, TABLE), (&ten, &split), (&two, &split)]);
            let store = Store::open(folder.root()).unwrap();
            let raw = read(&store, &finds(&store)[0]).unwrap();
            assert_eq!(raw.edges, edges);
            assert_eq!(raw.splits.len(), 2);
            assert_eq!(raw.labels.unwrap().classes, [Some(0), Some(0), Some(1)]);
            assert_eq!(split_files(&store)[0].1, two);
            let turned = raw.remarks[0].ends_with("were turned");
            assert_eq!(turned, prefix == "texas", "{:?}", raw.remarks);
        }
    }

    #[test]
    fn the_folder_counts_however_it_is_spelt() {
        let files: &[(&str, &[u8])] = &[
            ("geom_gcn_Texas/out1_graph_edges.txt", TEXT),
            ("geom_gcn_Texas/out1_node_feature_label.txt", TABLE),
            ("texas2/out1_graph_edges.txt", TEXT),
            ("texas2/out1_node_feature_label.txt", TABLE),
        ];
        let folder = Folder::new(files);
        for (name, other, turned) in
            [("geom_gcn_Texas", "texas2", true), ("texas2", "geom_gcn_Texas", false)]
        {
            for path in [
                name.to_owned(),
                format!("{other}/../{name}"),
                format!("{name}/."),
                format!("{name}/{EDGES}"),
            ] {
                let store = Store::open(&folder.path(&path)).unwrap();
                let raw = read(&store, &finds(&store)[0]).unwrap();
                assert_eq!(raw.edges == [(1, 0), (2, 1)], turned, "{path}");
                assert_eq!(raw.remarks.len(), 1);
            }
        }
    }
}
