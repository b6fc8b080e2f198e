//! `magnon predict`: a trained model on the same or a changed graph.

use crate::args::Common;
use crate::data::locate;
use crate::interrupt::stoppable;
use crate::outputs::{self, CSV, output};
use crate::progress::JobBar;
use crate::report::{Clock, Report, grouped};
use crate::terminal::Screen;
use anyhow::anyhow;
use clap::Args;
use magnon::Error;
use magnon::data::write::{quoted, write_atomic};
use magnon::run::FileError;
use magnon::settings::PredictSettings;
use magnon::workflow::{PredictReport, Predicted, predict};
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

#[derive(Args)]
pub struct PredictArgs {
    /// The run folder of `magnon train`
    pub run: PathBuf,
    #[command(flatten)]
    pub settings: PredictSettings,
    /// Write node, label and probabilities to this .csv file
    #[arg(short, long, value_name = "F.csv", value_parser = output(), help_heading = "Output")]
    pub output: Option<PathBuf>,
}

pub fn run(args: &PredictArgs, common: &Common) -> anyhow::Result<()> {
    outputs::check(common, &[("--output", args.output.as_deref(), CSV)])?;
    let unfinished = |error: Error| match error {
        Error::File(FileError::Unfinished { path }) => anyhow!(
            "{}: the run has not come to its end; go on with it: magnon train --resume -o {}",
            path.display(),
            path.display()
        ),
        error => error.into(),
    };
    let settings = &args.settings;
    let mut data = settings.data(&args.run).map_err(unfinished)?;
    locate(&settings.data, &mut data, common)?;
    let found = stoppable(|stop| {
        let remarks = JobBar::new(common, stop);
        predict(&args.run, &data, settings.full, settings.device, &remarks)
    });
    let predicted = found.map_err(unfinished)?;
    let figures = &predicted.report;
    let mut clock = Clock::from(&figures.seconds);
    let mut report = Report::default();
    report.put(figures)?;
    describe(figures, &mut report);
    match &args.output {
        Some(path) => {
            clock.phase("write", || write_atomic(path, |out| table(out, &predicted)))?;
            report.line("written", path.display());
        }
        None if !common.json => {
            let mut out = io::BufWriter::new(io::stdout().lock());
            // For people, names are made fit to be seen; for programs, they stay as they are.
            match io::stdout().is_terminal() {
                true => table(&mut Screen(&mut out), &predicted)?,
                false => table(&mut out, &predicted)?,
            }
            return Ok(out.flush()?);
        }
        None => (),
    }
    report.files([("output", args.output.as_deref())]);
    report.print(common, clock)
}

fn describe(figures: &PredictReport, report: &mut Report) {
    let nodes = figures.nodes;
    report.line("data", format!("{}: {} nodes", figures.dataset, grouped(nodes)));
    let rows = match figures.computed {
        all if all == nodes => "all rows".to_owned(),
        some => format!("{} rows; no change can reach the others", grouped(some)),
    };
    report.line("computed", rows);
    let list = figures.classes.iter().zip(&figures.predicted);
    let list = list.map(|(name, count)| format!("{name}: {count}"));
    report.line("predicted", list.collect::<Vec<_>>().join(", "));
    if let Some(accuracy) = figures.accuracy {
        let share = format!("{:.2} %", 100.0 * accuracy);
        let labelled = figures.labelled;
        report.line(
            "right",
            format!("{share} of {labelled} labelled nodes, training nodes included"),
        );
    }
}

/// One line per node.
fn table(out: &mut dyn Write, predicted: &Predicted) -> io::Result<()> {
    let line = |out: &mut dyn Write, cells: &[String]| {
        let cells: Vec<_> = cells.iter().map(|cell| quoted(cell)).collect();
        writeln!(out, "{}", cells.join(","))
    };
    line(out, &predicted.header())?;
    predicted.rows().try_for_each(|row| line(out, &row))
}
