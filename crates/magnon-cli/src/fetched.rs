//! Downloads of public data sets, with a bar.

use crate::interrupt::{leave, stoppable};
use crate::report::usage;
use indicatif::{HumanBytes, ProgressBar};
use magnon::Error;
use magnon::fetch::{FetchError, Progress};
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;

/// What DATA stands for. A public data set is downloaded where it is not in the cache.
pub fn locate(data: &str, quiet: bool) -> anyhow::Result<String> {
    watched(data, quiet, |show| magnon::workflow::locate(data, show))
}

/// Downloads a data set, or finds it in the cache.
pub fn fetch(name: &str, allow_unverified: bool, quiet: bool) -> anyhow::Result<PathBuf> {
    watched(name, quiet, |show| magnon::workflow::fetch(name, allow_unverified, show))
}

/// Makes a call that may download the data set of this name. An interrupt ends the command; what was received stays.
fn watched<T>(
    name: &str,
    quiet: bool,
    call: impl FnOnce(&mut dyn FnMut(Progress<'_>) -> bool) -> Result<T, Error>,
) -> anyhow::Result<T> {
    let mut shown = Download { quiet, bar: None };
    let done = stoppable(|stop| {
        call(&mut |progress| {
            shown.tell(progress);
            !stop.load(Relaxed)
        })
    });
    drop(shown);
    match done {
        Err(Error::Stopped) => leave(),
        Err(Error::Fetch(error @ FetchError::Unknown { .. })) => Err(usage(error)),
        Err(Error::Fetch(error @ FetchError::Unverified { .. })) => {
            Err(anyhow::anyhow!("{error}: magnon fetch {name} --allow-unverified"))
        }
        done => Ok(done?),
    }
}

/// What is shown of a download.
struct Download {
    quiet: bool,
    /// There from the first file on.
    bar: Option<ProgressBar>,
}

impl Download {
    fn tell(&mut self, progress: Progress<'_>) {
        let shown = !self.quiet && io::stderr().is_terminal();
        let new = || if shown { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        let bar = self.bar.get_or_insert_with(new);
        let quiet = self.quiet;
        let note = |text: String| {
            bar.suspend(|| {
                if !quiet {
                    remark!("note: {text}")
                }
            })
        };
        match progress {
            Progress::Started { file, .. } => note(format!("fetching {}", file.address)),
            Progress::Received { file, bytes, total } => {
                let of = total.map_or(String::new(), |all| format!(" of {}", HumanBytes(all)));
                bar.set_message(format!("{}: {}{of}", file.path, HumanBytes(bytes)));
            }
            Progress::Waiting { problem, wait, .. } => {
                note(format!("{problem}; trying again in {:.1} s", wait.as_secs_f64()));
            }
            Progress::Unverified { file, sha256 } => {
                note(format!("{}: taken on trust, its sha256 is {sha256}", file.path));
            }
            _ => (),
        }
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
