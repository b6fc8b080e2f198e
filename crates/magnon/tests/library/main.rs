//! Tests of graphs, operators, filters, data and the workflow, as one program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod channels;
mod charges;
mod compare;
mod cycles;
#[cfg(feature = "columnar")]
mod data_columnar;
#[path = "../data_fixtures/mod.rs"]
mod data_fixtures;
mod data_hostile;
mod data_real;
mod data_tables;
mod halo;
mod large;
mod laws;
mod packed;
#[path = "../real_data/mod.rs"]
mod real_data;
mod threads;
mod tune;
mod workflow_calls;
