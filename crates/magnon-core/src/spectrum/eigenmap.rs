//! Magnetic eigenmaps: eigenvectors of the Laplacian as points of the nodes.
//!
//! An eigenvector u with a small eigenvalue has u(v) ≈ e^{−i2πq}·u(w) for most edges w → v: its phase
//! falls by 2πq along an edge, and so shows where a node stands on the cycles that the charge fits.

use super::error::range;
use super::{Select, SpectrumConfig, SpectrumError, spectrum};
use crate::graph::DiGraph;
use crate::matrix::Matrix;
use crate::operator::{MagneticOperator, OperatorConfig};
use crate::progress::Progress;
use num_complex::Complex64;
use serde::{Deserialize, Serialize};

/// Configuration of an [`Eigenmap`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `vectors` | 0, 1, 2 | eigenvectors shown, counted from the smallest eigenvalue | below n |
/// | `whole_graph` | false | whether components other than the largest count | |
/// | `edges` | 20 000 | most edges kept for drawing, spread evenly over all | |
/// | `solver` | | how eigenvectors are found; its choice of them is not used | |
///
/// Every component that is a tree, or a node of its own, has an eigenvalue 0 with a vector on itself.
/// They would come first and show nothing, so the map is of the largest weakly connected component
/// unless all are asked for; other nodes then have entries of 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EigenmapConfig {
    /// Eigenvectors shown, counted from the smallest eigenvalue.
    pub vectors: Vec<usize>,
    /// Whether components other than the largest count.
    pub whole_graph: bool,
    /// Most edges kept for drawing.
    pub edges: usize,
    /// How eigenvectors are found.
    pub solver: SpectrumConfig,
}

impl Default for EigenmapConfig {
    fn default() -> Self {
        let solver = SpectrumConfig::default();
        Self { vectors: vec![0, 1, 2], whole_graph: false, edges: 20_000, solver }
    }
}

/// Nodes as points.
#[derive(Clone, Debug, PartialEq)]
pub struct Eigenmap {
    /// The eigenvectors shown, counted from the smallest eigenvalue.
    pub vectors: Vec<usize>,
    /// Their eigenvalues.
    pub eigenvalues: Vec<f64>,
    /// Row u holds the entries of node u, one column per vector: Re and Im are a point of the plane.
    pub points: Matrix<Complex64>,
    /// Phase angles of `points` in (−π, π]; 0 where the entry is 0.
    pub phases: Matrix<f64>,
    /// Nodes of the component, or of the whole graph, that the eigenvectors are of.
    pub nodes: usize,
    /// Edges to draw faintly, at most as many as asked for.
    pub edges: Vec<(u32, u32)>,
}

impl Eigenmap {
    /// The nodes in space: the phases of the vectors shown, up to three of them.
    pub fn positions(&self) -> Matrix<f64> {
        let dimensions = self.phases.cols().min(3);
        let rows = (0..self.phases.rows()).flat_map(|u| self.phases.row(u)[..dimensions].to_vec());
        let cells: Vec<f64> = rows.collect();
        Matrix::from_vec(self.phases.rows(), dimensions, cells)
            .unwrap_or_else(|_| Matrix::zeros(0, dimensions))
    }
}

/// The eigenmap of `graph` through the operator of `configuration`, usually a Laplacian with a charge.
pub fn eigenmap(
    graph: &DiGraph,
    operator_config: &OperatorConfig,
    config: &EigenmapConfig,
    progress: &dyn Progress,
) -> Result<Eigenmap, SpectrumError> {
    let shown = config.vectors.len();
    range("the number of eigenvectors", shown as f64, shown > 0, "at least 1")?;
    let last = config.vectors.iter().copied().max().unwrap_or(0);
    let operator = MagneticOperator::new(graph, operator_config)?;
    let part: Vec<u32> = if config.whole_graph {
        (0..graph.nodes() as u32).collect()
    } else {
        // Of equally large components the first.
        let parts = operator.pattern().components();
        parts.into_iter().rev().max_by_key(Vec::len).ok_or(SpectrumError::Empty)?
    };
    let solver = SpectrumConfig {
        select: Select::Smallest(last + 1),
        vectors: true,
        ..config.solver.clone()
    };
    let found = spectrum(&operator.on(&part)?, &solver, progress)?;
    let rows = graph.nodes();
    let refused = || SpectrumError::OutOfMemory { rows, cols: shown };
    let all = found.vectors.ok_or_else(refused)?;
    let mut points = Matrix::<Complex64>::try_zeros(rows, shown).ok_or_else(refused)?;
    let cells = points.as_mut_slice();
    for (i, &u) in part.iter().enumerate() {
        let row = &mut cells[u as usize * shown..(u as usize + 1) * shown];
        row.iter_mut().zip(&config.vectors).for_each(|(x, &j)| *x = all.row(i)[j]);
    }
    // Entries of rounding have no phase to speak of.
    let phase = |z: &Complex64| if z.norm() < 1e-13 { 0.0 } else { z.arg() };
    let phases = points.as_slice().iter().map(phase).collect();
    Ok(Eigenmap {
        vectors: config.vectors.clone(),
        eigenvalues: config.vectors.iter().map(|&j| found.eigenvalues[j]).collect(),
        phases: Matrix::from_vec(rows, shown, phases).map_err(|_| refused())?,
        points,
        nodes: part.len(),
        edges: some_edges(graph, config.edges),
    })
}

/// At most `most` edges, spread evenly over all.
fn some_edges(graph: &DiGraph, most: usize) -> Vec<(u32, u32)> {
    let stride = graph.edges().div_ceil(most.max(1)).max(1);
    graph.iter().step_by(stride).take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate::{GeneratorConfig, GeneratorKind, generate};
    use crate::operator::{Charge, Kind};
    use std::f64::consts::TAU;

    fn map(config: &GeneratorConfig, charge: Charge) -> (Eigenmap, Option<Vec<u32>>) {
        let made = generate(config, 4).unwrap();
        let operator_config = OperatorConfig {
            charge,
            kind: Kind::Laplacian,
            self_loops: false,
            ..Default::default()
        };
        let config = EigenmapConfig { vectors: vec![0, 2], edges: 100, ..Default::default() };
        (eigenmap(&made.graph, &operator_config, &config, &()).unwrap(), made.blocks)
    }

    fn turn(from: f64, to: f64) -> f64 {
        (to - from).rem_euclid(TAU) / TAU
    }

    /// On a directed cycle of n nodes at q = 1/n the phase steps by one n-th of a turn at each edge.
    #[test]
    fn the_phases_of_a_cycle_are_a_ring() {
        let config =
            GeneratorConfig { kind: GeneratorKind::Cycle, nodes: 12, ..Default::default() };
        let (map, _) = map(&config, Charge::fraction(1, 12).unwrap());
        assert!(map.eigenvalues[0].abs() < 1e-13 && map.eigenvalues[1] > 0.1);
        assert_eq!((map.edges.len(), map.positions().cols()), (12, 2));
        let steps: Vec<f64> =
            (0..12).map(|u| turn(map.phases.row(u)[0], map.phases.row((u + 1) % 12)[0])).collect();
        let sign = if steps[0] < 0.5 { 1.0 } else { 11.0 };
        for step in steps {
            assert!((step - sign / 12.0).abs() < 1e-9, "{step}");
        }
        for u in 0..12 {
            assert!((map.points.row(u)[0].norm() - 12f64.sqrt().recip()).abs() < 1e-9);
        }
    }

    #[test]
    fn small_components_do_not_come_first() {
        let edges = [(0, 1), (2, 3), (3, 4), (4, 2)];
        let graph = crate::graph::GraphBuilder::new(6).edges(edges).build().unwrap().graph;
        let charge = Charge::fraction(1, 4).unwrap();
        let operator_config =
            OperatorConfig { charge, kind: Kind::Laplacian, ..Default::default() };
        let config = EigenmapConfig { vectors: vec![0], ..Default::default() };
        let run = |config| eigenmap(&graph, &operator_config, &config, &()).unwrap();
        let map = run(config.clone());
        assert!(map.nodes == 3 && map.eigenvalues[0] > 1e-3);
        let on = |map: &Eigenmap, u: usize| map.points.row(u)[0].norm() > 0.1;
        assert_eq!(
            [0, 1, 2, 3, 4, 5].map(|u| on(&map, u)),
            [false, false, true, true, true, false]
        );
        let map = run(EigenmapConfig { whole_graph: true, ..config });
        assert!(map.nodes == 6 && map.eigenvalues[0].abs() < 1e-14 && !on(&map, 2));
    }

    /// Blocks on a cycle of k blocks at q = 1/k: their circular means lie one k-th of a turn apart, in
    /// order, and nodes keep to their block.
    #[test]
    fn the_phases_of_cyclic_blocks_are_clusters_on_a_ring() {
        for k in [3, 5] {
            let config = GeneratorConfig {
                nodes: 300,
                blocks: k,
                density: 0.2,
                within: Some(0.02),
                ..Default::default()
            };
            let (map, blocks) = map(&config, Charge::fraction(1, k as u32).unwrap());
            let blocks = blocks.unwrap();
            let phase = |u: usize| map.phases.row(u)[0];
            let mut sums = vec![Complex64::default(); k];
            for (u, &block) in blocks.iter().enumerate() {
                sums[block as usize] += Complex64::from_polar(1.0, phase(u));
            }
            // Close together: the mean of unit vectors is nearly a unit vector.
            assert!(sums.iter().all(|sum| sum.norm() > 0.95 * 300.0 / k as f64), "{sums:?}");
            let means: Vec<f64> = sums.iter().map(|sum| sum.arg()).collect();
            let steps: Vec<f64> = (0..k).map(|b| turn(means[b], means[(b + 1) % k])).collect();
            let expected = if steps[0] < 0.5 { 1.0 } else { k as f64 - 1.0 } / k as f64;
            assert!(steps.iter().all(|step| (step - expected).abs() < 0.03), "{steps:?}");
            let own = |u: usize| {
                let off = turn(means[blocks[u] as usize], phase(u));
                off.min(1.0 - off) < 0.5 / k as f64
            };
            assert!((0..300).filter(|&u| own(u)).count() > 290);
        }
    }
}
