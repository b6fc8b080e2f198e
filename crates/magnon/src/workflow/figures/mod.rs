//! From results to figures.

mod eigenmap;
mod importance;
mod response;
mod run_spectra;
mod spectra;
mod training;

pub use eigenmap::eigenmap;
pub(super) use eigenmap::{eigenmap_title, map};
pub use importance::importance;
pub use response::{curve, denoising, response};
pub(super) use run_spectra::run_spectra;
pub use spectra::{density, eigenvalues, frequency_response, frustration, spectrum};
pub(super) use training::training;

use crate::Error;
use crate::data::write::write_atomic;
use magnon_report::{Figure, encode};
use std::path::Path;

/// Draws a figure into a file, as its extension says: `.svg`, `.png` or `.html`.
pub fn save(figure: &dyn Figure, path: &Path) -> Result<(), Error> {
    let bytes = encode(figure, path)?;
    Ok(write_atomic(path, |out| out.write_all(&bytes))?)
}
