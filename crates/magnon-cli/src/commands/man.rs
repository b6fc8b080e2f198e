//! `magnon man`: the manual pages, from the same source as the help.

use crate::args::Cli;
use crate::outputs;
use clap::{Args, CommandFactory};
use magnon::data::DataError;
use std::path::PathBuf;

#[derive(Args)]
pub struct ManArgs {
    /// Folder for magnon.1 and a page for each command
    #[arg(short, long, value_name = "FOLDER")]
    pub output: PathBuf,
}

pub fn run(args: &ManArgs) -> anyhow::Result<()> {
    outputs::check_folder("--output", Some(&args.output))?;
    let failed = |reason| DataError::Io { path: args.output.clone(), action: "write", reason };
    std::fs::create_dir_all(&args.output).map_err(failed)?;
    Ok(clap_mangen::generate_to(Cli::command(), &args.output).map_err(failed)?)
}
