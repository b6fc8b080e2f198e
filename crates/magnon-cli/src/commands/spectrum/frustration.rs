//! `magnon spectrum --frustration`: the smallest eigenvalue against the charge.

use super::{SpectrumArgs, fault, files};
use crate::args::Common;
use crate::data::Loaded;
use crate::figures;
use crate::report::{Bar, Clock, Report, grouped};
use magnon::data::write::write_csv;
use magnon::operator::Pattern;
use magnon::spectrum::{Frustration, FrustrationConfig, SpectrumConfig, frustration};
use serde_json::json;
use std::sync::Arc;

pub fn run(
    args: &SpectrumArgs,
    loaded: &Loaded,
    common: &Common,
    mut clock: Clock,
    mut report: Report,
) -> anyhow::Result<()> {
    let default = FrustrationConfig::default();
    let solver =
        SpectrumConfig { dense_up_to: default.solver.dense_up_to, ..args.solver.config(common)? };
    let config = FrustrationConfig {
        points: args.points.unwrap_or(default.points),
        whole_graph: args.whole_graph,
        symmetrize: args.operator.symmetrize.unwrap_or_default(),
        solver,
        ..default
    };
    config.check().map_err(fault)?;
    let graph = &loaded.dataset.graph;
    let pattern = clock.phase("operator", || Pattern::new(graph).map(Arc::new))?;
    let bar = Bar::new("frustration", common);
    let found = clock
        .phase("spectrum", || frustration(&pattern, &config, &|done, total| bar.tell(done, total)));
    drop(bar);
    let found = found.map_err(fault)?;
    if let Some(path) = &args.plot {
        let title = format!("Frustration of {}", loaded.dataset.name);
        let figure = figures::frustration(title, &found);
        clock.phase("plot", || figures::save(&figure, path))?;
        report.line("drawn", path.display());
    }
    let Frustration { curve, minima, nodes, components } = found;
    report.line("graph", &loaded.dataset.name);
    let part = if args.whole_graph { "all" } else { "the largest" };
    report.line(
        "curve",
        format!(
            "{} charges from 0 to 1/2, {part} of {} weak components, {} nodes",
            curve.len(),
            grouped(components),
            grouped(nodes)
        ),
    );
    for minimum in &minima {
        let text = format!("λ_min = {:.6} at q = {:.6}", minimum.lambda_min, minimum.charge);
        report.line("minimum", text);
    }
    if minima.is_empty() {
        report.line("minimum", "none: the curve is flat, no charge is told from another");
    }
    if let Some(path) = &args.csv {
        let rows = curve.iter().map(|point| [point.charge, point.lambda_min]);
        clock.phase("write", || write_csv(path, &["charge", "lambda_min"], rows))?;
        report.line("written", path.display());
    }
    report.key("name", loaded.dataset.name.clone());
    report.key("nodes", nodes);
    report.key("components", components);
    report.key("curve", json!(curve));
    report.key("minima", json!(minima));
    files(args, &mut report);
    report.print(common, clock)
}
