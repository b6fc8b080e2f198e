//! What can be wrong with a figure.

use std::path::PathBuf;

/// Why a figure or a report was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlotError {
    /// A list without which nothing can be drawn has no values.
    #[error("{figure}: {what} is empty, so that there is nothing to draw")]
    Empty {
        /// The kind of figure.
        figure: &'static str,
        /// The list.
        what: String,
    },
    /// Two lists that belong together differ in length.
    #[error("{figure}: {what} has {found} values where {expected} are needed")]
    Length {
        /// The kind of figure.
        figure: &'static str,
        /// The list.
        what: String,
        /// Its length.
        found: usize,
        /// The length of the list that it belongs to.
        expected: usize,
    },
    /// A number that has no place on an axis.
    #[error("{figure}: {what} holds {value} at position {index}; only finite numbers can be drawn")]
    Value {
        /// The kind of figure.
        figure: &'static str,
        /// The list.
        what: String,
        /// Where in the list, from 0.
        index: usize,
        /// The number.
        value: f64,
    },
    /// A number of a node or of a class that does not exist.
    #[error("{figure}: {what} names {value} at position {index}, but there are only {limit}")]
    Index {
        /// The kind of figure.
        figure: &'static str,
        /// The list.
        what: &'static str,
        /// Where in the list, from 0.
        index: usize,
        /// The number.
        value: usize,
        /// How many there are.
        limit: usize,
    },
    /// The extension of a path names no format that we write.
    #[error("{}: the name must end in .svg, .png or .html", path.display())]
    Extension {
        /// The path.
        path: PathBuf,
    },
    /// The SVG could not be turned into a PNG.
    #[error("cannot draw the PNG: {reason}")]
    Raster {
        /// What the rasteriser said.
        reason: String,
    },
}
