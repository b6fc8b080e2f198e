//! The frustration curve: the smallest eigenvalue of the normalised Laplacian against the charge.
//!
//! λ_min(q) of L_q is 0 exactly where node phases exist that undo all edge phases, that is where q times
//! the flux of every cycle of the underlying graph is whole. It says how far from that a charge is, and
//! its minima away from 0 are charges that fit the graph's cycles.

use super::SpectrumError;
use super::error::range;
use super::{Select, SpectrumConfig, spectrum};
use crate::compute::Device;
use crate::operator::{Charge, Kind, MagneticOperator, OperatorConfig, Pattern, Symmetrize};
use crate::progress::Progress;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Configuration of a [`Frustration`] curve.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `points` | 51 | charges from 0 to ½, ends included | 2 to 100 000 |
/// | `whole_graph` | false | whether components other than the largest count | |
/// | `symmetrize` | `max` | how A becomes symmetric | |
/// | `resolution` | 1e-6 | how closely a minimum is told | 1e-12 to 0.1 |
/// | `solver` | | how eigenvalues are found; its choice of them is not used | |
///
/// The whole graph's λ_min is the least of its components', and 0 at every charge where one of them is
/// a tree or a node of its own: the curve that says something is the largest component's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FrustrationConfig {
    /// Charges from 0 to ½, ends included.
    pub points: usize,
    /// Whether components other than the largest count.
    pub whole_graph: bool,
    /// How A becomes symmetric.
    pub symmetrize: Symmetrize,
    /// How closely the charge of a minimum is told.
    pub resolution: f64,
    /// How eigenvalues are found.
    pub solver: SpectrumConfig,
}

impl Default for FrustrationConfig {
    fn default() -> Self {
        Self {
            points: 51,
            whole_graph: false,
            symmetrize: Symmetrize::default(),
            resolution: 1e-6,
            // A smallest eigenvalue is cheap densely only where the graph is small.
            solver: SpectrumConfig { dense_up_to: 400, ..SpectrumConfig::default() },
        }
    }
}

impl FrustrationConfig {
    /// Checks every range.
    pub fn check(&self) -> Result<(), SpectrumError> {
        let points = self.points;
        let fits = (2..=100_000).contains(&points);
        range("the number of charges", points as f64, fits, "from 2 to 100000")?;
        let fits = (1e-12..=0.1).contains(&self.resolution);
        range("the resolution", self.resolution, fits, "from 1e-12 to 0.1")?;
        self.solver.check()
    }
}

/// λ_min at a charge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrustrationPoint {
    /// The charge q.
    pub charge: f64,
    /// Smallest eigenvalue of L_q.
    pub lambda_min: f64,
}

/// The curve λ_min(q).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frustration {
    /// Nodes that were looked at.
    pub nodes: usize,
    /// Weakly connected components of the graph.
    pub components: usize,
    /// The curve on equal steps from 0 to ½.
    pub curve: Vec<FrustrationPoint>,
    /// Its local minima, refined; the ends of the interval count where the curve rises from them.
    pub minima: Vec<FrustrationPoint>,
}

/// The frustration curve of a graph's pattern.
pub fn frustration(
    pattern: &Arc<Pattern>,
    config: &FrustrationConfig,
    progress: &dyn Progress,
) -> Result<Frustration, SpectrumError> {
    config.check()?;
    let parts = pattern.components();
    let operator_config = OperatorConfig {
        symmetrize: config.symmetrize,
        self_loops: false,
        kind: Kind::Laplacian,
        ..OperatorConfig::default()
    };
    let whole = MagneticOperator::from_pattern(pattern.clone(), &operator_config)?;
    // Of equally large components the first.
    let largest = parts.iter().rev().max_by_key(|part| part.len()).ok_or(SpectrumError::Empty)?;
    let operator = if config.whole_graph { whole } else { whole.on(largest)? };
    // All eigenvalues without vectors are cheaper than one of a small matrix with its vector.
    let small = operator.nodes() <= config.solver.dense_up_to;
    let select = if small { Select::All } else { Select::Smallest(1) };
    let device = if small { Device::Cpu } else { config.solver.device };
    let solver = SpectrumConfig { select, vectors: false, device, ..config.solver };
    let at = |q: f64| -> Result<FrustrationPoint, SpectrumError> {
        let operator_config = OperatorConfig { charge: Charge::new(q)?, ..operator_config };
        let operator =
            MagneticOperator::from_pattern(operator.pattern().clone(), &operator_config)?;
        let found = spectrum(&operator, &solver, &())?;
        let lambda_min = found.eigenvalues.first().copied().unwrap_or(f64::NAN);
        // L_q is positive semidefinite, and rounding is not.
        Ok(FrustrationPoint { charge: q, lambda_min: lambda_min.max(0.0) })
    };
    let mut curve = Vec::with_capacity(config.points);
    for i in 0..config.points {
        curve.push(at(0.5 * i as f64 / (config.points - 1) as f64)?);
        if !progress.advance(i + 1, config.points, "smallest eigenvalues") {
            return Err(SpectrumError::Stopped);
        }
    }
    let mut minima = Vec::new();
    for i in 0..curve.len() {
        let value = curve[i].lambda_min;
        let left = i.checked_sub(1).map(|i| curve[i]);
        let right = curve.get(i + 1).copied();
        // Of a flat stretch its first point, and nothing of a curve that is flat altogether.
        let falls = left.is_none_or(|left| left.lambda_min > value + LEVEL);
        let after = curve[i..].iter().find(|p| (p.lambda_min - value).abs() > LEVEL);
        let rises = after.map_or(left.is_some(), |p| p.lambda_min > value);
        if !(falls && rises) {
            continue;
        }
        if !progress.advance(config.points, config.points, "smallest eigenvalues") {
            return Err(SpectrumError::Stopped);
        }
        minima.push(match (left, right) {
            (Some(left), Some(right)) => {
                refine(left.charge, right.charge, curve[i], config.resolution, &at)?
            }
            _ => curve[i],
        });
    }
    Ok(Frustration { curve, minima, nodes: operator.nodes(), components: parts.len() })
}

/// Differences below this are rounding, or what the iteration leaves.
const LEVEL: f64 = 1e-10;

/// Golden section between `low` and `high`, with `best` inside.
fn refine(
    mut low: f64,
    mut high: f64,
    mut best: FrustrationPoint,
    resolution: f64,
    at: &impl Fn(f64) -> Result<FrustrationPoint, SpectrumError>,
) -> Result<FrustrationPoint, SpectrumError> {
    let golden = 0.5 * (3.0 - 5f64.sqrt());
    while high - low > resolution {
        // The larger side of the best point is cut.
        let right = high - best.charge > best.charge - low;
        let step = golden * if right { high - best.charge } else { low - best.charge };
        let trial = at(best.charge + step)?;
        if trial.lambda_min < best.lambda_min {
            if right {
                low = best.charge
            } else {
                high = best.charge
            }
            best = trial;
        } else if right {
            high = trial.charge;
        } else {
            low = trial.charge;
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{DiGraph, GraphBuilder};

    fn curve(graph: &DiGraph, config: &FrustrationConfig) -> Frustration {
        frustration(&Arc::new(Pattern::new(graph).unwrap()), config, &()).unwrap()
    }

    fn cycle(n: u32) -> Vec<(u32, u32)> {
        (0..n).map(|u| (u, (u + 1) % n)).collect()
    }

    /// A directed cycle of n nodes: 1 − cos(2π·dist(q, ℤ/n)).
    #[test]
    fn cycles_have_minima_at_multiples_of_their_share() {
        let graph = GraphBuilder::new(5).edges(cycle(5)).build().unwrap().graph;
        let found = curve(&graph, &FrustrationConfig { points: 23, ..Default::default() });
        for point in &found.curve {
            let off = (point.charge * 5.0 - (point.charge * 5.0).round()) / 5.0;
            let expected = 1.0 - (std::f64::consts::TAU * off).cos();
            assert!((point.lambda_min - expected).abs() < 1e-12);
        }
        let charges: Vec<f64> = found.minima.iter().map(|m| m.charge).collect();
        assert_eq!(charges.len(), 3);
        for (found, exact) in charges.iter().zip([0.0, 0.2, 0.4]) {
            assert!((found - exact).abs() < 1e-6, "{charges:?}");
        }
    }

    #[test]
    fn trees_hide_the_curve_unless_left_out() {
        let edges = cycle(4).into_iter().chain([(4, 5)]);
        let graph = GraphBuilder::new(7).edges(edges).build().unwrap().graph;
        let part = curve(&graph, &FrustrationConfig::default());
        assert_eq!((part.nodes, part.components), (4, 3));
        let highest = part.curve.iter().map(|p| p.lambda_min).fold(0.0, f64::max);
        assert!(highest > 0.27, "{highest}");
        let config = FrustrationConfig { whole_graph: true, ..Default::default() };
        let whole = curve(&graph, &config);
        assert!(whole.curve.iter().all(|p| p.lambda_min < 1e-14));
        assert_eq!(whole.minima, []);
    }
}
