//! Spectral densities.

use super::draw::chart::{Axis, Chart, Panel, Series, pairs, thin};
use super::draw::check::Check;
use super::draw::number;
use super::draw::plan::{Plan, Plot};
use super::draw::scale::Domain;
use super::response::names;
use crate::PlotError;
use serde::{Deserialize, Serialize};

/// A density with its error.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DensityCurve {
    /// What the legend calls it.
    pub name: String,
    /// Places on the spectrum, ascending.
    pub x: Vec<f64>,
    /// Density at these places.
    pub density: Vec<f64>,
    /// Lower end of the error band; empty for none.
    pub low: Vec<f64>,
    /// Upper end of the error band; empty for none.
    pub high: Vec<f64>,
}

/// How the eigenvalues are spread, for one or many charges.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DensityFigure {
    /// The title.
    pub title: String,
    /// The curves; at least one.
    pub curves: Vec<DensityCurve>,
}

impl DensityCurve {
    fn check(&self, check: Check) -> Result<(), PlotError> {
        check.curve(&self.name, &self.x, &self.density)?;
        if self.low.is_empty() && self.high.is_empty() {
            return Ok(());
        }
        for (end, values) in [("lower", &self.low), ("upper", &self.high)] {
            let what = format!("the {end} end of {}", self.name);
            check.length(&what, values.len(), self.x.len())?;
            check.finite(&what, values)?;
        }
        Ok(())
    }

    /// About half of the points of a thinned curve, so that the band looks as smooth.
    fn band(&self) -> Vec<[f64; 3]> {
        let last = self.low.len().min(self.high.len());
        let kept = super::draw::table::spread_over(last, 700);
        kept.into_iter().map(|at| [self.x[at], self.low[at], self.high[at]]).collect()
    }
}

impl Plot for DensityFigure {
    fn plan(&self) -> Result<Plan, PlotError> {
        let check = Check("density figure");
        check.some("the list of curves", &self.curves)?;
        self.curves.iter().try_for_each(|curve| curve.check(check))?;
        let x = Domain::of(self.curves.iter().flat_map(|curve| curve.x.iter().copied()));
        let heights = self
            .curves
            .iter()
            .flat_map(|curve| curve.density.iter().chain(&curve.low).chain(&curve.high).copied());
        let y = Domain::of(heights.chain([0.0]));
        let banded = self.curves.iter().any(|curve| !curve.low.is_empty());
        let description = format!(
            "Spectral density of {} for λ from {} to {}, at most {}{}.",
            names(self.curves.iter().map(|curve| curve.name.as_str())),
            number::short(x.low, 3),
            number::short(x.high, 3),
            number::short(y.high, 3),
            if banded { "; the shaded band is the error" } else { "" }
        );
        let series = self.curves.iter().enumerate().map(|(place, curve)| {
            let points = thin(pairs(&curve.x, &curve.density));
            Series { band: curve.band(), ..Series::line(&curve.name, points, place) }
        });
        let panel = Panel {
            x: Axis::new("λ", x),
            y: Axis::new("density", Domain { low: y.low, high: y.airy().high }),
            series: series.collect(),
            marks: Vec::new(),
            along_y: false,
        };
        Ok(Plan::chart(&self.title, description, Chart::single(panel)))
    }
}
