//! `magnon generate`: synthetic directed graphs.

use crate::args::Common;
use crate::outputs::{self, CSV, NPZ, output};
use crate::report::{Clock, Report, usage};
use clap::Args;
use magnon::Error;
use magnon::data::Dataset;
use magnon::data::write::{is_stream, write_dataset, write_edges, write_graph};
use magnon::settings::GenerateSettings;
use magnon::workflow::generate;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct GenerateArgs {
    #[command(flatten)]
    pub settings: GenerateSettings,
    /// A folder for graph, features, labels and split, or one .npz or .csv file for the graph
    #[arg(short, long, value_name = "PATH", value_parser = output(), help_heading = "Output")]
    pub output: Option<PathBuf>,
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
    let config = args.settings.config(common.seed())?;
    let made = generate(&config, args.settings.kind.name()).map_err(|error| match error {
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
