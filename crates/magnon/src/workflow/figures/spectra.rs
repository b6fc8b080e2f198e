//! Eigenvalues, their density and the smallest of them.

use super::response::sampled;
use crate::operator::Bounds;
use crate::workflow::{
    DensityReport, FrequencyCurve, FrequencyResponses, FrustrationReport, SpectrumReport,
};
use magnon_report::{
    DensityCurve, DensityFigure, FrustrationFigure, SpectrumCurve, SpectrumFigure,
};

/// Sorted eigenvalues of an operator.
pub fn spectrum(found: &SpectrumReport) -> SpectrumFigure {
    let of = &found.operator;
    let title = format!("Eigenvalues of {}, q = {}", of.name, of.charge_text);
    eigenvalues(title, of.charge, &found.eigenvalues)
}

/// Sorted eigenvalues at one charge.
pub fn eigenvalues(title: String, charge: f64, values: &[f64]) -> SpectrumFigure {
    let eigenvalues = values.to_vec();
    let curve = SpectrumCurve { charge, eigenvalues, ..SpectrumCurve::default() };
    SpectrumFigure { title, curves: vec![curve], ..SpectrumFigure::default() }
}

/// The density with a band of two standard errors.
pub fn density(found: &DensityReport) -> DensityFigure {
    let DensityReport { operator: of, density: found, .. } = found;
    let band = |sign: f64| {
        let pairs = found.density.iter().zip(&found.error);
        pairs.map(|(d, e)| d + sign * 2.0 * e).collect()
    };
    let name = format!("q = {}", of.charge_text);
    let (x, density) = (found.lambda.clone(), found.density.clone());
    let curve = DensityCurve { name, x, density, low: band(-1.0), high: band(1.0) };
    let title = format!("Density of the eigenvalues of {}", of.name);
    DensityFigure { title, curves: vec![curve] }
}

/// λ_min against the charge.
pub fn frustration(found: &FrustrationReport) -> FrustrationFigure {
    let FrustrationReport { name, frustration: found, .. } = found;
    FrustrationFigure {
        title: format!("Frustration of {name}"),
        charges: found.curve.iter().map(|point| point.charge).collect(),
        values: found.curve.iter().map(|point| point.lambda_min).collect(),
        minima: found.minima.iter().map(|point| point.charge).collect(),
    }
}

/// Eigenvalues of the renormalised adjacency beside their approximation, one curve per charge, and the response of the
/// filter over the interval `bounds`.
pub fn frequency_response(found: &FrequencyResponses, bounds: Bounds) -> SpectrumFigure {
    let FrequencyResponses { report, filter } = found;
    let title = format!("Frequency response of {}", report.operator.name);
    let response = sampled(report.filter.filter.name().to_owned(), filter, bounds);
    let ascending = |values: &[f64]| values.iter().rev().copied().collect();
    let curve = |curve: &FrequencyCurve| SpectrumCurve {
        charge: curve.charge,
        eigenvalues: ascending(&curve.adjacency),
        approximation: ascending(&curve.approximation),
        indices: Vec::new(),
    };
    let curves = report.curves.iter().map(curve).collect();
    SpectrumFigure { title, curves, response: Some(response), ..SpectrumFigure::default() }
}
