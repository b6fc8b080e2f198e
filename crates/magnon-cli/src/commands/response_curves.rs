//! `magnon response --eigenvalues`: the paper's frequency responses over many charges.

use super::response::ResponseArgs;
use super::{operator, propagate};
use crate::args::Common;
use crate::report::{Bar, Clock, Report, fault};
use magnon::data::write::write_csv;
use magnon::workflow::{
    BuiltOperator, FrequencyConfig, FrequencyReport, figures, frequency_response,
};
use std::io::{BufWriter, Write};

/// The curves of every charge, with the filter's response on the same axis.
pub fn run(
    args: &ResponseArgs,
    config: &FrequencyConfig,
    built: &BuiltOperator,
    common: &Common,
    mut clock: Clock,
) -> anyhow::Result<()> {
    let bar = Bar::new("eigenvalues", common);
    let responses = frequency_response(built, config, &bar).map_err(fault)?;
    drop(bar);
    let found = &responses.report;
    clock.add_all(&found.seconds);
    let mut report = Report::default();
    operator::describe(&found.operator, &mut report);
    propagate::describe(&found.filter, &mut report);
    if let Some(path) = &args.plot {
        let figure = figures::frequency_response(&responses, built.operator.bounds());
        clock.phase("plot", || figures::save(&figure, path))?;
        report.line("drawn", path.display());
    }
    let header = FrequencyReport::HEADER;
    if let Some(path) = &args.csv {
        clock.phase("write", || write_csv(path, &header, found.rows()))?;
        report.line("written", path.display());
    } else if !common.json && args.plot.is_none() {
        let mut out = BufWriter::new(std::io::stdout().lock());
        writeln!(out, "{}", header.join(","))?;
        for row in found.rows() {
            writeln!(out, "{}", row.join(","))?;
        }
        return Ok(out.flush()?);
    }
    report.line("graph", &found.operator.name);
    for curve in &found.curves {
        let text = format!(
            "1 − {:.4}·λ_q is off by {:.4} at most, {:.4} on average",
            found.slope(),
            curve.max_error,
            curve.mean_error
        );
        report.line(&format!("q = {}", curve.charge_text), text);
    }
    report.put(found)?;
    report.files([("csv", args.csv.as_deref()), ("plot", args.plot.as_deref())]);
    report.print(common, clock)
}
