//! What can go wrong with a model.

use magnon_core::compute::EngineError;
use magnon_core::filter::FilterError;
use magnon_core::operator::OperatorError;

/// Why a model cannot be built or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A value of the configuration makes no sense.
    #[error("the {name} is {value}; it must be {range}")]
    OutOfRange {
        /// What.
        name: &'static str,
        /// The value.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
    /// The pass is left open, and there are no labels to decide it.
    #[error("--pass auto needs labels; give --pass low or --pass high")]
    PassNeedsLabels,
    /// The pass is left open, and no nodes are for training.
    #[error("--pass auto needs a split; give one with --split 60/20/20")]
    PassNeedsSplit,
    /// There is no such model.
    #[error("there is no model '{0}'; {hint}", hint = super::names_hint(.0))]
    Unknown(String),
    /// The model has no such setting.
    #[error("{model} has no setting '{key}'; it takes {keys}")]
    UnknownKey {
        /// The model.
        model: &'static str,
        /// What was given.
        key: String,
        /// What it takes.
        keys: String,
    },
    /// A setting of the wrong kind.
    #[error("the setting '{key}' of {model} cannot be {value}: {problem}")]
    BadValue {
        /// The model.
        model: &'static str,
        /// Which.
        key: String,
        /// What was given.
        value: String,
        /// What is wrong.
        problem: String,
    },
    /// The model needs something that was not given.
    #[error("{model} needs {what}, and none was given")]
    Missing {
        /// The model.
        model: &'static str,
        /// What.
        what: &'static str,
    },
    /// The model cannot do what is asked.
    #[error("{0}")]
    Unsupported(String),
    /// Another model has the name.
    #[error("there is a model called {0} already; give yours another name")]
    Taken(&'static str),
    /// Filtered features that do not belong to the data.
    #[error("{what} has {found}, but {expected} are needed")]
    Mismatch {
        /// Which file or matrix.
        what: String,
        /// What was found.
        found: String,
        /// What is needed.
        expected: String,
    },
    /// Nothing to measure homophily on.
    #[error(
        "no training node has a training neighbour, so homophily is unknown; choose the low or the \
         high pass"
    )]
    NoHomophily,
    /// The operator cannot be built.
    #[error(transparent)]
    Operator(#[from] OperatorError),
    /// The filter cannot be built or applied.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Filtered channels that memory has no room for cannot be kept on disk.
    #[error(
        "the filtered channels need {bytes} bytes in {}: {reason}; free some, set TMPDIR to another folder, or \
         take fewer channels",
        folder.display()
    )]
    Disk {
        /// The folder of temporary files.
        folder: std::path::PathBuf,
        /// Bytes that they need there while they are made.
        bytes: u64,
        /// Why not.
        reason: std::io::Error,
    },
}

/// Refuses a width that cannot be meant.
pub(super) fn check_width(name: &'static str, value: usize) -> Result<(), ModelError> {
    match value {
        1..=65_536 => Ok(()),
        _ => Err(ModelError::OutOfRange { name, value: value as f64, range: "from 1 to 65536" }),
    }
}

/// Refuses a count that cannot be meant.
pub(super) fn check_count(
    name: &'static str,
    value: usize,
    most: usize,
    range: &'static str,
) -> Result<(), ModelError> {
    match (1..=most).contains(&value) {
        true => Ok(()),
        false => Err(ModelError::OutOfRange { name, value: value as f64, range }),
    }
}

/// Refuses a rate of dropout that cannot be meant.
pub(super) fn check_dropout(value: f64) -> Result<(), ModelError> {
    match (0.0..1.0).contains(&value) {
        true => Ok(()),
        false => Err(ModelError::OutOfRange {
            name: "dropout rate",
            value,
            range: "at least 0 and below 1",
        }),
    }
}

/// Refuses a share that cannot be meant.
pub(super) fn check_share(name: &'static str, value: f64) -> Result<(), ModelError> {
    match (0.0..=1.0).contains(&value) {
        true => Ok(()),
        false => Err(ModelError::OutOfRange { name, value, range: "from 0 to 1" }),
    }
}
