//! The spectra of a run's page: all eigenvalues of a small graph, quantiles between the true extremes of a large one.

use crate::figures;
use magnon::operator::{Charge, MagneticOperator, Pattern};
use magnon::spectrum::{
    DensityConfig, Select, SpectrumConfig, SpectrumError, density, spectrum as solve,
};
use magnon::workflow::KeptRun;
use magnon_plot::{SpectrumCurve, SpectrumFigure};
use std::sync::Arc;

/// Graphs of up to so many nodes get all eigenvalues, larger ones quantiles of their density.
const EXACT: usize = 700;
/// Points of a curve from quantiles.
const QUANTILES: usize = 400;
/// Bound of the residual of the extremes, and so of their error; three decimals are shown.
const TOLERANCE: f64 = 1e-4;

/// Spectra of the model's operator at several charges, with the filter's response.
pub fn spectra(run: &KeptRun, taken: Charge) -> Result<Option<SpectrumFigure>, SpectrumError> {
    let KeptRun { config, dataset, report: figures, .. } = run;
    let (Some(pass), Some(choice)) = (&figures.pass, &config.operator) else { return Ok(None) };
    let high = pass == "high";
    let pattern = Pattern::new(&dataset.graph).map_err(magnon::operator::OperatorError::from)?;
    let pattern = Arc::new(pattern);
    let mut charges = vec![taken, Charge::ZERO];
    if pattern.is_directed() {
        charges.extend((2..=6).filter_map(|m| Charge::fraction(1, m).ok()));
    }
    charges.sort_by(|a, b| a.value().total_cmp(&b.value()));
    charges.dedup_by(|a, b| a.value() == b.value());
    let exact = dataset.graph.nodes() <= EXACT;
    let mut curves = Vec::new();
    let mut response = None;
    for charge in charges {
        let operator_config = choice.config(charge, high);
        let operator = MagneticOperator::from_pattern(pattern.clone(), &operator_config)?;
        let (indices, eigenvalues) = match exact {
            true => (Vec::new(), eigenvalues(&operator, Select::All)?),
            false => quantiles(&operator)?.into_iter().unzip(),
        };
        let (charge, approximation) = (charge.value(), Vec::new());
        curves.push(SpectrumCurve { charge, eigenvalues, approximation, indices });
        if charge == taken.value()
            && let Some(of) = &config.filter
            && let Ok(filter) = of.build(operator.bounds(), operator.config().kind)
        {
            let name = of.kind.name().to_owned();
            response = Some(figures::response(name, &filter, operator.bounds()));
        }
    }
    let what = if exact { "Eigenvalues" } else { "Quantiles of the eigenvalues" };
    let beside = if response.is_some() { ", and the filter's response" } else { "" };
    let note = match exact {
        true => String::new(),
        false => format!(
            "the two ends are eigenvalues, right to {TOLERANCE}, and the points between them {QUANTILES} quantiles \
             of the density, which is estimated"
        ),
    };
    let (title, chosen) = (format!("{what} of the operator{beside}"), Some(taken.value()));
    Ok(Some(SpectrumFigure { title, curves, response, chosen, note }))
}

fn eigenvalues(operator: &MagneticOperator, select: Select) -> Result<Vec<f64>, SpectrumError> {
    let tolerance = match select {
        Select::All => SpectrumConfig::default().tolerance,
        _ => TOLERANCE,
    };
    let config = SpectrumConfig { select, tolerance, ..Default::default() };
    Ok(solve(operator, &config, &|_, _| true)?.eigenvalues)
}

/// About where the eigenvalues are, each with its place among all of them: the first and the last as they are,
/// and equal shares between them from their density.
fn quantiles(operator: &MagneticOperator) -> Result<Vec<(f64, f64)>, SpectrumError> {
    let extreme = |select| -> Result<Option<f64>, SpectrumError> {
        Ok(eigenvalues(operator, select)?.first().copied())
    };
    let nodes = operator.nodes() as f64;
    let first = extreme(Select::Smallest(1))?.map(|value| (1.0, value));
    let last = extreme(Select::Largest(1))?.map(|value| (nodes, value));
    let (low, high) = (first.map_or(f64::MIN, |p| p.1), last.map_or(f64::MAX, |p| p.1));
    let config = DensityConfig { points: 2000, ..Default::default() };
    let found = density(operator, &config, &|_, _| true)?;
    let mut at = 0;
    let between = (0..QUANTILES).map(|k| {
        let share = (k as f64 + 0.5) / QUANTILES as f64;
        while at + 1 < found.lambda.len() && found.cumulative[at] < share {
            at += 1;
        }
        (1.0 + share * (nodes - 1.0), found.lambda[at].max(low).min(high))
    });
    Ok(first.into_iter().chain(between).chain(last).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use magnon::graph::GraphBuilder;
    use magnon::operator::OperatorConfig;

    /// A directed cycle of n nodes with self loops has the eigenvalues (1 + 2 cos 2π(q + k/n)) / 3.
    #[test]
    fn quantiles_lie_between_the_true_extremes() {
        let nodes = 1201;
        let edges = (0..nodes).map(|u| (u, (u + 1) % nodes));
        let graph = GraphBuilder::new(nodes as usize).edges(edges).build().unwrap().graph;
        let charge = Charge::fraction(1, 4).unwrap();
        let config = OperatorConfig { charge, ..OperatorConfig::default() };
        let operator = MagneticOperator::new(&graph, &config).unwrap();
        let value = |k: u32| {
            let turn = 0.25 + f64::from(k) / f64::from(nodes);
            (1.0 + 2.0 * (std::f64::consts::TAU * turn).cos()) / 3.0
        };
        let mut exact: Vec<f64> = (0..nodes).map(value).collect();
        exact.sort_by(f64::total_cmp);

        let found = quantiles(&operator).unwrap();
        let (first, last) = (found[0], found[found.len() - 1]);
        assert_eq!((first.0, last.0), (1.0, f64::from(nodes)));
        assert!((first.1 - exact[0]).abs() < TOLERANCE, "{}", first.1);
        assert!((last.1 - exact[exact.len() - 1]).abs() < TOLERANCE, "{}", last.1);
        assert!(found.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1));
        for (index, value) in found {
            let near = exact[(index.round() as usize).min(exact.len()) - 1];
            assert!((value - near).abs() < 0.05, "{value} at {index}, not {near}");
        }
    }
}
