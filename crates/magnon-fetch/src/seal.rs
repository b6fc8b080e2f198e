//! The record of what was verified, so that a large file is hashed once and not at every use.

use crate::File;
use crate::checksum::Found;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The name of the record in the folder of a data set.
const NAME: &str = ".fetched";

/// What was found of the files of a folder.
pub(crate) struct Seal {
    folder: PathBuf,
    /// By path: the sha256, the size and the time of the last change.
    lines: BTreeMap<String, Line>,
    changed: bool,
}

#[derive(Clone, PartialEq)]
struct Line {
    sha256: String,
    size: u64,
    modified: u128,
}

impl Seal {
    /// The record of a folder; an empty one where there is none, or where it cannot be read.
    pub(crate) fn open(folder: &Path) -> Self {
        let text = fs::read_to_string(folder.join(NAME)).unwrap_or_default();
        let line = |line: &str| {
            let mut words = line.splitn(4, ' ');
            let sha256 = words.next()?.to_owned();
            let (size, modified) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            Some((words.next()?.to_owned(), Line { sha256, size, modified }))
        };
        let lines = text.lines().filter_map(line).collect();
        Self { folder: folder.to_owned(), lines, changed: false }
    }

    /// Whether a file is there and is the right one, by the record or, where it has changed
    /// since, by its checksum. Without a known checksum only the record counts.
    pub(crate) fn holds(&mut self, file: &File) -> io::Result<bool> {
        if self.recorded(file)? {
            return Ok(true);
        }
        Ok(file.is_verified() && self.found(file)?.is_some_and(|found| self.accept(file, &found)))
    }

    /// Whether the record has this file as it is now, with the checksum that is known.
    fn recorded(&self, file: &File) -> io::Result<bool> {
        let Some(line) = self.lines.get(file.path) else { return Ok(false) };
        let Some((size, modified)) = state(&self.folder.join(file.path))? else { return Ok(false) };
        // A blob's id is not in the record; its sha256 stands for it.
        let same = file.sha256.is_none_or(|sha256| sha256.eq_ignore_ascii_case(&line.sha256));
        Ok(same && line.size == size && line.modified == modified)
    }

    /// What the file in place is, where there is one.
    pub(crate) fn found(&self, file: &File) -> io::Result<Option<Found>> {
        let path = self.folder.join(file.path);
        match fs::File::open(path) {
            Ok(source) => Found::of(source, file).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Records a file that is in place, if it is the right one.
    pub(crate) fn accept(&mut self, file: &File, found: &Found) -> bool {
        if !found.is(file) {
            return false;
        }
        if let Ok(Some((size, modified))) = state(&self.folder.join(file.path)) {
            let line = Line { sha256: found.sha256.clone(), size, modified };
            self.lines.insert(file.path.to_owned(), line);
            self.changed = true;
        }
        true
    }

    /// Writes the record, beside its place and renamed, if there is anything new in it.
    pub(crate) fn save(&mut self) -> io::Result<()> {
        if !self.changed {
            return Ok(());
        }
        let line = |(path, line): (&String, &Line)| {
            format!("{} {} {} {path}\n", line.sha256, line.size, line.modified)
        };
        let text: String = self.lines.iter().map(line).collect();
        let beside = self.folder.join(format!("{NAME}.{}", std::process::id()));
        fs::write(&beside, text)?;
        fs::rename(&beside, self.folder.join(NAME))?;
        self.changed = false;
        Ok(())
    }
}

/// The size of a file and the nanoseconds of its last change, where it is there.
fn state(path: &Path) -> io::Result<Option<(u64, u128)>> {
    let meta = match fs::metadata(path) {
        Ok(meta) if meta.is_file() => meta,
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let modified = meta.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(Some((meta.len(), modified.as_nanos())))
}
