//! Pictures of results, as SVG and as a page of their own.

use crate::errors::Failure;
use magnon::report::{Figure, html, svg};
use magnon::workflow::figures;
use pyo3::prelude::*;

/// A figure as SVG and as HTML.
pub fn rendered(figure: &dyn Figure) -> Result<(String, String), Failure> {
    Ok((svg(figure)?, html(figure)?))
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
        _ => rendered(&figures::curve(title, name, x, y)),
    };
    drawn.map_err(|failure| failure.exception(py))
}
