//! Smoother signals.

use crate::arrays::{Cells, complex};
use crate::dataset::{Dataset, json};
use crate::errors::Failure;
use crate::flags::{Flags, flags_of};
use magnon::workflow::{self, Signal};
use pyo3::prelude::*;

/// A denoised signal, and what is told of it as JSON; without a signal, the features are denoised.
#[pyfunction]
#[pyo3(signature = (dataset, signal, flags, watch=None))]
pub fn denoise<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    signal: Option<&Bound<'py, PyAny>>,
    flags: Vec<String>,
    watch: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, String)> {
    let flags = Flags::parse(py, "denoise", flags, watch)?;
    let args = flags_of!(flags, Denoise);
    let refused = |error| Failure::command(error).exception(py);
    let (config, choice) =
        (args.config().map_err(refused)?, args.operator.choice().map_err(refused)?);
    let signal = signal.map(|signal| complex(signal, "the signal")).transpose()?;
    if let Some(signal) = &signal
        && let Some(at) = signal.as_slice().iter().position(|z| !z.is_finite())
    {
        let (row, column) = (at / signal.cols(), at % signal.cols());
        let words = format!("the signal: row {row}, column {column} is not a number");
        return Err(Failure::data(words).exception(py));
    }
    let data = dataset.inner.clone();
    let done = flags.call.run(py, move |watch| {
        Ok(workflow::denoise(&data, signal.as_ref(), &choice, &config, watch)?)
    })?;
    let cells = match done.signal {
        Signal::Real(matrix) => Cells::Double(matrix),
        Signal::Complex(matrix) => Cells::ComplexDouble(matrix),
    };
    Ok((cells.array(py)?, json(&done.report)?))
}
