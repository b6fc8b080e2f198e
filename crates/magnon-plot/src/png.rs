//! SVG to PNG, with the fonts of the crate and no others.

use crate::{PlotError, text};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use std::sync::Arc;

/// Pixels of the picture for each of the drawing's, for print and dense screens.
const DENSITY: f32 = 2.0;

pub(crate) fn rasterise(svg: &str) -> Result<Vec<u8>, PlotError> {
    let fail = |reason: String| PlotError::Raster { reason };
    let mut fonts = fontdb::Database::new();
    // The machine's own fonts are left alone: the same figure gives the same bytes everywhere.
    for font in [text::SANS, text::ARABIC, text::HEBREW] {
        fonts.load_font_data(font.to_vec());
    }
    fonts.set_sans_serif_family("Noto Sans");
    let options = Options {
        fontdb: Arc::new(fonts),
        font_family: "Noto Sans".to_owned(),
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options).map_err(|error| fail(error.to_string()))?;
    let size = tree.size().to_int_size().scale_by(DENSITY);
    let size = size.ok_or_else(|| fail("the picture has no size".to_owned()))?;
    let mut pixels = Pixmap::new(size.width(), size.height())
        .ok_or_else(|| fail(format!("{} by {} pixels", size.width(), size.height())))?;
    resvg::render(&tree, Transform::from_scale(DENSITY, DENSITY), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| fail(error.to_string()))
}
