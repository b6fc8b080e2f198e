//! Writing results: NumPy arrays, scipy matrices, csv, and whole data sets.
//!
//! Every file is written beside its target and renamed, so that nothing half-written stays.

mod atomic;
mod csv;
mod dataset;
mod npy;
mod npz;
mod scipy_npz;

pub(crate) use atomic::{Prepared, WriteSeek, enlist, is_temporary, strike};
pub use atomic::{remove_unfinished, write_atomic};
pub(crate) use csv::csv;
pub use csv::{quoted, write_csv, write_edges, write_indices, write_labels};
pub use dataset::{write_dataset, write_graph};
pub use npy::{Element, write_npy, write_npy_rows};
pub use npz::{NpzArrays, write_npz};
pub use scipy_npz::{Compressed, Scalar, write_scipy_npz};
