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

/// The exceptions of the kinds of errors; any other is a `MagnonError`.
const EXCEPTIONS: [(&str, &str); 13] = [
    ("argument", "ArgumentError"),
    ("stopped", "Stopped"),
    ("data", "DataError"),
    ("fetch", "FetchError"),
    ("split", "SplitError"),
    ("graph", "GraphError"),
    ("operator", "OperatorError"),
    ("filter", "FilterError"),
    ("spectrum", "SpectrumError"),
    ("denoise", "DenoiseError"),
    ("model", "ModelError"),
    ("training", "TrainError"),
    ("run", "RunError"),
];

fn name(error: &Error) -> &'static str {
    let found = EXCEPTIONS.iter().find(|(kind, _)| *kind == error.kind());
    found.map_or("MagnonError", |(_, exception)| exception)
}

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    Ok(py.import("magnon.errors")?.getattr(name)?.cast_into::<PyType>()?)
}
