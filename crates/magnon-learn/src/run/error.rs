//! What can go wrong with a run that is used again.

use crate::tensors::FileError;
use crate::train::TrainError;

/// Why a run cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// One of its files.
    #[error(transparent)]
    File(#[from] FileError),
    /// The operator, the filter or the model cannot be built.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// Data that the model does not fit.
    #[error("the model was trained on {expected}, but {data} has {found}; {advice}")]
    Unfit {
        /// The data set.
        data: String,
        /// What the model knows.
        expected: String,
        /// What the data have.
        found: String,
        /// What to do.
        advice: &'static str,
    },
}
