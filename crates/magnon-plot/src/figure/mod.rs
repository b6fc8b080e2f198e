//! The figures, one per file.

mod confusion;
mod density;
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

/// Anything that [`encode`](fn@crate::encode) can draw: the figures of this crate.
pub trait Figure: crate::plan::Plot {}

impl<F: crate::plan::Plot> Figure for F {}
