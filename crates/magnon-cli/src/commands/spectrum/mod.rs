//! `magnon spectrum`: eigenvalues, their density, or the frustration curve.

mod density;
mod frustration;

use super::operator::{self, build};
use crate::args::Common;
use crate::data;
use crate::outputs::{self, CSV, NPY, PICTURE, output};
use crate::report::{Bar, Clock, Report, fault, grouped};
use clap::Args;
use magnon::data::write::{write_csv, write_npy};
use magnon::settings::SpectrumSettings;
use magnon::spectrum::{Method, SpectrumConfig};
use magnon::workflow::{SpectrumReport, figures, spectrum};
use std::path::PathBuf;

#[derive(Args)]
pub struct SpectrumArgs {
    #[command(flatten)]
    pub settings: SpectrumSettings,
    /// Write index,eigenvalue, or lambda,density,error, or charge,lambda_min to this file
    #[arg(long, value_name = "F.csv", value_parser = output(), help_heading = "Output")]
    pub csv: Option<PathBuf>,
    /// Write the eigenvectors in columns to this .npy file, complex128
    #[arg(long, value_name = "F.npy", conflicts_with_all = ["density", "frustration"], value_parser = output(), help_heading = "Output")]
    pub npy: Option<PathBuf>,
    /// Draw a figure into this file, by its ending
    #[arg(long, value_name = "F.svg|png|html", value_parser = output(), help_heading = "Output")]
    pub plot: Option<PathBuf>,
}

pub fn run(args: &SpectrumArgs, common: &Common) -> anyhow::Result<()> {
    outputs::check(
        common,
        &[
            ("--csv", args.csv.as_deref(), CSV),
            ("--npy", args.npy.as_deref(), NPY),
            ("--plot", args.plot.as_deref(), PICTURE),
        ],
    )?;
    let (settings, seed, mut clock) = (&args.settings, common.seed(), Clock::default());
    if settings.frustration {
        let config = settings.frustration(seed)?;
        let loaded = data::read(&settings.data, common, &mut clock)?;
        return frustration::run(args, &config, &loaded.dataset, common, clock);
    }
    let config = settings.config(seed).map_err(fault)?;
    let config = SpectrumConfig { vectors: config.vectors || args.npy.is_some(), ..config };
    let loaded = data::read(&settings.data, common, &mut clock)?;
    let built = build(&settings.operator, &loaded, common)?;
    drop(loaded); // the graph is in the operator now
    if settings.density {
        return density::run(args, &settings.density(seed)?, &built, common, clock);
    }
    let bar = Bar::open_ended("eigenpairs", common);
    let pairs = spectrum(&built, &config, &bar).map_err(fault)?;
    drop(bar);
    let found = &pairs.report;
    clock.add_all(&found.seconds);
    let mut report = Report::default();
    report.put(found)?;
    describe(found, &mut report);
    if let Some(path) = &args.csv {
        let rows = found.eigenvalues.iter().enumerate();
        let rows = rows.map(|(i, value)| [i.to_string(), value.to_string()]);
        clock.phase("write", || write_csv(path, &["index", "eigenvalue"], rows))?;
        report.line("written", path.display());
    }
    if let (Some(path), Some(vectors)) = (&args.npy, &pairs.vectors) {
        clock.phase("write", || write_npy(path, vectors))?;
        report.line("written", path.display());
    }
    if let Some(path) = &args.plot {
        clock.phase("plot", || figures::save(&figures::spectrum(found), path))?;
        report.line("drawn", path.display());
    }
    args.files(&mut report);
    report.print(common, clock)
}

impl SpectrumArgs {
    fn files(&self, report: &mut Report) {
        report.files([
            ("csv", self.csv.as_deref()),
            ("npy", self.npy.as_deref()),
            ("plot", self.plot.as_deref()),
        ]);
    }
}

fn describe(found: &SpectrumReport, report: &mut Report) {
    operator::describe(&found.operator, report);
    let method = match found.method {
        Method::Dense => "dense solver".to_owned(),
        Method::Iterative => {
            format!("block Chebyshev-Davidson, {} products", grouped(found.products))
        }
    };
    let values = &found.eigenvalues;
    let components = match found.components {
        1 => "one weak component".to_owned(),
        many => format!("{} weak components", grouped(many)),
    };
    report
        .line("spectrum", format!("{} eigenvalues, {components}, {method}", grouped(values.len())));
    const SHOWN: usize = 6;
    let list = |values: &[f64]| {
        values.iter().map(|value| format!("{value:.6}")).collect::<Vec<_>>().join(", ")
    };
    if values.len() <= 2 * SHOWN {
        report.line("values", list(values));
    } else {
        let (first, last) = (&values[..SHOWN], &values[values.len() - SHOWN..]);
        report.line("values", format!("{}, …, {}", list(first), list(last)));
    }
    if let Some(residuals) = &found.residuals {
        let worst = residuals.iter().copied().fold(0.0, f64::max);
        report.line("residual", format!("at most {worst:.1e}"));
    }
}
