//! The command line itself, for `python -m magnon`, and the parameters that calls know.

use magnon::settings::parameters;
use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command line with the words of `sys.argv`, and gives its exit code.
#[pyfunction]
pub fn run_command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| magnon_cli::run(words))
}

/// The parameters of a call, each with the words that it takes, where these are few.
#[pyfunction]
pub fn call_parameters(call: &str) -> Vec<(String, Vec<String>)> {
    parameters(call).into_iter().map(|one| (one.name, one.choices)).collect()
}
