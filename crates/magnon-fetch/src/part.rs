//! A file that is not complete: it lies beside its place, is locked, and may be gone on with.

use crate::checksum::Found;
use crate::{FetchError, File};
use std::fs::{self, OpenOptions, TryLockError};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The bytes of a file that were received up to now.
pub(crate) struct Part {
    file: fs::File,
    path: PathBuf,
    length: u64,
    tag: Option<String>,
    mixed: bool,
}

/// A path with something more at its end.
fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

impl Part {
    /// Opens what there is of the file that is to stand at `place`, or starts it.
    pub(crate) fn open(place: &Path) -> Result<Self, FetchError> {
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder).map_err(FetchError::disk(folder, "make the folder"))?;
        }
        let path = with_ending(place, ".part");
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = file.map_err(FetchError::disk(&path, "write"))?;
        // A file system without locks is used without them.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(FetchError::Busy { path: place.to_owned() });
        }
        let length = file.seek(SeekFrom::End(0)).map_err(FetchError::disk(&path, "read"))?;
        let tag = fs::read_to_string(with_ending(&path, ".tag")).ok();
        let tag = tag.filter(|tag| !tag.is_empty());
        Ok(Self { file, path, length, tag, mixed: length > 0 })
    }

    /// The bytes that are there.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// What the server called the version of the file that these bytes are of.
    pub(crate) fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// Whether the bytes came in several answers, which may be of different versions.
    pub(crate) fn is_mixed(&self) -> bool {
        self.mixed
    }

    /// Says that what follows comes in another answer than what is there.
    pub(crate) fn go_on(&mut self) {
        self.mixed |= self.length > 0;
    }

    /// Throws away what is there.
    pub(crate) fn restart(&mut self) -> Result<(), FetchError> {
        let emptied = self.file.set_len(0).and_then(|()| self.file.rewind());
        emptied.map_err(FetchError::disk(&self.path, "empty"))?;
        (self.length, self.mixed, self.tag) = (0, false, None);
        let _ = fs::remove_file(with_ending(&self.path, ".tag")); // there may be none
        Ok(())
    }

    /// Notes the version that the server names, for another run to go on with.
    pub(crate) fn set_tag(&mut self, tag: Option<String>) -> Result<(), FetchError> {
        if let Some(tag) = &tag {
            let path = with_ending(&self.path, ".tag");
            fs::write(&path, tag).map_err(FetchError::disk(&path, "write"))?;
        }
        self.tag = tag;
        Ok(())
    }

    /// Adds bytes at the end.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), FetchError> {
        let written = self.file.write_all(bytes);
        if written.is_err() {
            // The disk may be full: what got there is as good as any.
            self.length = self.file.seek(SeekFrom::End(0)).unwrap_or(self.length);
        }
        written.map_err(FetchError::disk(&self.path, "write"))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// What the bytes are.
    pub(crate) fn found(&mut self, file: &File) -> Result<Found, FetchError> {
        let found = Found::of(&mut self.file, file);
        found.map_err(FetchError::disk(&self.path, "read"))
    }

    /// Puts the file in its place, in one step, when all of it is on the disk.
    pub(crate) fn finish(self, place: &Path) -> Result<(), FetchError> {
        self.file.sync_all().map_err(FetchError::disk(&self.path, "write"))?;
        fs::rename(&self.path, place).map_err(FetchError::disk(place, "rename to"))?;
        let _ = fs::remove_file(with_ending(&self.path, ".tag"));
        Ok(())
    }

    /// Takes the bytes off the disk.
    pub(crate) fn discard(self) {
        let _ = fs::remove_file(with_ending(&self.path, ".tag"));
        let _ = fs::remove_file(&self.path);
    }
}
