//! `magnon predict`: a trained model on the same or a changed graph.

use crate::args::{Common, DataArgs};
use crate::progress::JobBar;
use crate::report::{Clock, Report, check_ending, grouped, usage};
use crate::terminal::Screen;
use anyhow::anyhow;
use clap::Args;
use magnon::Error;
use magnon::data::Dataset;
use magnon::data::write::{quoted, write_atomic};
use magnon::run::{FileError, Prediction, SavedModel};
use magnon::workflow::{PredictReport, Predicted, predict, run_data};
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

#[derive(Args)]
pub struct PredictArgs {
    /// The run folder of `magnon train`
    pub run: PathBuf,
    #[command(flatten)]
    pub data: DataArgs,
    /// Write node, label and probabilities to this .csv file
    #[arg(short, long, value_name = "F.csv", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Compute every row, even those that the run has predicted and no change can reach
    #[arg(long, help_heading = "Output")]
    pub full: bool,
}

pub fn run(args: &PredictArgs, common: &Common) -> anyhow::Result<()> {
    check_ending(args.output.as_deref(), "csv")?;
    if args.data.flags.feature_norm.is_some() {
        return Err(usage("features are scaled as the model's were; there is no --feature-norm"));
    }
    if args.data.flags.split.is_some() || args.data.flags.split_seed.is_some() {
        return Err(usage("all nodes are classified; predict makes no use of a split"));
    }
    let unfinished = |error: Error| match error {
        Error::File(FileError::Unfinished { path }) => anyhow!(
            "{}: the run has not come to its end; go on with it: magnon train --resume --out {}",
            path.display(),
            path.display()
        ),
        error => error.into(),
    };
    let mut data = run_data(&args.run, args.data.data.is_some()).map_err(unfinished)?;
    args.data.apply(&mut data, common)?;
    let never = AtomicBool::new(false); // an interrupt ends the command
    let found = predict(&args.run, &data, args.full, &JobBar::new(common, &never));
    let Predicted { saved, dataset, prediction, report: figures } = found.map_err(unfinished)?;
    let mut clock = Clock::from(&figures.seconds);
    let mut report = Report::default();
    report.put(&figures)?;
    describe(&figures, &mut report);
    match &args.output {
        Some(path) => {
            clock.phase("write", || {
                write_atomic(path, |out| table(out, &saved, &dataset, &prediction))
            })?;
            report.line("written", path.display());
        }
        None if !common.json => {
            let mut out = io::BufWriter::new(io::stdout().lock());
            // For people, names are made fit to be seen; for programs, they stay as they are.
            match io::stdout().is_terminal() {
                true => table(&mut Screen(&mut out), &saved, &dataset, &prediction)?,
                false => table(&mut out, &saved, &dataset, &prediction)?,
            }
            return Ok(out.flush()?);
        }
        None => (),
    }
    report.key("output", args.output.as_ref().map(|path| path.display().to_string()));
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
fn table(
    out: &mut dyn Write,
    saved: &SavedModel,
    dataset: &Dataset,
    prediction: &Prediction,
) -> io::Result<()> {
    write!(out, "node,label")?;
    for class in &saved.classes {
        write!(out, ",{}", quoted(&format!("probability_{class}")))?;
    }
    writeln!(out)?;
    for node in 0..dataset.graph.nodes() {
        match dataset.node_names.as_ref().and_then(|names| names.name(node)) {
            Some(name) => write!(out, "{}", quoted(&name))?,
            None => write!(out, "{node}")?,
        }
        write!(out, ",{}", quoted(&saved.classes[prediction.class(node)]))?;
        for log in prediction.log_probabilities.row(node) {
            write!(out, ",{}", log.exp())?;
        }
        writeln!(out)?;
    }
    Ok(())
}
