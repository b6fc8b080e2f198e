//! SVG to PNG, with the fonts of the crate and no others.

use super::text;
use crate::PlotError;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use std::sync::Arc;

/// Pixels of the picture for each of the drawing's, for print and dense screens.
const DENSITY: f32 = 2.0;

pub(crate) fn rasterise(svg: &str) -> Result<Vec<u8>, PlotError> {
    let fail = |reason: String| PlotError::Raster { reason };
    let mut fonts = fontdb::Database::new();
    // The machine's own fonts are left alone: the same figure gives the same bytes everywhere.
    for font in text::FONTS {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of a picture of nothing but a text.
    fn picture(text: &str) -> Vec<u8> {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"80\" height=\"30\" \
             font-family=\"{}\"><text x=\"5\" y=\"20\">{text}</text></svg>",
            text::FAMILY
        );
        rasterise(&svg).unwrap()
    }

    #[test]
    fn text_shows_without_fonts_of_the_machine() {
        let blank = picture("");
        let box_ = picture("\u{13000}");
        for text in ["q = 1/3", "−0.5", "λ ≤ 2", "10⁻⁷", "שלום", "سلام", "Ж"] {
            let bytes = picture(text);
            assert_ne!(bytes, blank, "{text}");
            assert_ne!(bytes, box_, "{text}");
        }
    }
}
