//! `Version`: what tells a file from itself after a change.

use serde::Serialize;
use std::fs::Metadata;
use std::time::UNIX_EPOCH;

/// Size and times of a file, for files that are too large to be read again for a checksum.
///
/// Programs can set the time of modification back, as copies that keep times do. The time of the last change of the file's
/// entry and its number cannot be set, so no change of the content goes unseen where the system has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Version {
    bytes: u64,
    /// Nanoseconds since 1970.
    modified: Option<u128>,
    /// Seconds and nanoseconds of the last change of the entry, and its number.
    entry: Option<(i64, i64, u64)>,
}

impl Version {
    /// That of a file.
    pub fn of(meta: &Metadata) -> Self {
        let modified = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        #[cfg(unix)]
        let entry = {
            use std::os::unix::fs::MetadataExt;
            Some((meta.ctime(), meta.ctime_nsec(), meta.ino()))
        };
        #[cfg(not(unix))]
        let entry = None;
        Self { bytes: meta.len(), modified: modified.map(|time| time.as_nanos()), entry }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Folder;

    #[cfg(unix)]
    #[test]
    fn a_change_is_seen_although_size_and_time_of_modification_are_the_same() {
        let folder = Folder::new(&[("file", b"one")]);
        let path = folder.path("file");
        let version = || Version::of(&std::fs::metadata(&path).unwrap());
        let modified = |path| std::fs::metadata(path).unwrap().modified().unwrap();
        let (before, time) = (version(), modified(&path));
        assert_eq!(before, version());
        // The clock of the file system stands still for a few milliseconds at a time.
        let other = folder.path("other");
        while !other.exists() || modified(&other) == time {
            std::fs::write(&other, "").unwrap();
        }
        std::fs::write(&path, "two").unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(time).unwrap();
        assert_eq!(before.modified, version().modified);
        assert_ne!(before, version());
    }
}
