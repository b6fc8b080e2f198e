//! `magnon propagate`: filtered features as a NumPy array.

use crate::args::{Common, DataArgs, FilterArgs, OperatorArgs};
use crate::data;
use crate::report::{Bar, Clock, Report, check_ending, grouped};
use anyhow::Context;
use clap::Args;
use magnon::data::write::write_npy;
use magnon::filter::{Filter, FilterConfig, Form, Propagated, propagate};
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
}

pub fn run(args: &PropagateArgs, common: &Common) -> anyhow::Result<()> {
    check_ending(args.output.as_deref(), "npy")?;
    let mut clock = Clock::default();
    let mut loaded = data::read(&args.data, common, &mut clock)?;
    let mut report = Report::default();
    let operator =
        super::operator::build(&args.operator, &loaded, common, &mut clock, &mut report)?;
    let name = &loaded.dataset.name;
    let features = loaded.dataset.features.take().with_context(|| {
        format!("{name} has no features to filter; give some with --features FILE")
    })?;
    drop(loaded); // the graph is in the operator now

    let filter = args.filter.build(&operator)?;
    describe(&filter, &args.filter.config(), &mut report);
    let bar = Bar::new("propagate", common);
    let filtered = clock.phase("propagate", || {
        propagate(&operator, &filter, &features, &|done, total| bar.tell(done, total))
    })?;
    drop(bar);
    let (cols, dtype) = match &filtered {
        Propagated::Real(matrix) => (matrix.cols(), "float32"),
        Propagated::Complex(matrix) => (matrix.cols(), "complex64"),
    };
    let shape = format!("{} × {}", grouped(operator.nodes()), grouped(cols));
    report.key("columns", cols);
    report.key("dtype", dtype);
    report.line("result", format!("{shape}, {dtype}"));
    if let Some(path) = &args.output {
        clock.phase("write", || match &filtered {
            Propagated::Real(matrix) => write_npy(path, matrix),
            Propagated::Complex(matrix) => write_npy(path, matrix),
        })?;
        report.line("written", path.display());
    }
    report.key("output", args.output.as_ref().map(|path| path.display().to_string()));
    report.print(common, clock)
}

/// Reports on a filter.
pub fn describe(filter: &Filter, config: &FilterConfig, report: &mut Report) {
    report.key("filter", config.kind.name());
    report.key("order", config.effective_order());
    report.key("products", filter.order());
    report.key("truncation", filter.truncation());
    report.key("exact", filter.is_exact());
    report.key("coefficients", filter.coefficients());
    if let Form::Rational { denominator, .. } = filter.form() {
        report.key("denominator", denominator.clone());
    }
    let how = match (filter.order(), filter.truncation()) {
        (None, _) => "solved by conjugate gradients".to_owned(),
        (Some(products), 0.0) => format!("{products} products"),
        (Some(products), error) => format!("{products} products, series cut at {error:.1e}"),
    };
    report.line("filter", format!("{}, {how}", config.kind.name()));
}
