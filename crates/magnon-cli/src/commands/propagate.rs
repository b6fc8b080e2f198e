//! `magnon propagate`: filtered features as a NumPy array.

use super::operator::{self, build};
use crate::args::{Common, DataArgs, FilterArgs, OperatorArgs};
use crate::data;
use crate::report::{Bar, Clock, Report, check_ending, fault, grouped};
use anyhow::Context;
use clap::Args;
use magnon::data::write::write_npy;
use magnon::filter::Propagated;
use magnon::nn::Device;
use magnon::workflow::{FilterSummary, propagate_on};
use std::path::PathBuf;

#[derive(Args)]
pub struct PropagateArgs {
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub operator: OperatorArgs,
    #[command(flatten)]
    pub filter: FilterArgs,
    /// Write the filtered features to this .npy file: complex64, or float32 of a real operator
    #[arg(short, long, value_name = "F.npy", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Where it runs: cpu, cuda, cuda:1 or auto; on a card all sums are in single precision
    #[arg(long, value_name = "D", default_value_t)]
    pub device: Device,
}

pub fn run(args: &PropagateArgs, common: &Common) -> anyhow::Result<()> {
    check_ending(args.output.as_deref(), "npy")?;
    let mut clock = Clock::default();
    let mut loaded = data::read(&args.data, common, &mut clock)?;
    let built = build(&args.operator, &loaded, common)?;
    let name = &loaded.dataset.name;
    let features = loaded.dataset.features.take().with_context(|| {
        format!("{name} has no features to filter; give some with --features FILE")
    })?;
    drop(loaded); // the graph is in the operator now
    let bar = Bar::new("propagate", common);
    let filtered =
        propagate_on(args.device, &built, &features, &args.filter.config(), &bar).map_err(fault)?;
    drop(bar);
    let found = &filtered.report;
    clock.add_all(&found.seconds);
    let mut report = Report::default();
    report.put(found)?;
    operator::describe(&found.operator, &mut report);
    describe(&found.filter, &mut report);
    let shape = format!("{} × {}", grouped(found.operator.nodes), grouped(found.columns));
    report.line("result", format!("{shape}, {}", found.dtype));
    if let Some(path) = &args.output {
        clock.phase("write", || match &filtered.features {
            Propagated::Real(matrix) => write_npy(path, matrix),
            Propagated::Complex(matrix) => write_npy(path, matrix),
        })?;
        report.line("written", path.display());
    }
    report.files([("output", args.output.as_deref())]);
    report.print(common, clock)
}

/// Which filter was made, in a line for people.
pub fn describe(found: &FilterSummary, report: &mut Report) {
    let how = match (found.products, found.truncation) {
        (None, _) => "solved by conjugate gradients".to_owned(),
        (Some(products), 0.0) => format!("{products} products"),
        (Some(products), error) => format!("{products} products, series cut at {error:.1e}"),
    };
    report.line("filter", format!("{}, {how}", found.filter.name()));
}
