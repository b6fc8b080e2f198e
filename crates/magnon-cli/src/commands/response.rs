//! `magnon response`: a filter's frequency response, over even points or over eigenvalues.

use super::operator::{self, build};
use super::{propagate, response_curves};
use crate::args::{Common, DataArgs, FilterArgs, OperatorArgs, finite};
use crate::data;
use crate::outputs::{self, CSV, NPY, PICTURE, output};
use crate::report::{Clock, Report, fault, usage};
use clap::Args;
use magnon::data::write::{write_csv, write_npy};
use magnon::matrix::Matrix;
use magnon::operator::{Charge, Normalize};
use magnon::workflow::{ResponseConfig, figures, response};
use std::io::{BufWriter, Write};
use std::path::PathBuf;

#[derive(Args)]
pub struct ResponseArgs {
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub operator: OperatorArgs,
    #[command(flatten)]
    pub filter: FilterArgs,
    /// Eigenvalues of the Laplacian and of the renormalised adjacency in place of even points, with
    /// the approximation 1 - d/(d+1) λ and the filter's response beside them
    #[arg(long, help_heading = "Response")]
    pub eigenvalues: bool,
    /// Charges of the eigenvalues, such as 0,1/5,1/4 [default: the operator's]
    #[arg(
        long,
        value_name = "Q,…",
        value_delimiter = ',',
        requires = "eigenvalues",
        help_heading = "Response"
    )]
    pub charges: Option<Vec<Charge>>,
    /// Most memory in GiB that the dense solver may take
    #[arg(
        long,
        value_parser = finite,
        value_name = "GIB",
        default_value_t = 4.0,
        requires = "eigenvalues",
        help_heading = "Response"
    )]
    pub memory: f64,
    /// Number of points, evenly spaced over the interval that holds the spectrum
    /// [default: 201]
    #[arg(long, value_name = "N", conflicts_with = "eigenvalues", help_heading = "Output")]
    pub points: Option<usize>,
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
    let points = args.points.unwrap_or(ResponseConfig::default().points);
    let config = ResponseConfig { filter: args.filter.config(), points };
    if config.check().is_err() {
        return Err(usage("--points must be from 2 to 10000000"));
    }
    if !(args.memory > 0.0 && args.memory.is_finite()) {
        return Err(usage("--memory must be above 0, in GiB"));
    }
    if args.eigenvalues && args.operator.pass.is_some() {
        return Err(usage(
            "--eigenvalues shows the Laplacian and the adjacency as they are; there is no --pass",
        ));
    }
    if args.eigenvalues && args.operator.normalize == Some(Normalize::None) {
        return Err(usage(
            "--eigenvalues compares normalised operators; not with --normalize none",
        ));
    }
    outputs::check(
        common,
        &[
            ("--csv", args.csv.as_deref(), CSV),
            ("--npy", args.npy.as_deref(), NPY),
            ("--plot", args.plot.as_deref(), PICTURE),
        ],
    )?;
    let mut clock = Clock::default();
    let loaded = data::read(&args.data, common, &mut clock)?;
    let built = build(&args.operator, &loaded, common)?;
    drop(loaded); // the graph is in the operator now
    if args.eigenvalues {
        return response_curves::run(args, &built, common, clock);
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
        let table = Matrix::from_vec(points, 2, rows.clone().flatten().collect());
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
