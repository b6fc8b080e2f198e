//! `magnon eigenmap`: eigenvectors of the Laplacian as points of the nodes.

use crate::args::Common;
use crate::data;
use crate::outputs::{self, CSV, NPY, PICTURE, output};
use crate::report::{Bar, Clock, Report, fault, grouped};
use clap::Args;
use magnon::data::write::{write_csv, write_npy};
use magnon::settings::EigenmapSettings;
use magnon::workflow::{EigenmapReport, eigenmap, figures};
use std::path::PathBuf;

#[derive(Args)]
pub struct EigenmapArgs {
    #[command(flatten)]
    pub settings: EigenmapSettings,
    /// Write node,label and phase, real and imaginary part of each vector to this file
    #[arg(long, value_name = "F.csv", value_parser = output(), help_heading = "Output")]
    pub csv: Option<PathBuf>,
    /// Write the eigenvectors in columns to this .npy file, complex128
    #[arg(long, value_name = "F.npy", value_parser = output(), help_heading = "Output")]
    pub npy: Option<PathBuf>,
    /// Draw the map into this file; an .html page can be turned in space
    #[arg(long, value_name = "F.svg|png|html", value_parser = output(), help_heading = "Output")]
    pub plot: Option<PathBuf>,
}

pub fn run(args: &EigenmapArgs, common: &Common) -> anyhow::Result<()> {
    outputs::check(
        common,
        &[
            ("--csv", args.csv.as_deref(), CSV),
            ("--npy", args.npy.as_deref(), NPY),
            ("--plot", args.plot.as_deref(), PICTURE),
        ],
    )?;
    let settings = &args.settings;
    let config = settings.config(common.seed()).map_err(fault)?;
    let mut clock = Clock::default();
    let dataset = data::read(&settings.data, common, &mut clock)?.dataset;
    let bar = Bar::open_ended("eigenpairs", common);
    let mapped = eigenmap(&dataset, &settings.operator.choice()?, &config, &bar).map_err(fault)?;
    drop(bar);
    let found = &mapped.report;
    clock.add_all(&found.seconds);
    let mut report = Report::default();
    report.put(found)?;
    describe(found, &mut report);
    if let Some(path) = &args.csv {
        let (header, rows) = (mapped.header(), mapped.rows(dataset.labels.as_ref()));
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        clock.phase("write", || write_csv(path, &header, rows))?;
        report.line("written", path.display());
    }
    if let Some(path) = &args.npy {
        clock.phase("write", || write_npy(path, &mapped.map.points))?;
        report.line("written", path.display());
    }
    if let Some(path) = &args.plot {
        let figure = figures::eigenmap(&mapped, &dataset);
        clock.phase("plot", || figures::save(&figure, path))?;
        report.line("drawn", path.display());
    }
    report.files([
        ("csv", args.csv.as_deref()),
        ("npy", args.npy.as_deref()),
        ("plot", args.plot.as_deref()),
    ]);
    report.print(common, clock)
}

fn describe(found: &EigenmapReport, report: &mut Report) {
    report.line("graph", &found.name);
    report.line("charge", format!("q = {}", found.charge_text));
    if let Some(evidence) = &found.charge_evidence {
        report.line("", evidence);
    }
    for (j, value) in found.vectors.iter().zip(&found.eigenvalues) {
        report.line(&format!("vector {j}"), format!("λ = {value:.6}"));
    }
    let (of, all) = (grouped(found.component_nodes), grouped(found.nodes));
    report.line("points", format!("{of} of {all} nodes"));
}
