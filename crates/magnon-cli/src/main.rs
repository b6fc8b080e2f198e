//! The `magnon` command: parse, call, print.

// Standard error may be closed or full: see `remark!`.
#![warn(clippy::print_stderr, clippy::print_stdout)]

#[macro_use]
mod terminal;

mod args;
mod commands;
mod compare_page;
mod data;
mod fetched;
mod figures;
mod interrupt;
mod jobs;
mod progress;
mod report;
mod reproduce_page;
mod run_report;
mod tune_page;

use args::{Cli, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| refuse(&error));
    match run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of a pipe has gone; there is nobody left to tell.
        Err(error) if report::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            remark!("error: {error:#}");
            if report::is_usage(&error) { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}

/// Ends with exit code 2 for wrong usage, and 0 where help was asked for.
fn refuse(error: &clap::Error) -> ! {
    let mut arguments = std::env::args_os();
    // Clap repeats what it does not know, such as the names of files that a shell put there.
    if !arguments.any(|argument| argument.to_string_lossy().contains(terminal::is_obeyed)) {
        error.exit();
    }
    error.to_string().lines().for_each(terminal::say);
    std::process::exit(error.exit_code());
}

fn run(cli: &Cli) -> anyhow::Result<()> {
    ctrlc::set_handler(interrupt::handle)?;
    if let Some(threads) = cli.common.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
    }
    let common = &cli.common;
    match &cli.command {
        None => commands::demo::run(common),
        Some(Command::Info(args)) => commands::info::run(args, common),
        Some(Command::Cycles(args)) => commands::cycles::run(args, common),
        Some(Command::Operator(args)) => commands::operator::run(args, common),
        Some(Command::Propagate(args)) => commands::propagate::run(args, common),
        Some(Command::Response(args)) => commands::response::run(args, common),
        Some(Command::Spectrum(args)) => commands::spectrum::run(args, common),
        Some(Command::Eigenmap(args)) => commands::eigenmap::run(args, common),
        Some(Command::Denoise(args)) => commands::denoise::run(args, common),
        Some(Command::Predict(args)) => commands::predict::run(args, common),
        Some(Command::Train(args)) => commands::train::run(args, common),
        Some(Command::Report(args)) => commands::report::run(args, common),
        Some(Command::Compare(args)) => commands::compare::run(args, common),
        Some(Command::Tune(args)) => commands::tune::run(args, common),
        Some(Command::Reproduce(args)) => commands::reproduce::run(args, common),
        Some(Command::Fetch(args)) => commands::fetch::run(args, common),
        Some(Command::Models(args)) => commands::models::run(args, common),
        Some(Command::Generate(args)) => commands::generate::run(args, common),
        Some(Command::Completions(args)) => commands::completions::run(args),
        Some(Command::Man(args)) => commands::man::run(args),
    }
}
