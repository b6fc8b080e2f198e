//! A data set: its files one after the other, each of them only if it is not there.

use crate::client::Client;
use crate::download::Download;
use crate::nearest::nearest;
use crate::seal::Seal;
use crate::{Entry, FetchError, File, Options, Progress, cache_folder, find};
use std::path::{Path, PathBuf};

/// Fetches the data set of a name and gives its folder. What is there and right is left alone; if
/// that is all of it, the network is not used.
///
/// `progress` is told what happens, and says whether to go on. What was received before it said
/// no, or before a failure, is kept for the next time.
pub fn fetch(
    name: &str,
    options: &Options,
    progress: &mut dyn FnMut(Progress<'_>) -> bool,
) -> Result<PathBuf, FetchError> {
    let entry = find(name).ok_or_else(|| {
        let hint = match nearest(name) {
            Some(near) => format!("did you mean '{near}'? magnon fetch --list shows all names"),
            None => "magnon fetch --list shows all names".into(),
        };
        FetchError::Unknown { name: name.to_owned(), hint }
    })?;
    fetch_entry(entry, options, progress)
}

/// Fetches a data set that need not be in the table.
pub fn fetch_entry(
    entry: &Entry,
    options: &Options,
    progress: &mut dyn FnMut(Progress<'_>) -> bool,
) -> Result<PathBuf, FetchError> {
    let folder = options.cache.clone().unwrap_or_else(cache_folder).join(entry.name);
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    let mut seal = Seal::open(&folder);
    let mut missing = Vec::new();
    for file in entry.files {
        let path = folder.join(file.path);
        if !seal.holds(file).map_err(FetchError::disk(&path, "read"))? {
            missing.push((file, path));
        }
    }
    // Refused before anything is downloaded.
    let trusted = |(file, _): &&(&File, PathBuf)| !file.is_verified() && !options.allow_unverified;
    if let Some((file, _)) = missing.iter().find(trusted) {
        return Err(FetchError::Unverified { address: file.address.to_owned() });
    }
    let client = Client::new(options)?;
    let count = missing.len();
    for (index, (file, place)) in missing.into_iter().enumerate() {
        tell(progress, file, Progress::Started { file, index, count })?;
        let sha256 = put(file, &place, &mut seal, options, &client, progress)?;
        // A record that cannot be written costs the time to hash the file again.
        let _ = seal.save();
        if !file.is_verified() {
            tell(progress, file, Progress::Unverified { file, sha256: &sha256 })?;
        }
        tell(progress, file, Progress::Done { file })?;
    }
    let _ = seal.save();
    Ok(folder)
}

fn tell(
    progress: &mut dyn FnMut(Progress<'_>) -> bool,
    file: &File,
    step: Progress<'_>,
) -> Result<(), FetchError> {
    let stopped = || FetchError::Cancelled { address: file.address.to_owned() };
    if progress(step) { Ok(()) } else { Err(stopped()) }
}

/// Sees that a file is in its place, and gives its sha256.
fn put(
    file: &File,
    place: &Path,
    seal: &mut Seal,
    options: &Options,
    client: &Client,
    progress: &mut dyn FnMut(Progress<'_>) -> bool,
) -> Result<String, FetchError> {
    let there = seal.found(file).map_err(FetchError::disk(place, "read"))?;
    // One of which nothing is known may have been put there by hand.
    if let Some(found) = there.as_ref().filter(|found| seal.accept(file, found)) {
        return Ok(found.sha256.clone());
    }
    let address = options.address.apply(file.address);
    let download = Download { file, address, place, options, client, progress };
    let found = download.run().map_err(|error| match (there, error) {
        (None, error) => error,
        (_, error @ (FetchError::Cancelled { .. } | FetchError::Busy { .. })) => error,
        (Some(wrong), error) => FetchError::WrongFile {
            path: place.to_owned(),
            address: file.address.to_owned(),
            expected: file.checksum(),
            found: wrong.shown(),
            problem: Box::new(error),
        },
    })?;
    seal.accept(file, &found);
    Ok(found.sha256)
}
