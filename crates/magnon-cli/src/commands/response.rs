//! `magnon response`: a filter's frequency response, over even points or over eigenvalues.

use crate::args::{Common, DataArgs, FilterArgs, OperatorArgs};
use crate::data;
use crate::figures::{self, check_plot};
use crate::report::{Clock, Report, check_ending, usage};
use anyhow::bail;
use clap::Args;
use magnon::data::write::{write_csv, write_npy};
use magnon::matrix::Matrix;
use magnon::operator::Charge;
use magnon_plot::{Curve, ResponseFigure};
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
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub csv: Option<PathBuf>,
    /// Write lambda and response as two columns to this .npy file, float64
    #[arg(long, value_name = "F.npy", conflicts_with = "eigenvalues", help_heading = "Output")]
    pub npy: Option<PathBuf>,
    /// Draw a figure into this file, by its ending
    #[arg(long, value_name = "F.svg|png|html", help_heading = "Output")]
    pub plot: Option<PathBuf>,
}

pub fn run(args: &ResponseArgs, common: &Common) -> anyhow::Result<()> {
    let points = args.points.unwrap_or(201);
    if !(2..=10_000_000).contains(&points) {
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
    check_ending(args.npy.as_deref(), "npy")?;
    check_plot(args.plot.as_deref())?;
    let mut clock = Clock::default();
    let loaded = data::read(&args.data, common, &mut clock)?;
    let mut report = Report::default();
    let operator =
        super::operator::build(&args.operator, &loaded, common, &mut clock, &mut report)?;
    let bounds = operator.bounds();
    let filter = args.filter.build(&operator)?;
    super::propagate::describe(&filter, &args.filter.config(), &mut report);
    if args.eigenvalues {
        return super::response_curves::run(
            args, &operator, &filter, &loaded, common, clock, report,
        );
    }
    let lambdas: Vec<f64> = (0..points)
        .map(|i| {
            let t = i as f64 / (points - 1) as f64;
            (1.0 - t) * bounds.min + t * bounds.max
        })
        .collect();
    let response: Vec<f64> =
        clock.phase("response", || lambdas.iter().map(|&lambda| filter.response(lambda)).collect());
    if let Some(i) = response.iter().position(|h| !h.is_finite()) {
        bail!("the response at λ = {} is {}, beyond what can be written", lambdas[i], response[i]);
    }
    if let Some(path) = &args.plot {
        let curve = Curve {
            name: args.filter.config().kind.name().to_owned(),
            x: lambdas.clone(),
            y: response.clone(),
            dashed: false,
        };
        let title = format!("Response of the filter over the spectrum of {}", loaded.dataset.name);
        let figure = ResponseFigure { title, curves: vec![curve] };
        clock.phase("plot", || figures::save(&figure, path))?;
        report.line("drawn", path.display());
    }
    if let Some(path) = &args.npy {
        let cells = lambdas.iter().zip(&response).flat_map(|(lambda, h)| [*lambda, *h]).collect();
        let table = Matrix::from_vec(points, 2, cells);
        let table = table.unwrap_or_else(|_| Matrix::zeros(0, 2));
        clock.phase("write", || write_npy(path, &table))?;
        report.line("written", path.display());
    }
    let rows = lambdas.iter().zip(&response).map(|(lambda, h)| [*lambda, *h]);
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
    report.key("lambda", lambdas);
    report.key("response", response);
    report.key("csv", args.csv.as_ref().map(|path| path.display().to_string()));
    report.key("npy", args.npy.as_ref().map(|path| path.display().to_string()));
    report.key("plot", args.plot.as_ref().map(|path| path.display().to_string()));
    report.print(common, clock)
}
