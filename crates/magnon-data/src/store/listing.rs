//! Listing folders, without wandering into trees that are no part of a data set.

use super::{Entry, Place, inflate, io_error};
use crate::DataError;
use std::path::{Path, PathBuf};

/// Folders that known layouts keep inside a data set.
const SUBFOLDERS: [&str; 3] = ["raw", "mapping", "split"];

/// More files than this in one folder are no data set; the rest is not listed.
const MOST_FILES: usize = 20_000;

/// The last part of a path, as text.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The files of a folder and of the subfolders that known layouts have.
pub(super) fn folder(path: &Path) -> Result<Vec<Entry>, DataError> {
    let mut entries = Vec::new();
    let folders = level(path, "", &mut entries)?;
    for name in folders.iter().filter(|name| SUBFOLDERS.contains(&name.as_str())) {
        let inner = level(&path.join(name), &format!("{name}/"), &mut entries)?;
        if name == "split" {
            for scheme in inner {
                let prefix = format!("{name}/{scheme}/");
                level(&path.join(name).join(&scheme), &prefix, &mut entries)?;
            }
        }
    }
    sort(&mut entries);
    Ok(entries)
}

/// The files in the folder of `path`; none where it cannot be listed.
pub(super) fn beside(path: &Path) -> Vec<Entry> {
    let parent = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => return Vec::new(),
    };
    let mut entries = Vec::new();
    if level(parent, "", &mut entries).is_err() {
        entries.clear();
    }
    sort(&mut entries);
    entries
}

/// Adds the files of one folder and gives back the names of its subfolders.
fn level(path: &Path, prefix: &str, entries: &mut Vec<Entry>) -> Result<Vec<String>, DataError> {
    let failed = |source| io_error(path, "list", source);
    let mut folders = Vec::new();
    for item in std::fs::read_dir(path).map_err(failed)?.take(MOST_FILES) {
        let item = item.map_err(failed)?;
        let inner: PathBuf = item.path();
        let Ok(meta) = std::fs::metadata(&inner) else { continue };
        let name = file_name(&inner);
        if meta.is_dir() {
            folders.push(name);
        } else if meta.is_file() && !name.starts_with('.') {
            let (name, packing) = inflate::split_suffix(&name);
            let name = format!("{prefix}{name}");
            entries.push(Entry { name, packing, place: Place::Disk(inner) });
        }
    }
    folders.sort();
    Ok(folders)
}

/// Sorts by name; of a file that is there packed and plain, the plain one stays.
pub(super) fn sort(entries: &mut Vec<Entry>) {
    entries.sort_by(|a, b| a.name.cmp(&b.name).then(a.packing.cmp(&b.packing)));
    entries.dedup_by(|later, earlier| later.name == earlier.name);
}
