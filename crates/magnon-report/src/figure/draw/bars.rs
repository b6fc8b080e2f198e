//! Horizontal bars under each other, each with a name and a value.

use super::chart::{Drawing, Frame, Start};
use super::palette::{self, GRID};
use super::pen::{Anchor, Pen, Px};
use super::{number, text};

/// A bar from 0 to a share of 1.
pub(crate) struct Bar {
    pub name: String,
    pub share: f64,
    /// What stands under the pointer.
    pub tip: String,
}

pub(crate) struct Bars {
    pub bars: Vec<Bar>,
    pub label: String,
}

impl Bars {
    pub fn draw(&self, frame: Frame, title: &str) -> Drawing {
        let mut pen = Pen::default();
        let Start { size, edge, top } = frame.begin(&mut pen, title);
        let longest = if frame.narrow() { 100.0 } else { 190.0 };
        let names = self.bars.iter().map(|bar| text::width(&bar.name, size));
        let gutter = text::SLACK * names.fold(0.0, f64::max).min(longest) + 10.0;
        let value = text::SLACK * text::width("100.0 %", size) + 8.0;
        let (left, right) = (edge + gutter, frame.width - edge - value);
        let (step, thick) = (size + 11.0, size + 3.0);
        let most = self.bars.iter().map(|bar| bar.share).fold(0.0, f64::max);
        let scale = if most > 0.0 { (right - left) / most } else { 0.0 };
        let (slot, colour) = palette::colour(0);
        for (place, bar) in self.bars.iter().enumerate() {
            let y = top + place as f64 * step;
            let length = (bar.share * scale).max(0.0);
            let name = text::fit(&bar.name, size, longest);
            let line = y + 0.5 * thick + 0.35 * size;
            pen.text([left - 8.0, line], Anchor::End, size, "ink", &name);
            pen.put(format_args!(
                "<g class=\"cell\" data-tip=\"{tip}\"><rect x=\"0\" y=\"{row}\" width=\"{all}\" \
                 height=\"{step}\" fill=\"transparent\"/><rect class=\"cell-ground\" x=\"{x}\" y=\"{py}\" \
                 width=\"{ground}\" height=\"{height}\" fill=\"{GRID}\" fill-opacity=\"0.4\"/>\
                 <rect class=\"fill s{slot}\" x=\"{x}\" y=\"{py}\" width=\"{width}\" \
                 height=\"{height}\" fill=\"{colour}\"/></g>",
                tip = super::escape::Escaped(&bar.tip),
                row = Px(y - 0.5 * (step - thick)),
                all = Px(frame.width),
                step = Px(step),
                x = Px(left),
                py = Px(y),
                ground = Px(right - left),
                width = Px(length),
                height = Px(thick),
            ));
            let at = [right + 8.0, line];
            pen.text(at, Anchor::Start, size, "muted", &number::per_cent(bar.share));
        }
        let bottom = top + self.bars.len() as f64 * step;
        let label = text::fit(&self.label, size, frame.width - 2.0 * edge);
        pen.text([left, bottom + size + 2.0], Anchor::Start, size, "muted", &label);
        Drawing { width: frame.width, height: bottom + size + 10.0 + edge, body: pen.out }
    }
}
