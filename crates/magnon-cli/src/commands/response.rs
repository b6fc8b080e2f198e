//! `magnon response`: a filter's frequency response, over even points or over eigenvalues.

use super::operator::{self, build};
use super::{propagate, response_curves};
use crate::args::Common;
use crate::data;
use crate::outputs::{self, CSV, NPY, PICTURE, output};
use crate::report::{Clock, Report, fault};
use clap::Args;
use magnon::data::write::{write_csv, write_npy};
use magnon::matrix::Matrix;
use magnon::settings::ResponseSettings;
use magnon::workflow::{figures, response};
use std::io::{BufWriter, Write};
use std::path::PathBuf;

#[derive(Args)]
pub struct ResponseArgs {
    #[command(flatten)]
    pub settings: ResponseSettings,
    /// Write the csv to this file instead of standard output
    #[arg(long, value_name = "FILE", value_parser = output(), help_heading = "Output")]
    pub csv: Option<PathBuf>,
    /// Write lambda and response as two columns to this .npy file, float64
    #[arg(long, value_name = "F.npy", conflicts_with = "eigenvalues", value_parser = output(), help_heading = "Output")]
    pub npy: Option<PathBuf>,
    /// Draw a figure into this file, by its ending
    #[arg(long, value_name = "F.svg|png|html", value_parser = output(), help_heading = "Output")]
    pub plot: Option<PathBuf>,
}

pub fn run(args: &ResponseArgs, common: &Common) -> anyhow::Result<()> {
    let settings = &args.settings;
    outputs::check(
        common,
        &[
            ("--csv", args.csv.as_deref(), CSV),
            ("--npy", args.npy.as_deref(), NPY),
            ("--plot", args.plot.as_deref(), PICTURE),
        ],
    )?;
    let config = settings.config()?;
    let frequencies = settings.eigenvalues.then(|| settings.frequencies()).transpose()?;
    let mut clock = Clock::default();
    let loaded = data::read(&settings.data, common, &mut clock)?;
    let built = build(&settings.operator, &loaded, common)?;
    drop(loaded); // the graph is in the operator now
    if let Some(config) = &frequencies {
        return response_curves::run(args, config, &built, common, clock);
    }
    let found = response(&built, &config).map_err(fault)?;
    clock.add_all(&found.seconds);
    let mut report = Report::default();
    operator::describe(&found.operator, &mut report);
    propagate::describe(&found.filter, &mut report);
    let rows = found.lambda.iter().zip(&found.response).map(|(lambda, h)| [*lambda, *h]);
    if let Some(path) = &args.plot {
        clock.phase("plot", || figures::save(&figures::response(&found), path))?;
        report.line("drawn", path.display());
    }
    if let Some(path) = &args.npy {
        let table = Matrix::from_vec(config.points, 2, rows.clone().flatten().collect());
        let table = table.unwrap_or_else(|_| Matrix::zeros(0, 2));
        clock.phase("write", || write_npy(path, &table))?;
        report.line("written", path.display());
    }
    if let Some(path) = &args.csv {
        clock.phase("write", || write_csv(path, &["lambda", "response"], rows))?;
        report.line("written", path.display());
    } else if !common.json && args.plot.is_none() && args.npy.is_none() {
        let mut out = BufWriter::new(std::io::stdout().lock());
        writeln!(out, "lambda,response")?;
        for [lambda, h] in rows {
            writeln!(out, "{lambda},{h}")?;
        }
        return Ok(out.flush()?);
    }
    report.put(&found)?;
    report.files([
        ("csv", args.csv.as_deref()),
        ("npy", args.npy.as_deref()),
        ("plot", args.plot.as_deref()),
    ]);
    report.print(common, clock)
}
