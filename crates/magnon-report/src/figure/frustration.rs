//! Frustration: the smallest eigenvalue against the charge.

use super::draw::chart::{Axis, Chart, Mark, MarkKind, Panel, Series, pairs, thin};
use super::draw::check::Check;
use super::draw::number;
use super::draw::plan::{Plan, Plot};
use super::draw::scale::Domain;
use crate::PlotError;
use serde::{Deserialize, Serialize};

/// λ_min(q), with its minima marked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FrustrationFigure {
    /// The title.
    pub title: String,
    /// Charges q, ascending.
    pub charges: Vec<f64>,
    /// λ_min at these charges.
    pub values: Vec<f64>,
    /// Charges at which to mark the curve.
    pub minima: Vec<f64>,
}

impl Plot for FrustrationFigure {
    fn plan(&self) -> Result<Plan, PlotError> {
        let check = Check("frustration figure");
        check.curve("the list of charges", &self.charges, &self.values)?;
        check.finite("the list of minima", &self.minima)?;
        let points = pairs(&self.charges, &self.values);
        let minima: Vec<String> = self.minima.iter().map(|&q| number::charge(q)).collect();
        let y = Domain::of(self.values.iter().copied());
        let description = format!(
            "The smallest eigenvalue for charges from {} to {}, between {} and {}{}.",
            number::charge(self.charges.iter().copied().fold(f64::INFINITY, f64::min)),
            number::charge(self.charges.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
            number::short(y.low, 3),
            number::short(y.high, 3),
            match minima.len() {
                0 => String::new(),
                _ => format!("; minima at q = {}", minima.join(", ")),
            }
        );
        let marks = self.minima.iter().zip(&minima).map(|(&q, label)| Mark {
            at: [q, height(&points, q)],
            label: format!("q = {label}"),
            kind: MarkKind::Ring,
        });
        let panel = Panel {
            x: Axis::new("charge q", Domain::of(self.charges.iter().chain(&self.minima).copied())),
            y: Axis::new("smallest eigenvalue", y.airy()),
            marks: marks.collect(),
            series: vec![Series::line("smallest eigenvalue", thin(points.clone()), 0)],
            along_y: false,
        };
        Ok(Plan::chart(&self.title, description, Chart::single(panel)))
    }
}

/// The curve's height at a place, between its points on a straight line.
pub(super) fn height(points: &[[f64; 2]], x: f64) -> f64 {
    let after = points.partition_point(|point| point[0] < x);
    let before = points.get(after.wrapping_sub(1));
    match (before, points.get(after)) {
        (Some(a), Some(b)) if b[0] > a[0] => a[1] + (x - a[0]) / (b[0] - a[0]) * (b[1] - a[1]),
        (_, Some(point)) | (Some(point), None) => point[1],
        (None, None) => 0.0,
    }
}
