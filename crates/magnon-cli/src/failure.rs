//! What a command fails with, for people on standard error and for programs on standard output.

use crate::report::{is_usage, with_flag};
use crate::terminal::shown_json;
use magnon::data::DataError;
use magnon::run::{FileError, RunError};
use serde_json::json;
use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The kind of wrong usage.
pub const USAGE: &str = "usage";

/// Whether `--json` was given.
static AS_JSON: AtomicBool = AtomicBool::new(false);

/// Looks for `--json` among the words of a command, which may not be parsed otherwise.
pub fn as_json(words: &[OsString]) {
    let mut flags = words.iter().take_while(|word| *word != "--");
    AS_JSON.store(flags.any(|word| word == "--json"), Relaxed);
}

/// With `--json`, prints an object with what went wrong in place of the result: `error`, the words; `kind`, one word for
/// programs; `exit`, the exit code.
pub fn tell(words: &str, kind: &str, exit: u8) {
    if AS_JSON.swap(false, Relaxed) {
        let answer = json!({ "error": words, "kind": kind, "exit": exit }).to_string();
        // Nobody is left to tell where this fails.
        let _ = writeln!(io::stdout(), "{}", shown_json(&answer));
    }
}

/// The command answers with its result: nothing is answer after that.
pub fn answered() {
    AS_JSON.store(false, Relaxed);
}

/// The kind of an error and the exit code of the command: 2 for wrong usage, else 1.
pub fn of(error: &anyhow::Error) -> (&'static str, u8) {
    match is_usage(error) {
        true => (USAGE, 2),
        false => (error.chain().find_map(kind).unwrap_or("failure"), 1),
    }
}

fn kind(cause: &(dyn Error + 'static)) -> Option<&'static str> {
    if let Some(error) = cause.downcast_ref::<magnon::Error>() {
        return Some(error.kind());
    }
    if cause.is::<DataError>() {
        return Some("data");
    }
    if cause.is::<FileError>() || cause.is::<RunError>() {
        return Some("run");
    }
    cause.is::<io::Error>().then_some("system")
}

/// The words of an error and its causes; a cause whose words stand there already adds none.
pub fn words(error: &anyhow::Error) -> String {
    let mut words = String::new();
    let said = |cause: &(dyn Error + 'static)| {
        cause.downcast_ref().map_or_else(|| cause.to_string(), with_flag)
    };
    for cause in error.chain().map(said) {
        if words.is_empty() {
            words = cause;
        } else if !words.contains(&cause) {
            words = format!("{words}: {cause}");
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::{Context, anyhow};

    #[test]
    fn causes_are_said_once() {
        let error = || anyhow!("no room").context("no room on x");
        assert_eq!(words(&error()), "no room on x");
        assert_eq!(words(&error().context("y")), "y: no room on x");
        let data = magnon::data::load(std::path::Path::new("/none/such"), &Default::default());
        let data = data.map(drop).context("z").unwrap_err();
        assert_eq!(of(&data), ("data", 1));
    }
}
