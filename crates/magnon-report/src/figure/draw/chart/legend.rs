//! The legend: samples and names in rows above the panels.

use super::Chart;
use super::draw::MARKER;
use crate::figure::draw::pen::{Anchor, Pen, Px, Stroke};
use crate::figure::draw::{palette, text};

const ROW: f64 = 20.0;
const SAMPLE: f64 = 26.0;
const GAP: f64 = 12.0;

/// One name with its sample.
struct Entry {
    name: String,
    stroke: Stroke,
    dots: bool,
    shaped: bool,
}

/// Draws the legend between `left` and `right` and gives its height.
pub(super) fn draw(
    pen: &mut Pen,
    chart: &Chart,
    [left, right]: [f64; 2],
    top: f64,
    size: f64,
) -> f64 {
    let entries = entries(chart);
    if entries.len() < 2 {
        return 0.0;
    }
    let room = right - left;
    let (mut x, mut row) = (left, 0.0);
    for entry in entries {
        let name = text::fit(&entry.name, size, ((room - SAMPLE - 8.0) / text::SLACK).min(260.0));
        let width = SAMPLE + 6.0 + text::SLACK * text::width(&name, size);
        if x > left && x + width > right {
            x = left;
            row += 1.0;
        }
        let y = top + row * ROW + 0.5 * ROW;
        if entry.dots {
            pen.fill(&dot([x + 0.5 * SAMPLE, y], 2.6), entry.stroke.series.unwrap_or(0), 1.0, "");
        } else {
            let d = crate::figure::draw::pen::path([Some([x, y]), Some([x + SAMPLE, y])]);
            pen.line(&d, entry.stroke, "");
            if let (Some(series), true) = (entry.stroke.series, entry.shaped) {
                let shape = palette::outline(palette::shape(series), MARKER);
                pen.fill(&format!("M{} {}{shape}", Px(x + 0.5 * SAMPLE), Px(y)), series, 1.0, "");
            }
        }
        pen.text([x + SAMPLE + 6.0, y + 0.36 * size], Anchor::Start, size, "ink", &name);
        x += width + GAP;
    }
    (row + 1.0) * ROW + 6.0
}

/// The outline of a dot.
pub(super) fn dot([x, y]: [f64; 2], radius: f64) -> String {
    let (x, y) = (Px(x), Px(y));
    format!("M{x} {y}{}", palette::outline(0, radius))
}

/// The series of all panels, each name once.
fn entries(chart: &Chart) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let all = chart.panels.iter().flat_map(|panel| panel.series.iter().map(move |s| (panel, s)));
    for (panel, series) in all {
        if series.listed && entries.iter().all(|entry| entry.name != series.name) {
            entries.push(Entry {
                name: series.name.clone(),
                stroke: series.stroke,
                dots: series.dots,
                shaped: chart.shapes(panel),
            });
        }
    }
    if let Some((stroke, name)) = chart.common {
        entries.push(Entry { name: name.to_owned(), stroke, dots: false, shaped: false });
    }
    entries
}
