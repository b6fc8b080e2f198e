//! What can be trained.

use crate::dataset::json;
use crate::errors::Failure;
use magnon::workflow;
use pyo3::prelude::*;

/// All models, or one with its settings, as JSON.
#[pyfunction]
#[pyo3(signature = (name=None))]
pub fn models(py: Python<'_>, name: Option<&str>) -> PyResult<String> {
    let Some(name) = name else { return json(&workflow::models()) };
    let found = workflow::model(name);
    json(&found.map_err(|error| Failure::argument(error).exception(py))?)
}
