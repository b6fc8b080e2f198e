//! The readers, one format a file.

pub(crate) mod adjacency_list;
pub(crate) mod authors;
pub(crate) mod cites_tab;
mod edge_layout;
pub(crate) mod edge_list;
mod edge_names;
mod edge_scan;
mod edge_stops;
pub(crate) mod features;
pub(crate) mod geom_gcn;
mod geom_gcn_nodes;
pub(crate) mod gnn_benchmark;
pub(crate) mod heterophilous;
pub(crate) mod linqs;
pub(crate) mod matrix_market;
mod node_ids;
pub(crate) mod npy_graph;
pub(crate) mod ogb;
pub(crate) mod planetoid;
pub(crate) mod scipy_npz;

use super::numpy::Npz;
use super::store::Store;

/// The `.npz` files that may start a data set and whose members pass `fits`.
fn npz_with(store: &Store, fits: impl Fn(&Npz) -> bool) -> Vec<String> {
    let files = store.candidates().filter(|name| name.ends_with(".npz"));
    let fits = |name: &&str| Npz::open(store, name).is_ok_and(|npz| fits(&npz));
    files.filter(fits).map(str::to_owned).collect()
}
