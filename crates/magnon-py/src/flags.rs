//! Keywords as flags of the command line, which parses and checks them: the words cannot drift apart.

use crate::errors::Failure;
use crate::task::Call;
use clap::Parser;
use clap::error::{ContextKind, ContextValue};
use magnon_cli::args::{Cli, Command, Common};
use pyo3::prelude::*;

/// What every function takes besides arrays: flags of its command, and what watches it.
pub struct Flags {
    pub common: Common,
    pub command: Command,
    pub call: Call,
}

impl Flags {
    /// Parses the flags of a command.
    pub fn parse(
        py: Python<'_>,
        command: &str,
        flags: Vec<String>,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let words = ["magnon", command].map(str::to_owned).into_iter().chain(flags);
        let cli = Cli::try_parse_from(words);
        let cli = cli.map_err(|error| Failure::argument(plain(&error)).exception(py))?;
        let Some(command) = cli.command else {
            return Err(Failure::argument("no command").exception(py));
        };
        let call = Call { threads: cli.common.threads.map(usize::from), watch };
        Ok(Self { common: cli.common, command, call })
    }
}

/// The first paragraph of an error of the command line, with keywords as Python writes them, and what may have been
/// meant.
fn plain(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or(&text);
    let first = first.strip_prefix("error: ").unwrap_or(first).trim_end();
    let words: Vec<String> = first.split(' ').map(keyword).collect();
    words.join(" ") + &suggestion(error).unwrap_or_default()
}

/// A word, as Python writes it where it is a flag.
fn keyword(word: &str) -> String {
    match word.find("--") {
        Some(at) => word[..at].to_owned() + &word[at + 2..].replace('-', "_"),
        None => word.to_owned(),
    }
}

/// The flag or value that is most like an unknown one.
fn suggestion(error: &clap::Error) -> Option<String> {
    let likely = |kind| match error.get(kind)? {
        ContextValue::String(one) => Some(one),
        ContextValue::Strings(all) => all.first(),
        _ => None,
    };
    let word = likely(ContextKind::SuggestedArg).or_else(|| likely(ContextKind::SuggestedValue))?;
    Some(format!("; did you mean {}?", keyword(word)))
}

/// The flags of one command, or an error that cannot be reached by keywords of the package.
macro_rules! flags_of {
    ($flags:expr, $variant:ident) => {
        match &$flags.command {
            magnon_cli::args::Command::$variant(args) => args,
            _ => {
                return Err(pyo3::exceptions::PyValueError::new_err(concat!(
                    "not flags of ",
                    stringify!($variant)
                )));
            }
        }
    };
}
pub(crate) use flags_of;
