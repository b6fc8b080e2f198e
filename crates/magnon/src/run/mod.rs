//! Run folders: what was asked for, what was learnt, and how to use it again.

mod error;
mod folder;
mod known;
mod model_file;
mod predict;
mod reach;

pub use crate::tensors::FileError;
pub use crate::train::{DataConfig, RunConfig, RunsConfig, Vary};
pub use error::RunError;
pub use folder::RunFolder;
pub use known::Known;
pub use model_file::SavedModel;
pub use predict::{Prediction, predict};
