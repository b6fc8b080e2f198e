//! Names of public data sets as DATA.

use crate::interrupt::{leave, stoppable};
use crate::report::usage;
use indicatif::{HumanBytes, ProgressBar};
use magnon_fetch::{FetchError, Options, Progress};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;

/// What DATA stands for: itself, or the folder of a public data set, which is fetched where it is not
/// here yet. A file or a generator of the same name comes first.
pub fn resolve(data: &str, quiet: bool) -> anyhow::Result<String> {
    let own = Path::new(data).exists() || magnon::workflow::generator(data).is_some();
    if own || magnon_fetch::find(data).is_none() {
        return Ok(magnon::workflow::settled_source(data));
    }
    Ok(fetch(data, false, quiet)?.to_string_lossy().into_owned())
}

/// Fetches a data set, or finds it in the cache.
pub fn fetch(name: &str, allow_unverified: bool, quiet: bool) -> anyhow::Result<PathBuf> {
    if let Some(folder) = magnon_fetch::cached(name) {
        return Ok(folder);
    }
    let options = Options { allow_unverified, ..Default::default() };
    let shown = !quiet && io::stderr().is_terminal();
    let bar = if shown { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
    let told = |text: String| {
        bar.suspend(|| {
            if !quiet {
                remark!("note: {text}")
            }
        })
    };
    let fetched = stoppable(|stop| {
        magnon_fetch::fetch(name, &options, &mut |progress| {
            match progress {
                Progress::Started { file, .. } => told(format!("fetching {}", file.address)),
                Progress::Received { file, bytes, total } => {
                    let of = total.map_or(String::new(), |all| format!(" of {}", HumanBytes(all)));
                    bar.set_message(format!("{}: {}{of}", file.path, HumanBytes(bytes)));
                }
                Progress::Waiting { problem, wait, .. } => {
                    told(format!("{problem}; trying again in {:.1} s", wait.as_secs_f64()));
                }
                Progress::Unverified { file, sha256 } => {
                    told(format!("{}: taken on trust, its sha256 is {sha256}", file.path));
                }
                _ => (),
            }
            !stop.load(Relaxed)
        })
    });
    bar.finish_and_clear();
    match fetched {
        Err(FetchError::Cancelled { .. }) => leave(),
        Err(error @ FetchError::Unknown { .. }) => Err(usage(error)),
        Err(error @ FetchError::Unverified { .. }) => {
            Err(anyhow::anyhow!("{error}: magnon fetch {name} --allow-unverified"))
        }
        fetched => Ok(fetched?),
    }
}
