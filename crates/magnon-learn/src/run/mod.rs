//! Runs that are kept: folders, saved models, and predictions with them.

mod cache;
mod checksums;
mod error;
#[cfg(test)]
mod fault_tests;
mod folder;
mod lock;
mod model_file;
mod predict;
mod reach;
mod under_way;

pub use crate::tensors::FileError;
pub use cache::PredictionCache;
pub use error::RunError;
pub use folder::RunFolder;
pub use model_file::SavedModel;
pub use predict::{Prediction, predict, predict_on};
