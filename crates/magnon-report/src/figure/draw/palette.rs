//! Colours, dashes and markers that stay apart without colour vision.
//!
//! The colours are those of Okabe and Ito, less the yellow, which white paper swallows. A series has
//! a class `s0`…`s6` beside its colour, so that the page's style can lighten it on a dark ground.

/// Okabe and Ito's colours on white.
pub(crate) const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#4d4d4d"];

const DASHES: [&str; 4] = ["", "7 4", "2 4", "9 4 2 4"];

/// Text, quiet text, and the lines of the grid.
pub(crate) const INK: &str = "#1f2328";
pub(crate) const MUTED: &str = "#59636e";
pub(crate) const GRID: &str = "#e4e7eb";

/// The colour of a series and its number.
pub(crate) fn colour(series: usize) -> (usize, &'static str) {
    let slot = series % COLOURS.len();
    (slot, COLOURS[slot])
}

/// The dash of a series: whole for the first round of colours, then one pattern a round.
pub(crate) fn dash(series: usize) -> &'static str {
    DASHES[series / COLOURS.len() % DASHES.len()]
}

/// The dash of an approximation.
pub(crate) const DASHED: &str = DASHES[1];

/// How many shapes of marker there are.
pub(crate) const SHAPES: usize = 7;

/// The shape of a class: another one with each colour, and shifted with each round.
pub(crate) fn shape(class: usize) -> usize {
    (class + class / COLOURS.len()) % SHAPES
}

/// The outline of a shape of radius `r` about the current point, as relative path commands.
pub(crate) fn outline(shape: usize, r: f64) -> String {
    use super::pen::Px;
    let (a, b, c) = (Px(r), Px(2.0 * r), Px(0.9 * r));
    match shape {
        0 => format!("m-{a} 0a{a} {a} 0 1 0 {b} 0a{a} {a} 0 1 0-{b} 0z"),
        1 => format!("m-{c} -{c}h{d}v{d}h-{d}z", d = Px(1.8 * r)),
        2 => format!("m0 -{}l{a} {d}h-{b}z", Px(1.1 * r), d = Px(1.9 * r)),
        3 => format!("m0 -{d}l{d} {d}l-{d} {d}l-{d} -{d}z", d = Px(1.25 * r)),
        4 => format!("m0 {}l{a} -{d}h-{b}z", Px(1.1 * r), d = Px(1.9 * r)),
        5 => {
            let (t, d, arm) = (Px(0.38 * r), Px(0.76 * r), Px(0.77 * r));
            let top = Px(1.15 * r);
            format!("m-{t} -{top}h{d}v{arm}h{arm}v{d}h-{arm}v{arm}h-{d}v-{arm}h-{arm}v-{d}h{arm}z")
        }
        _ => format!("m-{a} -{}h{b}l-{b} {d}h{b}z", Px(0.9 * r), d = Px(1.8 * r)),
    }
}
