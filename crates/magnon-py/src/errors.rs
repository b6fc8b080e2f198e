//! From errors of the library to exceptions of the package, which are written in Python.

use magnon::Error;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// Why a call failed, before it becomes an exception.
#[derive(Debug)]
pub enum Failure {
    /// An error of the library.
    Library(Error),
    /// The name of an exception and what it says.
    Named(&'static str, String),
}

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Library(error.into())
    }
}

impl Failure {
    /// An argument that cannot be meant.
    pub fn argument(words: impl ToString) -> Self {
        Self::Named("ArgumentError", words.to_string())
    }

    /// Data that cannot be used.
    pub fn data(words: impl ToString) -> Self {
        Self::Named("DataError", words.to_string())
    }

    /// What the command line refuses or fails with.
    pub fn command(error: anyhow::Error) -> Self {
        match error.downcast::<Error>() {
            Ok(error) => Self::Library(error),
            Err(error) => Self::argument(format!("{error:#}")),
        }
    }

    /// The exception, with the words of the error.
    pub fn exception(self, py: Python<'_>) -> PyErr {
        let (name, words) = match self {
            Self::Library(error) => (name(&error), error.to_string()),
            Self::Named(name, words) => (name, words),
        };
        match class(py, name).and_then(|class| class.call1((words,))) {
            Ok(exception) => PyErr::from_value(exception),
            Err(error) => error,
        }
    }
}

/// The one match from errors to exceptions.
fn name(error: &Error) -> &'static str {
    match error {
        error if error.is_argument() => "ArgumentError",
        Error::Stopped => "Stopped",
        Error::Data(_) | Error::Synthetic(_) | Error::Generate(_) => "DataError",
        Error::Split(_) => "SplitError",
        Error::Graph(_) | Error::Sparse(_) => "GraphError",
        Error::Charge(_) | Error::Operator(_) => "OperatorError",
        Error::Filter(_) => "FilterError",
        Error::Spectrum(_) => "SpectrumError",
        Error::Denoise(_) => "DenoiseError",
        Error::Model(_) => "ModelError",
        Error::Train(_) => "TrainError",
        Error::File(_) | Error::Run(_) => "RunError",
        _ => "MagnonError",
    }
}

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    Ok(py.import("magnon.errors")?.getattr(name)?.cast_into::<PyType>()?)
}
