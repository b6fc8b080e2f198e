//! The readers, one format a file.

pub(crate) mod adjacency_list;
pub(crate) mod adjlist;
pub(crate) mod authors;
pub(crate) mod cites_tab;
mod distinct;
mod edge_chunks;
mod edge_layout;
pub(crate) mod edge_list;
mod edge_names;
mod edge_scan;
mod edge_stops;
pub(crate) mod edge_stream;
pub(crate) mod edge_table;
pub(crate) mod features;
pub(crate) mod geom_gcn;
mod geom_gcn_nodes;
pub(crate) mod gexf;
pub(crate) mod gml;
pub(crate) mod gnn_benchmark;
pub(crate) mod graphml;
pub(crate) mod heterophilous;
pub(crate) mod linqs;
pub(crate) mod matrix_market;
mod name_scan;
mod name_table;
mod named_graph;
mod node_attributes;
mod node_ids;
pub(crate) mod node_link;
pub(crate) mod npy_graph;
pub(crate) mod ogb;
pub(crate) mod packed;
pub(crate) mod planetoid;
pub(crate) mod scipy_npz;
pub(crate) mod torch;
mod xml;

use super::DataError;
use super::numpy::Npz;
use super::store::Store;
use super::weights::not_a_weight;

/// The `.npz` files that may start a data set and whose members pass `fits`.
fn npz_with(store: &Store, fits: impl Fn(&Npz) -> bool) -> Vec<String> {
    let files = store.candidates().filter(|name| name.ends_with(".npz"));
    let fits = |name: &&str| Npz::open(store, name).is_ok_and(|npz| fits(&npz));
    files.filter(fits).map(str::to_owned).collect()
}

/// Files with one of the endings, or a file that was named and starts like the format.
fn with_endings(store: &Store, endings: &[&str], starts: &[u8]) -> Vec<String> {
    let fits = |name: &&str| {
        endings.iter().any(|end| name.ends_with(end))
            || (store.only() == Some(*name)
                && store.start(name).windows(starts.len()).any(|w| w == starts))
    };
    store.candidates().filter(fits).map(str::to_owned).collect()
}

/// A text as the weight of an edge.
fn weight_of(text: &str, file: &str) -> Result<f64, DataError> {
    let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| DataError::format(file, format!("an edge: {}", not_a_weight(text))))
}

/// A file was cut short: its text stops before what it holds is complete.
fn ends_early(text: &[u8], file: &str, problem: &str) -> DataError {
    let line = super::text::line_of(text, text.trim_ascii_end().len());
    let problem = format!("the file ends early: {problem}; copy or download it again");
    DataError::line(file, line, problem)
}
