//! Figures as pages of their own, and as files of any format.

use super::of_figure;
use crate::PlotError;
use crate::figure::{Figure, png, svg};
use std::path::Path;

/// The figure as a page of its own, which needs no other file: with values under the pointer, and
/// an [`EigenmapFigure`](crate::EigenmapFigure) with a third coordinate can be turned.
pub fn html(figure: &dyn Figure) -> Result<String, PlotError> {
    Ok(of_figure(&figure.plan()?))
}

/// The figure as the extension of a file's name says: `.svg`, `.png` or `.html`.
pub fn encode(figure: &dyn Figure, path: impl AsRef<Path>) -> Result<Vec<u8>, PlotError> {
    let path = path.as_ref();
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "svg" => svg(figure).map(String::into_bytes),
        "png" => png(figure),
        "html" | "htm" => html(figure).map(String::into_bytes),
        _ => Err(PlotError::Extension { path: path.to_owned() }),
    }
}
