//! NumPy's files: arrays (`.npy`), archives of arrays (`.npz`) and scipy's sparse matrices in them.

mod array;
mod decode;
mod dtype;
mod header;
mod npz;
mod sparse;

pub use array::Array;
pub(crate) use decode::{check_real, singles};
pub use dtype::{DType, Kind};
pub use header::Header;
pub(crate) use npz::Npz;
pub(crate) use sparse::{Axis, Sparse};
