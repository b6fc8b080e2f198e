//! What can go wrong in training.

use crate::model::ModelError;
use magnon_core::compute::EngineError;
use magnon_core::operator::OperatorError;

/// Why training failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
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
    /// The model cannot be built.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The operator cannot be built.
    #[error(transparent)]
    Operator(#[from] OperatorError),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A setting that the model does not take.
    #[error("{model} takes no {what}; {advice}")]
    Unused {
        /// The model.
        model: &'static str,
        /// What was given.
        what: String,
        /// What to do.
        advice: String,
    },
    /// The data lack something.
    #[error("{data} has no {what}; {advice}")]
    Missing {
        /// The data set.
        data: String,
        /// What is missing.
        what: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// A part of the split without a labelled node.
    #[error("the split has no labelled {part} node; choose another, such as 60/20/20")]
    EmptyPart {
        /// The part.
        part: &'static str,
    },
    /// Only one class to tell apart.
    #[error("the labels have {0} class; there is nothing to tell apart")]
    OneClass(usize),
    /// The loss is no number.
    #[error(
        "the {which} loss is {value} at epoch {epoch}; lower the learning rate (now {rate:e}), clip \
         the gradient, or scale the features"
    )]
    NotFinite {
        /// Training or validation.
        which: &'static str,
        /// The loss.
        value: f64,
        /// When.
        epoch: usize,
        /// The learning rate then.
        rate: f64,
    },
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
    /// The split that was asked for does not exist.
    #[error(transparent)]
    Split(#[from] magnon_data::SplitError),
    /// A checkpoint could not be written or read.
    #[error(transparent)]
    Checkpoint(#[from] crate::tensors::FileError),
    /// The weights do not fit.
    #[error(
        "{runs} runs at a time with {numbers} weights each, and their moments, need {bytes} bytes, \
         and there is no memory for them; use fewer hidden units, or fewer threads"
    )]
    OutOfMemory {
        /// Runs at a time.
        runs: usize,
        /// Weights of each.
        numbers: usize,
        /// Bytes in all.
        bytes: usize,
    },
    /// Training was interrupted.
    #[error("stopped at epoch {0}")]
    Stopped(usize),
}
