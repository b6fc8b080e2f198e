//! What can go wrong with a run folder.

use crate::data::DataError;
use std::path::PathBuf;

/// Why a run folder or one of its files cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The file system said no.
    #[error(transparent)]
    Write(#[from] DataError),
    /// A file cannot be read.
    #[error("{path}: cannot read: {reason}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's words.
        reason: std::io::Error,
    },
    /// A file is not what it should be.
    #[error("{path}: {problem}", path = path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A file of another format version.
    #[error(
        "{path}: it is of format version {found}, and this magnon reads version {known}; train \
         the model again, or use the magnon that wrote it",
        path = path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: String,
        /// Ours.
        known: &'static str,
    },
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
