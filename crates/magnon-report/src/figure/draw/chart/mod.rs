//! Line charts: panels with axes, curves, bands and marks.

mod data;
mod draw;
mod legend;
mod points;

pub(crate) use points::thin;

use super::pen::{Anchor, Pen, Stroke};
use super::scale::Domain;
use super::table::Table;
use super::text;

/// How large a figure is drawn, and whether it carries its own title.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub width: f64,
    pub titled: bool,
}

impl Frame {
    /// A file of its own.
    pub const FILE: Self = Self { width: 760.0, titled: true };
    /// A page on a desk and on a telephone; the page has the title.
    pub const WIDE: Self = Self { width: 640.0, titled: false };
    pub const NARROW: Self = Self { width: 330.0, titled: false };
    /// A figure that has the width of a page on a desk to itself.
    pub const PAGE: Self = Self { width: 1120.0, titled: false };

    pub fn narrow(self) -> bool {
        self.width < 480.0
    }

    /// What a page calls it.
    pub fn class(self) -> &'static str {
        match self.width {
            ..480.0 => "narrow",
            ..800.0 => "wide",
            _ => "page",
        }
    }

    /// Writes the title where the picture carries it.
    pub fn begin(self, pen: &mut Pen, title: &str) -> Start {
        let size = if self.narrow() { 11.0 } else { 12.5 };
        let edge = if self.titled { 20.0 } else { 4.0 };
        let mut top = edge;
        if self.titled {
            let title = text::fit(title, 17.0, self.width - 2.0 * edge);
            pen.text([edge, top + 14.0], Anchor::Start, 17.0, "ink", &title);
            top += 34.0;
        }
        Start { size, edge, top }
    }
}

/// What every picture begins with: the size of its text, its margin, and where the title ends.
pub(crate) struct Start {
    pub size: f64,
    pub edge: f64,
    pub top: f64,
}

/// A finished picture.
pub(crate) struct Drawing {
    pub width: f64,
    pub height: f64,
    pub body: String,
}

/// One or two panels under one legend.
pub(crate) struct Chart {
    pub panels: Vec<Panel>,
    /// The share of the width that each panel takes.
    pub shares: Vec<f64>,
    /// Panels stand over one another where the width is small.
    pub stack: bool,
    /// One more line of the legend, for what several series have in common.
    pub common: Option<(Stroke, &'static str)>,
    /// Other states of the same axes, for a slider: the points of every panel's series.
    pub frames: Vec<Moment>,
    /// Which of them is shown first.
    pub start: usize,
}

/// One state of a chart with a slider.
pub(crate) struct Moment {
    pub label: String,
    pub points: Vec<Vec<Vec<[f64; 2]>>>,
}

/// Two axes and what lies between.
pub(crate) struct Panel {
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    pub marks: Vec<Mark>,
    /// Values are read off along y, where the x axis is the function.
    pub along_y: bool,
}

pub(crate) struct Axis {
    pub label: String,
    pub domain: Domain,
    /// Another panel beside this one shows the labels.
    pub bare: bool,
}

impl Axis {
    pub fn new(label: &str, domain: Domain) -> Self {
        Self { label: label.to_owned(), domain, bare: false }
    }
}

/// A curve, or a row of dots.
pub(crate) struct Series {
    pub name: String,
    pub points: Vec<[f64; 2]>,
    /// x, lower and upper end.
    pub band: Vec<[f64; 3]>,
    pub stroke: Stroke,
    pub dots: bool,
    /// Named in the legend.
    pub listed: bool,
}

impl Series {
    /// A whole line in the colour of its place.
    pub fn line(name: impl Into<String>, points: Vec<[f64; 2]>, place: usize) -> Self {
        Self {
            name: name.into(),
            points,
            band: Vec::new(),
            stroke: Stroke { series: Some(place), dash: super::palette::dash(place), width: 1.75 },
            dots: false,
            listed: true,
        }
    }
}

/// A point with a few words.
pub(crate) struct Mark {
    pub at: [f64; 2],
    pub label: String,
    pub kind: MarkKind,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum MarkKind {
    /// A ring on the curve.
    Ring,
    /// A line across the panel.
    Line,
}

/// Pairs of two lists.
pub(crate) fn pairs(x: &[f64], y: &[f64]) -> Vec<[f64; 2]> {
    x.iter().zip(y).map(|(&x, &y)| [x, y]).collect()
}

impl Chart {
    pub fn single(panel: Panel) -> Self {
        Self {
            panels: vec![panel],
            shares: vec![1.0],
            stack: false,
            common: None,
            frames: Vec::new(),
            start: 0,
        }
    }

    /// Whether lines carry shapes: where two of a panel differ by colour alone. Lines that a slider
    /// moves never do; they differ by dash.
    fn shapes(&self, panel: &Panel) -> bool {
        let lines = || panel.series.iter().filter(|series| series.listed && !series.dots);
        let alike = |a: &Series| lines().filter(|b| b.stroke.dash == a.stroke.dash).count() > 1;
        self.frames.is_empty() && lines().any(alike)
    }

    /// The numbers behind the picture.
    pub fn tables(&self) -> Vec<Table> {
        self.panels.iter().flat_map(data::tables).collect()
    }
}
