//! `magnon predict`: a trained model on the same or a changed graph.

use crate::args::{Common, DataArgs};
use crate::data::read_dataset;
use crate::report::{Clock, Report, check_ending, grouped, usage};
use crate::terminal::Screen;
use clap::Args;
use magnon::data::Dataset;
use magnon::data::write::{quoted, write_atomic};
use magnon::model::ModelKind;
use magnon::run::{DataConfig, Prediction, RunFolder, SavedModel, predict};
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
    let mut clock = Clock::default();
    let folder = RunFolder::open(&args.run)?;
    let config = folder.config()?;
    let (saved, known) = clock.phase("model", || anyhow::Ok((folder.model()?, folder.known()?)))?;
    // Other data are read as the run's were, but have features and labels of their own.
    let mut data = match args.data.data {
        None => config.data.clone(),
        Some(_) => DataConfig { load: config.data.load, ..Default::default() },
    };
    args.data.apply(&mut data);
    data.load.feature_norm = saved.feature_norm;
    let dataset = clock.phase("load", || read_dataset(&data, config.train.seed, common))?;
    let known = known.filter(|_| !args.full);
    let prediction = clock.phase("predict", || predict(&saved, &dataset, known.as_ref()))?;

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
    report.key("model", saved.model.kind.name());
    report.key("dataset", dataset.name.as_str());
    report.key("nodes", nodes);
    report.key("edges", dataset.graph.edges());
    let mgc = saved.model.kind == ModelKind::Mgc;
    report.key("charge", mgc.then(|| saved.operator.charge.value()));
    report.key("classes", saved.classes.clone());
    report.key("computed", prediction.computed);
    let mut counts = vec![0usize; saved.classes.len()];
    let (mut right, mut labelled) = (0usize, 0usize);
    for node in 0..nodes {
        let said = prediction.class(node);
        counts[said] += 1;
        let truth = dataset.labels.as_ref().and_then(|labels| {
            let class = labels.classes[node]?;
            Some(&labels.names[class as usize])
        });
        if let Some(truth) = truth {
            labelled += 1;
            right += usize::from(*truth == saved.classes[said]);
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

/// One line a node.
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
