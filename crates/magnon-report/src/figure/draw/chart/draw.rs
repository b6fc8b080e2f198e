//! A chart as SVG.

use super::legend::{self, dot};
use super::{Chart, Drawing, Frame, Mark, MarkKind, Panel, Series, Start};
use crate::figure::draw::palette::{self, GRID, INK, MUTED};
use crate::figure::draw::pen::{Anchor, Pen, Px, path};
use crate::figure::draw::scale::Domain;
use crate::figure::draw::text;

/// How many shapes a line carries, and their radius.
const MARKERS: usize = 5;
pub(super) const MARKER: f64 = 3.4;

/// A panel's rectangle in pixels.
#[derive(Clone, Copy)]
struct Room {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Chart {
    pub fn draw(&self, frame: Frame, title: &str) -> Drawing {
        let mut pen = Pen::default();
        let Start { size, edge, mut top } = frame.begin(&mut pen, title);
        top += legend::draw(&mut pen, self, [edge, frame.width - edge], top, size);

        let stacked = self.stack && frame.narrow();
        let whole = frame.width - 2.0 * edge;
        let height = if stacked || frame.narrow() { 215.0 } else { 300.0 };
        let mut left = edge;
        for (index, panel) in self.panels.iter().enumerate() {
            let share = if stacked { 1.0 } else { self.shares.get(index).copied().unwrap_or(1.0) };
            let gap = if stacked || index + 1 == self.panels.len() { 0.0 } else { 14.0 };
            let width = whole * share - gap;
            let room = Room { left, right: left + width, top, bottom: top + height };
            panel.draw(&mut pen, room, size, index, self.shapes(panel));
            if stacked { top += height + 8.0 } else { left += whole * share }
        }
        let bottom = if stacked { top - 8.0 } else { top + height };
        Drawing { width: frame.width, height: bottom + edge, body: pen.out }
    }
}

impl Panel {
    fn draw(&self, pen: &mut Pen, outer: Room, size: f64, index: usize, shapes: bool) {
        let top = outer.top + size + 12.0;
        let bottom = outer.bottom - 2.0 * size - 16.0;
        let y_ticks = self.y.domain.ticks(if bottom - top > 180.0 { 6 } else { 4 });
        let labels = y_ticks.iter().map(|(_, label)| text::width(label, size));
        let gutter = if self.y.bare { 0.0 } else { labels.fold(0.0, f64::max) + 9.0 };
        let room = Room { left: outer.left + gutter, right: outer.right - 6.0, top, bottom };
        let across = [room.left, room.right];
        let upward = [room.bottom, room.top];

        let plain = |value: f64| format!("{value:?}");
        pen.put(format_args!(
            "<g class=\"panel\" data-panel=\"{index}\" data-px=\"{},{}\" data-py=\"{},{}\" \
             data-dx=\"{},{}\" data-dy=\"{},{}\">",
            Px(across[0]),
            Px(across[1]),
            Px(upward[0]),
            Px(upward[1]),
            plain(self.x.domain.low),
            plain(self.x.domain.high),
            plain(self.y.domain.low),
            plain(self.y.domain.high)
        ));
        for (value, label) in &y_ticks {
            let y = self.y.domain.place(*value, upward);
            pen.rule([room.left, y], [room.right, y], "grid", GRID, 1.0);
            if !self.y.bare {
                let at = [room.left - 7.0, y + 0.35 * size];
                pen.text(at, Anchor::End, size, "muted", label);
            }
        }
        let x_ticks = fitting(self.x.domain, across, size);
        for (value, label) in &x_ticks {
            let x = self.x.domain.place(*value, across);
            pen.rule([x, room.bottom], [x, room.bottom + 4.0], "tick", MUTED, 1.0);
            // The outermost labels stay inside the picture.
            let half = 0.5 * text::width(label, size);
            let x =
                x.clamp(outer.left + half - 4.0, (outer.right - half + 4.0).max(outer.left + half));
            pen.text([x, room.bottom + size + 8.0], Anchor::Middle, size, "muted", label);
        }
        pen.rule([room.left, room.bottom], [room.right, room.bottom], "axis", MUTED, 1.0);
        let y_label = text::fit(&self.y.label, size, outer.right - outer.left);
        pen.text([outer.left, outer.top + size], Anchor::Start, size, "muted", &y_label);
        let x_label = text::fit(&self.x.label, size, room.right - outer.left);
        let middle = 0.5 * (room.left + room.right);
        pen.text([middle, outer.bottom - 3.0], Anchor::Middle, size, "muted", &x_label);

        for mark in self.marks.iter().filter(|mark| mark.kind == MarkKind::Line) {
            self.mark(pen, mark, room, outer.left, size);
        }
        for (place, series) in self.series.iter().enumerate() {
            self.series(pen, series, room, place, shapes && series.listed);
        }
        for mark in self.marks.iter().filter(|mark| mark.kind == MarkKind::Ring) {
            self.mark(pen, mark, room, outer.left, size);
        }
        pen.out.push_str("</g>");
    }

    fn series(&self, pen: &mut Pen, series: &Series, room: Room, place: usize, shapes: bool) {
        let pixel = |[x, y]: [f64; 2]| {
            let drawable =
                crate::figure::draw::check::drawable(x) && crate::figure::draw::check::drawable(y);
            drawable.then(|| {
                [
                    self.x.domain.place(x, [room.left, room.right]),
                    self.y.domain.place(y, [room.bottom, room.top]),
                ]
            })
        };
        if !series.band.is_empty() {
            let there = series.band.iter().map(|&[x, low, _]| pixel([x, low]));
            let back = series.band.iter().rev().map(|&[x, _, high]| pixel([x, high]));
            let d = path(there.chain(back)) + "z";
            pen.fill(&d, series.stroke.series.unwrap_or(0), 0.18, "");
        }
        let hook = format!(" data-series=\"{place}\"");
        if series.dots {
            let dots = series.points.iter().filter_map(|&point| pixel(point));
            let d: String = dots.map(|at| dot(at, 2.6)).collect();
            pen.fill(&d, series.stroke.series.unwrap_or(0), 0.8, &hook);
            return;
        }
        let points: Vec<_> = series.points.iter().map(|&point| pixel(point)).collect();
        pen.line(&path(points.iter().copied()), series.stroke, &hook);
        if shapes {
            let d = markers(&points, series.stroke.series.unwrap_or(0), self.series.len());
            pen.fill(&d, series.stroke.series.unwrap_or(0), 1.0, "");
        }
        // A point between two gaps has no line to be seen by.
        let lonely = |at: usize| {
            let gap =
                |at: Option<usize>| at.and_then(|at| points.get(at)).is_none_or(Option::is_none);
            gap(at.checked_sub(1)) && gap(at.checked_add(1))
        };
        for (at, point) in points.iter().enumerate() {
            if let (Some(point), true) = (point, lonely(at)) {
                pen.fill(&dot(*point, 2.6), series.stroke.series.unwrap_or(0), 1.0, "");
            }
        }
    }

    fn mark(&self, pen: &mut Pen, mark: &Mark, room: Room, outer_left: f64, size: f64) {
        let x = self.x.domain.place(mark.at[0], [room.left, room.right]);
        let y = self.y.domain.place(mark.at[1], [room.bottom, room.top]);
        let half = 0.5 * text::width(&mark.label, size) + 2.0;
        match mark.kind {
            MarkKind::Line => {
                pen.rule([x, room.top], [x, room.bottom], "mark", MUTED, 1.0);
                // Above the panel, where no curve runs, and clear of the axis' own label.
                let taken = text::width(&self.y.label, size) + 10.0;
                let left = (room.left + half).max(outer_left + taken + half);
                let x = x.clamp(left, (room.right - half).max(left));
                pen.text([x, room.top - 6.0], Anchor::Middle, size, "ink", &mark.label);
            }
            MarkKind::Ring => {
                let (cx, cy) = (Px(x), Px(y));
                pen.put(format_args!(
                    "<circle class=\"ring\" cx=\"{cx}\" cy=\"{cy}\" r=\"5\" fill=\"none\" \
                     stroke=\"{INK}\" stroke-width=\"1.5\"/>"
                ));
                let above = y - 11.0 - size > room.top;
                let y = if above { y - 11.0 } else { y + 10.0 + size };
                let x = x.clamp(room.left + half, (room.right - half).max(room.left + half));
                pen.text([x, y], Anchor::Middle, size, "ink halo", &mark.label);
            }
        }
    }
}

/// A few of the series' shapes along its line; each series starts a little later than the last, so
/// that the shapes of curves that run together stand side by side.
fn markers(points: &[Option<[f64; 2]>], series: usize, count: usize) -> String {
    let ends = (points.iter().flatten().next(), points.iter().flatten().last());
    let (Some(first), Some(last)) = ends else { return String::new() };
    // Along the longer way: a curve may run up rather than across.
    let along = usize::from((last[1] - first[1]).abs() > (last[0] - first[0]).abs());
    let shape = palette::outline(palette::shape(series), MARKER);
    let mut d = String::new();
    for step in 0..MARKERS {
        let share = (step as f64 + (series as f64 + 0.5) / (count as f64)) / MARKERS as f64;
        let wanted = first[along] + share * (last[along] - first[along]);
        let far = |at: &&[f64; 2]| (at[along] - wanted).abs();
        let nearest = points.iter().flatten().min_by(|a, b| far(a).total_cmp(&far(b)));
        if let Some([x, y]) = nearest {
            d += &format!("M{} {}{shape}", Px(*x), Px(*y));
        }
    }
    d
}

/// As many ticks as have room for their labels.
fn fitting(domain: Domain, across: [f64; 2], size: f64) -> Vec<(f64, String)> {
    let width = across[1] - across[0];
    for wanted in (2..=8).rev() {
        let ticks = domain.ticks(wanted);
        let widest = ticks.iter().map(|(_, label)| text::width(label, size)).fold(0.0, f64::max);
        if ticks.len() as f64 * (widest + 1.2 * size) <= width + widest {
            return ticks;
        }
    }
    domain.ticks(1)
}
