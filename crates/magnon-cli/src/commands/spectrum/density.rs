//! `magnon spectrum --density`: how eigenvalues are spread.

use super::SpectrumArgs;
use crate::args::Common;
use crate::commands::operator;
use crate::report::{Bar, Clock, Report, fault, grouped};
use magnon::data::write::write_csv;
use magnon::spectrum::DensityConfig;
use magnon::workflow::{BuiltOperator, density, figures};

pub fn run(
    args: &SpectrumArgs,
    config: &DensityConfig,
    built: &BuiltOperator,
    common: &Common,
    mut clock: Clock,
) -> anyhow::Result<()> {
    let bar = Bar::new("density", common);
    let found = density(built, config, &bar).map_err(fault)?;
    drop(bar);
    clock.add_all(&found.seconds);
    let mut report = Report::default();
    report.put(&found)?;
    operator::describe(&found.operator, &mut report);
    let density = &found.density;
    if let Some(path) = &args.plot {
        clock.phase("plot", || figures::save(&figures::density(&found), path))?;
        report.line("drawn", path.display());
    }
    let (points, moments, probes) = (density.lambda.len(), density.moments, density.probes);
    report
        .line("density", format!("{} points, {moments} moments, {probes} probes", grouped(points)));
    let ((at, peak), worst) = (density.peak(), density.max_error());
    report.line("peak", format!("{peak:.4} at λ = {at:.4}; standard errors up to {worst:.1e}"));
    if let Some(path) = &args.csv {
        let row = |i: usize| [density.lambda[i], density.density[i], density.error[i]];
        let rows = (0..points).map(row);
        clock.phase("write", || write_csv(path, &["lambda", "density", "error"], rows))?;
        report.line("written", path.display());
    }
    args.files(&mut report);
    report.print(common, clock)
}
