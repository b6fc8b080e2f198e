//! `magnon spectrum`: eigenvalues, their density, or the frustration curve.

mod density;
mod frustration;

use super::operator::{self, build};
use crate::args::{Common, DataArgs, OperatorArgs, finite};
use crate::data;
use crate::outputs::{self, CSV, NPY, PICTURE, output};
use crate::report::{Bar, Clock, Report, fault, grouped, usage};
use clap::{Args, ValueEnum};
use magnon::compute::Device;
use magnon::data::write::{write_csv, write_npy};
use magnon::spectrum::{DensityConfig, Method, Select, SpectrumConfig};
use magnon::workflow::{SpectrumReport, figures, spectrum};
use std::path::PathBuf;

#[derive(Args)]
pub struct SpectrumArgs {
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub operator: OperatorArgs,
    /// Find so many eigenvalues instead of all
    #[arg(long, value_name = "K", help_heading = "Spectrum")]
    pub count: Option<usize>,
    /// Which end the counted eigenvalues are from
    #[arg(long, value_enum, requires = "count", help_heading = "Spectrum")]
    pub which: Option<End>,
    /// The counted eigenvalues are those nearest to this number
    #[arg(
        long,
        value_parser = finite,
        value_name = "SIGMA",
        requires = "count",
        conflicts_with = "which",
        allow_negative_numbers = true,
        help_heading = "Spectrum"
    )]
    pub near: Option<f64>,
    /// Compute eigenvectors too, and the residual of each pair
    #[arg(long, help_heading = "Spectrum")]
    pub vectors: bool,
    #[command(flatten)]
    pub solver: SolverArgs,
    /// Estimate the density of all eigenvalues, on a graph of any size
    #[arg(long, conflicts_with_all = ["count", "vectors", "frustration", "npy"], help_heading = "Spectrum")]
    pub density: bool,
    /// Random vectors of the density
    #[arg(long, value_name = "N", requires = "density", default_value_t = DensityConfig::default().probes, help_heading = "Spectrum")]
    pub probes: usize,
    /// Terms of the density's series: it sees details of 3 / N of half the spectrum's width
    #[arg(long, value_name = "N", requires = "density", default_value_t = DensityConfig::default().moments, help_heading = "Spectrum")]
    pub moments: usize,
    /// Smallest eigenvalue of the normalised Laplacian, without self loops, over charges from 0 to
    /// 1/2, and its minima; of the operator flags only --symmetrize counts
    #[arg(long, conflicts_with_all = ["count", "vectors", "npy"], help_heading = "Spectrum")]
    pub frustration: bool,
    /// Let components other than the largest count for the frustration
    #[arg(long, requires = "frustration", help_heading = "Spectrum")]
    pub whole_graph: bool,
    /// Points of the density [default: 400] or charges of the frustration curve [default: 51]
    #[arg(long, value_name = "N", help_heading = "Spectrum")]
    pub points: Option<usize>,
    /// Write index,eigenvalue, or lambda,density,error, or charge,lambda_min to this file
    #[arg(long, value_name = "F.csv", value_parser = output(), help_heading = "Output")]
    pub csv: Option<PathBuf>,
    /// Write the eigenvectors in columns to this .npy file, complex128
    #[arg(long, value_name = "F.npy", value_parser = output(), help_heading = "Output")]
    pub npy: Option<PathBuf>,
    /// Draw a figure into this file, by its ending
    #[arg(long, value_name = "F.svg|png|html", value_parser = output(), help_heading = "Output")]
    pub plot: Option<PathBuf>,
}

/// Flags that say how eigenvalues are found.
#[derive(Args)]
pub struct SolverArgs {
    /// Bound of a counted pair's residual, relative to the largest eigenvalue possible
    #[arg(long, value_parser = finite, value_name = "E", default_value_t = SpectrumConfig::default().tolerance, allow_negative_numbers = true, help_heading = "Spectrum")]
    pub tolerance: f64,
    /// Most memory in GiB that the dense solver may take
    #[arg(
        long,
        value_parser = finite,
        value_name = "GIB",
        default_value_t = 4.0,
        allow_negative_numbers = true,
        help_heading = "Spectrum"
    )]
    pub memory: f64,
    /// Where products are made: cpu, cuda, cuda:1 or auto; the dense solver runs on the processor
    #[arg(long, value_name = "D", default_value_t, help_heading = "Spectrum")]
    pub device: Device,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum End {
    /// The lower end
    Smallest,
    /// The upper end
    Largest,
}

impl SolverArgs {
    /// The library's configuration.
    pub fn config(&self, common: &Common) -> anyhow::Result<SpectrumConfig> {
        if !(self.memory > 0.0 && self.memory.is_finite()) {
            return Err(usage("--memory must be above 0, in GiB"));
        }
        let memory = (self.memory * (1u64 << 30) as f64) as u64;
        let (tolerance, seed, device) = (self.tolerance, common.seed(), self.device);
        Ok(SpectrumConfig { tolerance, memory, seed, device, ..SpectrumConfig::default() })
    }
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
    if args.points.is_some() && !args.density && !args.frustration {
        return Err(usage("--points is for --density and --frustration"));
    }
    let mut clock = Clock::default();
    if args.frustration {
        let loaded = data::read(&args.data, common, &mut clock)?;
        return frustration::run(args, &loaded.dataset, common, clock);
    }
    let config = args.config(common)?;
    config.check().map_err(|error| fault(error.into()))?;
    let loaded = data::read(&args.data, common, &mut clock)?;
    let built = build(&args.operator, &loaded, common)?;
    drop(loaded); // the graph is in the operator now
    if args.density {
        return density::run(args, &built, common, clock);
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
    pub fn config(&self, common: &Common) -> anyhow::Result<SpectrumConfig> {
        let select = match (self.count, self.near, self.which) {
            (None, ..) => Select::All,
            (Some(count), Some(to), _) => Select::Nearest { to, count },
            (Some(count), None, Some(End::Largest)) => Select::Largest(count),
            (Some(count), ..) => Select::Smallest(count),
        };
        let vectors = self.vectors || self.npy.is_some();
        Ok(SpectrumConfig { select, vectors, ..self.solver.config(common)? })
    }

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
