//! Nodes as points.

use crate::arrays::table;
use crate::dataset::{Dataset, json};
use crate::errors::Failure;
use crate::flags::{Flags, flags_of};
use crate::page::rendered;
use magnon::workflow::{self, figures};
use pyo3::prelude::*;

/// Points, phases, what is told of them as JSON, and the map as a picture.
type Mapped<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, String, (String, String));

/// Maps the nodes of a graph by eigenvectors of its magnetic Laplacian.
#[pyfunction]
#[pyo3(signature = (dataset, flags, watch=None))]
pub fn eigenmap<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    flags: Vec<String>,
    watch: Option<Py<PyAny>>,
) -> PyResult<Mapped<'py>> {
    let flags = Flags::parse(py, "eigenmap", flags, watch)?;
    let args = flags_of!(flags, Eigenmap);
    let refused = |error| Failure::command(error).exception(py);
    let config = args.config(&flags.common).map_err(refused)?;
    let choice = args.operator.choice().map_err(refused)?;
    let data = dataset.inner.clone();
    let (mapped, picture) = flags.call.run(py, move |watch| {
        let mapped = workflow::eigenmap(&data, &choice, &config, watch)?;
        let picture = rendered(&figures::eigenmap(&mapped, &data))?;
        Ok((mapped, picture))
    })?;
    let told = json(&mapped.report)?;
    let (points, phases) = (table(py, mapped.map.points)?, table(py, mapped.map.phases)?);
    Ok((points.into_any(), phases.into_any(), told, picture))
}
