//! The command line itself, for `python -m magnon`, and the flags that it knows.

use clap::CommandFactory;
use magnon_cli::args::Cli;
use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command line with the words of `sys.argv`, and gives its exit code.
#[pyfunction]
pub fn run_command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| magnon_cli::run(words))
}

/// The long flags of a command, as keywords are written.
#[pyfunction]
pub fn command_flags(command: &str) -> Vec<String> {
    let cli = Cli::command();
    let Some(found) = cli.find_subcommand(command) else { return Vec::new() };
    let names = found.get_arguments().filter_map(|flag| flag.get_long());
    names.map(|name| name.replace('-', "_")).collect()
}
