//! `magnon response --eigenvalues`: the paper's frequency responses over many charges.

use super::response::ResponseArgs;
use super::spectrum::fault;
use crate::args::Common;
use crate::data::Loaded;
use crate::figures;
use crate::report::{Bar, Clock, Report, usage};
use magnon::data::write::write_csv;
use magnon::filter::Filter;
use magnon::operator::{Kind, MagneticOperator, Normalize, OperatorConfig};
use magnon::spectrum::{FrequencyResponse, ResponseCurve, SpectrumConfig, frequency_response};
use serde_json::{Value, json};
use std::io::{BufWriter, Write};

const HEADER: [&str; 6] =
    ["charge", "index", "laplacian", "adjacency", "approximation", "response"];

/// The curves of every charge, with the filter's response on the same axis.
pub fn run(
    args: &ResponseArgs,
    operator: &MagneticOperator,
    filter: &Filter,
    loaded: &Loaded,
    common: &Common,
    mut clock: Clock,
    mut report: Report,
) -> anyhow::Result<()> {
    let operator_config = *operator.config();
    if operator_config.normalize == Normalize::None {
        return Err(usage(
            "--eigenvalues compares normalised operators; not with --normalize none",
        ));
    }
    let charges = args.charges.clone().unwrap_or_else(|| vec![operator_config.charge]);
    let memory = (args.memory * (1u64 << 30) as f64) as u64;
    let config = SpectrumConfig { memory, ..SpectrumConfig::default() };
    let bar = Bar::new("eigenvalues", common);
    let found = clock.phase("spectrum", || {
        let progress = |done, total| bar.tell(done, total);
        frequency_response(
            operator.pattern(),
            &charges,
            operator_config.symmetrize,
            &config,
            &progress,
        )
    });
    drop(bar);
    let found = found.map_err(fault)?;
    if let Some(path) = &args.plot {
        let title = format!("Frequency response of {}", loaded.dataset.name);
        let name = args.filter.config().kind.name().to_owned();
        let response = figures::response(name, filter, operator.bounds());
        let figure = figures::frequency_response(title, &found, Some(response));
        clock.phase("plot", || figures::save(&figure, path))?;
        report.line("drawn", path.display());
    }
    let FrequencyResponse { curves, mean_degree } = found;
    let rows = || curves.iter().flat_map(|curve| rows(curve, &operator_config, filter));
    if let Some(path) = &args.csv {
        clock.phase("write", || write_csv(path, &HEADER, rows()))?;
        report.line("written", path.display());
    } else if !common.json && args.plot.is_none() {
        let mut out = BufWriter::new(std::io::stdout().lock());
        writeln!(out, "{}", HEADER.join(","))?;
        for row in rows() {
            writeln!(out, "{}", row.join(","))?;
        }
        return Ok(out.flush()?);
    }
    report.line("graph", &loaded.dataset.name);
    for curve in &curves {
        let text = format!(
            "1 − {:.4}·λ_q is off by {:.4} at most, {:.4} on average",
            mean_degree / (mean_degree + 1.0),
            curve.max_error,
            curve.mean_error
        );
        report.line(&format!("q = {}", curve.charge), text);
    }
    report.key("mean_degree", mean_degree);
    report.key(
        "curves",
        curves.iter().map(|curve| keys(curve, &operator_config, filter)).collect::<Vec<_>>(),
    );
    report.key("csv", args.csv.as_ref().map(|path| path.display().to_string()));
    report.key("plot", args.plot.as_ref().map(|path| path.display().to_string()));
    report.print(common, clock)
}

/// The filter's response at the eigenvalues of the operator that it was built for.
fn responses<'a>(
    curve: &'a ResponseCurve,
    operator_config: &'a OperatorConfig,
    filter: &'a Filter,
) -> impl Iterator<Item = f64> + 'a {
    let pairs = curve.laplacian.iter().zip(&curve.adjacency);
    pairs.map(move |(laplacian, adjacency)| {
        let low = if operator_config.self_loops { *adjacency } else { 1.0 - laplacian };
        filter.response(match operator_config.kind {
            Kind::Adjacency => low,
            Kind::NegatedAdjacency => -low,
            Kind::Laplacian => 1.0 - low,
        })
    })
}

fn rows<'a>(
    curve: &'a ResponseCurve,
    operator_config: &'a OperatorConfig,
    filter: &'a Filter,
) -> impl Iterator<Item = Vec<String>> + 'a {
    responses(curve, operator_config, filter).enumerate().map(|(i, h)| {
        let numbers = [curve.laplacian[i], curve.adjacency[i], curve.approximation[i], h];
        let mut row = vec![curve.charge.to_string(), i.to_string()];
        row.extend(numbers.map(|number| number.to_string()));
        row
    })
}

fn keys(curve: &ResponseCurve, operator_config: &OperatorConfig, filter: &Filter) -> Value {
    json!({
        "charge": curve.charge.value(),
        "charge_text": curve.charge.to_string(),
        "laplacian": curve.laplacian,
        "adjacency": curve.adjacency,
        "approximation": curve.approximation,
        "response": responses(curve, operator_config, filter).collect::<Vec<_>>(),
        "max_error": curve.max_error,
        "mean_error": curve.mean_error,
    })
}
