//! `magnon denoise`: the paper's two closed forms of graph signal denoising.

use crate::args::Common;
use crate::data;
use crate::outputs::{self, CSV, NPY, PICTURE, output};
use crate::report::{Bar, Clock, Report, fault, grouped};
use clap::Args;
use magnon::data::read_signal;
use magnon::data::write::{write_csv, write_npy};
use magnon::settings::DenoiseSettings;
use magnon::workflow::{DenoiseReport, Signal, denoise, figures};
use std::path::PathBuf;

#[derive(Args)]
pub struct DenoiseArgs {
    #[command(flatten)]
    pub settings: DenoiseSettings,
    /// Write the denoised signal to this .npy file: complex128, or float64 where it is real
    #[arg(short, long, visible_alias = "npy", value_name = "F.npy", value_parser = output(), help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Write column,before,after to this file: the Dirichlet energy of each column
    #[arg(long, value_name = "F.csv", value_parser = output(), help_heading = "Output")]
    pub csv: Option<PathBuf>,
    /// Draw what the denoising keeps of each frequency, μ/(μ + λ), by the file's ending
    #[arg(long, value_name = "F.svg|png|html", value_parser = output(), help_heading = "Output")]
    pub plot: Option<PathBuf>,
}

pub fn run(args: &DenoiseArgs, common: &Common) -> anyhow::Result<()> {
    outputs::check(
        common,
        &[
            ("--output", args.output.as_deref(), NPY),
            ("--csv", args.csv.as_deref(), CSV),
            ("--plot", args.plot.as_deref(), PICTURE),
        ],
    )?;
    let settings = &args.settings;
    let config = settings.config().map_err(fault)?;
    let mut clock = Clock::default();
    let dataset = data::read(&settings.data, common, &mut clock)?.dataset;
    let signal = clock.phase("load", || settings.signal.as_deref().map(read_signal).transpose())?;
    let bar = Bar::open_ended("denoise", common);
    let choice = settings.operator.choice()?;
    let done = denoise(&dataset, signal.as_ref(), &choice, &config, &bar).map_err(fault)?;
    drop(bar);
    clock.add_all(&done.report.seconds);
    let mut report = Report::default();
    report.put(&done.report)?;
    describe(&done.report, &mut report);
    if let Some(path) = &args.output {
        clock.phase("write", || match &done.signal {
            Signal::Real(matrix) => write_npy(path, matrix),
            Signal::Complex(matrix) => write_npy(path, matrix),
        })?;
        report.line("written", path.display());
    }
    if let Some(path) = &args.csv {
        let rows = done.energies_before.iter().zip(&done.energies_after).enumerate();
        let rows = rows.map(|(j, (b, a))| [j.to_string(), b.to_string(), a.to_string()]);
        clock.phase("write", || write_csv(path, &["column", "before", "after"], rows))?;
        report.line("written", path.display());
    }
    if let Some(path) = &args.plot {
        let figure = figures::denoising(&config);
        clock.phase("plot", || figures::save(&figure, path))?;
        report.line("drawn", path.display());
    }
    report.files([
        ("csv", args.csv.as_deref()),
        ("plot", args.plot.as_deref()),
        ("output", args.output.as_deref()),
    ]);
    report.print(common, clock)
}

fn describe(found: &DenoiseReport, report: &mut Report) {
    report.line("graph", &found.name);
    report.line("charge", format!("q = {}", found.charge_text));
    let DenoiseReport { mu, alpha, beta, .. } = found;
    report.line("denoising", format!("μ = {mu}, α = {alpha:.6}, β = {beta:.6}"));
    let (rows, cols) = (grouped(found.nodes), grouped(found.columns));
    report.line("signal", format!("{rows} × {cols}, {}", found.dtype));
    let (before, after) = (found.energy_before, found.energy_after);
    report.line("energy", format!("{before:.6e} before, {after:.6e} after"));
}
