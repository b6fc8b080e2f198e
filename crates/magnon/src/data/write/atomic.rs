//! Files that are either wholly there or not at all.

use crate::data::DataError;
use crate::disk;
use std::ffi::OsStr;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A target that can be written at any place, as zip files need.
pub trait WriteSeek: Write + Seek {}
impl<T: Write + Seek> WriteSeek for T {}

/// Lets `content` write a temporary file beside `path`, then renames it to `path`. On any error
/// nothing stays behind, and a file that was there before is untouched. The bytes are on the disk
/// before the name is, and the name is when this returns.
///
/// A target that is no regular file, such as a device or a pipe, is written as it is.
pub fn write_atomic(
    path: &Path,
    content: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>,
) -> Result<(), DataError> {
    let attempt = || {
        let meta = disk::metadata(path)?;
        if meta.as_ref().is_some_and(|meta| !meta.is_file() && !meta.is_dir()) {
            return fill(OpenOptions::new().write(true).open(path)?, content).map(drop);
        }
        prepare(path, meta, content)?.place()
    };
    attempt().map_err(|reason| failed(path, reason))
}

fn failed(path: &Path, reason: io::Error) -> DataError {
    DataError::Io { path: path.to_owned(), action: "write", reason }
}

/// A file that is written, and waits for its name. It goes away where it does not get it.
pub(crate) struct Prepared {
    temporary: Temporary,
    target: PathBuf,
}

impl Prepared {
    /// Writes the file beside `path`.
    pub(crate) fn new(
        path: &Path,
        content: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>,
    ) -> Result<Self, DataError> {
        let prepared = disk::metadata(path).and_then(|meta| prepare(path, meta, content));
        prepared.map_err(|reason| failed(path, reason))
    }

    /// Gives the file its name.
    pub(crate) fn commit(self) -> Result<(), DataError> {
        let target = self.target.clone();
        self.place().map_err(|reason| failed(&target, reason))
    }

    fn place(self) -> io::Result<()> {
        disk::rename(&self.temporary.0, &self.target)?;
        self.temporary.keep();
        disk::sync_folder(folder_of(&self.target))
    }
}

fn prepare(
    path: &Path,
    meta: Option<Metadata>,
    content: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>,
) -> io::Result<Prepared> {
    if meta.as_ref().is_some_and(Metadata::is_dir) {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder; name a file"));
    }
    // A link keeps pointing to its file, which is what gets replaced.
    let target = if meta.is_some() { std::fs::canonicalize(path)? } else { path.to_owned() };
    let folder = folder_of(&target);
    if !folder.is_dir() {
        disk::make_folder(folder).map_err(|error| {
            let problem = format!("the folder {} cannot be made: {error}", folder.display());
            io::Error::new(error.kind(), problem)
        })?;
    }
    let (file, temporary) = temporary_file(folder)?;
    let file = fill(file, content)?;
    if let Some(meta) = meta {
        file.set_permissions(meta.permissions())?;
    }
    disk::sync(&file)?;
    Ok(Prepared { temporary, target })
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Writes all of the content and gives the file back.
fn fill(
    file: File,
    content: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>,
) -> io::Result<File> {
    let mut writer = BufWriter::with_capacity(1 << 18, disk::Written(&file));
    content(&mut writer)?;
    writer.into_inner().map_err(|error| error.into_error())?;
    Ok(file)
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

/// Puts a file on the list of those to be removed by [`remove_unfinished`].
pub(crate) fn enlist(path: &Path) {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
}

/// Takes it off the list.
pub(crate) fn strike(path: &Path) {
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    unfinished.retain(|other| other != path);
}

/// A file that is removed in the end, unless it is kept.
struct Temporary(PathBuf);

impl Temporary {
    /// It has become the file that it was meant to be.
    fn keep(mut self) {
        strike(&self.0);
        self.0 = PathBuf::new();
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            // What led here is told; this is for tidiness alone.
            let _ = disk::remove(&self.0);
            strike(&self.0);
        }
    }
}

/// How the names of temporary files begin and end, with letters and digits in between.
const TEMPORARY: (&str, usize, &str) = (".magnon-", 12, ".tmp");

/// Whether a file has the name of a temporary file of ours: a kill leaves them behind.
pub(crate) fn is_temporary(path: &Path) -> bool {
    let (prefix, count, suffix) = TEMPORARY;
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let middle = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(suffix));
    middle.is_some_and(|middle| {
        middle.len() == count && middle.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// A temporary file that others may read as they may any new file.
fn temporary_file(folder: &Path) -> io::Result<(File, Temporary)> {
    let (prefix, count, suffix) = TEMPORARY;
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).rand_bytes(count).suffix(suffix);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // No interrupt comes between the file and the list.
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    let (file, path) = disk::create(folder, &builder)?;
    unfinished.push(path.clone());
    Ok((file, Temporary(path)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::testing::Folder;
    use crate::disk::Operation;
    use crate::disk::faults::{self, Fault};

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
    fn missing_folders_are_made() {
        let folder = Folder::new(&[("file", b"")]);
        write_atomic(&folder.path("a/b/c"), |w| w.write_all(b"new")).unwrap();
        assert_eq!(std::fs::read(folder.path("a/b/c")).unwrap(), b"new");
        let error = write_atomic(&folder.path("file/b"), |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("cannot be made"), "{error}");
    }

    #[test]
    fn temporary_files_are_known_by_their_names_alone() {
        let folder = Folder::new(&[]);
        let (_file, temporary) = temporary_file(folder.root()).unwrap();
        assert!(is_temporary(&temporary.0), "{}", temporary.0.display());
        for name in [".tmpAbCdEf", ".magnon-notes.tmp", "magnon-aaaaaaaaaaaa.tmp", ".magnon-", ""] {
            assert!(!is_temporary(Path::new(name)), "{name}");
        }
        for name in [".magnon-aaaaaa.aaaaa.tmp", ".magnon-aaaaaaaaaaaa.tmp.gz"] {
            assert!(!is_temporary(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn bytes_are_on_the_disk_before_their_name_is() {
        use Operation::{Create, Look, Rename, Sync, SyncFolder, Write};
        let folder = Folder::new(&[]);
        let write = || write_atomic(&folder.path("new"), |w| w.write_all(b"new"));
        let (written, seen) = faults::with(faults::NEVER, Fault::Crash, write);
        written.unwrap();
        assert_eq!(seen, [Look, Create, Write, Sync, Rename, SyncFolder]);
        // Some file systems cannot be waited for; that is no failure, and any other error is one.
        for at in [3, 5] {
            for kind in [io::ErrorKind::InvalidInput, io::ErrorKind::Unsupported] {
                faults::with(at, Fault::Error(kind), write).0.unwrap();
            }
            faults::with(at, Fault::Error(io::ErrorKind::StorageFull), write).0.unwrap_err();
        }
        assert_eq!(std::fs::read_dir(folder.root()).unwrap().count(), 1);
    }
}
