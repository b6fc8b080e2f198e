//! A square of coloured cells with numbers.

use super::chart::{Drawing, Frame, Start};
use super::palette::{GRID, INK};
use super::pen::{Anchor, Pen, Px};
use super::{number, palette, text};

/// Cells smaller than this have no room for a number or a name.
const READABLE: f64 = 15.0;

/// Counts by row and column under the same names.
pub(crate) struct Grid {
    pub names: Vec<String>,
    pub counts: Vec<Vec<u64>>,
    pub row_label: &'static str,
    pub column_label: &'static str,
}

impl Grid {
    pub fn draw(&self, frame: Frame, title: &str) -> Drawing {
        let mut pen = Pen::default();
        let Start { size, edge, mut top } = frame.begin(&mut pen, title);
        let count = self.names.len() as f64;
        let longest = if frame.narrow() { 84.0 } else { 150.0 };
        let widest = self.names.iter().map(|name| text::width(name, size)).fold(0.0, f64::max);
        let gutter = text::SLACK * widest.min(longest) + 8.0;
        let left = edge + size + 10.0 + gutter;
        let cell = ((frame.width - edge - left) / count).min(64.0);
        let named = cell >= READABLE;
        let turned = text::SLACK * widest > cell;
        let head = match (named, turned) {
            (false, _) => 6.0,
            (true, false) => size + 8.0,
            (true, true) => text::SLACK * widest.min(0.7 * longest) + 8.0,
        };
        let middle = left + 0.5 * cell * count;
        let columns = text::fit(self.column_label, size, cell * count + gutter);
        pen.text([middle, top + size], Anchor::Middle, size, "muted", &columns);
        top += size + 8.0 + head;
        let centre = top + 0.5 * cell * count;
        let rows = [edge + size, centre];
        pen.turned(rows, Anchor::Middle, size, "muted", self.row_label, -90.0);
        if named {
            for (place, name) in self.names.iter().enumerate() {
                let at = (place as f64 + 0.5) * cell;
                let label = text::fit(name, size, longest);
                let row = [left - 8.0, top + at + 0.35 * size];
                pen.text(row, Anchor::End, size, "ink", &label);
                if turned {
                    let label = text::fit(name, size, 0.7 * longest);
                    let column = [left + at + 0.35 * size, top - 7.0];
                    pen.turned(column, Anchor::Start, size, "ink", &label, -90.0);
                } else {
                    pen.text([left + at, top - 8.0], Anchor::Middle, size, "ink", name);
                }
            }
        }
        for (row, counts) in self.counts.iter().enumerate() {
            let total = counts.iter().fold(0u64, |sum, &count| sum.saturating_add(count));
            for (column, &count) in counts.iter().enumerate() {
                let at = [left + column as f64 * cell, top + row as f64 * cell];
                let share = if total == 0 { 0.0 } else { count as f64 / total as f64 };
                self.cell(&mut pen, at, cell, count, share, [row, column]);
            }
        }
        let height = top + cell * count + edge + 4.0;
        // A file is as wide as its cells; a page gives every figure one width.
        let needed = (left + cell * count + edge).max(text::width(title, 17.0) + 2.0 * edge);
        let width = if frame.titled { needed.min(frame.width).ceil() } else { frame.width };
        Drawing { width, height, body: pen.out }
    }

    fn cell(
        &self,
        pen: &mut Pen,
        [x, y]: [f64; 2],
        cell: f64,
        count: u64,
        share: f64,
        [row, column]: [usize; 2],
    ) {
        let (px, py, side) = (Px(x), Px(y), Px(cell - 1.0));
        let (slot, colour) = palette::colour(0);
        let tip = format!(
            "{}: {}; {}: {}: {} ({} of the row)",
            self.row_label,
            self.names[row],
            self.column_label,
            self.names[column],
            count,
            number::per_cent(share)
        );
        pen.put(format_args!(
            "<g class=\"cell\" data-tip=\"{tip}\"><rect class=\"cell-ground\" x=\"{px}\" y=\"{py}\" \
             width=\"{side}\" height=\"{side}\" fill=\"{GRID}\" fill-opacity=\"0.4\"/>\
             <rect class=\"fill s{slot}\" x=\"{px}\" y=\"{py}\" width=\"{side}\" height=\"{side}\" \
             fill=\"{colour}\" fill-opacity=\"{}\"/>",
            Px(share),
            tip = super::escape::Escaped(&tip),
        ));
        let label = number::count(count as usize);
        let size = (0.38 * cell).min(13.0).min(13.0 * (cell - 4.0) / text::width(&label, 13.0));
        if cell >= READABLE && size >= 6.0 {
            let (class, colour) = match (share > 0.55, count) {
                (true, _) => ("over", "#ffffff"),
                (false, 0) => ("muted", palette::MUTED),
                (false, _) => ("ink", INK),
            };
            let (cx, cy) = (Px(x + 0.5 * cell), Px(y + 0.5 * cell + 0.35 * size));
            pen.put(format_args!(
                "<text class=\"{class}\" x=\"{cx}\" y=\"{cy}\" font-size=\"{}\" \
                 text-anchor=\"middle\" fill=\"{colour}\">{label}</text>",
                Px(size)
            ));
        }
        pen.out.push_str("</g>");
    }
}
