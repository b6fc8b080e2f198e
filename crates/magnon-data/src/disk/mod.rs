//! The file operations under all that is kept, one function each, so that tests can make every one of
//! them fail in turn.

#[cfg(any(test, feature = "faults"))]
pub mod faults;
mod sealed;
mod target;
mod temporary;
mod version;
mod work_folder;

pub use sealed::{checksum, seal, unseal};
pub use target::is_stdout;
pub use target::{Stream, Target, TargetFile, WriteSeek, folder_of};
pub use temporary::remove_unfinished;
pub use temporary::{Temporary, enlist, is_temporary, strike};
pub use version::Version;
pub use work_folder::{Kind, WorkFolder, is_numbered};

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Look,
    List,
    Read,
    Create,
    #[cfg(any(test, feature = "faults"))]
    Write,
    Sync,
    Rename,
    SyncFolder,
    Remove,
    MakeFolder,
    RemoveFolder,
    Lock,
}

/// Where tests make an operation fail.
#[cfg(not(any(test, feature = "faults")))]
#[inline]
fn trip(_: Operation) -> io::Result<()> {
    Ok(())
}

#[cfg(any(test, feature = "faults"))]
use faults::trip;

/// Whether there is a file or folder. What cannot be looked at is an error, not a file that is missing.
pub fn exists(path: &Path) -> io::Result<bool> {
    Ok(metadata(path)?.is_some())
}

/// What the system knows of a file; `None` where there is none.
pub fn metadata(path: &Path) -> io::Result<Option<Metadata>> {
    trip(Operation::Look)?;
    match std::fs::metadata(path) {
        Err(reason) if reason.kind() == ErrorKind::NotADirectory => Ok(None),
        found => missing_is_none(found),
    }
}

/// The paths in a folder; `None` where there is no such folder.
pub fn list(folder: &Path) -> io::Result<Option<Vec<PathBuf>>> {
    trip(Operation::List)?;
    let Some(entries) = missing_is_none(std::fs::read_dir(folder))? else { return Ok(None) };
    entries.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>().map(Some)
}

/// A whole file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    trip(Operation::Read)?;
    check_regular(path)?;
    std::fs::read(path)
}

/// A file to be read in part.
pub fn open(path: &Path) -> io::Result<File> {
    trip(Operation::Read)?;
    check_regular(path)?;
    File::open(path)
}

/// Refuses a pipe or a device in the place of a file that is kept: to open a pipe is to wait for its writer.
pub fn check_regular(path: &Path) -> io::Result<()> {
    match std::fs::metadata(path) {
        Ok(meta) if !meta.is_file() && !meta.is_dir() => {
            Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"))
        }
        // What else is wrong, opening it will tell.
        _ => Ok(()),
    }
}

/// Opens a file of ours that is added to or locked, and makes it where it is missing. A link, a pipe or a device of its
/// name is refused: what it leads to is not ours.
pub fn open_own(path: &Path) -> io::Result<File> {
    trip(Operation::Create)?;
    let refused =
        || io::Error::new(ErrorKind::InvalidInput, "it is not a regular file; move it away");
    if let Some(meta) = missing_is_none(std::fs::symlink_metadata(path))?
        && !meta.is_file()
    {
        return Err(refused());
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    // One that was put there since is not followed, either, nor waited for.
    #[cfg(target_os = "linux")]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        libc::O_NOFOLLOW | libc::O_NONBLOCK,
    );
    let file = options.open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(refused()) }
}

/// Makes a new file under a name that no other has.
pub fn create(folder: &Path, names: &tempfile::Builder) -> io::Result<(File, PathBuf)> {
    trip(Operation::Create)?;
    names.tempfile_in(folder)?.keep().map_err(|error| error.error)
}

/// Makes a file without a name among the system's temporary ones; it is gone once it is closed.
pub fn nameless() -> io::Result<File> {
    trip(Operation::Create)?;
    tempfile::tempfile()
}

/// Reads all of `bytes` from a place in a file, from any thread.
#[cfg(unix)]
pub fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    trip(Operation::Read)?;
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

/// Reads all of `bytes` from a place in a file, one thread at a time.
#[cfg(not(unix))]
pub fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    trip(Operation::Read)?;
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    file.seek(SeekFrom::Start(at))?;
    io::Read::read_exact(&mut file, bytes)
}

/// A file that is being written.
pub struct Written<'a>(pub &'a File);

impl Write for Written<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(any(test, feature = "faults"))]
        let bytes = faults::cut(bytes, self.0)?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Seek for Written<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

/// Waits until a file is on the disk.
pub fn sync(file: &File) -> io::Result<()> {
    where_supported(trip(Operation::Sync).and_then(|()| wait_for(file)))
}

/// Waits until the names in a folder are on the disk.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    let synced = trip(Operation::SyncFolder);
    #[cfg(unix)]
    let synced = synced.and_then(|()| match File::open(folder) {
        // One may write in a folder that one may not list.
        Err(reason) if reason.kind() == ErrorKind::PermissionDenied => Ok(()),
        opened => wait_for(&opened?),
    });
    #[cfg(not(unix))]
    let _ = folder;
    where_supported(synced)
}

fn wait_for(file: &File) -> io::Result<()> {
    #[cfg(any(test, feature = "faults"))]
    if faults::planned() {
        return Ok(());
    }
    file.sync_all()
}

/// Some file systems have no way to wait for the disk, and say so.
fn where_supported(synced: io::Result<()>) -> io::Result<()> {
    match synced {
        Err(reason)
            if matches!(reason.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) =>
        {
            Ok(())
        }
        synced => synced,
    }
}

/// Gives a file another name, in place of the file that has it.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    trip(Operation::Rename)?;
    std::fs::rename(from, to)
}

/// Removes a file, where it is there.
pub fn remove(path: &Path) -> io::Result<()> {
    trip(Operation::Remove)?;
    missing_is_none(std::fs::remove_file(path)).map(drop)
}

/// Makes a folder where it is missing, and those above it.
pub fn make_folder(path: &Path) -> io::Result<()> {
    trip(Operation::MakeFolder)?;
    std::fs::create_dir_all(path)
}

/// Removes a folder that is empty; others stay.
pub fn remove_folder(path: &Path) -> io::Result<()> {
    trip(Operation::RemoveFolder)?;
    match std::fs::remove_dir(path) {
        Err(reason) if reason.kind() == ErrorKind::DirectoryNotEmpty => Ok(()),
        removed => missing_is_none(removed).map(drop),
    }
}

/// Locks a file; `false` where another has locked it.
pub fn lock(file: &File) -> io::Result<bool> {
    trip(Operation::Lock)?;
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(std::fs::TryLockError::WouldBlock) => Ok(false),
        // Some file systems of clusters have no locks; runs are written there all the same.
        Err(std::fs::TryLockError::Error(reason)) if has_no_locks(&reason) => Ok(true),
        Err(std::fs::TryLockError::Error(reason)) => Err(reason),
    }
}

fn has_no_locks(reason: &io::Error) -> bool {
    #[cfg(target_os = "linux")]
    if reason.raw_os_error() == Some(libc::ENOLCK) {
        return true;
    }
    reason.kind() == ErrorKind::Unsupported
}

/// Whether an open file is still the one of this name: a lock on a file that was removed keeps nobody out.
pub fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let Some(named) = metadata(path)? else { return Ok(false) };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let held = file.metadata()?;
        Ok((held.dev(), held.ino()) == (named.dev(), named.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = (file, named);
        Ok(true)
    }
}

fn missing_is_none<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(reason) if reason.kind() == ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}
