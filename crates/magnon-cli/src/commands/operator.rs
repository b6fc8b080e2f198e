//! `magnon operator`: the operator as a scipy sparse matrix.

use crate::args::{Common, DataArgs, OperatorArgs, Resolved};
use crate::data::{self, Loaded};
use crate::report::{Clock, Report, check_ending, grouped};
use clap::Args;
use magnon::data::write::{Compressed, write_scipy_npz};
use magnon::operator::{MagneticOperator, OperatorConfig, OperatorRows};
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct OperatorCommand {
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub operator: OperatorArgs,
    /// Write the operator to this .npz file, for scipy.sparse.load_npz
    #[arg(short, long, value_name = "F.npz", help_heading = "Output")]
    pub output: Option<PathBuf>,
}

pub fn run(args: &OperatorCommand, common: &Common) -> anyhow::Result<()> {
    check_ending(args.output.as_deref(), "npz")?;
    let mut clock = Clock::default();
    let loaded = data::read(&args.data, common, &mut clock)?;
    let mut report = Report::default();
    let operator = build(&args.operator, &loaded, common, &mut clock, &mut report)?;
    if let Some(path) = &args.output {
        clock.phase("write", || write(path, &operator))?;
        report.line("written", path.display());
    }
    report.key("output", args.output.as_ref().map(|path| path.display().to_string()));
    report.print(common, clock)
}

/// Builds the operator that the flags describe, and reports on it.
pub fn build(
    args: &OperatorArgs,
    loaded: &Loaded,
    common: &Common,
    clock: &mut Clock,
    report: &mut Report,
) -> anyhow::Result<MagneticOperator> {
    let resolved = args.resolve(loaded, clock)?;
    let graph = &loaded.dataset.graph;
    let operator = clock.phase("operator", || MagneticOperator::new(graph, &resolved.config))?;
    let charged = resolved.config.charge.value() != 0.0;
    if charged && !operator.pattern().is_directed() && !common.quiet {
        remark!("note: the graph is symmetric, so every charge gives the same operator");
    }
    describe(&operator, &loaded.dataset.name, &resolved, report);
    Ok(operator)
}

fn describe(operator: &MagneticOperator, name: &str, resolved: &Resolved, report: &mut Report) {
    let OperatorConfig { charge, symmetrize, self_loops, normalize, kind } = *operator.config();
    let number = if operator.is_real() { "real" } else { "complex" };
    report.key("name", name);
    report.key("nodes", operator.nodes());
    report.key("stored", operator.stored());
    report.key("real", operator.is_real());
    report.key("charge", charge.value());
    report.key("charge_text", charge.to_string());
    report.key("symmetrize", json!(symmetrize));
    report.key("self_loops", self_loops);
    report.key("normalize", json!(normalize));
    report.key("kind", json!(kind));
    report.key("charge_evidence", resolved.charge_evidence.clone());
    report.key("pass_evidence", resolved.pass_evidence.clone());
    let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let loops = if self_loops { "with self loops" } else { "without self loops" };
    report.line("graph", name);
    report.line(
        "operator",
        format!(
            "{}, q = {charge}, symmetrised by {}, {loops}, normalised: {}",
            word(json!(kind)),
            word(json!(symmetrize)),
            word(json!(normalize)),
        ),
    );
    let size = grouped(operator.nodes());
    report.line(
        "matrix",
        format!("{size} × {size}, {} entries, {number}", grouped(operator.stored())),
    );
    if let Some(evidence) = &resolved.charge_evidence {
        report.line("charge", evidence);
    }
    if let Some(evidence) = &resolved.pass_evidence {
        report.line("pass", evidence);
    }
}

/// Writes the rows of the operator in double precision, real where all entries are.
fn write(path: &Path, operator: &MagneticOperator) -> anyhow::Result<()> {
    let OperatorRows { offsets, columns, values } = operator.rows();
    let (shape, offsets, columns) = ([operator.nodes(); 2], &offsets[..], &columns[..]);
    if operator.is_real() {
        let values: Vec<f64> = values.iter().map(|value| value.re).collect();
        write_scipy_npz(path, Compressed { shape, offsets, columns, values: &values })?;
    } else {
        write_scipy_npz(path, Compressed { shape, offsets, columns, values: &values })?;
    }
    Ok(())
}
