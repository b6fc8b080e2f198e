//! `magnon propagate`: filtered features as a NumPy array.

use super::operator::{self, build};
use crate::args::Common;
use crate::data;
use crate::jobs::run_jobs;
use crate::outputs::{self, NPY, NPZ, output};
use crate::report::{Bar, Clock, Report, fault, grouped, usage};
use anyhow::Context;
use clap::Args;
use magnon::data::FeatureFile;
use magnon::data::write::is_stream;
use magnon::model::Channel;
use magnon::settings::{PropagateSettings, size};
use magnon::workflow::{
    FilterSummary, FilteredFile, Precision, propagate_channels, propagate_file, propagate_on,
    write_channels, write_filtered,
};
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct PropagateArgs {
    #[command(flatten)]
    pub settings: PropagateSettings,
    /// Write the filtered features to this .npy file: complex64, or float32 of a real operator. Channels go to an .npz
    /// file, an array for each under its text
    #[arg(short, long, value_name = "F.npy", value_parser = output(), help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Precision of the file; float16 rounds each number once, with a last axis for real and imaginary part of
    /// a complex operator, and refuses numbers beyond 65504
    #[arg(
        long,
        value_name = "D",
        default_value = "float32",
        requires = "output",
        conflicts_with = "channels",
        help_heading = "Output"
    )]
    pub dtype: Precision,
    /// Leave the features on disk and filter as many of their columns at a time as fit this memory, such as 8G;
    /// they are an .npy, .safetensors or .parquet file given with --features. A command that was stopped is gone on with
    #[arg(long, value_name = "SIZE", value_parser = size, conflicts_with = "channels", requires = "output", help_heading = "Output")]
    pub memory: Option<u64>,
}

pub fn run(args: &PropagateArgs, common: &Common) -> anyhow::Result<()> {
    if let Some(channels) = args.settings.channel_list()? {
        return run_channels(args, &channels, common);
    }
    outputs::check(common, &[("--output", args.output.as_deref(), NPY)])?;
    if let (Some(memory), Some(output)) = (args.memory, &args.output) {
        return run_on_disk(args, memory, output, common);
    }
    let mut clock = Clock::default();
    let mut loaded = data::read(&args.settings.data, common, &mut clock)?;
    let built = build(&args.settings.operator, &loaded, common)?;
    let name = &loaded.dataset.name;
    let features = loaded.dataset.features.take().with_context(|| {
        format!("{name} has no features to filter; give some with --features FILE")
    })?;
    drop(loaded); // the graph is in the operator now
    let bar = Bar::new("propagate", common);
    let mut filtered =
        propagate_on(args.settings.device, &built, &features, &args.settings.filter.config(), &bar)
            .map_err(fault)?;
    drop(bar);
    filtered.report.dtype = args.dtype.dtype(filtered.report.operator.real).to_owned();
    let found = &filtered.report;
    clock.add_all(&found.seconds);
    let mut report = Report::default();
    report.put(found)?;
    operator::describe(&found.operator, &mut report);
    describe(&found.filter, &mut report);
    let shape = format!("{} × {}", grouped(found.operator.nodes), grouped(found.columns));
    report.line("result", format!("{shape}, {}", found.dtype));
    if let Some(path) = &args.output {
        clock.phase("write", || write_filtered(path, &filtered.features, args.dtype))?;
        report.line("written", path.display());
    }
    report.files([("output", args.output.as_deref())]);
    report.print(common, clock)
}

/// Filters features into the channels of a bank.
fn run_channels(args: &PropagateArgs, channels: &[Channel], common: &Common) -> anyhow::Result<()> {
    outputs::check(common, &[("--output", args.output.as_deref(), NPZ)])?;
    let mut clock = Clock::default();
    let loaded = data::read(&args.settings.data, common, &mut clock)?;
    let bar = Bar::new("propagate", common);
    let found = match &args.output {
        Some(path) => write_channels(path, &loaded.dataset, channels, &bar),
        None => propagate_channels(&loaded.dataset, channels, &mut |_, _| Ok(()), &bar),
    };
    drop(bar);
    let found = found.map_err(fault)?;
    clock.add_all(&found.seconds);
    let mut report = Report::default();
    report.put(&found)?;
    report.line("graph", &found.name);
    for row in &found.channels {
        report.line("channel", format!("{}: {}, {}", row.channel, row.words, row.dtype));
    }
    let shape = format!("{} × {}", grouped(found.nodes), grouped(found.columns));
    report.line("result", format!("{} of {shape}", found.channels.len()));
    report.line("products", found.products);
    if let Some(path) = &args.output {
        report.line("written", path.display());
    }
    report.files([("output", args.output.as_deref())]);
    report.print(common, clock)
}

/// Filters features that stay on disk.
fn run_on_disk(
    args: &PropagateArgs,
    memory: u64,
    output: &Path,
    common: &Common,
) -> anyhow::Result<()> {
    let mut clock = Clock::default();
    let settings = &args.settings;
    let mut config = settings.data.config()?;
    let features = config.features.take().filter(|path| FeatureFile::is_one(path));
    let features = features.ok_or_else(|| {
        let endings: Vec<&str> = FeatureFile::endings().collect();
        let kinds = endings.join(", .");
        usage(format!("--memory is for features in a file (.{kinds}); give --features F.npy"))
    })?;
    let file = FilteredFile {
        feature_norm: config.load.feature_norm,
        output: output.to_owned(),
        precision: args.dtype,
        memory,
        device: args.settings.device,
    };
    data::locate(&settings.data, &mut config, common)?;
    let loaded = data::read_config(&config, common, &mut clock)?;
    let features =
        clock.phase("read", || FeatureFile::open(&features, &loaded.dataset, &config.load))?;
    let built = build(&args.settings.operator, &loaded, common)?;
    drop(loaded); // the graph is in the operator now
    let kept = match is_stream(output) {
        true => "nothing was kept, as the output is no file",
        false => "blocks that are done stay; the same command goes on from there",
    };
    let found = run_jobs(common, kept, |progress| {
        propagate_file(&built, &features, &file, &args.settings.filter.config(), progress)
    })
    .map_err(|error| match error.downcast::<magnon::Error>() {
        Ok(error) => fault(error),
        Err(error) => error,
    })?;
    clock.add_all(&found.seconds);
    let mut report = Report::default();
    report.put(&found)?;
    operator::describe(&found.operator, &mut report);
    describe(&found.filter, &mut report);
    let shape = format!("{} × {}", grouped(found.operator.nodes), grouped(found.columns));
    report.line("result", format!("{shape}, {}", found.dtype));
    let known = match found.known_blocks {
        0 => String::new(),
        known => format!(", {known} of them known from before"),
    };
    report
        .line("blocks", format!("{} of {} bytes{known}", found.blocks, grouped(found.block_bytes)));
    report.line("written", output.display());
    report.files([("output", Some(output))]);
    report.print(common, clock)
}

/// Which filter was made, in a line for people.
pub fn describe(found: &FilterSummary, report: &mut Report) {
    let how = match (found.products, found.truncation) {
        (None, _) => "solved by conjugate gradients".to_owned(),
        (Some(products), 0.0) => format!("{products} products"),
        (Some(products), error) => format!("{products} products, series cut at {error:.1e}"),
    };
    report.line("filter", format!("{}, {how}", found.filter.name()));
}
