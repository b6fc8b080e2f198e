//! The operator of a graph, and what is asked of it.

use crate::arrays::{Cells, complex, dense, line, table};
use crate::dataset::{Dataset, json};
use crate::errors::Failure;
use crate::flags::{Flags, flags_of};
use magnon::data::Features;
use magnon::filter::Propagated;
use magnon::matrix::Matrix;
use magnon::operator::OperatorRows;
use magnon::spectrum::{DensityConfig, SpectrumConfig};
use magnon::workflow::{
    BuiltOperator, FrequencyConfig, ResponseConfig, density, frequency_response, operator,
    propagate_on, response, spectrum,
};
use magnon_cli::args::OperatorArgs;
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

/// Builds the operator that the flags of a command describe.
fn build(
    py: Python<'_>,
    dataset: &Dataset,
    args: &OperatorArgs,
    flags: &Flags,
) -> PyResult<Operator> {
    let choice = args.choice().map_err(|error| Failure::command(error).exception(py))?;
    let data = dataset.inner.clone();
    let built = flags
        .call
        .run(py, move |watch| Ok(operator(&data, data.splits.first(), &choice, watch)?))?;
    Ok(Operator { built: Arc::new(built) })
}

#[pymethods]
impl Operator {
    #[new]
    #[pyo3(signature = (dataset, flags, watch=None))]
    fn new(
        py: Python<'_>,
        dataset: &Dataset,
        flags: Vec<String>,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let flags = Flags::parse(py, "operator", flags, watch)?;
        build(py, dataset, &flags_of!(flags, Operator).operator, &flags)
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
    #[pyo3(signature = (dataset, flags, watch=None))]
    fn propagate<'py>(
        &self,
        py: Python<'py>,
        dataset: &Dataset,
        flags: Vec<String>,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<Told<'py>> {
        let flags = Flags::parse(py, "propagate", flags, watch)?;
        let args = flags_of!(flags, Propagate);
        let (config, device) = (args.filter.config(), args.device);
        let (built, data) = (self.built.clone(), dataset.inner.clone());
        let done = flags.call.run(py, move |watch| {
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
    #[pyo3(signature = (block, flags, watch=None))]
    fn propagate_block<'py>(
        &self,
        py: Python<'py>,
        block: &Bound<'py, PyAny>,
        flags: Vec<String>,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<Told<'py>> {
        let flags = Flags::parse(py, "propagate", flags, watch)?;
        let config = flags_of!(flags, Propagate).filter.config();
        let features = Features::Dense(dense(block, "the block")?);
        let built = self.built.clone();
        let done = flags.call.run(py, move |watch| {
            Ok(magnon::workflow::propagate(&built, &features, &config, watch)?)
        })?;
        let cells = match done.features {
            Propagated::Real(matrix) => Cells::Single(matrix),
            Propagated::Complex(matrix) => Cells::ComplexSingle(matrix),
        };
        Ok((Some(cells.array(py)?), json(&done.report)?))
    }

    /// Eigenvalues, as JSON, and the eigenvectors where they are asked for.
    #[pyo3(signature = (flags, watch=None))]
    fn spectrum<'py>(
        &self,
        py: Python<'py>,
        flags: Vec<String>,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<Told<'py>> {
        let flags = Flags::parse(py, "spectrum", flags, watch)?;
        let config = flags_of!(flags, Spectrum).config(&flags.common);
        let config = config.map_err(|error| Failure::command(error).exception(py))?;
        let built = self.built.clone();
        let pairs = flags.call.run(py, move |watch| {
            config.check()?;
            Ok(spectrum(&built, &config, watch)?)
        })?;
        let vectors = pairs.vectors.map(|vectors| table(py, vectors)).transpose()?;
        Ok((vectors.map(Bound::into_any), json(&pairs.report)?))
    }

    /// The density of the eigenvalues, as JSON.
    #[pyo3(signature = (flags, watch=None))]
    fn density(
        &self,
        py: Python<'_>,
        mut flags: Vec<String>,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        flags.push("--density".to_owned());
        let flags = Flags::parse(py, "spectrum", flags, watch)?;
        let args = flags_of!(flags, Spectrum);
        let config = DensityConfig {
            moments: args.moments,
            probes: args.probes,
            points: args.points.unwrap_or(DensityConfig::default().points),
            seed: flags.common.seed(),
            device: args.solver.device,
        };
        let built = self.built.clone();
        json(&flags.call.run(py, move |watch| Ok(density(&built, &config, watch)?))?)
    }

    /// The response of a filter over even points or over eigenvalues, as JSON.
    #[pyo3(signature = (flags, watch=None))]
    fn response(
        &self,
        py: Python<'_>,
        flags: Vec<String>,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let flags = Flags::parse(py, "response", flags, watch)?;
        let args = flags_of!(flags, Response);
        let (built, filter) = (self.built.clone(), args.filter.config());
        if args.eigenvalues {
            let memory = (args.memory.max(0.0) * (1u64 << 30) as f64) as u64;
            let solver = SpectrumConfig { memory, ..Default::default() };
            let charges = args.charges.clone().unwrap_or_default();
            let config = FrequencyConfig { filter, charges, solver };
            let found =
                flags.call.run(py, move |watch| Ok(frequency_response(&built, &config, watch)?))?;
            return json(&found.report);
        }
        let points = args.points.unwrap_or(ResponseConfig::default().points);
        let config = ResponseConfig { filter, points };
        json(&flags.call.run(py, move |_| Ok(response(&built, &config)?))?)
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
