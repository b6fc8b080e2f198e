//! `magnon completions`: what a shell needs to complete commands and flags.

use crate::args::Cli;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::io::Write;

#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

pub fn run(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "magnon", &mut script);
    Ok(std::io::stdout().lock().write_all(&script)?)
}
