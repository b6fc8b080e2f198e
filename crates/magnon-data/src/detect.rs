//! Which format a folder or file is in. The table below is the one place to add a reader.

use super::companions::{self, Companion};
use super::listing::listed;
use super::numpy::Npz;
use super::raw_dataset::Raw;
use super::read::*;
use super::reader;
use super::recognise::recognise;
use super::store::{Store, is_archive};
use super::table::TableKind;
use super::{DataError, LoadConfig};
use std::path::Path;

/// A format: where it is found, and how it is read.
struct Reader {
    /// What a user calls the format.
    format: &'static str,
    /// Readers of the first rank that finds anything decide; a lower rank would see only a part
    /// of the same data.
    rank: u8,
    /// The data sets of this format, as names that `read` understands.
    finds: fn(&Store) -> Vec<String>,
    read: fn(&Store, &str, &LoadConfig) -> Result<Raw, DataError>,
    /// Whether its edges can be read in blocks, where they are more than memory holds.
    streams: bool,
}

/// One line per reader. Those that heed more than the file say so with `(config)`, and those that can read edges in
/// blocks with `streams`.
macro_rules! readers {
    (@read $module:ident) => { |store, name, _| $module::read(store, name) };
    (@read $module:ident config) => { $module::read };
    (@streams) => { false };
    (@streams streams) => { true };
    ($($rank:literal $module:ident $(($config:ident $(, $streams:ident)?))? $format:literal),* $(,)?) => {
        [$(Reader {
            format: $format,
            rank: $rank,
            finds: $module::finds,
            read: readers!(@read $module $($config)?),
            streams: readers!(@streams $($($streams)?)?),
        }),*]
    };
}

/// Ranks: 0 folders with a layout of their own, 1 graphs with features and labels, 2 bare graphs,
/// 3 text that may be anything.
const READERS: &[Reader] = &readers![
    0 authors "a folder with adj.npz, features, labels.csv and idx_*.csv",
    0 ogb "an OGB folder with raw/edge.csv.gz",
    1 planetoid "Planetoid files ind.NAME.x, .tx, .allx, …",
    1 linqs "LINQS files NAME.content and NAME.cites",
    1 heterophilous "an npz with edges, node_features and node_labels",
    1 gnn_benchmark "an npz with adj_data, attr_data and labels",
    1 geom_gcn "Geom-GCN files out1_graph_edges.txt and out1_node_feature_label.txt",
    2 packed (config) "a packed graph (.magnon)",
    2 scipy_npz "a sparse matrix of scipy (npz)",
    2 npy_graph "a NumPy array that is named: a square matrix or edges in two columns (.npy)",
    2 matrix_market "Matrix Market (.mtx)",
    2 cites_tab "LINQS citations (.cites.tab)",
    2 adjacency_list "WebGraph ASCII (.graph-txt)",
    2 edge_table (config) "a table of edges (.parquet, .feather, .arrow)",
    2 graphml (config) "GraphML (.graphml)",
    2 gexf (config) "GEXF (.gexf)",
    2 gml (config) "GML (.gml)",
    2 node_link (config) "node-link JSON of networkx (.json)",
    2 adjlist "an adjacency list of networkx (.adjlist)",
    2 torch "PyTorch Geometric's Data or a dictionary of tensors (.pt, .pth, .pkl)",
    3 edge_list (config, streams) "an edge list (.txt, .csv, .tsv, .edges)",
];

/// A data set and the name that it goes by.
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) raw: Raw,
    /// Where it was found.
    pub(crate) store: Store,
    /// Tables of its nodes that stand beside it.
    pub(crate) companions: Vec<Companion>,
}

/// Names of files that hold the edges, where a folder has several tables.
const EDGES: [&str; 9] = [
    "edges",
    "edge",
    "edge_list",
    "edgelist",
    "links",
    "arcs",
    "transactions",
    "relationships",
    "graph",
];

/// Of several bare graphs in a folder, the one that is called so.
fn called_edges(found: &mut Vec<(&'static Reader, String)>) {
    let called = |name: &str| {
        let name = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
        let stem = name.split('.').next().unwrap_or_default();
        EDGES.iter().position(|edges| *edges == stem)
    };
    let best = found.iter().filter_map(|(_, name)| called(name)).min();
    if found.len() > 1 && best.is_some() && found.iter().all(|(reader, _)| reader.rank >= 2) {
        found.retain(|(_, name)| called(name) == best);
    }
}

/// The store and the name of the edge list at `path`, where it is one; it may be larger than memory.
pub(crate) fn edge_list(path: &Path) -> Result<Option<(Store, String)>, DataError> {
    let Located { store, reader, name } = locate(path)?;
    Ok((reader.streams).then_some((store, name)))
}

/// Where a data set is, and what reads it.
struct Located {
    store: Store,
    reader: &'static Reader,
    name: String,
}

/// Finds the one data set at `path` and reads it.
pub(crate) fn read(path: &Path, config: &LoadConfig) -> Result<Found, DataError> {
    if let Some((format, found)) = reader::read(path)? {
        let store = Store::open(path)?;
        let name = short_name(store.path(), store.only().unwrap_or_default());
        let mut raw = found.into_raw(path)?;
        raw.reading.format = format;
        return Ok(Found { name, raw, store, companions: Vec::new() });
    }
    let Located { store, reader, name } = locate(path)?;
    store.forget_reads();
    let mut raw = (reader.read)(&store, &name, config)?;
    reader.format.clone_into(&mut raw.reading.format);
    let mut companions = companions::find(&store);
    companions.retain(|companion| match companion.kind {
        TableKind::Labels => raw.labels.is_none(),
        TableKind::Features | TableKind::Nodes => raw.features.is_none(),
    });
    Ok(Found { name: short_name(store.path(), &name), raw, store, companions })
}

/// Finds the one data set at `path`.
fn locate(path: &Path) -> Result<Located, DataError> {
    let store = Store::open(path)?;
    let mut found: Vec<(&'static Reader, String)> = Vec::new();
    for rank in 0..=3 {
        for reader in READERS.iter().filter(|reader| reader.rank == rank) {
            found.extend((reader.finds)(&store).into_iter().map(|name| (reader, name)));
        }
        // Bare graphs and edge lists are all worth the same to someone who named a folder.
        if !found.is_empty() && (rank < 2 || store.only().is_some()) {
            break;
        }
    }
    called_edges(&mut found);
    let archives: Vec<&str> = if store.only().is_none() && found.iter().all(|f| f.0.rank >= 2) {
        store.names().filter(|name| holds_files(&store, name)).collect()
    } else {
        Vec::new()
    };
    match (&found[..], &archives[..]) {
        ([(reader, name)], []) => {
            let (reader, name) = (*reader, name.clone());
            Ok(Located { store, reader, name })
        }
        ([], [archive]) => locate(&store.root().join(archive)),
        ([], []) => Err(unknown(&store, path)),
        _ => {
            let names = found.iter().map(|(_, name)| name.as_str());
            let mut names: Vec<&str> = names.chain(archives.iter().copied()).collect();
            names.sort_unstable();
            let first = path.join(names.first().unwrap_or(&""));
            let problem = format!(
                "there are several data sets: {}; name one of them, for example {}",
                listed(&names),
                first.display()
            );
            Err(DataError::Unknown { path: path.to_owned(), problem })
        }
    }
}

/// Whether a file of a folder is an archive by its name.
fn holds_files(store: &Store, name: &str) -> bool {
    let ends = [".zip", ".tar", ".tgz", ".tar.gz"].iter().any(|end| name.ends_with(end));
    ends && store.plain_path(name).is_some_and(|path| is_archive(path).unwrap_or(false))
}

/// Why nothing was found: an archive of arrays that cannot be opened, or holds no graph, or else
/// no known format.
fn unknown(store: &Store, path: &Path) -> DataError {
    let arrays = store.candidates().filter(|name| name.ends_with(".npz"));
    for name in arrays {
        match Npz::open(store, name) {
            Err(error) => return error,
            Ok(npz) if store.only().is_some() => {
                let names = npz.names();
                let members = listed(&names.iter().map(String::as_str).collect::<Vec<_>>());
                let problem = format!("no graph of a known layout; its members are: {members}");
                return DataError::format(npz.file(), problem);
            }
            Ok(_) => {}
        }
    }
    let known = store.candidates().find_map(|name| {
        let what = recognise(name, &store.start(name))?;
        Some(DataError::format(store.label(name), what))
    });
    if let Some(error) = known {
        return error;
    }
    let formats: Vec<&str> = READERS.iter().map(|reader| reader.format).collect();
    let problem = format!("no data set was found; what can be read is: {}", formats.join("; "));
    DataError::Unknown { path: path.to_owned(), problem }
}

/// A short name: of the folder or archive where the files have fixed names, else of the file.
fn short_name(path: &Path, key: &str) -> String {
    let fixed = ["adj.npz", "out1_graph_edges.txt", ""].contains(&key) || key.starts_with("raw");
    let whole = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = if whole.is_dir() { Some(whole.as_path()) } else { whole.parent() };
    let name = match folder.and_then(Path::file_name) {
        Some(folder) if fixed => folder.to_string_lossy().into_owned(),
        _ => key.rsplit('/').next().unwrap_or(key).to_owned(),
    };
    let name = name.strip_prefix("ind.").unwrap_or(&name);
    let name = name.strip_suffix(".cites.tab").unwrap_or(name);
    match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && ending.len() <= 9 && !fixed => stem.to_owned(),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Folder;

    #[test]
    fn several_data_sets_are_listed() {
        let read = |path: &Path| super::read(path, &LoadConfig::default());
        let folder = Folder::new(&[("a.txt", b"0 1\n"), ("b.csv", b"0,1\n")]);
        let error = read(folder.root()).err().unwrap().to_string();
        assert!(error.contains("several data sets: a.txt, b.csv"), "{error}");
        assert_eq!(read(&folder.path("b.csv")).unwrap().name, "b");
        assert_eq!(listed(&["x"; 20]).matches('x').count(), 20);
        assert!(listed(&["x"; 23]).ends_with(", x and 3 more"));
    }

    #[test]
    fn an_empty_folder_says_what_can_be_read() {
        let read = |path: &Path| super::read(path, &LoadConfig::default());
        let folder = Folder::new(&[]);
        let error = read(folder.root()).err().unwrap().to_string();
        assert!(error.contains("Planetoid") && error.contains("edge list"), "{error}");
    }
}
