//! `magnon` alone: what it does, on the built-in graph.

use super::train::train;
use crate::args::Common;
use crate::command_line;
use magnon::data::write::{file_in, write_atomic};
use magnon::filter::FilterConfig;
use magnon::settings::TrainSettings;
use magnon::train::{RunConfig, RunsConfig, TrainConfig};
use std::path::{Path, PathBuf};

/// Order of the LinearRank filter that is shown.
const ORDER: usize = 16;
/// Where the run goes.
const FOLDER: &str = "magnon-demo";

/// Trains MGC and its controls on the demonstration graph and leaves a run folder.
pub fn run(common: &Common) -> anyhow::Result<()> {
    if !common.quiet {
        remark!(
            "note: training on the built-in graph, in which only the directions tell the classes \
             apart; see magnon --help for all commands"
        );
        remark!("note: the run goes to the folder {FOLDER}/, which git ignores");
    }
    // Found by git before anything else is there.
    write_atomic(&file_in(Path::new(FOLDER), ".gitignore")?, |out| out.write_all(b"*\n"))?;
    let config = RunConfig {
        filter: Some(FilterConfig { order: Some(ORDER), ..Default::default() }),
        train: TrainConfig { seed: common.seed(), ..Default::default() },
        runs: RunsConfig { controls: true, ..Default::default() },
        ..Default::default()
    };
    let output = Some(PathBuf::from(FOLDER));
    let settings = TrainSettings { output, overwrite: true, ..Default::default() };
    train(&config, &settings.options(command_line), common)
}
