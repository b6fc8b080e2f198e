//! The `magnon` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(magnon_cli::run(std::env::args_os().collect()))
}
