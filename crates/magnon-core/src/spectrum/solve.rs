//! `spectrum`: eigenvalues of an operator, component by component.

use super::component_pairs::Parts;
use super::davidson::columns_needed;
use super::dense;
use super::{Select, SpectrumConfig, SpectrumError};
use crate::compute::Device;
use crate::compute::Engine;
use crate::matrix::Matrix;
use crate::operator::{MagneticOperator, Normalize, OperatorConfig};
use crate::progress::Progress;
use num_complex::Complex64;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How eigenvalues were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Every component by the dense solver.
    Dense,
    /// At least one component by block Chebyshev–Davidson.
    Iterative,
}

/// Ascending real eigenvalues, optional vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// The eigenvalues, ascending.
    pub eigenvalues: Vec<f64>,
    /// Eigenvectors in columns, in the order of the eigenvalues: orthonormal, each on one weakly
    /// connected component. Of a random walk D^{-1/2}u, where u are those of its symmetric twin.
    ///
    /// Phase, sign and the basis of repeated eigenvalues are fixed: the first vector of an
    /// eigenspace is the column of its projector at the node with the largest diagonal entry,
    /// normalised, and so on in what is left. Of a simple eigenvalue the entry of largest modulus is
    /// real and positive.
    pub vectors: Option<Matrix<Complex64>>,
    /// ‖Su − λu‖ of every pair, of the symmetric twin for a random walk; `None` where no vectors
    /// were computed.
    pub residuals: Option<Vec<f64>>,
    /// How they were found.
    pub method: Method,
    /// Products of the operator with a block of vectors, by the iteration.
    pub products: usize,
    /// Weakly connected components of the graph.
    pub components: usize,
}

/// An eigenvalue of one of the components.
struct Entry {
    value: f64,
    part: usize,
    column: usize,
}

/// Eigenvalues of `operator`, with multiplicity.
///
/// All of them come from the dense solver; a few from the dense solver on small components and from
/// an iteration on large ones, which never writes the operator down. Near a number σ inside of the
/// spectrum the iteration runs on (S − σ)², whose eigenvalues lie closer together than those of S:
/// it suits a σ near the ends or in a gap of the spectrum.
///
/// The result does not depend on the number of threads. `progress` hears of converged pairs and
/// may stop the iteration; a dense solve comes to its end first.
///
/// ```
/// use magnon_core::graph::GraphBuilder;
/// use magnon_core::operator::{Charge, Kind, MagneticOperator, OperatorConfig};
/// use magnon_core::spectrum::{SpectrumConfig, spectrum};
/// let graph = GraphBuilder::new(3).edges([(0, 1), (1, 2), (2, 0)]).build()?.graph;
/// let charge = Charge::fraction(1, 3)?;
/// let (self_loops, kind) = (false, Kind::Laplacian);
/// let config = OperatorConfig { charge, self_loops, kind, ..Default::default() };
/// let operator = MagneticOperator::new(&graph, &config)?;
/// let found = spectrum(&operator, &SpectrumConfig::default(), &())?;
/// // A cycle of length 3 has no frustration at the charge 1/3.
/// assert!(found.eigenvalues[0].abs() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn spectrum(
    operator: &MagneticOperator,
    config: &SpectrumConfig,
    progress: &dyn Progress,
) -> Result<Spectrum, SpectrumError> {
    config.check()?;
    let nodes = operator.nodes();
    let count = config.select.count().unwrap_or(nodes);
    match nodes {
        0 => return Err(SpectrumError::Empty),
        _ if count > nodes => return Err(SpectrumError::TooMany { count, nodes }),
        _ => {}
    }
    if config.select == Select::All && matches!(config.device, Device::Cuda(_)) {
        return Err(SpectrumError::DenseDevice { device: config.device });
    }
    let engine = &config.device.engine()?;
    let parts = Parts::solve(&Task { config, count, engine, progress }, &twin(operator)?)?;
    let chosen = choose(&parts, config.select, count);
    let residual = |entry: &Entry| parts.residual(entry.part, entry.column);
    let vectors = match config.vectors {
        true => Some(assemble(operator, &parts, &chosen)?),
        false => None,
    };
    Ok(Spectrum {
        eigenvalues: chosen.iter().map(|entry| entry.value).collect(),
        vectors,
        residuals: chosen.iter().map(residual).collect(),
        method: parts.method,
        products: parts.products,
        components: parts.nodes.len(),
    })
}

/// The Hermitian operator with the same eigenvalues.
fn twin(operator: &MagneticOperator) -> Result<MagneticOperator, SpectrumError> {
    if operator.is_hermitian() {
        return Ok(operator.clone());
    }
    let config = OperatorConfig { normalize: Normalize::Symmetric, ..*operator.config() };
    Ok(MagneticOperator::from_pattern(operator.pattern().clone(), &config)?)
}

/// What all components are asked.
pub struct Task<'a> {
    pub config: &'a SpectrumConfig,
    pub count: usize,
    pub engine: &'a Engine,
    pub progress: &'a dyn Progress,
}

impl Task<'_> {
    /// Whether vectors are computed: without them the residuals of a few pairs cannot be told.
    pub fn needs_vectors(&self) -> bool {
        self.config.vectors || self.config.select != Select::All
    }

    /// Which of the ascending eigenvalues of a component may be among those asked for.
    pub fn wanted(&self, values: &[f64]) -> Range<usize> {
        let spare = values.len().saturating_sub(self.count);
        match self.config.select {
            Select::All => 0..values.len(),
            Select::Smallest(_) => 0..values.len() - spare,
            Select::Largest(_) => spare..values.len(),
            // The nearest are neighbours: as long as the far end is further away, it is left out.
            Select::Nearest { to, .. } => (0..spare).fold(0..values.len(), |left, _| {
                let below = to - values[left.start] > values[left.end - 1] - to;
                if below { left.start + 1..left.end } else { left.start..left.end - 1 }
            }),
        }
    }

    /// Whether a component of `nodes` nodes is solved densely; an error where it must be and cannot.
    pub fn is_dense(&self, nodes: usize, real: bool) -> Result<bool, SpectrumError> {
        let affordable = dense::check_memory(nodes, real, self.needs_vectors(), self.config.memory);
        let must = self.config.select == Select::All
            || nodes <= 2 * columns_needed(self.count.min(nodes), !real);
        if must {
            return affordable.map(|()| true);
        }
        Ok(nodes <= self.config.dense_up_to && affordable.is_ok())
    }
}

/// The eigenvalues that are wanted, ascending, equal ones by component.
fn choose(parts: &Parts, select: Select, count: usize) -> Vec<Entry> {
    let mut all: Vec<Entry> = Vec::new();
    for part in 0..parts.nodes.len() {
        let values = parts.pairs(part).values.iter().enumerate();
        all.extend(values.map(|(column, &value)| Entry { value, part, column }));
    }
    match select {
        Select::All => {}
        Select::Smallest(_) => all.sort_by(|a, b| a.value.total_cmp(&b.value)),
        Select::Largest(_) => all.sort_by(|a, b| b.value.total_cmp(&a.value)),
        Select::Nearest { to, .. } => {
            all.sort_by(|a, b| (a.value - to).abs().total_cmp(&(b.value - to).abs()));
        }
    }
    all.truncate(count);
    all.sort_by(|a, b| a.value.total_cmp(&b.value).then(a.part.cmp(&b.part)));
    all
}

/// The chosen vectors on all nodes; those of a random walk leave their twin here.
fn assemble(
    operator: &MagneticOperator,
    parts: &Parts,
    chosen: &[Entry],
) -> Result<Matrix<Complex64>, SpectrumError> {
    let (rows, cols) = (operator.nodes(), chosen.len());
    let refused = SpectrumError::OutOfMemory { rows, cols };
    let mut vectors = Matrix::try_zeros(rows, cols).ok_or(refused)?;
    let walk = !operator.is_hermitian();
    let mut columns: Vec<Vec<(usize, usize)>> = vec![Vec::new(); parts.nodes.len()];
    for (to, entry) in chosen.iter().enumerate() {
        columns[entry.part].push((to, entry.column));
    }
    let cells = vectors.as_mut_slice();
    for (part, columns) in columns.iter().enumerate().filter(|(_, columns)| !columns.is_empty()) {
        let Some(local) = &parts.pairs(part).vectors else { continue };
        for (i, &u) in parts.nodes[part].iter().enumerate() {
            let degree = operator.degrees()[u as usize];
            let factor = if walk && degree > 0.0 { degree.sqrt().recip() } else { 1.0 };
            let row = &mut cells[u as usize * cols..(u as usize + 1) * cols];
            columns.iter().for_each(|&(to, from)| row[to] = factor * local.row(i)[from]);
        }
    }
    Ok(vectors)
}
