//! Files that stand beside the edges in a folder: tables of nodes, and what was not used.

use super::store::Store;
use super::table::TableKind;

/// A file that belongs to the graph of its folder.
pub(crate) struct Companion {
    pub(crate) file: String,
    pub(crate) kind: TableKind,
}

/// What files are for, by the start of their names. Of several for one thing, the first ending decides.
const STEMS: [(&str, TableKind); 9] = [
    ("features", TableKind::Features),
    ("node_features", TableKind::Features),
    ("node-features", TableKind::Features),
    ("nodes", TableKind::Nodes),
    ("vertices", TableKind::Nodes),
    ("labels", TableKind::Labels),
    ("node_labels", TableKind::Labels),
    ("node-labels", TableKind::Labels),
    ("classes", TableKind::Labels),
];

/// Endings, in the order in which they are preferred.
const ENDINGS: [&str; 12] = [
    "npz",
    "npy",
    "safetensors",
    "pkl",
    "parquet",
    "feather",
    "arrow",
    "ipc",
    "csv",
    "tsv",
    "txt",
    "tab",
];

/// The last part of a name in small letters, as stem and ending.
fn parts(name: &str) -> (String, String) {
    let name = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    match name.rsplit_once('.') {
        Some((stem, ending)) => (stem.to_owned(), ending.to_owned()),
        None => (name, String::new()),
    }
}

/// Whether a file is a table of nodes, by its name.
pub(crate) fn is_table_of_nodes(name: &str) -> bool {
    let (stem, ending) = parts(name);
    STEMS.iter().any(|(start, _)| *start == stem) && ENDINGS.contains(&ending.as_str())
}

/// The tables of nodes in a folder: features, nodes, labels, in this order, each once.
pub(crate) fn find(store: &Store) -> Vec<Companion> {
    if store.only().is_some() {
        return Vec::new();
    }
    let mut found: Vec<Companion> = Vec::new();
    for (stem, kind) in STEMS {
        if found.iter().any(|other| other.kind == kind) {
            continue;
        }
        let rank = |name: &str| {
            let parts = parts(name);
            ENDINGS.iter().position(|ending| *ending == parts.1).filter(|_| parts.0 == stem)
        };
        let best = store.names().filter_map(|name| Some((rank(name)?, name))).min();
        found.extend(best.map(|(_, name)| Companion { file: name.to_owned(), kind }));
    }
    found
}

/// Texts about data that are no data.
fn is_document(name: &str) -> bool {
    let (stem, ending) = parts(name);
    let starts = ["readme", "license", "licence", "copying", "citation", "changelog"];
    let endings = ["md", "rst", "pdf", "html", "py", "ipynb", "svg", "png", "jpg", "sh", "log"];
    starts.iter().any(|start| stem.starts_with(start)) || endings.contains(&ending.as_str())
}

/// A remark about files of the folder that were not used.
pub(crate) fn unused(store: &Store) -> Option<String> {
    const SHOWN: usize = 8;
    let read = store.read_names();
    let unused: Vec<&str> = match store.only() {
        None => store.names().filter(|name| !read.contains(*name) && !is_document(name)).collect(),
        // Of a file that was named, only tables of its nodes are worth a word.
        Some(only) if is_table_of_nodes(only) => Vec::new(),
        Some(_) => {
            store.names().filter(|name| !read.contains(*name) && is_table_of_nodes(name)).collect()
        }
    };
    if unused.is_empty() {
        return None;
    }
    let shown = unused.get(..SHOWN).unwrap_or(&unused).join(", ");
    let more = match unused.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(match store.only() {
        None => format!("not used: {shown}{more}"),
        Some(_) => format!("not used: {shown}{more}; name the folder to read all of it"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Folder;

    #[test]
    fn tables_of_nodes_are_found() {
        let folder = Folder::new(&[
            ("edges.csv", b"0,1\n"),
            ("Labels.tsv", b"1\n"),
            ("features.csv", b"1\n"),
            ("features.npy", b""),
            ("notes.md", b""),
            ("other.bin", b""),
        ]);
        let store = Store::open(folder.root()).unwrap();
        let found: Vec<_> = find(&store).into_iter().map(|found| found.file).collect();
        assert_eq!(found, ["features.npy", "Labels.tsv"]);
        store.read("edges.csv").unwrap();
        let remark = unused(&store).unwrap();
        assert_eq!(remark, "not used: Labels.tsv, features.csv, features.npy, other.bin");
    }
}
