//! `magnon operator`: the operator as a scipy sparse matrix.

use crate::args::Common;
use crate::data::{self, Loaded};
use crate::outputs::{self, NPZ, output};
use crate::report::{Bar, Clock, Report, grouped};
use clap::Args;
use magnon::settings::{DataSettings, OperatorSettings};
use magnon::workflow::{BuiltOperator, OperatorSummary, operator};
use serde_json::json;
use std::path::PathBuf;

#[derive(Args)]
pub struct OperatorCommand {
    #[command(flatten)]
    pub data: DataSettings,
    #[command(flatten)]
    pub operator: OperatorSettings,
    /// Write the operator to this .npz file, for scipy.sparse.load_npz
    #[arg(short, long, value_name = "F.npz", value_parser = output(), help_heading = "Output")]
    pub output: Option<PathBuf>,
}

pub fn run(args: &OperatorCommand, common: &Common) -> anyhow::Result<()> {
    outputs::check(common, &[("--output", args.output.as_deref(), NPZ)])?;
    let mut clock = Clock::default();
    let loaded = data::read(&args.data, common, &mut clock)?;
    let built = build(&args.operator, &loaded, common)?;
    clock.add_all(&built.report.seconds);
    let mut report = Report::default();
    report.put(&built.report)?;
    describe(&built.report.operator, &mut report);
    if let Some(path) = &args.output {
        clock.phase("write", || built.write(path))?;
        report.line("written", path.display());
    }
    report.files([("output", args.output.as_deref())]);
    report.print(common, clock)
}

/// Builds the operator that the flags describe.
pub fn build(
    args: &OperatorSettings,
    loaded: &Loaded,
    common: &Common,
) -> anyhow::Result<BuiltOperator> {
    let (split, bar) = (loaded.split.as_ref(), Bar::new("operator", common));
    Ok(operator(&loaded.dataset, split, &args.choice()?, &bar)?)
}

/// Which operator was built, in lines for people.
pub fn describe(found: &OperatorSummary, report: &mut Report) {
    let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let loops = if found.self_loops { "with self loops" } else { "without self loops" };
    report.line("graph", &found.name);
    report.line(
        "operator",
        format!(
            "{}, q = {}, symmetrised by {}, {loops}, normalised: {}",
            word(json!(found.kind)),
            found.charge_text,
            word(json!(found.symmetrize)),
            word(json!(found.normalize)),
        ),
    );
    let (size, entries) = (grouped(found.nodes), grouped(found.stored));
    let number = if found.real { "real" } else { "complex" };
    report.line("matrix", format!("{size} × {size}, {entries} entries, {number}"));
    if let Some(evidence) = &found.charge_evidence {
        report.line("charge", evidence);
    }
    if let Some(evidence) = &found.pass_evidence {
        report.line("pass", evidence);
    }
}
