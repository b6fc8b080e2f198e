//! `denoise`: a smoother signal on a graph.

use super::choice::{choose, remark_symmetric};
use super::{Phases, Progress};
use crate::Error;
use crate::data::{Dataset, Features};
use crate::denoise::{DenoiseConfig, DenoiseError, DenoiseForm};
use crate::matrix::Matrix;
use crate::model::{OperatorChoice, PassChoice};
use crate::operator::{OperatorError, Pattern};
use num_complex::Complex64;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;

/// What [`denoise`] did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DenoiseReport {
    /// Always false: no self loops are added.
    pub self_loops: bool,
    /// Name of the data set.
    pub name: String,
    /// Its nodes, which is the number of rows of the signal.
    pub nodes: usize,
    /// Columns of the signal.
    pub columns: usize,
    /// The charge q.
    pub charge: f64,
    /// The charge as it is written, such as `1/3`.
    pub charge_text: String,
    /// Why this charge, where it was left open.
    pub charge_evidence: Option<String>,
    /// μ, the weight of closeness against smoothness.
    pub mu: f64,
    /// α = 1/(μ+1).
    pub alpha: f64,
    /// β = μ/(μ+1).
    pub beta: f64,
    /// Which closed form was solved.
    pub form: DenoiseForm,
    /// Dirichlet energy before, all columns together.
    pub energy_before: f64,
    /// Dirichlet energy after, all columns together.
    pub energy_after: f64,
    /// Type of the numbers of the result: `complex128`, or `float64` where it is real.
    pub dtype: String,
    /// Where the time went.
    pub seconds: Phases,
}

/// A signal, real where all imaginary parts are 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Signal {
    /// Without imaginary parts.
    Real(Matrix<f64>),
    /// With them.
    Complex(Matrix<Complex64>),
}

/// A denoised signal, with what is told of it.
#[derive(Clone, Debug)]
pub struct DenoisedSignal {
    /// The signal, one row per node.
    pub signal: Signal,
    /// Dirichlet energy of each column before.
    pub energies_before: Vec<f64>,
    /// Dirichlet energy of each column after.
    pub energies_after: Vec<f64>,
    /// What is told of it.
    pub report: DenoiseReport,
}

/// Denoises a signal on the graph of a data set; without a signal, the features of the data set. Of `choice` the charge, the symmetrisation and the normalisation are used.
pub fn denoise(
    dataset: &Dataset,
    signal: Option<&Matrix<Complex64>>,
    choice: &OperatorChoice,
    config: &DenoiseConfig,
    progress: &dyn Progress,
) -> Result<DenoisedSignal, Error> {
    config.check()?;
    let mut seconds = Phases::default();
    let signal = match (signal, &dataset.features) {
        (Some(signal), _) => Cow::Borrowed(signal),
        (None, Some(features)) => Cow::Owned(seconds.time("load", || dense(features))?),
        (None, None) => return Err(DenoiseError::NoSignal(dataset.name.clone()).into()),
    };
    // The paper's L_q and A_q, without the self loops of the renormalised operator.
    let choice = OperatorChoice { pass: PassChoice::Low, self_loops: false, ..*choice };
    let chosen = choose(dataset, None, &choice, &mut seconds, progress)?;
    let (graph, charge) = (&dataset.graph, chosen.config.charge);
    let charged = charge.value() != 0.0;
    remark_symmetric(charged, charged && graph.is_symmetric(), progress);
    let pattern = seconds.time("operator", || Pattern::new(graph).map(Arc::new));
    let pattern = pattern.map_err(OperatorError::from)?;
    let done = seconds.time("denoise", || {
        crate::denoise::denoise(&pattern, &chosen.config, &signal, config, progress)
    })?;
    let (energy_before, energy_after) = (done.energy_before(), done.energy_after());
    let (nodes, columns) = (done.signal.rows(), done.signal.cols());
    let signal = Signal::new(done.signal)?;
    let report = DenoiseReport {
        self_loops: chosen.config.self_loops,
        name: dataset.name.clone(),
        nodes,
        columns,
        charge: charge.value(),
        charge_text: charge.to_string(),
        charge_evidence: chosen.charge_evidence,
        mu: config.mu,
        alpha: config.alpha(),
        beta: config.beta(),
        form: config.form,
        energy_before,
        energy_after,
        dtype: signal.dtype().to_owned(),
        seconds,
    };
    let (energies_before, energies_after) = (done.energies_before, done.energies_after);
    Ok(DenoisedSignal { signal, energies_before, energies_after, report })
}

impl Signal {
    fn new(signal: Matrix<Complex64>) -> Result<Self, DenoiseError> {
        if signal.as_slice().iter().any(|z| z.im != 0.0) {
            return Ok(Self::Complex(signal));
        }
        let (rows, cols) = (signal.rows(), signal.cols());
        let refused = DenoiseError::OutOfMemory { rows, cols };
        let mut real = Matrix::try_zeros(rows, cols).ok_or(refused)?;
        let cells = real.as_mut_slice().iter_mut().zip(signal.as_slice());
        cells.for_each(|(x, z)| *x = z.re);
        Ok(Self::Real(real))
    }

    /// Type of the numbers, as NumPy calls it.
    pub fn dtype(&self) -> &'static str {
        match self {
            Self::Real(_) => "float64",
            Self::Complex(_) => "complex128",
        }
    }
}

/// Features as a signal in double precision.
fn dense(features: &Features) -> Result<Matrix<Complex64>, DenoiseError> {
    let (rows, cols) = (features.rows(), features.cols());
    let refused = DenoiseError::OutOfMemory { rows, cols };
    let mut signal = Matrix::<Complex64>::try_zeros(rows, cols).ok_or(refused)?;
    let cells = signal.as_mut_slice();
    match features {
        Features::Dense(matrix) => {
            cells.iter_mut().zip(matrix.as_slice()).for_each(|(z, &x)| z.re = f64::from(x));
        }
        Features::Sparse(matrix) => {
            for u in 0..rows {
                let (columns, values) = matrix.row(u);
                for (&j, &x) in columns.iter().zip(values) {
                    cells[u * cols + j as usize].re = f64::from(x);
                }
            }
        }
    }
    Ok(signal)
}
