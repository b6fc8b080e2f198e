//! Pictures of results, as SVG and as a page of their own.

use crate::errors::Failure;
use magnon_cli::figures;
use magnon_report::{Curve, Figure, ResponseFigure, html, svg};
use pyo3::prelude::*;

/// A figure as SVG and as HTML.
pub fn rendered(figure: &dyn Figure) -> Result<(String, String), Failure> {
    let failed = |error: magnon_report::PlotError| Failure::Named("MagnonError", error.to_string());
    Ok((svg(figure).map_err(failed)?, html(figure).map_err(failed)?))
}

/// Curves as a picture, as SVG and as HTML: `eigenvalues` of a charge, or `response` over λ.
#[pyfunction]
pub fn picture(
    py: Python<'_>,
    kind: &str,
    title: String,
    name: String,
    charge: f64,
    x: Vec<f64>,
    y: Vec<f64>,
) -> PyResult<(String, String)> {
    let drawn = match kind {
        "eigenvalues" => rendered(&figures::eigenvalues(title, charge, &y)),
        _ => {
            let curves = vec![Curve { name, x, y, dashed: false }];
            rendered(&ResponseFigure { title, curves })
        }
    };
    drawn.map_err(|failure| failure.exception(py))
}
