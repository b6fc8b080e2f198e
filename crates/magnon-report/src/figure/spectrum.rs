//! Sorted eigenvalues, one curve a charge.

use super::draw::chart::{Axis, Chart, Panel, Series, pairs, thin};
use super::draw::check::Check;
use super::draw::pen::Stroke;
use super::draw::plan::{Plan, Plot};
use super::draw::scale::Domain;
use super::draw::table::spread_over;
use super::draw::{number, palette};
use super::frustration::height;
use super::response::{Curve, names};
use crate::PlotError;
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
    /// Where each stands among all eigenvalues, counted from 1, if these are only some; else empty.
    pub indices: Vec<f64>,
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
    /// The charge that was taken: the report's slider begins there.
    pub chosen: Option<f64>,
    /// What the values are, where they are not all eigenvalues; a clause of a sentence.
    pub note: String,
}

impl SpectrumCurve {
    pub(super) fn name(&self) -> String {
        format!("q = {}", number::charge(self.charge))
    }

    /// Values over their places in the spectrum.
    pub(super) fn points(&self, values: &[f64]) -> Vec<[f64; 2]> {
        match self.indices.is_empty() {
            true => thin((1u32..).zip(values).map(|(at, &value)| [f64::from(at), value]).collect()),
            false => thin(pairs(&self.indices, values)),
        }
    }

    /// The place of the last eigenvalue.
    fn last(&self) -> f64 {
        self.indices.last().copied().unwrap_or(self.eigenvalues.len() as f64)
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
            if !curve.indices.is_empty() {
                check.curve(
                    &format!("the places at {name}"),
                    &curve.indices,
                    &curve.eigenvalues,
                )?;
            }
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
        let longest = self.curves.iter().map(SpectrumCurve::last).fold(1.0, f64::max);
        let y = Domain::of(values).airy();
        let panel = |x: Axis, y: Axis, along_y: bool| Panel {
            x,
            y,
            series: Vec::new(),
            marks: Vec::new(),
            along_y,
        };
        let ranks = Domain::of([1.0, longest]);
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
        Chart { panels, shares, stack: false, common: None, frames: Vec::new(), start: 0 }
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
        if !self.note.is_empty() {
            text += &format!("; {}", self.note);
        }
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
            let line = Series::line(curve.name(), curve.points(&curve.eigenvalues), place);
            if !curve.approximation.is_empty() {
                let points = curve.points(&curve.approximation);
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
