//! `magnon pack`: an edge list of any size as a packed graph.

use crate::args::Common;
use crate::data::locate;
use crate::jobs::run_jobs;
use crate::outputs::{self, PACKED, output};
use crate::report::{Clock, Report, grouped, usage};
use clap::{Args, value_parser};
use magnon::data::{PackConfig, PartReport, cut, part_file};
use magnon::settings::{DataSettings, size};
use magnon::workflow::pack;
use serde::Serialize;
use std::path::PathBuf;

/// The parts, beside what else is told.
#[derive(Serialize)]
struct Parts {
    parts: Vec<PartReport>,
}

#[derive(Args)]
pub struct PackArgs {
    #[command(flatten)]
    pub data: DataSettings,
    /// Write the packed graph to this .magnon file; a command that was stopped is gone on with
    #[arg(short, long, value_name = "G.magnon", value_parser = output(), help_heading = "Output")]
    pub output: PathBuf,
    /// Memory that packing may use, such as 512M or 8G
    #[arg(long, value_name = "SIZE", default_value = "2G", value_parser = size, help_heading = "Output")]
    pub memory: u64,
    /// Cut the packed graph by rows into so many parts, each with the nodes outside that its rows speak of, for machines
    /// that cannot hold it: G.0.magnon, G.1.magnon and so on beside it
    #[arg(long, value_name = "P", value_parser = value_parser!(u16).range(1..), help_heading = "Output")]
    pub parts: Option<u16>,
}

pub fn run(args: &PackArgs, common: &Common) -> anyhow::Result<()> {
    outputs::check(common, &[("--output", Some(&args.output), PACKED)])?;
    for part in 0..args.parts.unwrap_or(0) {
        let file = part_file(&args.output, part.into());
        outputs::check(common, &[("--parts", Some(&file), PACKED)])?;
    }
    let mut data = args.data.config()?;
    if args.data.data.is_none() {
        return Err(usage("name the edge list to pack"));
    }
    if data.features.is_some() || data.labels.is_some() || data.made.is_some() {
        return Err(usage(
            "a packed graph has edges alone; give features and labels where it is used",
        ));
    }
    locate(&args.data, &mut data, common)?;
    let config = PackConfig { load: data.load, memory: args.memory };
    let kept = "what was read stays; the same command goes on from there";
    let source = PathBuf::from(&data.source);
    let found = run_jobs(common, kept, |progress| pack(&source, &args.output, &config, progress))?;
    let mut report = Report::default();
    report.put(&found)?;
    let graph = &found.graph;
    if !common.quiet {
        graph.remarks.iter().for_each(|remark| remark!("note: {remark}"));
    }
    let grouped = |number: u64| grouped(number as usize);
    report.line("graph", format!("{} nodes, {} edges", grouped(graph.nodes), grouped(graph.edges)));
    let kind = if graph.directed { "directed" } else { "symmetric" };
    let weights = if graph.weighted { "with weights" } else { "without weights" };
    report.line("pattern", format!("{} entries, {kind}, {weights}", grouped(graph.stored)));
    let pace = found.bytes_per_second / f64::from(1 << 20);
    report.line("text", format!("{} bytes, {pace:.0} MiB a second", grouped(graph.text_bytes)));
    report.line("written", format!("{}, {} bytes", args.output.display(), grouped(graph.bytes)));
    report.files([("output", Some(args.output.as_path()))]);
    let mut clock = Clock::from(&found.seconds);
    if let Some(parts) = args.parts {
        let parts = clock.phase("cut", || cut(&args.output, parts.into()))?;
        for part in &parts {
            let (rows, halo) = (grouped(part.rows), grouped(part.halo));
            let stored = grouped(part.stored);
            let file = part.file.display();
            report.line("part", format!("{file}: {rows} rows, {halo} outside, {stored} entries"));
        }
        report.put(&Parts { parts })?;
    }
    report.print(common, clock)
}
