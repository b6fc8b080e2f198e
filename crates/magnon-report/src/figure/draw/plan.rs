//! What a figure comes to once checked: words, a picture that can be drawn at any width, tables.

use super::bars::Bars;
use super::chart::{Chart, Drawing, Frame};
use super::cloud::Cloud;
use super::escape::Escaped;
use super::grid::Grid;
use super::table::Table;
use super::text::FAMILY;
use crate::PlotError;
use std::fmt::Write;

/// A checked figure.
pub struct Plan {
    pub(crate) title: String,
    /// One or two sentences that stand in for the picture.
    pub(crate) description: String,
    pub(crate) art: Art,
    pub(crate) tables: Vec<Table>,
}

/// The ways of drawing.
pub(crate) enum Art {
    Chart(Chart),
    Grid(Grid),
    Cloud(Cloud),
    Bars(Bars),
}

/// Implemented by the figures of this crate alone.
pub trait Plot {
    /// Checks the figure and lays it out.
    fn plan(&self) -> Result<Plan, PlotError>;
}

impl Plan {
    pub(crate) fn chart(title: &str, description: String, chart: Chart) -> Self {
        let tables = chart.tables();
        Self { title: title.to_owned(), description, art: Art::Chart(chart), tables }
    }

    fn draw(&self, frame: Frame) -> Drawing {
        match &self.art {
            Art::Chart(chart) => chart.draw(frame, &self.title),
            Art::Grid(grid) => grid.draw(frame, &self.title),
            Art::Cloud(cloud) => cloud.draw(frame, &self.title),
            Art::Bars(bars) => bars.draw(frame, &self.title),
        }
    }

    /// The picture as an SVG file on white.
    pub(crate) fn file(&self) -> String {
        let drawing = self.draw(Frame::FILE);
        let paper = "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>";
        let size = format!(" width=\"{}\" height=\"{:.0}\"", drawing.width, drawing.height.ceil());
        self.element(&drawing, "figure", &size, paper)
    }

    /// The picture as an element of a page, at one of the page's widths.
    pub(crate) fn inline(&self, frame: Frame, id: &str) -> String {
        let class = frame.class();
        let drawing = self.draw(frame);
        self.element(&drawing, &format!("{id}-{class}"), &format!(" class=\"{class}\""), "")
    }

    fn element(&self, drawing: &Drawing, id: &str, attributes: &str, paper: &str) -> String {
        let mut out = String::with_capacity(drawing.body.len() + 600);
        let (title, text) = (Escaped(&self.title), Escaped(&self.description));
        let _ = write!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\"{attributes} viewBox=\"0 0 {} {:.0}\" \
             font-family=\"{FAMILY}\" role=\"img\" aria-labelledby=\"{id}-title {id}-text\">\
             <title id=\"{id}-title\">{title}</title><desc id=\"{id}-text\">{text}</desc>{paper}{}</svg>",
            drawing.width,
            drawing.height.ceil(),
            drawing.body
        );
        out
    }
}
