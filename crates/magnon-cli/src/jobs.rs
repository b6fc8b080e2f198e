//! Commands of many jobs, which are kept in a journal as soon as they are done.

use crate::args::Common;
use crate::failure;
use crate::interrupt::resumable;
use crate::progress::JobBar;
use crate::report::print_lines;
use crate::terminal::shown_json;
use magnon::Error;
use magnon::data::DataError;
use magnon::run::FileError;
use magnon::workflow::{Job, Journal, Progress};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The finished jobs of a command, where they can be kept.
pub struct Kept<J> {
    pub journal: Option<Journal<J>>,
    place: PathBuf,
    /// Whether it goes away when the command is done.
    is_passing: bool,
}

impl<J: Job> Kept<J> {
    /// Opens the journal of that name in the folder of a command's outputs, or else in the cache. A cache that cannot be
    /// written to, as in a container, is no reason not to work.
    pub fn open(
        folder: Option<&Path>,
        name: &str,
        common: &Common,
        open: impl Fn(&Path) -> Result<Journal<J>, Error>,
    ) -> Result<Self, Error> {
        let cache = magnon::fetch::cache_folder();
        let is_passing = folder.is_none();
        let place = folder.unwrap_or(&cache).join(name);
        let opened = match open(&place) {
            // In the cache, whose names say what they are about, it is damaged or of another version.
            Err(Error::File(FileError::Foreign { .. })) if is_passing => {
                let removed = std::fs::remove_file(&place);
                let failed =
                    |reason| DataError::Io { path: place.clone(), action: "replace", reason };
                removed.map_err(failed).map_err(Error::from).and_then(|()| open(&place))
            }
            opened => opened,
        };
        let journal = match opened {
            Err(Error::Data(error @ DataError::Io { .. })) if is_passing => {
                remark_lost(&error, common);
                None
            }
            opened if is_passing => Some(opened?.passing()),
            opened => Some(opened?),
        };
        Ok(Self { journal, place, is_passing })
    }

    /// Says how much is known from an earlier command.
    pub fn remark_known(&self, known: impl Fn(&Journal<J>) -> usize, what: &str, common: &Common) {
        let known = self.journal.as_ref().map_or(0, known);
        if known > 0 && !common.quiet {
            remark!("note: {} holds {known} {what} from before", self.place.display());
        }
    }

    /// What is said when the command is stopped: `words`, where its work is kept.
    pub fn words(&self, words: &'static str) -> &'static str {
        if self.journal.is_some() { words } else { "nothing was kept" }
    }

    /// The command is done: its journal stays in a folder of outputs alone.
    pub fn close(self, common: &Common) {
        let Some(journal) = self.journal else { return };
        if let Some(error) = journal.fault() {
            remark_lost(error, common);
        }
        drop(journal);
        if self.is_passing {
            // The next command goes over what stays, so this is for tidiness alone.
            let _ = std::fs::remove_file(&self.place);
        }
    }
}

fn remark_lost(error: &DataError, common: &Common) {
    if !common.quiet {
        remark!(
            "note: {error}; finished work is not kept, so an interrupted command begins anew; set MAGNON_CACHE to a \
             folder that can be written to"
        );
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
        failure::answered();
        return Ok(writeln!(io::stdout(), "{}", shown_json(json))?);
    }
    print_lines(text().lines())
}
