//! Sorted eigenvalues, one curve a charge.

use super::frustration::height;
use super::response::{Curve, names};
use crate::chart::{Axis, Chart, Panel, Series, pairs, thin};
use crate::check::Check;
use crate::pen::Stroke;
use crate::plan::{Plan, Plot};
use crate::scale::Domain;
use crate::table::spread_over;
use crate::{PlotError, number, palette};
use serde::{Deserialize, Serialize};

/// Eigenvalues at one charge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpectrumCurve {
    /// The charge q.
    pub charge: f64,
    /// Eigenvalues, ascending.
    pub eigenvalues: Vec<f64>,
    /// An approximation of them, drawn dashed; empty for none.
    pub approximation: Vec<f64>,
}

/// Sorted eigenvalues of one or many charges; beside them, on the same axis of λ, the response of
/// the filter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpectrumFigure {
    /// The title.
    pub title: String,
    /// The curves; at least one. The report shows one at a time, with a slider.
    pub curves: Vec<SpectrumCurve>,
    /// The filter's response h(λ), x ascending.
    pub response: Option<Curve>,
}

impl SpectrumCurve {
    pub(super) fn name(&self) -> String {
        format!("q = {}", number::charge(self.charge))
    }

    pub(super) fn points(values: &[f64]) -> Vec<[f64; 2]> {
        thin((1u32..).zip(values).map(|(place, &value)| [f64::from(place), value]).collect())
    }

    /// The response at some of the eigenvalues.
    pub(super) fn dots(&self, response: &Curve) -> Vec<[f64; 2]> {
        let curve = pairs(&response.x, &response.y);
        let kept = spread_over(self.eigenvalues.len(), 60);
        kept.into_iter()
            .map(|at| self.eigenvalues[at])
            .map(|value| [height(&curve, value), value])
            .collect()
    }
}

impl SpectrumFigure {
    pub(super) fn check(&self) -> Result<(), PlotError> {
        let check = Check("spectrum figure");
        check.some("the list of curves", &self.curves)?;
        for curve in &self.curves {
            let name = curve.name();
            check.finite("the list of charges", &[curve.charge])?;
            check.some(&format!("the spectrum at {name}"), &curve.eigenvalues)?;
            check.finite(&format!("the spectrum at {name}"), &curve.eigenvalues)?;
            if !curve.approximation.is_empty() {
                let what = format!("the approximation at {name}");
                check.length(&what, curve.approximation.len(), curve.eigenvalues.len())?;
                check.finite(&what, &curve.approximation)?;
            }
        }
        match &self.response {
            Some(response) => check.curve(&response.name, &response.x, &response.y),
            None => Ok(()),
        }
    }

    /// Axes that hold every curve, with no curve in them yet.
    pub(super) fn panels(&self) -> Vec<Panel> {
        let all = self.curves.iter().flat_map(|c| c.eigenvalues.iter().chain(&c.approximation));
        let values = all.chain(self.response.iter().flat_map(|response| &response.x)).copied();
        let longest = self.curves.iter().map(|curve| curve.eigenvalues.len()).max().unwrap_or(1);
        let y = Domain::of(values).airy();
        let panel = |x: Axis, y: Axis, along_y: bool| Panel {
            x,
            y,
            series: Vec::new(),
            marks: Vec::new(),
            along_y,
        };
        let ranks = Domain::of([1.0, longest as f64]);
        let mut panels =
            vec![panel(Axis::new("index", ranks), Axis::new("eigenvalue λ", y), false)];
        if let Some(response) = &self.response {
            let x = Domain::of(response.y.iter().copied().chain([0.0])).airy();
            let y = Axis { bare: true, ..Axis::new("", y) };
            panels.push(panel(Axis::new("response h(λ)", x), y, true));
        }
        panels
    }

    pub(super) fn chart(&self, panels: Vec<Panel>) -> Chart {
        let shares = if panels.len() == 2 { vec![0.62, 0.38] } else { vec![1.0] };
        Chart { panels, shares, stack: false, common: None, frames: Vec::new() }
    }

    pub(super) fn response_line(response: &Curve, place: usize) -> Series {
        let points = thin(pairs(&response.x, &response.y));
        let turned = points.into_iter().map(|[x, y]| [y, x]).collect();
        Series::line(&response.name, turned, place)
    }

    fn description(&self) -> String {
        let values = self.curves.iter().flat_map(|curve| curve.eigenvalues.iter().copied());
        let range = Domain::of(values);
        let names = names(
            self.curves
                .iter()
                .map(SpectrumCurve::name)
                .collect::<Vec<_>>()
                .iter()
                .map(String::as_str),
        );
        let mut text = format!(
            "Sorted eigenvalues for {names}, between {} and {}",
            number::short(range.low, 3),
            number::short(range.high, 3)
        );
        if self.curves.iter().any(|curve| !curve.approximation.is_empty()) {
            text += "; dashed lines are approximations";
        }
        if let Some(response) = &self.response {
            text += &format!("; beside them the response of {}", response.name);
        }
        text + "."
    }
}

impl Plot for SpectrumFigure {
    fn plan(&self) -> Result<Plan, PlotError> {
        self.check()?;
        let mut panels = self.panels();
        for (place, curve) in self.curves.iter().enumerate() {
            let line = Series::line(curve.name(), SpectrumCurve::points(&curve.eigenvalues), place);
            if !curve.approximation.is_empty() {
                let points = SpectrumCurve::points(&curve.approximation);
                let name = format!("{}, approximated", curve.name());
                panels[0].series.push(Series {
                    stroke: Stroke { dash: palette::DASHED, width: 1.25, ..line.stroke },
                    listed: false,
                    ..Series::line(name, points, place)
                });
            }
            panels[0].series.push(line);
        }
        if let (Some(response), Some(panel)) = (&self.response, panels.get_mut(1)) {
            panel.series.push(Self::response_line(response, self.curves.len()));
        }
        let mut chart = self.chart(panels);
        if self.curves.iter().any(|curve| !curve.approximation.is_empty()) {
            let dashed = Stroke { series: None, dash: palette::DASHED, width: 1.25 };
            chart.common = Some((dashed, "approximation"));
        }
        Ok(Plan::chart(&self.title, self.description(), chart))
    }
}
