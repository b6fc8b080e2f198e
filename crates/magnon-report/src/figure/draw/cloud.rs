//! A cloud of points with faint edges: the eigenmap's picture and its data for the page.

use super::chart::{Drawing, Frame, Start};
use super::palette::{self, GRID, MUTED};
use super::pen::{Anchor, Pen, Px};
use super::text;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

/// More edges than this are a grey blur; every so-manieth is kept.
pub(crate) const MOST_EDGES: usize = 20_000;
/// More classes than this do not fit a legend.
const MOST_NAMES: usize = 14;
/// The finest step of a coordinate: a 16-bit number over the cloud's width.
const STEPS: f64 = 65_535.0;

/// Points about the middle of a cube from −1 to 1.
pub(crate) struct Cloud {
    pub points: Vec<[f64; 3]>,
    /// All points lie in the plane.
    pub flat: bool,
    pub labels: Vec<u16>,
    pub class_names: Vec<String>,
    pub node_names: Vec<String>,
    pub edges: Vec<[u32; 2]>,
    /// Angles in radians, or none.
    pub phases: Vec<f64>,
    pub axes: [String; 3],
}

/// What the page's script reads.
#[derive(Serialize)]
struct CloudData<'a> {
    count: usize,
    flat: bool,
    positions: String,
    labels: String,
    edges: String,
    phases: String,
    /// A marker of radius 10 for each class, as relative path commands.
    outlines: Vec<String>,
    classes: &'a [String],
    names: &'a [String],
    axes: &'a [String; 3],
}

impl Cloud {
    /// As JSON that may stand in a page; numbers are little-endian, in base 64.
    pub fn json(&self) -> String {
        let whole = |value: f64| ((value + 1.0) * 0.5 * STEPS).round().clamp(0.0, STEPS) as u16;
        let short = |values: &mut dyn Iterator<Item = u16>| {
            STANDARD.encode(values.flat_map(u16::to_le_bytes).collect::<Vec<u8>>())
        };
        let turns = |phase: &f64| {
            let turn = (phase / std::f64::consts::TAU).rem_euclid(1.0);
            (turn * 65_536.0) as u32 as u16
        };
        let ends = self.edges.iter().flatten().flat_map(|end| end.to_le_bytes());
        super::escape::json(&CloudData {
            count: self.points.len(),
            flat: self.flat,
            positions: short(&mut self.points.iter().flatten().map(|&value| whole(value))),
            labels: short(&mut self.labels.iter().copied()),
            edges: STANDARD.encode(ends.collect::<Vec<u8>>()),
            phases: short(&mut self.phases.iter().map(turns)),
            outlines: (0..self.class_names.len()).map(|class| shape(class, 10.0)).collect(),
            classes: &self.class_names,
            names: &self.node_names,
            axes: &self.axes,
        })
    }

    pub fn draw(&self, frame: Frame, title: &str) -> Drawing {
        let mut pen = Pen::default();
        let Start { size, edge, mut top } = frame.begin(&mut pen, title);
        top += self.legend(&mut pen, [edge, frame.width - edge], top, size);
        let whole = frame.width - 2.0 * edge;
        let side = if self.phases.is_empty() { 0.72 * whole } else { 0.6 * whole };
        let radius = (70.0 / (self.points.len() as f64).sqrt()).clamp(1.1, 4.0);
        let left = if self.phases.is_empty() { edge + 0.5 * (whole - side) } else { edge };
        self.map(&mut pen, [left, top], side, radius, size);
        if !self.phases.is_empty() {
            let room = whole - side - 24.0;
            let centre = [frame.width - edge - 0.5 * room, top + 0.5 * side];
            self.circle(&mut pen, centre, 0.5 * room - 8.0, radius, size);
        }
        let height = top + side + size + 12.0 + edge;
        Drawing { width: frame.width, height, body: pen.out }
    }

    /// Classes that occur in the legend.
    fn listed(&self) -> usize {
        if self.class_names.len() < 2 { 0 } else { self.class_names.len().min(MOST_NAMES) }
    }

    fn legend(&self, pen: &mut Pen, [left, right]: [f64; 2], top: f64, size: f64) -> f64 {
        let listed = self.listed();
        if listed == 0 {
            return 0.0;
        }
        let (mut x, mut y) = (left, top + 10.0);
        let more = self.class_names.len() - listed;
        let more = (more > 0).then(|| (None, format!("and {more} more")));
        let names = self.class_names[..listed].iter().enumerate();
        for (class, name) in names.map(|(class, name)| (Some(class), name.clone())).chain(more) {
            let name = text::fit(&name, size, 200.0);
            let width = 18.0 + text::SLACK * text::width(&name, size);
            if x > left && x + width > right {
                x = left;
                y += 20.0;
            }
            if let Some(class) = class {
                let d = format!("M{} {}{}", Px(x + 6.0), Px(y), shape(class, 4.5));
                pen.fill(&d, class, 1.0, "");
            }
            pen.text([x + 16.0, y + 0.36 * size], Anchor::Start, size, "ink", &name);
            x += width + 10.0;
        }
        y - top + 22.0
    }

    fn map(&self, pen: &mut Pen, [left, top]: [f64; 2], side: f64, radius: f64, size: f64) {
        // The two coordinates that are seen fill the frame.
        let widest =
            self.points.iter().flat_map(|[x, y, _]| [x.abs(), y.abs()]).fold(1e-3, f64::max);
        let reach = (0.5 * side - 8.0) / widest;
        let place = |point: &[f64; 3]| {
            [left + 0.5 * side + reach * point[0], top + 0.5 * side - reach * point[1]]
        };
        let (x, y, side_px) = (Px(left), Px(top), Px(side));
        pen.put(format_args!(
            "<rect class=\"frame\" x=\"{x}\" y=\"{y}\" width=\"{side_px}\" height=\"{side_px}\" \
             fill=\"none\" stroke=\"{GRID}\"/>"
        ));
        let d = super::pen::path(self.edges.iter().flat_map(|ends| {
            let [from, to] = ends.map(|end| self.points.get(end as usize).map(place));
            [from, to, None]
        }));
        let opacity = (600.0 / self.edges.len().max(1) as f64).clamp(0.06, 0.45);
        pen.put(format_args!(
            "<path class=\"edges\" d=\"{d}\" fill=\"none\" stroke=\"{MUTED}\" stroke-width=\"0.7\" \
             stroke-opacity=\"{}\"/>",
            Px(opacity)
        ));
        self.dots(pen, |node| self.points.get(node).map(place), radius);
        let below = top + side + size + 6.0;
        let caption =
            text::fit(&format!("{} across, {} up", self.axes[0], self.axes[1]), size, side);
        pen.text([left, below], Anchor::Start, size, "muted", &caption);
    }

    /// Nodes at their phase, each class on a ring of its own so that none hides another.
    fn circle(&self, pen: &mut Pen, [cx, cy]: [f64; 2], reach: f64, radius: f64, size: f64) {
        let rings = self.class_names.len().max(1) as f64;
        let (x, y, r) = (Px(cx), Px(cy), Px(reach));
        pen.put(format_args!(
            "<circle class=\"frame\" cx=\"{x}\" cy=\"{y}\" r=\"{r}\" fill=\"none\" stroke=\"{GRID}\"/>"
        ));
        pen.rule([cx - reach, cy], [cx + reach, cy], "grid", GRID, 1.0);
        pen.rule([cx, cy - reach], [cx, cy + reach], "grid", GRID, 1.0);
        let place = |node: usize| {
            let (phase, label) = (self.phases.get(node)?, self.labels.get(node)?);
            let ring = reach * (0.45 + 0.5 * (f64::from(*label) + 0.5) / rings);
            Some([cx + ring * phase.cos(), cy - ring * phase.sin()])
        };
        self.dots(pen, place, 0.8 * radius);
        let caption = "phase; one ring a class";
        pen.text([cx, cy + reach + size + 6.0], Anchor::Middle, size, "muted", caption);
    }

    /// One path a class keeps a picture of many thousand nodes small.
    fn dots(&self, pen: &mut Pen, place: impl Fn(usize) -> Option<[f64; 2]>, radius: f64) {
        use std::fmt::Write;
        let mut paths = vec![String::new(); self.class_names.len()];
        let shapes: Vec<String> =
            (0..self.class_names.len()).map(|class| shape(class, radius)).collect();
        for (node, &label) in self.labels.iter().enumerate() {
            let class = usize::from(label);
            if let (Some([x, y]), Some(path)) = (place(node), paths.get_mut(class)) {
                let _ = write!(path, "M{} {}{}", Px(x), Px(y), shapes[class]);
            }
        }
        for (class, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            pen.fill(path, class, 0.85, "");
        }
    }
}

fn shape(class: usize, radius: f64) -> String {
    palette::outline(palette::shape(class), radius)
}
