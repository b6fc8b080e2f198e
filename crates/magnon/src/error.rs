//! `Error`: what any call of the library can fail with.

use crate::compute::EngineError;
use crate::data::{DataError, SplitError, SyntheticError};
use crate::denoise::DenoiseError;
use crate::filter::FilterError;
use crate::graph::GraphError;
use crate::graph::generate::GenerateError;
use crate::matrix::SparseError;
use crate::model::ModelError;
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
    /// A parameter that cannot be meant. A skin writes its name as its users do: as a flag, or as a keyword.
    #[error("{name} {problem}")]
    Parameter {
        /// The parameter, as the settings name it.
        name: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// The call was stopped by its [`Progress`](crate::progress::Progress).
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
    Filter(FilterError),
    /// A spectrum.
    #[error(transparent)]
    Spectrum(SpectrumError),
    /// Denoising.
    #[error(transparent)]
    Denoise(DenoiseError),
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
    /// A public data set that is fetched.
    #[cfg(feature = "fetch")]
    #[error(transparent)]
    Fetch(magnon_fetch::FetchError),
    /// A figure or a page.
    #[cfg(feature = "report")]
    #[error(transparent)]
    Figure(#[from] magnon_report::PlotError),
}

impl Error {
    /// A parameter that cannot be meant.
    pub(crate) fn parameter(name: &'static str, problem: impl Into<String>) -> Self {
        Self::Parameter { name, problem: problem.into() }
    }

    /// What the call failed at, in one word for programs: `argument`, `stopped`, or the module's.
    pub fn kind(&self) -> &'static str {
        match self {
            error if error.is_argument() => "argument",
            // Named once more for the compiler, which wants every variant.
            Self::Argument(_) | Self::Parameter { .. } => "argument",
            Self::Stopped => "stopped",
            Self::Data(_) | Self::Synthetic(_) | Self::Generate(_) => "data",
            Self::Split(_) => "split",
            Self::Graph(_) | Self::Sparse(_) => "graph",
            Self::Charge(_) | Self::Operator(_) => "operator",
            Self::Filter(_) => "filter",
            Self::Spectrum(_) => "spectrum",
            Self::Denoise(_) => "denoise",
            Self::Engine(_) => "device",
            Self::Model(_) => "model",
            Self::Train(_) => "training",
            Self::File(_) | Self::Run(_) => "run",
            #[cfg(feature = "fetch")]
            Self::Fetch(_) => "fetch",
            #[cfg(feature = "report")]
            Self::Figure(_) => "figure",
        }
    }

    /// Whether an argument is at fault, whatever the data: a value outside of its range, or one that has no use
    /// beside the others.
    pub fn is_argument(&self) -> bool {
        match self {
            Self::Argument(_) | Self::Parameter { .. } => true,
            Self::Filter(error) => error.is_argument(),
            Self::Spectrum(error) => matches!(error, SpectrumError::OutOfRange { .. }),
            Self::Denoise(error) => matches!(error, DenoiseError::Mu(_) | DenoiseError::Power(_)),
            _ => false,
        }
    }
}

impl From<FilterError> for Error {
    fn from(error: FilterError) -> Self {
        match error {
            FilterError::Stopped => Self::Stopped,
            error => Self::Filter(error),
        }
    }
}

impl From<SpectrumError> for Error {
    fn from(error: SpectrumError) -> Self {
        match error {
            SpectrumError::Stopped => Self::Stopped,
            error => Self::Spectrum(error),
        }
    }
}

impl From<DenoiseError> for Error {
    fn from(error: DenoiseError) -> Self {
        match error {
            DenoiseError::Solver(FilterError::Stopped) => Self::Stopped,
            error => Self::Denoise(error),
        }
    }
}

impl From<TrainError> for Error {
    fn from(error: TrainError) -> Self {
        match error {
            TrainError::Stopped(_)
            | TrainError::Model(ModelError::Filter(FilterError::Stopped)) => Self::Stopped,
            error => Self::Train(error),
        }
    }
}

#[cfg(feature = "fetch")]
impl From<magnon_fetch::FetchError> for Error {
    fn from(error: magnon_fetch::FetchError) -> Self {
        match error {
            magnon_fetch::FetchError::Cancelled { .. } => Self::Stopped,
            error => Self::Fetch(error),
        }
    }
}
