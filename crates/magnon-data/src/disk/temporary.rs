//! Temporary files and folders: names that tell they are ours, and their removal.
//!
//! A temporary file is locked while it is written. So one that nobody holds was left by a kill, and the next write into
//! its folder removes it.

use super::is_at;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

/// How the names of temporary files begin and end, with letters and digits in between.
const PREFIX: &str = ".magnon-";
const LETTERS: usize = 12;
const SUFFIX: &str = ".tmp";

/// How often a file is made that another process removes before it is locked.
const TRIES: usize = 100;

/// Temporary files that are being written now.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the temporary files and folders that are being written now, for a program that is about to end in
/// the middle of it.
pub fn remove_unfinished() {
    let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for path in unfinished.iter() {
        // It may just have been renamed or removed, and nobody is left to be told of an error.
        let _ = std::fs::remove_file(path);
        // In a folder of ours, another thread may be writing still.
        let is_folder = || std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
        (0..TRIES).take_while(|_| is_folder()).for_each(|_| {
            let _ = std::fs::remove_dir_all(path);
        });
    }
}

/// Puts a file, or a folder with all that is in it, on the list of those to be removed by [`remove_unfinished`].
pub fn enlist(path: &Path) {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
}

/// Takes it off the list.
pub fn strike(path: &Path) {
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    unfinished.retain(|other| other != path);
}

/// A file that is removed in the end, unless it is kept.
pub struct Temporary(PathBuf);

impl Temporary {
    /// Makes a file in a folder. Others may read it as they may any new file.
    pub fn file(folder: &Path) -> io::Result<(File, Self)> {
        sweep_once(folder);
        let builder = names();
        for _ in 0..TRIES {
            // No interrupt comes between the file and the list.
            let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
            let (file, path) = super::create(folder, &builder)?;
            unfinished.push(path.clone());
            drop(unfinished);
            let temporary = Self(path);
            if claim(&file, &temporary.0)? {
                return Ok((file, temporary));
            }
        }
        Err(io::Error::other("temporary files are removed as soon as they are made"))
    }

    /// Makes a folder in a folder.
    pub fn folder(folder: &Path) -> io::Result<PathBuf> {
        sweep_once(folder);
        let mut builder = names();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
        super::trip(super::Operation::MakeFolder)?;
        Ok(builder.tempdir_in(folder)?.keep())
    }

    /// A new name for a folder that is about to be removed.
    pub fn name(folder: &Path) -> io::Result<PathBuf> {
        // The name of a folder that was made and removed: nobody else has it.
        let path = Self::folder(folder)?;
        std::fs::remove_dir(&path)?;
        Ok(path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// It has become the file that it was meant to be.
    pub fn keep(mut self) {
        strike(&self.0);
        self.0 = PathBuf::new();
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            // The error that led here is reported; this is for tidiness alone.
            let _ = super::remove(&self.0);
            strike(&self.0);
        }
    }
}

fn names() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).rand_bytes(LETTERS).suffix(SUFFIX);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

/// Whether a file has the name of a temporary file of ours.
pub fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let middle = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    middle.is_some_and(|middle| {
        middle.len() == LETTERS && middle.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Removes what kills have left in a folder, when this process first writes there.
fn sweep_once(folder: &Path) {
    static SWEPT: LazyLock<Mutex<HashSet<PathBuf>>> = LazyLock::new(Mutex::default);
    let Ok(whole) = std::fs::canonicalize(folder) else { return };
    if SWEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(whole) {
        // What cannot be removed stays; it harms nobody.
        let _ = sweep(folder);
    }
}

/// Removes temporary files that nobody holds, and temporary folders of ours that nobody works in.
pub fn sweep(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if !is_temporary(&path) {
            continue;
        }
        // The kind is that of the entry itself: a link is neither.
        if kind.is_file() {
            remove_unheld(&path)?;
        } else if kind.is_dir() {
            super::work_folder::remove_stray(&path)?;
        }
    }
    Ok(())
}

/// Holds a file that was just made; `false` where another process takes it for a stray one, and holds or has removed it.
fn claim(file: &File, path: &Path) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => is_at(file, path),
        Err(TryLockError::WouldBlock) => Ok(false),
        // Where files cannot be locked, nobody takes them for stray.
        Err(TryLockError::Error(_)) => Ok(true),
    }
}

/// Removes a file that nobody holds. It is held while it is removed, so that nobody takes it over in between.
pub(super) fn remove_unheld(path: &Path) -> io::Result<()> {
    let Ok(file) = File::open(path) else { return Ok(()) };
    if file.try_lock().is_ok() && is_at(&file, path)? {
        std::fs::remove_file(path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Folder;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn temporary_files_are_known_by_their_names_alone() {
        let folder = Folder::new(&[]);
        let (_file, temporary) = Temporary::file(folder.root()).unwrap();
        assert!(is_temporary(&temporary.0), "{}", temporary.0.display());
        for name in [".tmpAbCdEf", ".magnon-notes.tmp", "magnon-aaaaaaaaaaaa.tmp", ".magnon-", ""] {
            assert!(!is_temporary(Path::new(name)), "{name}");
        }
        for name in [".magnon-aaaaaa.aaaaa.tmp", ".magnon-aaaaaaaaaaaa.tmp.gz"] {
            assert!(!is_temporary(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn what_a_kill_has_left_goes_and_nothing_else_does() {
        let folder = Folder::new(&[
            (".magnon-aaaaaaaaaaaa.tmp", b"left by a kill".as_slice()),
            (".magnon-notes.tmp", b"a user's"),
            (".magnon-bbbbbbbbbbbb.tmp/thesis.tex", b"a user's folder"),
        ]);
        let (held, temporary) = Temporary::file(folder.root()).unwrap();
        sweep(folder.root()).unwrap();
        assert!(!folder.path(".magnon-aaaaaaaaaaaa.tmp").exists());
        assert!(folder.path(".magnon-notes.tmp").exists());
        assert!(folder.path(".magnon-bbbbbbbbbbbb.tmp/thesis.tex").exists());
        assert!(temporary.path().exists());
        drop(held);
    }

    #[test]
    fn a_file_that_is_taken_for_a_stray_one_is_not_claimed() {
        let folder = Folder::new(&[("held", b""), ("free", b""), ("gone", b"")]);
        let open = |name: &str| File::open(folder.path(name)).unwrap();
        let sweeper = open("held");
        sweeper.lock().unwrap();
        assert!(!claim(&open("held"), &folder.path("held")).unwrap());
        let gone = open("gone");
        remove_unheld(&folder.path("gone")).unwrap();
        assert!(!claim(&gone, &folder.path("gone")).unwrap());
        let free = open("free");
        assert!(claim(&free, &folder.path("free")).unwrap());
        remove_unheld(&folder.path("free")).unwrap();
        assert!(folder.path("free").exists());
    }

    /// Files that are made while others sweep are not taken from under those who make them.
    #[test]
    fn sweeping_takes_nothing_that_is_being_made() {
        let folder = Folder::new(&[]);
        let root = folder.root();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    sweep(root).unwrap_or(());
                }
            });
            let missing = (0..1000).find(|_| {
                let (_file, temporary) = Temporary::file(root).unwrap();
                !temporary.path().exists()
            });
            done.store(true, Ordering::Relaxed);
            assert_eq!(missing, None);
        });
    }
}
