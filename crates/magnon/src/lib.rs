//! Magnon learns on directed graphs through the magnetic Laplacian: edge direction is kept as a
//! complex phase, node features are filtered with it, and a small complex network learns from them.
//!
//! Data flow one way: [`data`] reads files into a [`Dataset`](data::Dataset) with a
//! [`DiGraph`](graph::DiGraph), [`cycles`] finds the charges that suit it, [`operator`] turns the graph into a
//! [`MagneticOperator`](operator::MagneticOperator), and [`filter`] applies a function of that
//! operator to the features. [`spectrum`] asks for the operator's eigenvalues, and [`denoise`] smooths
//! signals with it. [`nn`] has the machinery of networks, [`model`] the models, [`train`] fits them, and
//! [`run`] keeps what was learnt and uses it again. [`workflow`] has all that in single calls, as the command
//! line makes them.
//!
//! Two default features add to it: `report` draws figures and HTML pages of results, and `fetch` downloads public data
//! sets by name.
//!
//! The folder `examples` has two small programs: `filter` reads a graph, asks its cycles for a charge and filters its
//! features; `train` trains a model, keeps it and predicts with it.

mod error;
pub mod settings;
pub mod workflow;

pub use error::Error;
pub use magnon_core::{
    RowsError, compute, cycles, denoise, filter, graph, matrix, operator, progress, spectrum,
};
pub use magnon_data as data;
pub(crate) use magnon_data::disk;
#[cfg(feature = "fetch")]
pub use magnon_fetch as fetch;
pub use magnon_learn::{model, nn, run, train};
#[cfg(feature = "report")]
pub use magnon_report as report;

/// The examples of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
