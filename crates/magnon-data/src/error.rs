//! What can be wrong with data.

use super::SplitError;
use magnon_core::graph::GraphError;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

/// Why a data set could not be read or a file not written. The words of an error say all of it;
/// there is no further source behind it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The file system said no.
    #[error("{path}: cannot {action}: {reason}{hint}", path = path.display(), hint = room_hint(reason))]
    Io {
        /// The file or folder at fault.
        path: PathBuf,
        /// What was tried: `read`, `write`, `list`.
        action: &'static str,
        /// The system's words.
        reason: io::Error,
    },
    /// The content is not what the format allows.
    #[error("{file}: {problem}")]
    Format {
        /// The file, and the member inside it where there is one.
        file: String,
        /// What is wrong and what to do about it.
        problem: String,
    },
    /// The content is wrong at one line of a text file.
    #[error("{file}, line {line}: {problem}")]
    Line {
        /// The file, and the member inside it where there is one.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong and what to do about it.
        problem: String,
    },
    /// Nothing in the folder or file looks like a data set.
    #[error("{path}: {problem}", path = path.display())]
    Unknown {
        /// The file or folder.
        path: PathBuf,
        /// What was looked for, or which of several was meant.
        problem: String,
    },
    /// The edges make no graph.
    #[error("{file}: {reason}")]
    Graph {
        /// The file the edges came from.
        file: String,
        /// What is wrong with the edges.
        reason: GraphError,
    },
    /// The split asked for cannot be had.
    #[error(transparent)]
    Split(#[from] SplitError),
}

/// What to do where a disk is full.
fn room_hint(reason: &io::Error) -> &'static str {
    match reason.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "; free some space on that disk and call again, or name an output on another disk"
        }
        _ => "",
    }
}

impl DataError {
    /// A [`DataError::Format`].
    pub fn format(file: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Format { file: file.into(), problem: problem.into() }
    }

    /// A [`DataError::Line`].
    pub fn line(file: impl Into<String>, line: usize, problem: impl Into<String>) -> Self {
        Self::Line { file: file.into(), line, problem: problem.into() }
    }
}
