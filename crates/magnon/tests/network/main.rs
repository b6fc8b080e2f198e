//! Tests of the tape, the models, training and prediction. They are one program: what is generic over the
//! engine is compiled once for all of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bank;
#[cfg(feature = "cuda")]
mod cuda;
mod gradients;
mod models;
mod prediction;
#[path = "../real_data/mod.rs"]
mod real_data;
mod run_files;
mod steps;
mod training;
#[path = "../training_common/mod.rs"]
mod training_common;
mod training_threads;
