//! `magnon spectrum --frustration`: the smallest eigenvalue against the charge.

use super::SpectrumArgs;
use crate::args::Common;
use crate::report::{Bar, Clock, Report, fault, grouped};
use magnon::data::Dataset;
use magnon::data::write::write_csv;
use magnon::spectrum::FrustrationConfig;
use magnon::workflow::{figures, frustration};

pub fn run(
    args: &SpectrumArgs,
    config: &FrustrationConfig,
    dataset: &Dataset,
    common: &Common,
    mut clock: Clock,
) -> anyhow::Result<()> {
    let bar = Bar::new("frustration", common);
    let found = frustration(dataset, config, &bar).map_err(fault)?;
    drop(bar);
    clock.add_all(&found.seconds);
    let mut report = Report::default();
    report.put(&found)?;
    let curve = &found.frustration;
    if let Some(path) = &args.plot {
        clock.phase("plot", || figures::save(&figures::frustration(&found), path))?;
        report.line("drawn", path.display());
    }
    report.line("graph", &found.name);
    let part = if config.whole_graph { "all" } else { "the largest" };
    report.line(
        "curve",
        format!(
            "{} charges from 0 to 1/2, {part} of {} weak components, {} nodes",
            curve.curve.len(),
            grouped(curve.components),
            grouped(curve.nodes)
        ),
    );
    for minimum in &curve.minima {
        let text = format!("λ_min = {:.6} at q = {:.6}", minimum.lambda_min, minimum.charge);
        report.line("minimum", text);
    }
    if curve.minima.is_empty() {
        report.line("minimum", "none: the curve is flat, no charge is told from another");
    }
    if let Some(path) = &args.csv {
        let rows = curve.curve.iter().map(|point| [point.charge, point.lambda_min]);
        clock.phase("write", || write_csv(path, &["charge", "lambda_min"], rows))?;
        report.line("written", path.display());
    }
    args.files(&mut report);
    report.print(common, clock)
}
