//! Graph signal denoising in the paper's two closed forms.
//!
//! The signal x̄ that balances closeness to x against smoothness, min μ‖x̄ − x‖² + x̄*L_q x̄, is
//!
//! x̄ = β(I − αA_q)⁻¹x with α = 1/(μ+1) and β = μ/(μ+1),  or  x̄ = (I + L_q/μ)⁻¹x.
//!
//! With L_q = I − A_q the two are equal. Both matrices are Hermitian and positive definite, so conjugate
//! gradients solve them in double precision, without truncation.

mod energy;

pub use energy::dirichlet_energy;

use crate::compute::instructions::Instructions;
use crate::compute::tile::{F64_LANES as N, Line, Scaling, Stepper, TileOperator};
use crate::filter::FilterError;
use crate::filter::conjugate_gradient::{System, Work};
use crate::matrix::Matrix;
use crate::operator::{Kind, MagneticOperator, Normalize, OperatorConfig, OperatorError, Pattern};
use crate::progress::Progress;
use num_complex::Complex64;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Which of the two closed forms is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum DenoiseForm {
    /// β(I − αA_q)⁻¹x, the personalised PageRank filter.
    Filter,
    /// (I + L_q/μ)⁻¹x, the von Neumann kernel.
    #[default]
    Laplacian,
}

/// Configuration of a denoising.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `mu` | 1 | weight of closeness against smoothness | above 0, finite |
/// | `form` | `laplacian` | which closed form is solved | |
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DenoiseConfig {
    /// μ: the larger, the closer to the signal.
    pub mu: f64,
    /// Which closed form is solved.
    pub form: DenoiseForm,
}

impl Default for DenoiseConfig {
    fn default() -> Self {
        Self { mu: 1.0, form: DenoiseForm::default() }
    }
}

impl DenoiseConfig {
    /// α = 1/(μ+1), the weight of A_q in the form with the adjacency.
    pub fn alpha(&self) -> f64 {
        1.0 / (self.mu + 1.0)
    }

    /// β = μ/(μ+1), the factor in front of it.
    pub fn beta(&self) -> f64 {
        self.mu / (self.mu + 1.0)
    }

    /// μ/(μ + λ): what is kept of the frequency λ of the Laplacian.
    pub fn response(&self, lambda: f64) -> f64 {
        self.mu / (self.mu + lambda)
    }

    /// Checks the range of μ.
    pub fn check(&self) -> Result<(), DenoiseError> {
        let fits = self.mu > 0.0 && self.mu.is_finite();
        if fits { Ok(()) } else { Err(DenoiseError::Mu(self.mu)) }
    }
}

/// Why a signal cannot be denoised.
#[derive(Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum DenoiseError {
    /// μ is outside of its range.
    #[error("mu is {0}, but must be above 0 and finite")]
    Mu(f64),
    /// p is outside of its range.
    #[error("the energy's p is {0}, but must be from 1 on and finite")]
    Power(f64),
    /// The adjacency as it is has no bounded spectrum.
    #[error(
        "the form with the adjacency needs it normalised (sym or rw); take the form with the \
         Laplacian, or normalise"
    )]
    NotNormalised,
    /// There is nothing to denoise.
    #[error("{0} has no features to denoise; give a signal with --signal F.npy")]
    NoSignal(String),
    /// Signal and graph do not fit together.
    #[error("the signal has {rows} rows, but the graph has {nodes} nodes")]
    Shape {
        /// Rows of the signal.
        rows: usize,
        /// Nodes of the graph.
        nodes: usize,
    },
    /// Memory for the result was refused.
    #[error("there is not enough memory for a result of {rows} rows and {cols} columns")]
    OutOfMemory {
        /// Rows of the result.
        rows: usize,
        /// Columns of the result.
        cols: usize,
    },
    /// The operator could not be built.
    #[error(transparent)]
    Operator(#[from] OperatorError),
    /// The solver stopped short.
    #[error(transparent)]
    Solver(#[from] FilterError),
}

/// A denoised signal.
#[derive(Clone, Debug, PartialEq)]
pub struct Denoised {
    /// The signal x̄, one row per node.
    pub signal: Matrix<Complex64>,
    /// Dirichlet energy S₂ of each column before.
    pub energies_before: Vec<f64>,
    /// Dirichlet energy S₂ of each column after.
    pub energies_after: Vec<f64>,
}

impl Denoised {
    /// Dirichlet energy S₂ before, all columns together.
    pub fn energy_before(&self) -> f64 {
        self.energies_before.iter().sum()
    }

    /// Dirichlet energy S₂ after, all columns together.
    pub fn energy_after(&self) -> f64 {
        self.energies_after.iter().sum()
    }
}

/// Denoises `signal` on the operator of `operator_config`, whose kind the form decides. `progress` hears of
/// columns that are solved.
pub fn denoise(
    pattern: &Arc<Pattern>,
    operator_config: &OperatorConfig,
    signal: &Matrix<Complex64>,
    config: &DenoiseConfig,
    progress: &dyn Progress,
) -> Result<Denoised, DenoiseError> {
    config.check()?;
    let (kind, scale, denominator) = match config.form {
        DenoiseForm::Filter if operator_config.normalize == Normalize::None => {
            return Err(DenoiseError::NotNormalised);
        }
        // (I − αA)/β
        DenoiseForm::Filter => (Kind::Adjacency, config.beta(), [1.0, -config.alpha()]),
        DenoiseForm::Laplacian => (Kind::Laplacian, 1.0, [1.0, 1.0 / config.mu]),
    };
    let operator = MagneticOperator::from_pattern(
        pattern.clone(),
        &OperatorConfig { kind, ..*operator_config },
    )?;
    let energies_before = dirichlet_energy(&operator, signal, 2.0)?;
    let mut signal = if operator.is_real() {
        solve::<false>(&operator, &denominator, signal, progress)?
    } else {
        solve::<true>(&operator, &denominator, signal, progress)?
    };
    signal.as_mut_slice().iter_mut().for_each(|z| *z *= scale);
    let energies_after = dirichlet_energy(&operator, &signal, 2.0)?;
    Ok(Denoised { signal, energies_before, energies_after })
}

/// Solves (η₀ + η₁S) y = x for all columns, four at a time.
fn solve<const COMPLEX: bool>(
    operator: &MagneticOperator,
    denominator: &[f64],
    signal: &Matrix<Complex64>,
    progress: &dyn Progress,
) -> Result<Matrix<Complex64>, DenoiseError> {
    const WIDTH: usize = N / 2;
    let (rows, cols) = (operator.nodes(), signal.cols());
    let refused = DenoiseError::OutOfMemory { rows, cols };
    let mut out = Matrix::try_zeros(rows, cols).ok_or(refused)?;
    let scaling: Scaling<f64> = operator.scaling(0.0, 1.0);
    let weights = operator.inner_weights();
    let stepper = Stepper::<f64, N, COMPLEX>::new(operator, Instructions::detect(), true);
    let system = System { stepper: &stepper, scaling: &scaling, denominator, weights: &weights };
    let mut work = Work::new(rows);
    for first in (0..cols).step_by(WIDTH) {
        let width = WIDTH.min(cols - first);
        // The two parts of a complex column stand in two lanes; a real operator does not mix them.
        let line = |u: usize| {
            let mut line = Line::ZERO;
            for (j, z) in signal.row(u)[first..first + width].iter().enumerate() {
                (line.0[j], line.0[WIDTH + j]) = (z.re, z.im);
            }
            line
        };
        let lines: Vec<Line<f64, N>> = (0..rows).map(line).collect();
        system.solve(&lines, &mut work)?;
        for (u, line) in work.solution.iter().enumerate() {
            let leave = scaling.leave.as_ref().map_or(1.0, |leave| leave[u]);
            let row = &mut out.as_mut_slice()[u * cols + first..u * cols + first + width];
            for (j, z) in row.iter_mut().enumerate() {
                *z = leave * Complex64::new(line.0[j], line.0[WIDTH + j]);
            }
        }
        if !progress.advance(first + width, cols, "denoising") {
            return Err(FilterError::Stopped.into());
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate::{GeneratorConfig, generate};
    use crate::graph::{DiGraph, GraphBuilder};
    use crate::operator::Charge;
    use faer::linalg::solvers::Solve;
    use faer::{Mat, c64};

    fn smooth(
        pattern: &Arc<Pattern>,
        operator_config: &OperatorConfig,
        signal: &Matrix<Complex64>,
        config: &DenoiseConfig,
    ) -> Result<Denoised, DenoiseError> {
        denoise(pattern, operator_config, signal, config, &())
    }

    fn graph(weighted: bool) -> DiGraph {
        let config = GeneratorConfig { nodes: 60, density: 0.15, ..Default::default() };
        let graph = generate(&config, 2).unwrap().graph;
        if !weighted {
            return graph;
        }
        let edges = graph.iter().map(|(u, v)| (u, v, ((u + 2 * v) % 5 + 1) as f32 / 2.0));
        GraphBuilder::new(60).weighted_edges(edges).build().unwrap().graph
    }

    fn operator_config(charge: &str) -> OperatorConfig {
        OperatorConfig { charge: charge.parse::<Charge>().unwrap(), ..Default::default() }
    }

    fn signal(columns: usize) -> Matrix<Complex64> {
        let number = |i: usize| ((i * 37 + 11) % 101) as f64 / 50.0 - 1.0;
        let cells = (0..60 * columns).map(|i| Complex64::new(number(i), number(3 * i + 7)));
        Matrix::from_vec(60, columns, cells.collect()).unwrap()
    }

    fn distance(a: &Matrix<Complex64>, b: &Matrix<Complex64>) -> f64 {
        let pairs = a.as_slice().iter().zip(b.as_slice());
        pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
    }

    /// Both forms against faer's solution of (I + L/μ) x̄ = x.
    #[test]
    fn both_forms_solve_the_system() {
        let x = signal(5);
        for weighted in [false, true] {
            let pattern = Arc::new(Pattern::new(&graph(weighted)).unwrap());
            for (charge, normalize, mu) in [
                ("0", Normalize::Symmetric, 1.0),
                ("1/3", Normalize::Symmetric, 0.01),
                ("1/5", Normalize::RandomWalk, 20.0),
            ] {
                let operator_config = OperatorConfig { normalize, ..operator_config(charge) };
                let run = |form| {
                    smooth(&pattern, &operator_config, &x, &DenoiseConfig { mu, form })
                        .unwrap()
                        .signal
                };
                let (one, other) = (run(DenoiseForm::Filter), run(DenoiseForm::Laplacian));
                assert!(distance(&one, &other) < 1e-9, "{charge}");
                let laplacian = OperatorConfig { kind: Kind::Laplacian, ..operator_config };
                let operator = MagneticOperator::from_pattern(pattern.clone(), &laplacian).unwrap();
                let mut system = Mat::<c64>::identity(60, 60);
                for u in 0..60 {
                    operator.row(u).for_each(|(v, value)| system[(u, v)] += value / mu);
                }
                let right = Mat::from_fn(60, 5, |u, j| x.row(u)[j]);
                let exact = system.partial_piv_lu().solve(&right);
                let cells = (0..300).map(|i| exact[(i / 5, i % 5)]).collect();
                assert!(distance(&other, &Matrix::from_vec(60, 5, cells).unwrap()) < 1e-9);
            }
        }
    }

    #[test]
    fn smoothing_lowers_the_energy() {
        let pattern = Arc::new(Pattern::new(&graph(false)).unwrap());
        let x = signal(2);
        let mut last = f64::INFINITY;
        for mu in [1e4, 10.0, 1.0, 0.1, 1e-3] {
            let config = DenoiseConfig { mu, ..Default::default() };
            let done = smooth(&pattern, &operator_config("1/4"), &x, &config).unwrap();
            assert!(done.energy_after() < last && done.energy_after() < done.energy_before());
            last = done.energy_after();
        }
    }

    #[test]
    fn bad_input_is_refused() {
        let pattern = Arc::new(Pattern::new(&graph(false)).unwrap());
        for mu in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let config = DenoiseConfig { mu, ..Default::default() };
            let result = smooth(&pattern, &operator_config("0"), &signal(1), &config);
            assert!(matches!(result, Err(DenoiseError::Mu(_))));
        }
        let short = Matrix::from_vec(1, 1, vec![Complex64::default()]).unwrap();
        let result = smooth(&pattern, &operator_config("0"), &short, &DenoiseConfig::default());
        assert_eq!(result, Err(DenoiseError::Shape { rows: 1, nodes: 60 }));
    }
}
