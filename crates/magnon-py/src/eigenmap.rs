//! Nodes as points.

use crate::arrays::table;
use crate::dataset::{Dataset, json};
use crate::errors::Failure;
use crate::page::rendered;
use crate::settings::Asked;
use magnon::settings::EigenmapSettings;
use magnon::workflow::{self, figures};
use pyo3::prelude::*;

/// Points, phases, what is told of them as JSON, and the map as a picture.
type Mapped<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, String, (String, String));

/// Maps the nodes of a graph by eigenvectors of its magnetic Laplacian.
#[pyfunction]
#[pyo3(signature = (dataset, keywords, watch=None))]
pub fn eigenmap<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    keywords: String,
    watch: Option<Py<PyAny>>,
) -> PyResult<Mapped<'py>> {
    let asked = Asked::<EigenmapSettings>::read(py, &keywords, watch)?;
    let refused = |error| Failure::from(error).exception(py);
    let config = asked.settings.config(asked.seed()).map_err(refused)?;
    let choice = asked.settings.operator.choice().map_err(refused)?;
    let data = dataset.inner.clone();
    let (mapped, picture) = asked.call.run(py, move |watch| {
        let mapped = workflow::eigenmap(&data, &choice, &config, watch)?;
        let picture = rendered(&figures::eigenmap(&mapped, &data))?;
        Ok((mapped, picture))
    })?;
    let told = json(&mapped.report)?;
    let (points, phases) = (table(py, mapped.map.points)?, table(py, mapped.map.phases)?);
    Ok((points.into_any(), phases.into_any(), told, picture))
}
