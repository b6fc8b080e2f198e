//! Frequency responses: eigenvalues of L_q and of the renormalised adjacency on one axis.
//!
//! The paper takes D_s for d̄·I and finds Ã_q ≈ I − d̄/(d̄+1)·L_q, so that the response of the renormalised
//! adjacency is about 1 − d̄/(d̄+1)·λ_q (Appendix A). Beside the exact values stands how far off that is.

use super::{SpectrumConfig, SpectrumError, spectrum};
use crate::operator::{Charge, Kind, MagneticOperator, OperatorConfig, Pattern, Symmetrize};
use crate::progress::Progress;
use std::sync::Arc;

/// The curves of one charge, all of n values in the order of λ_q.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseCurve {
    /// The charge q.
    pub charge: Charge,
    /// λ_q: eigenvalues of the normalised L_q, ascending; no self loops are added.
    pub laplacian: Vec<f64>,
    /// Eigenvalues of the renormalised Ã_q, descending: the low pass. The high pass −Ã_q is their
    /// negative.
    pub adjacency: Vec<f64>,
    /// 1 − d̄/(d̄+1)·λ_q.
    pub approximation: Vec<f64>,
    /// Largest |adjacency − approximation|.
    pub max_error: f64,
    /// Mean |adjacency − approximation|.
    pub mean_error: f64,
}

/// Frequency responses of a graph at several charges.
#[derive(Clone, Debug, PartialEq)]
pub struct FrequencyResponse {
    /// One curve per charge, in the order asked for.
    pub curves: Vec<ResponseCurve>,
    /// d̄: mean row sum of A_s.
    pub mean_degree: f64,
}

/// The frequency responses of a graph's pattern at `charges`; `config` bounds the memory.
pub fn frequency_response(
    pattern: &Arc<Pattern>,
    charges: &[Charge],
    symmetrize: Symmetrize,
    config: &SpectrumConfig,
    progress: &dyn Progress,
) -> Result<FrequencyResponse, SpectrumError> {
    let all = SpectrumConfig { select: super::Select::All, vectors: false, ..config.clone() };
    let mut mean_degree = 0.0;
    let mut curves = Vec::with_capacity(charges.len());
    for (i, &charge) in charges.iter().enumerate() {
        let values = |self_loops, kind| {
            let operator_config = OperatorConfig {
                charge,
                symmetrize,
                self_loops,
                kind,
                ..OperatorConfig::default()
            };
            let operator = MagneticOperator::from_pattern(pattern.clone(), &operator_config)?;
            let found = spectrum(&operator, &all, &())?;
            let mean = operator.degrees().iter().sum::<f64>() / operator.nodes() as f64;
            Ok::<_, SpectrumError>((found.eigenvalues, mean))
        };
        let (laplacian, mean) = values(false, Kind::Laplacian)?;
        let tell = |done| match progress.advance(done, 2 * charges.len(), "eigenvalues") {
            true => Ok(()),
            false => Err(SpectrumError::Stopped),
        };
        tell(2 * i + 1)?;
        let (mut adjacency, _) = values(true, Kind::Adjacency)?;
        tell(2 * i + 2)?;
        adjacency.reverse();
        mean_degree = mean;
        let slope = mean / (mean + 1.0);
        let approximation: Vec<f64> = laplacian.iter().map(|l| 1.0 - slope * l).collect();
        let errors = adjacency.iter().zip(&approximation).map(|(a, b)| (a - b).abs());
        let max_error = errors.clone().fold(0.0, f64::max);
        let mean_error = errors.sum::<f64>() / laplacian.len() as f64;
        curves.push(ResponseCurve {
            charge,
            laplacian,
            adjacency,
            approximation,
            max_error,
            mean_error,
        });
    }
    Ok(FrequencyResponse { curves, mean_degree })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    fn respond(nodes: usize, edges: Vec<(u32, u32)>) -> FrequencyResponse {
        let graph = GraphBuilder::new(nodes).edges(edges).build().unwrap().graph;
        let pattern = Arc::new(Pattern::new(&graph).unwrap());
        let charges = [Charge::ZERO, Charge::fraction(1, 5).unwrap()];
        let config = SpectrumConfig::default();
        frequency_response(&pattern, &charges, Symmetrize::Max, &config, &()).unwrap()
    }

    /// Where all degrees are equal the approximation is none.
    #[test]
    fn regular_graphs_are_met_exactly() {
        let found = respond(9, (0..9).map(|u| (u, (u + 1) % 9)).collect());
        assert_eq!(found.mean_degree, 2.0);
        for curve in &found.curves {
            assert!(curve.max_error < 1e-14, "{}", curve.max_error);
            let q = curve.charge.value();
            let mut exact: Vec<f64> = (0..9)
                .map(|k| 1.0 - (std::f64::consts::TAU * (k as f64 / 9.0 - q)).cos())
                .collect();
            exact.sort_by(f64::total_cmp);
            for (a, b) in curve.laplacian.iter().zip(exact) {
                assert!((a - b).abs() < 1e-13);
            }
        }
    }

    /// A star of degrees 4 and 1: λ = 0, 1, 1, 1, 2 and d̄ = 8/5.
    #[test]
    fn other_graphs_are_not() {
        let found = respond(5, (1..5).map(|v| (0, v)).collect());
        let curve = &found.curves[0];
        assert!((found.mean_degree - 1.6).abs() < 1e-14);
        let last = 1.0 - 2.0 * 1.6 / 2.6;
        assert!((curve.approximation[4] - last).abs() < 1e-12);
        // Ã of the star: eigenvalue ½ three times, and those of [[1/5, 2/√10], [2/√10, 1/2]].
        let root = (0.35f64.powi(2) - 0.1 + 0.4).sqrt();
        for (found, exact) in curve.adjacency.iter().zip([0.35 + root, 0.5, 0.5, 0.5, 0.35 - root])
        {
            assert!((found - exact).abs() < 1e-12, "{:?}", curve.adjacency);
        }
        let (most, other) = (1.6 / 2.6 - 0.5, last - curve.adjacency[4]);
        assert!((curve.max_error - most).abs() < 1e-12);
        assert!((curve.mean_error - (3.0 * most + other) / 5.0).abs() < 1e-12);
        // A tree carries no flux: the charge changes nothing.
        assert!((found.curves[1].max_error - curve.max_error).abs() < 1e-12);
    }
}
