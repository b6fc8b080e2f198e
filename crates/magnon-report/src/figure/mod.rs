//! The figures, one per file, and what they are drawn with.

mod confusion;
mod density;
pub(crate) mod draw;
mod eigenmap;
mod frustration;
mod response;
mod shares;
mod slider;
mod spectrum;
mod training;

pub use confusion::{ClassScore, ConfusionFigure};
pub use density::{DensityCurve, DensityFigure};
pub use eigenmap::EigenmapFigure;
pub use frustration::FrustrationFigure;
pub use response::{Curve, ResponseFigure};
pub use shares::SharesFigure;
pub use spectrum::{SpectrumCurve, SpectrumFigure};
pub use training::TrainingFigure;

use crate::PlotError;
use draw::plan::Plot;

/// Anything that [`encode`](fn@crate::encode) can draw: the figures of this crate.
pub trait Figure: Plot {}

impl<F: Plot> Figure for F {}

/// The figure as an SVG file.
pub fn svg(figure: &dyn Figure) -> Result<String, PlotError> {
    Ok(figure.plan()?.file())
}

/// The figure as a PNG file, two pixels for each of the SVG's. It shows text on a machine without
/// fonts: Latin, Greek, Cyrillic, Hebrew and Arabic; letters of other scripts come out as boxes.
pub fn png(figure: &dyn Figure) -> Result<Vec<u8>, PlotError> {
    draw::png::rasterise(&svg(figure)?)
}
