//! The operator of a graph, and what is asked of it.

use crate::arrays::{Cells, complex, dense, line, table};
use crate::dataset::{Dataset, json};
use crate::errors::Failure;
use crate::settings::Asked;
use magnon::data::Features;
use magnon::filter::Propagated;
use magnon::matrix::Matrix;
use magnon::operator::OperatorRows;
use magnon::settings::{OperatorSettings, PropagateSettings, ResponseSettings, SpectrumSettings};
use magnon::workflow::{
    BuiltOperator, density, frequency_response, operator, propagate_on, response, spectrum,
};
use num_complex::Complex64;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

/// The magnetic operator of a graph.
#[pyclass(frozen, module = "magnon._magnon")]
pub struct Operator {
    built: Arc<BuiltOperator>,
}

/// An array beside JSON.
type Told<'py> = (Option<Bound<'py, PyAny>>, String);

#[pymethods]
impl Operator {
    #[new]
    #[pyo3(signature = (dataset, keywords, watch=None))]
    fn new(
        py: Python<'_>,
        dataset: &Dataset,
        keywords: String,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let asked = Asked::<OperatorSettings>::read(py, &keywords, watch)?;
        let choice = asked.settings.choice().map_err(|error| Failure::from(error).exception(py))?;
        let data = dataset.inner.clone();
        let built = asked
            .call
            .run(py, move |watch| Ok(operator(&data, data.splits.first(), &choice, watch)?))?;
        Ok(Self { built: Arc::new(built) })
    }

    /// What is told of it, as JSON.
    fn report(&self) -> PyResult<String> {
        json(&self.built.report)
    }

    /// Values, columns and offsets of its compressed rows; real where all entries are.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<[Bound<'py, PyAny>; 3]> {
        let built = self.built.clone();
        let OperatorRows { offsets, columns, values } = py.detach(|| built.operator.rows());
        // scipy's own choice: 32-bit numbers where they suffice.
        let small = i32::try_from(columns.len()).is_ok();
        let (columns, offsets) = match small {
            true => (
                line::<i32>(py, columns.into_iter().map(|v| v as i32).collect()).into_any(),
                line::<i32>(py, offsets.into_iter().map(|at| at as i32).collect()).into_any(),
            ),
            false => (
                line::<i64>(py, columns.into_iter().map(i64::from).collect()).into_any(),
                line::<i64>(py, offsets.into_iter().map(|at| at as i64).collect()).into_any(),
            ),
        };
        let values = match built.operator.is_real() {
            true => line::<f64>(py, values.iter().map(|z| z.re).collect()).into_any(),
            false => line(py, values).into_any(),
        };
        Ok([values, columns, offsets])
    }

    /// Its product with a block of complex columns, in double precision; `adjoint` for Sᴴ.
    fn product<'py>(
        &self,
        py: Python<'py>,
        block: &Bound<'py, PyAny>,
        adjoint: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let block = complex(block, "the block")?;
        let nodes = self.built.operator.nodes();
        if block.rows() != nodes {
            let words =
                format!("the operator has {nodes} columns, the block {} rows", block.rows());
            return Err(Failure::data(words).exception(py));
        }
        let built = self.built.clone();
        let product = py.detach(move || multiply(&built, &block, adjoint));
        Ok(table(py, product)?.into_any())
    }

    /// h(S)X of the features of a data set, and what is told of it.
    #[pyo3(signature = (dataset, keywords, watch=None))]
    fn propagate<'py>(
        &self,
        py: Python<'py>,
        dataset: &Dataset,
        keywords: String,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<Told<'py>> {
        let asked = Asked::<PropagateSettings>::read(py, &keywords, watch)?;
        let (config, device) = (asked.settings.filter.config(), asked.settings.device);
        let (built, data) = (self.built.clone(), dataset.inner.clone());
        let done = asked.call.run(py, move |watch| {
            let none =
                || Failure::data(format!("{} has no features to filter; give some", data.name));
            let features = data.features.as_ref().ok_or_else(none)?;
            Ok(propagate_on(device, &built, features, &config, watch)?)
        })?;
        let cells = match done.features {
            Propagated::Real(matrix) => Cells::Single(matrix),
            Propagated::Complex(matrix) => Cells::ComplexSingle(matrix),
        };
        Ok((Some(cells.array(py)?), json(&done.report)?))
    }

    /// h(S)X of a block of columns, taken as they are, and what is told of it: all that a worker needs to know of X.
    #[pyo3(signature = (block, keywords, watch=None))]
    fn propagate_block<'py>(
        &self,
        py: Python<'py>,
        block: &Bound<'py, PyAny>,
        keywords: String,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<Told<'py>> {
        let asked = Asked::<PropagateSettings>::read(py, &keywords, watch)?;
        let config = asked.settings.filter.config();
        let features = Features::Dense(dense(block, "the block")?);
        let built = self.built.clone();
        let done = asked.call.run(py, move |watch| {
            Ok(magnon::workflow::propagate(&built, &features, &config, watch)?)
        })?;
        let cells = match done.features {
            Propagated::Real(matrix) => Cells::Single(matrix),
            Propagated::Complex(matrix) => Cells::ComplexSingle(matrix),
        };
        Ok((Some(cells.array(py)?), json(&done.report)?))
    }

    /// Eigenvalues, as JSON, and the eigenvectors where they are asked for.
    #[pyo3(signature = (keywords, watch=None))]
    fn spectrum<'py>(
        &self,
        py: Python<'py>,
        keywords: String,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<Told<'py>> {
        let asked = Asked::<SpectrumSettings>::read(py, &keywords, watch)?;
        let config = asked.settings.config(asked.seed());
        let config = config.map_err(|error| Failure::from(error).exception(py))?;
        let built = self.built.clone();
        let pairs = asked.call.run(py, move |watch| Ok(spectrum(&built, &config, watch)?))?;
        let vectors = pairs.vectors.map(|vectors| table(py, vectors)).transpose()?;
        Ok((vectors.map(Bound::into_any), json(&pairs.report)?))
    }

    /// The density of the eigenvalues, as JSON.
    #[pyo3(signature = (keywords, watch=None))]
    fn density(
        &self,
        py: Python<'_>,
        keywords: String,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let mut asked = Asked::<SpectrumSettings>::read(py, &keywords, watch)?;
        asked.settings.density = true;
        let config = asked.settings.density(asked.seed());
        let config = config.map_err(|error| Failure::from(error).exception(py))?;
        let built = self.built.clone();
        json(&asked.call.run(py, move |watch| Ok(density(&built, &config, watch)?))?)
    }

    /// The response of a filter over even points or over eigenvalues, as JSON.
    #[pyo3(signature = (keywords, watch=None))]
    fn response(
        &self,
        py: Python<'_>,
        keywords: String,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let asked = Asked::<ResponseSettings>::read(py, &keywords, watch)?;
        let (built, settings) = (self.built.clone(), &asked.settings);
        let refused = |error| Failure::from(error).exception(py);
        if settings.eigenvalues {
            let config = settings.frequencies().map_err(refused)?;
            let found =
                asked.call.run(py, move |watch| Ok(frequency_response(&built, &config, watch)?))?;
            return json(&found.report);
        }
        let config = settings.config().map_err(refused)?;
        json(&asked.call.run(py, move |_| Ok(response(&built, &config)?))?)
    }
}

/// Row by row from the compressed pattern, so that no entry is ever stored. S is Hermitian or similar to a
/// Hermitian matrix by a diagonal one; its adjoint is gathered from the columns.
fn multiply(built: &BuiltOperator, x: &Matrix<Complex64>, adjoint: bool) -> Matrix<Complex64> {
    let operator = &built.operator;
    let (nodes, cols) = (operator.nodes(), x.cols());
    let mut out = Matrix::zeros(nodes, cols);
    if cols == 0 {
        return out;
    }
    if adjoint && !operator.is_hermitian() {
        for u in 0..nodes {
            for (v, entry) in operator.row(u) {
                let place = &mut out.as_mut_slice()[v * cols..(v + 1) * cols];
                place.iter_mut().zip(x.row(u)).for_each(|(sum, z)| *sum += entry.conj() * z);
            }
        }
        return out;
    }
    out.as_mut_slice().par_chunks_mut(cols).enumerate().for_each(|(u, place)| {
        for (v, entry) in operator.row(u) {
            place.iter_mut().zip(x.row(v)).for_each(|(sum, z)| *sum += entry * z);
        }
    });
    out
}
