//! Figures and the HTML report, from plain structs.
//!
//! Fill a figure's fields, then [`encode()`] it: the extension of a file's name chooses SVG, PNG or a page of
//! its own. A [`Report`] gathers figures, tables and the command that made them in one file that
//! needs no network and no other file.
//!
//! ```
//! use magnon_report::{FrustrationFigure, svg};
//!
//! let figure = FrustrationFigure {
//!     title: "Frustration of a 3-cycle".into(),
//!     charges: vec![0.0, 0.1, 0.2, 0.3, 0.4],
//!     values: vec![0.0, 0.02, 0.06, 0.01, 0.05],
//!     minima: vec![0.0, 0.3],
//! };
//! assert!(svg(&figure)?.starts_with("<svg"));
//! # Ok::<(), magnon_report::PlotError>(())
//! ```
//!
//! No plotting library is used: the figures of the report carry classes that follow the reader's
//! theme, text alternatives, and hooks for values under the pointer, and are drawn at two widths;
//! the libraries looked at give a finished picture. Pictures in PNG are the SVG put through
//! [`resvg`] with fonts that travel in the crate, so that text shows on a machine without any. The
//! same input gives the same bytes.

mod error;
mod figure;
mod page;

pub use error::PlotError;
pub use figure::{
    ClassScore, ConfusionFigure, Curve, DensityCurve, DensityFigure, EigenmapFigure, Figure,
    FrustrationFigure, ResponseFigure, SharesFigure, SpectrumCurve, SpectrumFigure, TrainingFigure,
    png, svg,
};
pub use page::{
    ChargeCandidate, Control, CycleEvidence, CycleLength, Fact, Report, ReportTable, encode, html,
};

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
