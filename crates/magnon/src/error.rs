//! `Error`: what any call of the library can fail with.

use crate::data::{DataError, SplitError, SyntheticError};
use crate::denoise::DenoiseError;
use crate::filter::FilterError;
use crate::graph::GraphError;
use crate::graph::generate::GenerateError;
use crate::matrix::SparseError;
use crate::model::ModelError;
use crate::nn::EngineError;
use crate::operator::{ChargeError, OperatorError};
use crate::run::{FileError, RunError};
use crate::spectrum::SpectrumError;
use crate::train::TrainError;

/// Why a call failed: the errors of the modules under one roof, so that a program that uses several of
/// them needs one type. The error of the module is the source, with the same words.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument that cannot be meant.
    #[error("{0}")]
    Argument(String),
    /// The call was stopped by its [`Progress`](crate::workflow::Progress).
    #[error("stopped")]
    Stopped,
    /// Files of data.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A description of generated data.
    #[error(transparent)]
    Synthetic(#[from] SyntheticError),
    /// A generator's values.
    #[error(transparent)]
    Generate(#[from] GenerateError),
    /// A split.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// Building a graph.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A sparse matrix.
    #[error(transparent)]
    Sparse(#[from] SparseError),
    /// A charge.
    #[error(transparent)]
    Charge(#[from] ChargeError),
    /// An operator.
    #[error(transparent)]
    Operator(#[from] OperatorError),
    /// A filter.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// A spectrum.
    #[error(transparent)]
    Spectrum(#[from] SpectrumError),
    /// Denoising.
    #[error(transparent)]
    Denoise(#[from] DenoiseError),
    /// The engine that products run on.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Training.
    #[error(transparent)]
    Train(TrainError),
    /// A file of a run.
    #[error(transparent)]
    File(#[from] FileError),
    /// A run that is used again.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl From<TrainError> for Error {
    fn from(error: TrainError) -> Self {
        match error {
            TrainError::Stopped(_) => Self::Stopped,
            error => Self::Train(error),
        }
    }
}
