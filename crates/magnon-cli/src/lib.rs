//! The command line as a library: `run` is what the `magnon` command does, for the command itself and for
//! packages that bring it along.

// Standard error may be closed or full: see `remark!`.
#![warn(clippy::print_stderr, clippy::print_stdout)]

#[macro_use]
mod terminal;

mod args;
mod commands;
mod data;
mod failure;
mod fetched;
mod interrupt;
mod jobs;
mod mapped;
mod outputs;
mod progress;
mod report;
mod signals;

use args::{Cli, Command};
use clap::Parser;
use std::ffi::OsString;
use std::sync::OnceLock;

/// The words that the command was called with, its own name first.
static WORDS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Runs a command line, the name of the command first, and gives its exit code: 0 success, 1 failure, 2 wrong
/// usage. A signal ends the process with 128 and its number: 130 after an interrupt, 143 after a termination. It takes the process for its own: interrupts end it, and threads are set up once.
pub fn run(words: Vec<OsString>) -> u8 {
    let words = WORDS.get_or_init(|| words);
    failure::as_json(words);
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error, words),
    };
    match call(&cli) {
        Ok(()) => 0,
        // The reader of a pipe has gone; there is nobody left to tell.
        Err(error) if report::is_closed_pipe(&error) => 0,
        Err(error) => {
            let words = failure::words(&error);
            remark!("error: {words}");
            let (kind, code) = failure::of(&error);
            failure::tell(&words, kind, code);
            code
        }
    }
}

/// The command line, with quotes where a shell needs them.
fn command_line() -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+%@".contains(c);
    let quoted = |word: String| match word.chars().all(plain) && !word.is_empty() {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    let words = WORDS.get().map(Vec::as_slice).unwrap_or_default();
    let words = words.iter().skip(1).map(|word| quoted(word.to_string_lossy().into_owned()));
    std::iter::once("magnon".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// Says what is wrong with the words; 2 for wrong usage, and 0 where help was asked for.
fn refuse(error: &clap::Error, words: &[OsString]) -> u8 {
    // Clap repeats what it does not know, such as the names of files that a shell put there.
    if words.iter().any(|word| word.to_string_lossy().contains(terminal::is_obeyed)) {
        error.to_string().lines().for_each(terminal::say);
    } else {
        // Nobody is left to tell where this fails.
        let _ = error.print();
    }
    if error.exit_code() == 0 {
        return 0;
    }
    // Clap's first paragraph, without the word that it begins with.
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    failure::tell(first.trim_start_matches("error: "), failure::USAGE, 2);
    2
}

fn call(cli: &Cli) -> anyhow::Result<()> {
    ctrlc::set_handler(interrupt::handle)?;
    signals::listen();
    mapped::guard();
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = cli.common.threads {
        if !magnon::compute::has_room_for(threads.into()) {
            anyhow::bail!("there is no memory for {threads} threads; ask for fewer with --threads");
        }
        pool = pool.num_threads(threads.into());
    }
    if let Err(error) = pool.build_global() {
        anyhow::bail!("the threads cannot be started ({error}); ask for fewer with --threads");
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
        Some(Command::Pack(args)) => commands::pack::run(args, common),
        Some(Command::Generate(args)) => commands::generate::run(args, common),
        Some(Command::Completions(args)) => commands::completions::run(args),
        Some(Command::Man(args)) => commands::man::run(args),
    }
}
