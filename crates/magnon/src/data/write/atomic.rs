//! Files that are either wholly there or not at all.

use crate::data::DataError;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::NamedTempFile;

/// A target that can be written at any place, as zip files need.
pub trait WriteSeek: Write + Seek {}
impl<T: Write + Seek> WriteSeek for T {}

/// Lets `content` write a temporary file beside `path`, then renames it to `path`. On any error
/// nothing stays behind, and a file that was there before is untouched.
///
/// A target that is no regular file, such as a device or a pipe, is written as it is.
pub fn write_atomic(
    path: &Path,
    content: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>,
) -> Result<(), DataError> {
    attempt(path, content).map_err(|reason| DataError::Io {
        path: path.to_owned(),
        action: "write",
        reason,
    })
}

fn attempt(
    path: &Path,
    content: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>,
) -> io::Result<()> {
    let meta = std::fs::metadata(path);
    if meta.as_ref().is_ok_and(|meta| meta.is_dir()) {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder; name a file"));
    }
    if meta.as_ref().is_ok_and(|meta| !meta.is_file()) {
        return fill(OpenOptions::new().write(true).open(path)?, content).map(drop);
    }
    // A link keeps pointing to its file, which is what gets replaced.
    let target = if meta.is_ok() { std::fs::canonicalize(path)? } else { path.to_owned() };
    let folder = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        let problem = format!("the folder {} does not exist; create it first", folder.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, problem));
    }
    let (temporary, _mark) = temporary_file(folder)?;
    let file = fill(temporary.reopen()?, content)?;
    if let Ok(meta) = std::fs::metadata(&target) {
        file.set_permissions(meta.permissions())?;
    }
    file.sync_data()?;
    temporary.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

/// Writes all of the content and gives the file back.
fn fill(
    file: File,
    content: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>,
) -> io::Result<File> {
    let mut writer = BufWriter::with_capacity(1 << 18, file);
    content(&mut writer)?;
    writer.into_inner().map_err(|error| error.into_error())
}

/// Temporary files that are being written now.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the temporary files that are being written now, for a program that is about to end in
/// the middle of it.
pub fn remove_unfinished() {
    let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for path in unfinished.iter() {
        // It may just have been renamed or removed, and nobody is left to be told of an error.
        let _ = std::fs::remove_file(path);
    }
}

/// Keeps a file on the list of unfinished ones while it lives.
struct Mark(PathBuf);

impl Drop for Mark {
    fn drop(&mut self) {
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        unfinished.retain(|path| *path != self.0);
    }
}

/// A temporary file that others may read as they may any new file.
fn temporary_file(folder: &Path) -> io::Result<(NamedTempFile, Mark)> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    let file = builder.tempfile_in(folder)?;
    unfinished.push(file.path().to_owned());
    let mark = Mark(file.path().to_owned());
    Ok((file, mark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::testing::Folder;

    #[test]
    fn a_failure_leaves_nothing_and_spares_what_was_there() {
        let folder = Folder::new(&[("old", b"kept")]);
        let fail = |w: &mut dyn WriteSeek| {
            w.write_all(&[0; 1 << 20])?;
            Err(io::Error::other("no"))
        };
        assert!(write_atomic(&folder.path("old"), fail).is_err());
        assert!(write_atomic(&folder.path("new"), fail).is_err());
        assert_eq!(std::fs::read(folder.path("old")).unwrap(), b"kept");
        assert_eq!(std::fs::read_dir(folder.root()).unwrap().count(), 1);
        write_atomic(&folder.path("old"), |w| w.write_all(b"new")).unwrap();
        assert_eq!(std::fs::read(folder.path("old")).unwrap(), b"new");
    }

    #[test]
    fn a_missing_folder_is_named() {
        let folder = Folder::new(&[]);
        let error = write_atomic(&folder.path("a/b"), |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("does not exist; create it first"), "{error}");
    }
}
