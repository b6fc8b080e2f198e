//! The spectra of a run's operator: all eigenvalues of a small graph, quantiles between the true extremes of a
//! large one.

use super::{KeptRun, Progress};
use crate::Error;
use crate::operator::{Charge, MagneticOperator, OperatorError, Pattern};
use crate::progress::Quiet;
use crate::spectrum::{
    DensityConfig, Select, SpectrumConfig, SpectrumError, density, spectrum as solve,
};
use serde::Serialize;
use std::sync::Arc;

/// Graphs of up to so many nodes get all eigenvalues, larger ones quantiles of their density.
const EXACT: usize = 700;
/// Points of a curve from quantiles.
const QUANTILES: usize = 400;
/// Bound of the residual of the extremes, and so of their error; three decimals are shown.
const TOLERANCE: f64 = 1e-4;
/// Points of the filter's response, less one.
const RESPONSE: usize = 400;

/// Spectra of a run's operator at several charges, with the filter's response.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunSpectra {
    /// The charge that the run took.
    pub charge: f64,
    /// One spectrum per charge, in ascending order of the charges.
    pub spectra: Vec<ChargeSpectrum>,
    /// The filter's response over the operator's interval, where the model filters.
    pub response: Option<FilterCurve>,
    /// What the spectra are where they are not all eigenvalues: how many quantiles stand between the two ends, and
    /// the bound of the ends' error.
    pub estimated: Option<(usize, f64)>,
}

/// The spectrum at one charge.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChargeSpectrum {
    /// The charge.
    pub charge: f64,
    /// Eigenvalues, ascending.
    pub eigenvalues: Vec<f64>,
    /// The place of each among all eigenvalues, from 1; empty where all are given.
    pub indices: Vec<f64>,
}

/// h(λ) on a grid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FilterCurve {
    /// The name of the filter.
    pub filter: String,
    /// The grid.
    pub lambda: Vec<f64>,
    /// The response on it.
    pub response: Vec<f64>,
}

/// Spectra of the run's operator at the charge that it took, at 0, and, on a directed graph, at ½ to ⅙. `None` for a
/// model without an operator. A progress that is stopped ends the call; it is told nothing.
pub fn run_spectra(
    run: &KeptRun,
    taken: Charge,
    progress: &dyn Progress,
) -> Result<Option<RunSpectra>, Error> {
    let KeptRun { config, dataset, report, .. } = run;
    let (Some(pass), Some(choice)) = (&report.pass, &config.operator) else { return Ok(None) };
    let pattern = Arc::new(Pattern::new(&dataset.graph).map_err(OperatorError::from)?);
    let mut charges = vec![taken, Charge::ZERO];
    if pattern.is_directed() {
        charges.extend((2..=6).filter_map(|m| Charge::fraction(1, m).ok()));
    }
    charges.sort_by(|a, b| a.value().total_cmp(&b.value()));
    charges.dedup_by(|a, b| a.value() == b.value());
    let exact = dataset.graph.nodes() <= EXACT;
    let (mut spectra, mut response) = (Vec::new(), None);
    for charge in charges {
        let operator_config = choice.config(charge, pass == "high");
        let operator = MagneticOperator::from_pattern(pattern.clone(), &operator_config)?;
        let (indices, values) = match exact {
            true => (Vec::new(), eigenvalues(&operator, Select::All, progress)?),
            false => quantiles(&operator, progress)?.into_iter().unzip(),
        };
        spectra.push(ChargeSpectrum { charge: charge.value(), eigenvalues: values, indices });
        if charge.value() == taken.value()
            && let Some(of) = &config.filter
            && let Ok(filter) = of.build(operator.bounds(), operator.config().kind)
        {
            let bounds = operator.bounds();
            let step = (bounds.max - bounds.min) / RESPONSE as f64;
            let lambda: Vec<f64> = (0..=RESPONSE).map(|i| bounds.min + step * i as f64).collect();
            let values = lambda.iter().map(|&lambda| filter.response(lambda)).collect();
            let filter = of.kind.name().to_owned();
            response = Some(FilterCurve { filter, lambda, response: values });
        }
    }
    let estimated = (!exact).then_some((QUANTILES, TOLERANCE));
    Ok(Some(RunSpectra { charge: taken.value(), spectra, response, estimated }))
}

fn eigenvalues(
    operator: &MagneticOperator,
    select: Select,
    progress: &dyn Progress,
) -> Result<Vec<f64>, SpectrumError> {
    let tolerance = match select {
        Select::All => SpectrumConfig::default().tolerance,
        _ => TOLERANCE,
    };
    let config = SpectrumConfig { select, tolerance, ..Default::default() };
    Ok(solve(operator, &config, &Quiet(progress))?.eigenvalues)
}

/// About where the eigenvalues are, each with its place among all of them: the first and the last as they are,
/// and equal shares between them from their density.
fn quantiles(
    operator: &MagneticOperator,
    progress: &dyn Progress,
) -> Result<Vec<(f64, f64)>, SpectrumError> {
    let extreme = |select| -> Result<Option<f64>, SpectrumError> {
        Ok(eigenvalues(operator, select, progress)?.first().copied())
    };
    let nodes = operator.nodes() as f64;
    let first = extreme(Select::Smallest(1))?.map(|value| (1.0, value));
    let last = extreme(Select::Largest(1))?.map(|value| (nodes, value));
    let (low, high) = (first.map_or(f64::MIN, |p| p.1), last.map_or(f64::MAX, |p| p.1));
    let config = DensityConfig { points: 2000, ..Default::default() };
    let found = density(operator, &config, &Quiet(progress))?;
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
    use crate::graph::GraphBuilder;
    use crate::operator::OperatorConfig;

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

        let found = quantiles(&operator, &()).unwrap();
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
