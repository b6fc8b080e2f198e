//! `magnon generate`: synthetic directed graphs.

use crate::args::Common;
use crate::data::Loaded;
use crate::report::{Clock, Report, usage};
use clap::Args;
use magnon::data::write::{write_dataset, write_edges, write_graph};
use magnon::data::{Dataset, SyntheticConfig};
use magnon::graph::generate::{GeneratorConfig, GeneratorKind};
use magnon::graph::try_measure;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct GenerateArgs {
    /// cycle, cyclic, ordered, noisy, feed-forward or erdos-renyi
    #[arg(default_value = "cyclic")]
    pub kind: GeneratorKind,
    /// Number of nodes
    #[arg(long, value_name = "N", default_value_t = GeneratorConfig::default().nodes)]
    pub nodes: usize,
    /// Number of blocks or layers
    #[arg(long, value_name = "B", default_value_t = GeneratorConfig::default().blocks)]
    pub blocks: usize,
    /// Probability of an edge between nodes of joined blocks
    #[arg(long, value_name = "P", allow_negative_numbers = true, default_value_t = GeneratorConfig::default().density)]
    pub density: f64,
    /// Probability of an edge inside a block [default: the density]
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub within: Option<f64>,
    /// Probability that an edge inside a block runs both ways
    #[arg(long, value_name = "P", allow_negative_numbers = true, default_value_t = GeneratorConfig::default().mutual)]
    pub mutual: f64,
    /// Probability that an edge follows the direction of its blocks
    #[arg(long, value_name = "P", allow_negative_numbers = true, default_value_t = GeneratorConfig::default().direction)]
    pub direction: f64,
    /// Number of feature columns; 0 for none
    #[arg(long, value_name = "F", default_value_t = SyntheticConfig::default().columns)]
    pub columns: usize,
    /// Standard deviation of features around the mean of their block
    #[arg(long, value_name = "S", allow_negative_numbers = true, default_value_t = SyntheticConfig::default().noise)]
    pub noise: f64,
    /// A folder for graph, features, labels and split, or one .npz or .csv file for the graph
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    pub output: Option<PathBuf>,
}

pub fn run(args: &GenerateArgs, common: &Common) -> anyhow::Result<()> {
    let config = SyntheticConfig {
        graph: GeneratorConfig {
            kind: args.kind,
            nodes: args.nodes,
            blocks: args.blocks,
            density: args.density,
            within: args.within,
            mutual: args.mutual,
            direction: args.direction,
        },
        columns: args.columns,
        noise: args.noise,
        seed: common.seed(),
    };
    let mut clock = Clock::default();
    let dataset = clock.phase("generate", || config.dataset(args.kind.name())).map_err(usage)?;
    let mut report = Report::default();
    if let Some(path) = &args.output {
        clock.phase("write", || write(path, &dataset))?;
    }
    if args.output.as_ref().is_some_and(|path| path.extension().is_some_and(|e| e == "csv"))
        && !common.quiet
        && try_measure(&dataset.graph)?.isolated > 0
    {
        let nodes = dataset.graph.nodes();
        remark!("note: nodes without edges are not in a csv file; read it with --nodes {nodes}");
    }
    let split = dataset.splits.first().cloned();
    let loaded = Loaded { dataset, split };
    clock.phase("measure", || super::info::describe(&loaded, &mut report))?;
    if let Some(path) = &args.output {
        report.line("written", path.display());
    }
    report.key("seed", common.seed());
    report.key("output", args.output.as_ref().map(|path| path.display().to_string()));
    report.print(common, clock)
}

fn write(path: &Path, dataset: &Dataset) -> anyhow::Result<()> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("npz") => write_graph(path, &dataset.graph)?,
        Some("csv") => write_edges(path, &dataset.graph)?,
        Some(other) if !path.is_dir() => {
            let path = path.display();
            let problem =
                format!("{path}: graphs are written as .npz, .csv or a folder, not .{other}");
            return Err(usage(problem));
        }
        _ => write_dataset(path, dataset)?,
    }
    Ok(())
}
