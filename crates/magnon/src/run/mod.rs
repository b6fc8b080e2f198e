//! Runs that are kept: folders, saved models, and predictions with them.

mod cache;
mod error;
mod folder;
mod model_file;
mod predict;
mod reach;

pub use crate::tensors::FileError;
pub use cache::PredictionCache;
pub use error::RunError;
pub use folder::RunFolder;
pub use model_file::SavedModel;
pub use predict::{Prediction, predict};
