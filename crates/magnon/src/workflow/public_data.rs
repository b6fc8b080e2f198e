//! Public data sets: what a name of data stands for, and the list of names.

use super::{generator, settled_source};
use crate::Error;
use magnon_fetch::{Entry, Options, Progress, cache_folder, cached, datasets, find};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The data sets that can be fetched.
#[derive(Clone, Debug, Serialize)]
pub struct PublicDataList {
    /// One row per data set.
    pub datasets: Vec<PublicData>,
}

/// A data set that can be fetched.
#[derive(Clone, Debug, Serialize)]
pub struct PublicData {
    /// Its name.
    pub name: &'static str,
    /// Other names that it is found by.
    pub aliases: &'static [&'static str],
    /// One sentence on what it is.
    pub description: &'static str,
    /// Its nodes, where their number is known.
    pub nodes: Option<u64>,
    /// Its edges as stored, where their number is known.
    pub edges: Option<u64>,
    /// What one should know before using it.
    pub note: Option<&'static str>,
    /// The size of its files, where it is known.
    pub bytes: Option<u64>,
    /// Whether every file has a checksum.
    pub verified: bool,
    /// Its folder in the cache, where it is there.
    pub folder: Option<String>,
}

/// The data sets that can be fetched, and which of them are in the cache.
pub fn public_data() -> PublicDataList {
    let cache = cache_folder();
    let row = |entry: &Entry| PublicData {
        name: entry.name,
        aliases: entry.aliases,
        description: entry.description,
        nodes: entry.nodes,
        edges: entry.edges,
        note: entry.note,
        bytes: entry.size(),
        verified: entry.is_verified(),
        folder: entry.cached(&cache).map(|folder| folder.display().to_string()),
    };
    PublicDataList { datasets: datasets().iter().map(row).collect() }
}

/// What a user's name of data stands for: a file, a folder or a generator of that name, or else the folder of a public
/// data set. That is downloaded where it is not in the cache; `told` hears of it, and says whether to go on.
pub fn locate(name: &str, told: &mut dyn FnMut(Progress<'_>) -> bool) -> Result<String, Error> {
    let own = Path::new(name).exists() || generator(name).is_some();
    if own || find(name).is_none() {
        return Ok(settled_source(name));
    }
    Ok(fetch(name, false, told)?.to_string_lossy().into_owned())
}

/// The folder of a public data set, which is downloaded where it is not in the cache. Files without a known checksum are
/// refused unless they are allowed; `told` hears of the download, and says whether to go on.
pub fn fetch(
    name: &str,
    allow_unverified: bool,
    told: &mut dyn FnMut(Progress<'_>) -> bool,
) -> Result<PathBuf, Error> {
    if let Some(folder) = cached(name) {
        return Ok(folder);
    }
    let options = Options { allow_unverified, ..Default::default() };
    Ok(magnon_fetch::fetch(name, &options, told)?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Nothing is asked of the network for files, generators and names that nobody knows.
    #[test]
    fn only_names_of_public_data_sets_are_fetched() {
        let mut told = |_: Progress<'_>| panic!("something is downloaded");
        let here = env!("CARGO_MANIFEST_DIR");
        for name in [here, "demo", "cyclic:nodes=30", "no such data", ""] {
            assert_eq!(locate(name, &mut told).unwrap(), name);
        }
    }

    /// A download that is stopped is a call that is stopped.
    #[test]
    fn stopping_is_no_failure_of_the_download() {
        let error = magnon_fetch::FetchError::Cancelled { address: String::new() };
        assert!(matches!(Error::from(error), Error::Stopped));
    }
}
