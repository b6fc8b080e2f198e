//! `magnon spectrum --density`: how eigenvalues are spread.

use super::{SpectrumArgs, fault, files};
use crate::args::Common;
use crate::figures;
use crate::report::{Bar, Clock, Report, grouped};
use magnon::data::write::write_csv;
use magnon::operator::MagneticOperator;
use magnon::spectrum::{Density, DensityConfig, density};

pub fn run(
    args: &SpectrumArgs,
    operator: &MagneticOperator,
    name: &str,
    common: &Common,
    mut clock: Clock,
    mut report: Report,
) -> anyhow::Result<()> {
    let config = DensityConfig {
        moments: args.moments,
        probes: args.probes,
        points: args.points.unwrap_or(DensityConfig::default().points),
        seed: common.seed(),
    };
    let bar = Bar::new("density", common);
    let found = clock
        .phase("spectrum", || density(operator, &config, &|done, total| bar.tell(done, total)));
    drop(bar);
    let found = found.map_err(fault)?;
    if let Some(path) = &args.plot {
        let charge = operator.config().charge;
        let title = format!("Density of the eigenvalues of {name}");
        let figure = figures::density(title, format!("q = {charge}"), &found);
        clock.phase("plot", || figures::save(&figure, path))?;
        report.line("drawn", path.display());
    }
    let Density { lambda, density, error, cumulative, moments, probes } = found;
    let (peak, at) = density
        .iter()
        .zip(&lambda)
        .fold((0.0, 0.0), |best, (&d, &l)| if d > best.0 { (d, l) } else { best });
    let worst = error.iter().copied().fold(0.0, f64::max);
    report.line(
        "density",
        format!("{} points, {moments} moments, {probes} probes", grouped(lambda.len())),
    );
    report.line("peak", format!("{peak:.4} at λ = {at:.4}; standard errors up to {worst:.1e}"));
    if let Some(path) = &args.csv {
        let rows = (0..lambda.len()).map(|i| [lambda[i], density[i], error[i]]);
        clock.phase("write", || write_csv(path, &["lambda", "density", "error"], rows))?;
        report.line("written", path.display());
    }
    report.key("moments", moments);
    report.key("probes", probes);
    report.key("lambda", lambda);
    report.key("density", density);
    report.key("error", error);
    report.key("cumulative", cumulative);
    files(args, &mut report);
    report.print(common, clock)
}
