//! The few SVG elements that figures are made of.
//!
//! Every element has its colour as an attribute, which a file needs, and a class, by which a page
//! puts the colour of its theme in the attribute's place.

use super::escape::Escaped;
use super::palette;
use std::fmt::{self, Display, Write};

/// A length in pixels with at most two decimals.
#[derive(Clone, Copy)]
pub(crate) struct Px(pub f64);

impl Display for Px {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hundredths = (self.0 * 100.0).round() as i64;
        if hundredths < 0 {
            out.write_char('-')?;
        }
        let (whole, rest) = (hundredths.abs() / 100, hundredths.abs() % 100);
        match (rest, rest % 10) {
            (0, _) => write!(out, "{whole}"),
            (_, 0) => write!(out, "{whole}.{}", rest / 10),
            _ => write!(out, "{whole}.{rest:02}"),
        }
    }
}

/// Where text hangs on its point.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// How a line is drawn.
#[derive(Clone, Copy)]
pub(crate) struct Stroke {
    /// The colour's number; none is the quiet colour.
    pub series: Option<usize>,
    pub dash: &'static str,
    pub width: f64,
}

/// Writes elements one after the other.
#[derive(Default)]
pub(crate) struct Pen {
    pub out: String,
}

impl Pen {
    /// Writing into a string cannot fail.
    pub fn put(&mut self, text: fmt::Arguments<'_>) {
        let _ = self.out.write_fmt(text);
    }

    pub fn rule(&mut self, from: [f64; 2], to: [f64; 2], class: &str, colour: &str, width: f64) {
        let [x1, y1] = from.map(Px);
        let [x2, y2] = to.map(Px);
        self.put(format_args!(
            "<path class=\"{class}\" d=\"M{x1} {y1}L{x2} {y2}\" fill=\"none\" stroke=\"{colour}\" \
             stroke-width=\"{}\"/>",
            Px(width)
        ));
    }

    pub fn line(&mut self, d: &str, stroke: Stroke, extra: &str) {
        let (class, colour) = match stroke.series {
            Some(series) => {
                let (slot, colour) = palette::colour(series);
                (format!("s{slot}"), colour)
            }
            None => ("quiet".to_owned(), palette::MUTED),
        };
        let dash = match stroke.dash {
            "" => String::new(),
            dash => format!(" stroke-dasharray=\"{dash}\""),
        };
        self.put(format_args!(
            "<path class=\"line {class}\" d=\"{d}\" fill=\"none\" stroke=\"{colour}\" \
             stroke-width=\"{}\" stroke-linejoin=\"round\" stroke-linecap=\"round\"{dash}{extra}/>",
            Px(stroke.width)
        ));
    }

    pub fn fill(&mut self, d: &str, series: usize, opacity: f64, extra: &str) {
        let (slot, colour) = palette::colour(series);
        self.put(format_args!(
            "<path class=\"fill s{slot}\" d=\"{d}\" fill=\"{colour}\" fill-opacity=\"{}\"{extra}/>",
            Px(opacity)
        ));
    }

    pub fn text(&mut self, at: [f64; 2], anchor: Anchor, size: f64, class: &str, text: &str) {
        self.turned(at, anchor, size, class, text, 0.0);
    }

    /// Text turned about its point by an angle in degrees.
    pub fn turned(
        &mut self,
        at: [f64; 2],
        anchor: Anchor,
        size: f64,
        class: &str,
        text: &str,
        angle: f64,
    ) {
        let [x, y] = at.map(Px);
        let colour = if class == "muted" { palette::MUTED } else { palette::INK };
        // Words among curves stand on a rim of paper.
        let halo = match class.contains("halo") {
            true => {
                " stroke=\"#ffffff\" stroke-width=\"4\" stroke-linejoin=\"round\" paint-order=\"stroke\""
            }
            false => "",
        };
        let turn = if angle == 0.0 {
            String::new()
        } else {
            format!(" transform=\"rotate({} {x} {y})\"", Px(angle))
        };
        self.put(format_args!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" font-size=\"{}\" text-anchor=\"{}\" \
             fill=\"{colour}\"{halo}{turn}>{}</text>",
            Px(size),
            anchor.word(),
            Escaped(text)
        ));
    }
}

/// The path through points in pixels; a gap where a point has no place.
pub(crate) fn path(points: impl IntoIterator<Item = Option<[f64; 2]>>) -> String {
    let mut d = String::new();
    let mut joined = false;
    for point in points {
        match point {
            Some([x, y]) => {
                let command = if joined { 'L' } else { 'M' };
                let _ = write!(d, "{command}{} {}", Px(x), Px(y));
                joined = true;
            }
            None => joined = false,
        }
    }
    d
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_two_decimals_at_most() {
        let texts = [0.0, -0.001, 1.5, -2.25, 3.006, 0.07].map(|value| Px(value).to_string());
        assert_eq!(texts, ["0", "0", "1.5", "-2.25", "3.01", "0.07"]);
    }

    #[test]
    fn a_gap_starts_a_new_line() {
        let d = path([Some([0.0, 1.0]), None, Some([2.0, 3.0]), Some([4.0, 5.0])]);
        assert_eq!(d, "M0 1M2 3L4 5");
    }
}
