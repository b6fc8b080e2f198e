//! What filters and denoising make of each frequency.

use crate::denoise::DenoiseConfig;
use crate::filter::Filter;
use crate::operator::Bounds;
use crate::workflow::ResponseReport;
use magnon_report::{Curve, ResponseFigure};

/// The response of a filter at the points that it was evaluated at.
pub fn response(found: &ResponseReport) -> ResponseFigure {
    let title = format!("Response of the filter over the spectrum of {}", found.operator.name);
    let name = found.filter.filter.name().to_owned();
    curve(title, name, found.lambda.clone(), found.response.clone())
}

/// What denoising keeps of each frequency.
pub fn denoising(config: &DenoiseConfig) -> ResponseFigure {
    let x: Vec<f64> = (0..=200).map(|i| f64::from(i) / 100.0).collect();
    let y = x.iter().map(|&lambda| config.response(lambda)).collect();
    let title = "What denoising keeps of each frequency of the Laplacian".to_owned();
    curve(title, format!("μ = {}", config.mu), x, y)
}

/// One curve over λ.
pub fn curve(title: String, name: String, x: Vec<f64>, y: Vec<f64>) -> ResponseFigure {
    ResponseFigure { title, curves: vec![Curve { name, x, y, dashed: false }] }
}

/// h(λ) over an interval.
pub(super) fn sampled(name: String, filter: &Filter, bounds: Bounds) -> Curve {
    const POINTS: usize = 400;
    let x: Vec<f64> = (0..=POINTS)
        .map(|i| bounds.min + (bounds.max - bounds.min) * i as f64 / POINTS as f64)
        .collect();
    let y = x.iter().map(|&lambda| filter.response(lambda)).collect();
    Curve { name, x, y, dashed: false }
}
