//! Writing results: NumPy arrays, scipy matrices, csv, and whole data sets.
//!
//! Every file is written beside its target and renamed, so that nothing half-written stays; a device or a pipe is
//! written to as it is.

mod atomic;
mod csv;
mod dataset;
mod npy;
mod npz;
mod scipy_npz;

pub use crate::disk::{is_stdout, remove_unfinished};
pub use atomic::{Prepared, write_own, write_seekable};
pub use atomic::{check_output, file_in, is_stream, write_atomic};
pub use csv::{csv, table};
pub use csv::{quoted, write_csv, write_edges, write_indices, write_labels};
pub use dataset::{write_dataset, write_graph};
pub use npy::{Element, write_npy, write_npy_rows};
pub use npz::{NpzArrays, write_npz};
pub use scipy_npz::{Compressed, Scalar, write_scipy_npz};
