//! How wide text is, measured with the font that the PNG is drawn with.

use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};

/// Latin, Greek and Cyrillic; mathematical signs, which the first leaves out; and two scripts that
/// names of classes come in. All under the SIL Open Font License, which lies beside them.
pub(crate) const FONTS: [&[u8]; 4] = [
    include_bytes!("../../../assets/fonts/NotoSans.ttf"),
    include_bytes!("../../../assets/fonts/NotoSansMath.ttf"),
    include_bytes!("../../../assets/fonts/NotoSansHebrew.ttf"),
    include_bytes!("../../../assets/fonts/NotoSansArabic.ttf"),
];

/// The first is the font inside the crate; a browser takes what it has.
pub(crate) const FAMILY: &str = "'Noto Sans', system-ui, 'Segoe UI', Roboto, Arial, sans-serif";

/// Room for the reader's font, which may be wider than ours, where words stand side by side.
pub(crate) const SLACK: f64 = 1.14;

/// The width of letters that no font has, in ems: that of Chinese.
const UNKNOWN: f64 = 1.0;

/// The width of a line of text in pixels.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let advance = |letter: char, font: &FontRef<'_>| {
        let glyph = font.charmap().map(letter)?;
        font.glyph_metrics(Size::new(1.0), LocationRef::default()).advance_width(glyph)
    };
    let fonts: Vec<FontRef<'_>> =
        FONTS.iter().filter_map(|&font| FontRef::new(font).ok()).collect();
    let ems = text.chars().map(|letter| {
        let advance = fonts.iter().find_map(|font| advance(letter, font));
        advance.map_or(UNKNOWN, f64::from)
    });
    size * ems.sum::<f64>()
}

/// The text, cut with an ellipsis where it is wider than `room`.
pub(crate) fn fit(text: &str, size: f64, room: f64) -> String {
    // A label is one line, whatever the name holds.
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // No label has room for more; measuring a very long name letter by letter takes its square.
    let mut letters: Vec<char> = text.chars().take(200).collect();
    let whole = letters.len() == text.chars().count();
    if whole && width(&text, size) <= room {
        return text;
    }
    let mut left = width(&letters.iter().collect::<String>(), size);
    let room = room - width("…", size);
    while let Some(&last) = letters.last() {
        if left <= room {
            break;
        }
        left -= width(last.encode_utf8(&mut [0; 4]), size);
        letters.pop();
    }
    let kept: String = letters.into_iter().collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        assert!((width("M", 10.0) - 9.0).abs() < 1.0);
        assert!(width("il", 10.0) < width("MW", 10.0));
    }

    #[test]
    fn the_signs_that_figures_use_are_in_the_fonts() {
        let fonts = FONTS.map(|font| FontRef::new(font).unwrap());
        for sign in "0123456789λ−±×∞…→≤⁰¹²³⁴⁵⁶⁷⁸⁹⁻₀₁₂₃₉ₘ\u{202f}\u{fffd}éßЖαשع".chars()
        {
            let found = fonts.iter().any(|font| font.charmap().map(sign).is_some());
            assert!(found, "{sign}");
        }
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(fit("short", 12.0, 100.0), "short");
        let cut = fit(&"long ".repeat(10_000), 12.0, 60.0);
        assert!(cut.ends_with('…') && width(&cut, 12.0) <= 60.0, "{cut}");
        assert_eq!(fit("two\nlines", 12.0, 100.0), "two lines");
    }
}
