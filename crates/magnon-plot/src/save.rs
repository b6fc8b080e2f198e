//! Figures as text and bytes, and safely on disk.

use crate::{Figure, PlotError, page, png as raster};
use std::io::Write;
use std::path::Path;

/// The figure as an SVG file.
pub fn svg(figure: &dyn Figure) -> Result<String, PlotError> {
    Ok(figure.plan()?.file())
}

/// The figure as a PNG file, two pixels for each of the SVG's. It shows text on a machine without
/// fonts: Latin, Greek, Cyrillic, Hebrew and Arabic; letters of other scripts come out as boxes.
pub fn png(figure: &dyn Figure) -> Result<Vec<u8>, PlotError> {
    raster::rasterise(&svg(figure)?)
}

/// The figure as a page of its own, which needs no other file: with values under the pointer, and
/// an [`EigenmapFigure`](crate::EigenmapFigure) with a third coordinate can be turned.
pub fn html(figure: &dyn Figure) -> Result<String, PlotError> {
    Ok(page::of_figure(&figure.plan()?))
}

/// Writes the figure as the extension of the path says: `.svg`, `.png` or `.html`.
///
/// The file is written beside its target and renamed, so that a crash leaves the old file or the new.
pub fn save(figure: &dyn Figure, path: impl AsRef<Path>) -> Result<(), PlotError> {
    let path = path.as_ref();
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let bytes = match extension.to_ascii_lowercase().as_str() {
        "svg" => svg(figure)?.into_bytes(),
        "png" => png(figure)?,
        "html" | "htm" => html(figure)?.into_bytes(),
        _ => return Err(PlotError::Extension { path: path.to_owned() }),
    };
    write(path, &bytes)
}

/// Writes beside the target, sees the bytes on disk, and renames.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), PlotError> {
    let fail = |source| PlotError::Write { path: path.to_owned(), source };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(folder).map_err(fail)?;
    let mut builder = tempfile::Builder::new();
    // The names that the library's temporary files have, by which a run removes what a kill has left.
    builder.prefix(".magnon-").rand_bytes(12).suffix(".tmp");
    // A temporary file is private by default; a figure is as readable as any new file.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder).map_err(fail)?;
    file.write_all(bytes).map_err(fail)?;
    file.as_file().sync_all().map_err(fail)?;
    file.persist(path).map_err(|error| fail(error.error))?;
    Ok(())
}
