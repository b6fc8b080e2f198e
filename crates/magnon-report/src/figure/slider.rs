//! Spectra one charge at a time, for the report's slider.

use super::draw::chart::{Chart, Moment, Series};
use super::draw::palette;
use super::draw::pen::Stroke;
use super::draw::plan::{Art, Plan, Plot};
use super::spectrum::{SpectrumCurve, SpectrumFigure};
use crate::PlotError;

impl SpectrumFigure {
    /// One charge at a time, beginning with the one that was taken, the first one faint behind it.
    pub(crate) fn with_slider(&self) -> Result<Plan, PlotError> {
        self.check()?;
        let mut panels = self.panels();
        let first = &self.curves[0];
        let approximated = self.curves.iter().any(|curve| !curve.approximation.is_empty());
        let moment = |curve: &SpectrumCurve| {
            let mut points =
                vec![vec![first.points(&first.eigenvalues), curve.points(&curve.eigenvalues)]];
            if approximated {
                points[0].push(curve.points(&curve.approximation));
            }
            if let Some(response) = &self.response {
                let line = Self::response_line(response, 0).points;
                points.push(vec![line, curve.dots(response)]);
            }
            let chosen = if Some(curve.charge) == self.chosen { ", chosen" } else { "" };
            Moment { label: curve.name() + chosen, points }
        };
        let frames: Vec<Moment> = self.curves.iter().map(moment).collect();
        let taken = self.curves.iter().position(|curve| Some(curve.charge) == self.chosen);
        let taken = taken.unwrap_or(0);
        let mut start = frames[taken].points.clone().into_iter();
        let mut lines = start.next().unwrap_or_default().into_iter();
        let faint = Stroke { series: None, dash: "", width: 1.0 };
        panels[0].series.extend(lines.next().map(|points| Series {
            stroke: faint,
            ..Series::line(format!("{}, to compare", first.name()), points, 0)
        }));
        panels[0].series.extend(lines.next().map(|points| Series::line("eigenvalues", points, 0)));
        panels[0].series.extend(lines.next().map(|points| {
            let line = Series::line("approximation", points, 1);
            Series { stroke: Stroke { dash: palette::DASHED, ..line.stroke }, ..line }
        }));
        if let (Some(response), Some(panel)) = (&self.response, panels.get_mut(1)) {
            panel.series.push(Self::response_line(response, 2));
            let dots = start.next().and_then(|series| series.into_iter().nth(1));
            panel.series.extend(dots.map(|points| Series {
                dots: true,
                ..Series::line("response at eigenvalues", points, 0)
            }));
        }
        let chart = Chart { frames, start: taken, ..self.chart(panels) };
        let mut plan = self.plan()?;
        plan.art = Art::Chart(chart);
        Ok(plan)
    }
}
