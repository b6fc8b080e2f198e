//! The spectra of a run.

use crate::workflow::{ChargeSpectrum, FilterCurve, RunSpectra};
use magnon_report::{Curve, SpectrumCurve, SpectrumFigure};

/// Spectra of the model's operator at several charges, with the filter's response.
pub(in crate::workflow) fn run_spectra(found: RunSpectra) -> SpectrumFigure {
    let RunSpectra { charge, spectra, response, estimated } = found;
    let what = match estimated {
        None => "Eigenvalues",
        Some(_) => "Quantiles of the eigenvalues",
    };
    let beside = if response.is_some() { ", and the filter's response" } else { "" };
    let note = estimated.map(|(quantiles, tolerance)| {
        format!(
            "the two ends are eigenvalues, right to {tolerance}, and the points between them {quantiles} quantiles \
             of the density, which is estimated"
        )
    });
    let curve = |of: ChargeSpectrum| {
        let ChargeSpectrum { charge, eigenvalues, indices } = of;
        SpectrumCurve { charge, eigenvalues, approximation: Vec::new(), indices }
    };
    let line =
        |of: FilterCurve| Curve { name: of.filter, x: of.lambda, y: of.response, dashed: false };
    SpectrumFigure {
        title: format!("{what} of the operator{beside}"),
        curves: spectra.into_iter().map(curve).collect(),
        response: response.map(line),
        chosen: Some(charge),
        note: note.unwrap_or_default(),
    }
}
