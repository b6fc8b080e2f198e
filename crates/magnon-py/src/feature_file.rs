//! Features that stay in their file and are read a block of columns at a time.

use crate::arrays::table;
use crate::dataset::Dataset;
use crate::errors::Failure;
use crate::settings::Asked;
use crate::task::Call;
use magnon::data::{self, Features};
use magnon::settings::DataSettings;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// A table of features in a file, a row for each node of a graph.
#[pyclass(frozen, module = "magnon._magnon")]
pub struct FeatureFile {
    inner: Arc<data::FeatureFile>,
}

#[pymethods]
impl FeatureFile {
    /// Opens a file beside the graph of a data set, with the keywords of tables that have ids.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, dataset: &Dataset, keywords: String) -> PyResult<Self> {
        let asked = Asked::<DataSettings>::read(py, &keywords, None)?;
        let config = asked.settings.config().map_err(|error| Failure::from(error).exception(py))?;
        let beside = dataset.inner.clone();
        let opened = asked
            .call
            .run(py, move |_| Ok(data::FeatureFile::open(&path, &beside, &config.load)?))?;
        Ok(Self { inner: Arc::new(opened) })
    }

    /// Whether columns of a file can be read apart, by the ending of its name.
    #[staticmethod]
    fn is_one(path: PathBuf) -> bool {
        data::FeatureFile::is_one(&path)
    }

    /// Nodes of the graph and columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.inner.rows(), self.inner.cols())
    }

    /// What there is to say about the file.
    fn remarks(&self) -> Vec<String> {
        self.inner.remarks().to_vec()
    }

    /// The columns from one on to the one before another, in single precision.
    fn columns<'py>(
        &self,
        py: Python<'py>,
        first: usize,
        end: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (inner, cols) = (self.inner.clone(), self.inner.cols());
        if first > end || end > cols {
            let words = format!("there are no columns {first} to {end} of {cols}");
            return Err(Failure::argument(words).exception(py));
        }
        let read = move |_: &_| Ok(inner.columns(first..end, &Default::default())?);
        match Call::default().run(py, read)? {
            Features::Dense(matrix) => Ok(table(py, matrix)?.into_any()),
            Features::Sparse(_) => Err(Failure::data("columns of a file are dense").exception(py)),
        }
    }
}
