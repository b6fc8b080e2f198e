//! Smoother signals.

use crate::arrays::{Cells, complex};
use crate::dataset::{Dataset, json};
use crate::errors::Failure;
use crate::settings::Asked;
use magnon::settings::DenoiseSettings;
use magnon::workflow::{self, Signal};
use pyo3::prelude::*;

/// A denoised signal, and what is told of it as JSON; without a signal, the features are denoised.
#[pyfunction]
#[pyo3(signature = (dataset, signal, keywords, watch=None))]
pub fn denoise<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    signal: Option<&Bound<'py, PyAny>>,
    keywords: String,
    watch: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, String)> {
    let asked = Asked::<DenoiseSettings>::read(py, &keywords, watch)?;
    let refused = |error| Failure::from(error).exception(py);
    let config = asked.settings.config().map_err(refused)?;
    let choice = asked.settings.operator.choice().map_err(refused)?;
    let signal = signal.map(|signal| complex(signal, "the signal")).transpose()?;
    if let Some(signal) = &signal
        && let Some(at) = signal.as_slice().iter().position(|z| !z.is_finite())
    {
        let (row, column) = (at / signal.cols(), at % signal.cols());
        let words = format!("the signal: row {row}, column {column} is not a number");
        return Err(Failure::data(words).exception(py));
    }
    let data = dataset.inner.clone();
    let done = asked.call.run(py, move |watch| {
        Ok(workflow::denoise(&data, signal.as_ref(), &choice, &config, watch)?)
    })?;
    let cells = match done.signal {
        Signal::Real(matrix) => Cells::Double(matrix),
        Signal::Complex(matrix) => Cells::ComplexDouble(matrix),
    };
    Ok((cells.array(py)?, json(&done.report)?))
}
