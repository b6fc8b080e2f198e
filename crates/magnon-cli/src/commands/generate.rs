//! `magnon generate`: synthetic directed graphs.

use crate::args::{Common, finite};
use crate::outputs::{self, CSV, NPZ, output};
use crate::report::{Clock, Report, usage};
use clap::Args;
use magnon::Error;
use magnon::data::write::{is_stream, write_dataset, write_edges, write_graph};
use magnon::data::{Dataset, SyntheticConfig};
use magnon::graph::generate::GeneratorKind;
use magnon::workflow::generate;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct GenerateArgs {
    /// cycle, cyclic, ordered, noisy, feed-forward or erdos-renyi
    #[arg(default_value = "cyclic")]
    pub kind: GeneratorKind,
    /// Number of nodes [default: 600]
    #[arg(long, value_name = "N")]
    pub nodes: Option<usize>,
    /// Number of blocks or layers [default: 3]
    #[arg(long, value_name = "B")]
    pub blocks: Option<usize>,
    /// Probability of an edge between nodes of joined blocks [default: 0.03]
    #[arg(long, value_parser = finite, value_name = "P", allow_negative_numbers = true)]
    pub density: Option<f64>,
    /// Probability of an edge inside a block [default: the density]
    #[arg(long, value_parser = finite, value_name = "P", allow_negative_numbers = true)]
    pub within: Option<f64>,
    /// Probability that an edge inside a block runs both ways [default: 0]
    #[arg(long, value_parser = finite, value_name = "P", allow_negative_numbers = true)]
    pub mutual: Option<f64>,
    /// Probability that an edge follows the direction of its blocks [default: 0.95]
    #[arg(long, value_parser = finite, value_name = "P", allow_negative_numbers = true)]
    pub direction: Option<f64>,
    /// Number of feature columns; 0 for none [default: 16]
    #[arg(long, value_name = "F")]
    pub columns: Option<usize>,
    /// Standard deviation of features around the mean of their block [default: 1]
    #[arg(long, value_parser = finite, value_name = "S", allow_negative_numbers = true)]
    pub noise: Option<f64>,
    /// A folder for graph, features, labels and split, or one .npz or .csv file for the graph
    #[arg(short, long, value_name = "PATH", value_parser = output(), help_heading = "Output")]
    pub output: Option<PathBuf>,
}

impl GenerateArgs {
    /// The defaults of the generator with the flags on top; one that it makes no use of is refused.
    pub fn config(&self, seed: u64) -> anyhow::Result<SyntheticConfig> {
        let mut config = SyntheticConfig { seed, ..Default::default() };
        config.graph.kind = self.kind;
        let text = |number: Option<f64>| number.map(|number| number.to_string());
        let count = |number: Option<usize>| number.map(|number| number.to_string());
        for (key, value) in [
            ("nodes", count(self.nodes)),
            ("blocks", count(self.blocks)),
            ("density", text(self.density)),
            ("within", text(self.within)),
            ("mutual", text(self.mutual)),
            ("direction", text(self.direction)),
            ("columns", count(self.columns)),
            ("noise", text(self.noise)),
        ] {
            if let Some(value) = value {
                config.set(key, &value).map_err(usage)?;
            }
        }
        Ok(config)
    }
}

pub fn run(args: &GenerateArgs, common: &Common) -> anyhow::Result<()> {
    match args.output.as_deref().map(|path| (path, kind(path))) {
        Some((path, "csv")) => outputs::check(common, &[("--output", Some(path), CSV)])?,
        Some((path, "npz")) => outputs::check(common, &[("--output", Some(path), NPZ)])?,
        Some((path, "")) => outputs::check_folder("--output", Some(path))?,
        Some((path, other)) => {
            return Err(usage(format!(
                "{}: graphs are written as .npz, .csv or a folder, not .{other}",
                path.display()
            )));
        }
        None => (),
    }
    let config = args.config(common.seed())?;
    let made = generate(&config, args.kind.name()).map_err(|error| match error {
        Error::Generate(error) => usage(error),
        error => error.into(),
    })?;
    let mut clock = Clock::from(&made.report.seconds);
    let info = &made.report.info;
    let mut report = Report::default();
    report.put(&made.report)?;
    super::info::describe(info, &mut report);
    if let Some(path) = &args.output {
        clock.phase("write", || write(path, &made.dataset))?;
        let list = kind(path) == "csv";
        if list && !common.quiet && info.measures.isolated > 0 {
            let nodes = info.nodes;
            remark!(
                "note: nodes without edges are not in a csv file; read it with --nodes {nodes}"
            );
        }
        report.line("written", path.display());
    }
    report.files([("output", args.output.as_deref())]);
    report.print(common, clock)
}

/// The ending of a file, or nothing for a folder. A device or a pipe takes csv.
fn kind(path: &Path) -> &str {
    match path.extension().and_then(|extension| extension.to_str()) {
        _ if is_stream(path) => "csv",
        Some(ending) if !path.is_dir() => ending,
        _ => "",
    }
}

fn write(path: &Path, dataset: &Dataset) -> anyhow::Result<()> {
    match kind(path) {
        "csv" => write_edges(path, &dataset.graph)?,
        "npz" => write_graph(path, &dataset.graph)?,
        _ => write_dataset(path, dataset)?,
    }
    Ok(())
}
