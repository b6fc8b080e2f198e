//! Commands of many jobs, which are kept in a journal as soon as they are done.

use crate::args::Common;
use crate::interrupt::resumable;
use crate::progress::JobBar;
use crate::report::print_lines;
use crate::terminal::shown_json;
use magnon::Error;
use magnon::workflow::Progress;
use std::io::{self, Write};
use std::path::Path;

/// Says how much is known from an earlier command.
pub fn remark_known(known: usize, what: &str, place: &Path, common: &Common) {
    if known > 0 && !common.quiet {
        remark!("note: {known} {what} are known from {}", place.display());
    }
}

/// Makes a call under a bar. An interrupt ends the command; what it has `kept` stays for the next one.
pub fn run_jobs<T>(
    common: &Common,
    kept: &'static str,
    call: impl FnOnce(&dyn Progress) -> Result<T, Error>,
) -> anyhow::Result<T> {
    let words = move || format!("stopped; {kept}");
    Ok(resumable(words, |stop| call(&JobBar::new(common, stop)))?)
}

/// Prints one JSON object, or lines for people.
pub fn print(common: &Common, json: &str, text: impl FnOnce() -> String) -> anyhow::Result<()> {
    if common.json {
        return Ok(writeln!(io::stdout(), "{}", shown_json(json))?);
    }
    print_lines(text().lines())
}
