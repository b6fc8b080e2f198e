//! The lock of a run folder: one process at a time writes there.

use crate::tensors::FileError;
use magnon_data::DataError;
use magnon_data::disk::{self, enlist, is_at, strike};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// How often a lock is tried for that others make and remove at the same time.
const TRIES: usize = 100;

/// A locked file in the folder. The system gives the lock back when the process ends in any way; the
/// file goes away with the lock, and one that a kill has left behind locks nobody out.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    released: AtomicBool,
    /// Holds the lock while it is open.
    _file: File,
}

impl Lock {
    /// The file's name.
    pub const NAME: &str = ".magnon.lock";

    /// Locks a folder, which is made where it is missing.
    pub fn take(folder: &Path) -> Result<Self, FileError> {
        let path = folder.join(Self::NAME);
        for _ in 0..TRIES {
            let failed = |path: &Path, action| {
                let path = path.to_owned();
                move |reason| DataError::Io { path, action, reason }
            };
            disk::make_folder(folder).map_err(failed(folder, "make"))?;
            let file = match disk::open_own(&path) {
                // Another process has just removed the folder that it had made.
                Err(reason) if reason.kind() == ErrorKind::NotFound => continue,
                opened => opened.map_err(failed(&path, "make"))?,
            };
            if !disk::lock(&file).map_err(failed(&path, "lock"))? {
                break;
            }
            if is_at(&file, &path).map_err(failed(&path, "read"))? {
                enlist(&path);
                return Ok(Self { path, released: AtomicBool::new(false), _file: file });
            }
        }
        Err(FileError::Busy { path: folder.to_owned() })
    }

    /// Removes the file; the lock itself lasts until the last owner is gone.
    pub fn release(&self) {
        if !self.released.swap(true, SeqCst) {
            // The next run takes a file that stays.
            let _ = disk::remove(&self.path);
            strike(&self.path);
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_a_kill_has_left_locks_nobody_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(Lock::NAME);
        std::fs::write(&path, "").unwrap();
        let lock = Lock::take(folder.path()).unwrap();
        assert!(matches!(Lock::take(folder.path()), Err(FileError::Busy { .. })));
        // A release leaves the file of the next owner alone.
        lock.release();
        let next = Lock::take(folder.path()).unwrap();
        drop(lock);
        assert!(path.exists());
        drop(next);
        assert!(!path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_lock_on_a_file_without_its_name_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(Lock::NAME);
        let file = disk::open_own(&path).unwrap();
        assert!(is_at(&file, &path).unwrap());
        std::fs::remove_file(&path).unwrap();
        assert!(!is_at(&file, &path).unwrap());
        let _other = disk::open_own(&path).unwrap();
        assert!(!is_at(&file, &path).unwrap());
    }
}
