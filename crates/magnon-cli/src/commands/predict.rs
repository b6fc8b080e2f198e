//! `magnon predict`: a trained model on the same or a changed graph.

use crate::args::{Common, DataArgs};
use crate::data::read_dataset;
use crate::report::{Clock, Report, check_ending, grouped, usage};
use crate::terminal::Screen;
use anyhow::anyhow;
use clap::Args;
use magnon::data::Dataset;
use magnon::data::write::{quoted, write_atomic};
use magnon::run::{FileError, Prediction, RunFolder, SavedModel, predict};
use magnon::train::DataConfig;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

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
    let mut clock = Clock::default();
    let folder = RunFolder::open(&args.run).map_err(|error| match error {
        FileError::Unfinished { path } => anyhow!(
            "{}: the run has not come to its end; go on with it: magnon train --resume --out {}",
            path.display(),
            path.display()
        ),
        error => error.into(),
    })?;
    let config = folder.config()?;
    let (saved, cache) =
        clock.phase("model", || anyhow::Ok((folder.model()?, folder.predictions()?)))?;
    // Other data are read as the run's were, but have features and labels of their own.
    let mut data = match args.data.data {
        None => config.data.clone(),
        Some(_) => DataConfig { load: config.data.load, ..Default::default() },
    };
    args.data.apply(&mut data, common)?;
    data.load.feature_norm = saved.feature_norm;
    let dataset = clock.phase("load", || read_dataset(&data, config.train.seed, common))?;
    let cache = cache.filter(|_| !args.full);
    let prediction = clock.phase("predict", || predict(&saved, &dataset, cache.as_ref()))?;

    let mut report = Report::default();
    describe(&saved, &dataset, &prediction, &mut report);
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

fn describe(saved: &SavedModel, dataset: &Dataset, prediction: &Prediction, report: &mut Report) {
    let nodes = dataset.graph.nodes();
    report.key("model", saved.model.info().name);
    report.key("dataset", dataset.name.as_str());
    report.key("nodes", nodes);
    report.key("edges", dataset.graph.edges());
    report.key("charge", saved.operator.map(|operator| operator.charge.value()));
    report.key("classes", saved.classes.clone());
    report.key("computed", prediction.computed);
    let mut counts = vec![0usize; saved.classes.len()];
    let (mut right, mut labelled) = (0usize, 0usize);
    for node in 0..nodes {
        let class = prediction.class(node);
        counts[class] += 1;
        let truth = dataset.labels.as_ref().and_then(|labels| {
            let class = labels.classes[node]?;
            Some(&labels.names[class as usize])
        });
        if let Some(truth) = truth {
            labelled += 1;
            right += usize::from(*truth == saved.classes[class]);
        }
    }
    let accuracy = (labelled > 0).then(|| right as f64 / labelled as f64);
    report.key("predicted", counts.clone());
    report.key("labelled", labelled);
    report.key("accuracy", accuracy);
    report.line("data", format!("{}: {} nodes", dataset.name, grouped(nodes)));
    let rows = match prediction.computed {
        all if all == nodes => "all rows".to_owned(),
        some => format!("{} rows; no change can reach the others", grouped(some)),
    };
    report.line("computed", rows);
    let list = saved.classes.iter().zip(&counts).map(|(name, count)| format!("{name}: {count}"));
    report.line("predicted", list.collect::<Vec<_>>().join(", "));
    if let Some(accuracy) = accuracy {
        let share = format!("{:.2} %", 100.0 * accuracy);
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
