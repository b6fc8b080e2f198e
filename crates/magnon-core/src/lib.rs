//! The mathematics of Magnon: directed graphs, their magnetic operators, filters and spectra, and the kernels that all of
//! this runs on. No files, no terminal, no training; the crate `magnon` has those, and all that is here.
//!
//! A module uses those that come before it in this list, and none that comes after.
//!
//! | module | contains |
//! |---|---|
//! | [`progress`] | `Progress`, which watches long calls and stops them |
//! | [`matrix`] | dense and sparse matrices of node features |
//! | [`compute`] | devices, buffers, kernels, fixed linear maps |
//! | [`graph`] | `DiGraph`, its builder, measures, generators |
//! | [`operator`] | `Charge`, `OperatorConfig`, `MagneticOperator` |
//! | [`cycles`] | strong components, cycle lengths, flux, the charges that they suggest |
//! | [`filter`] | one filter per file, `propagate` |
//! | [`spectrum`] | eigenvalues, densities, eigenmaps, responses |
//! | [`denoise`] | denoising of signals |

mod compressed;
pub mod compute;
pub mod cycles;
pub mod denoise;
pub mod filter;
pub mod graph;
pub mod matrix;
#[doc(hidden)]
pub mod memory;
pub mod operator;
pub mod progress;
pub mod spectrum;

pub use compressed::RowsError;
