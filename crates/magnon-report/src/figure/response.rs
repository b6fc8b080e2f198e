//! Frequency responses.

use super::draw::chart::{Axis, Chart, Panel, Series, pairs, thin};
use super::draw::check::Check;
use super::draw::plan::{Plan, Plot};
use super::draw::scale::Domain;
use super::draw::{number, palette};
use crate::PlotError;
use serde::{Deserialize, Serialize};

/// A named curve.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// What the legend calls it.
    pub name: String,
    /// Places, ascending.
    pub x: Vec<f64>,
    /// Values at these places.
    pub y: Vec<f64>,
    /// Drawn dashed, as approximations are.
    pub dashed: bool,
}

/// Responses h(λ) of one or many filters or charges over one axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResponseFigure {
    /// The title.
    pub title: String,
    /// The curves; at least one.
    pub curves: Vec<Curve>,
}

impl Plot for ResponseFigure {
    fn plan(&self) -> Result<Plan, PlotError> {
        let check = Check("response figure");
        check.some("the list of curves", &self.curves)?;
        for curve in &self.curves {
            check.curve(&curve.name, &curve.x, &curve.y)?;
        }
        let x = Domain::of(self.curves.iter().flat_map(|curve| curve.x.iter().copied()));
        let y = Domain::of(self.curves.iter().flat_map(|curve| curve.y.iter().copied()));
        let description = format!(
            "Frequency response of {}: for λ from {} to {}, h(λ) lies between {} and {}.",
            names(self.curves.iter().map(|curve| curve.name.as_str())),
            number::short(x.low, 3),
            number::short(x.high, 3),
            number::short(y.low, 3),
            number::short(y.high, 3)
        );
        let series = self.curves.iter().enumerate().map(|(place, curve)| {
            let mut series = Series::line(&curve.name, thin(pairs(&curve.x, &curve.y)), place);
            if curve.dashed {
                series.stroke.dash = palette::DASHED;
            }
            series
        });
        let panel = Panel {
            x: Axis::new("λ", x),
            y: Axis::new("h(λ)", y.airy()),
            series: series.collect(),
            marks: Vec::new(),
            along_y: false,
        };
        Ok(Plan::chart(&self.title, description, Chart::single(panel)))
    }
}

/// The first few names, and how many more there are.
pub(super) fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.len() {
        0..=6 => names.join(", "),
        more => format!("{} and {} more", names[..5].join(", "), more - 5),
    }
}
