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

/// The long flags of a command that take one of a few words, as keywords are written, with these words.
#[pyfunction]
pub fn command_choices(command: &str) -> Vec<(String, Vec<String>)> {
    let cli = Cli::command();
    let Some(found) = cli.find_subcommand(command) else { return Vec::new() };
    let choices =
        found.get_arguments().filter(|flag| flag.get_action().takes_values()).map(|flag| {
            let words =
                flag.get_possible_values().into_iter().map(|value| value.get_name().to_owned());
            Some((flag.get_long()?.replace('-', "_"), words.collect::<Vec<_>>()))
        });
    choices.flatten().filter(|(_, words)| !words.is_empty()).collect()
}
