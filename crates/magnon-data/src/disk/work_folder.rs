//! `WorkFolder`: a folder for work under way, which is ours alone.
//!
//! The folder bears a mark, a file that says what it is for and that is locked while somebody works in it. It appears
//! with its mark and is renamed before the mark goes, so a folder of its name without one is somebody else's and is
//! left alone, and so is a link.

use super::temporary::{Temporary, enlist, remove_unheld, strike};
use super::{folder_of, is_at};
use crate::DataError;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// The name of the mark.
const MARK: &str = "magnon.work";

/// How often a folder is opened that others make and remove at the same time.
const TRIES: usize = 100;

/// The kind of work that a folder is for.
pub struct Kind {
    /// What is put behind the name of the output for that of the folder.
    pub suffix: &'static str,
    /// The work, in words such as "packing".
    pub work: &'static str,
    /// Whether a file of this name is one that the work writes.
    pub is_ours: fn(&str) -> bool,
}

impl Kind {
    fn mark(&self) -> String {
        format!(
            "magnon {}\nThis folder and the files in it are removed when the work is done.\n",
            self.work
        )
    }
}

/// Whether a name is a prefix with a number behind it.
pub fn is_numbered(name: &str, prefix: &str) -> bool {
    let number = name.strip_prefix(prefix).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// A folder of ours, locked.
pub struct WorkFolder {
    path: PathBuf,
    kind: &'static Kind,
    /// The mark; it is locked while it is open.
    _lock: File,
    /// Where the folder goes with this value: one that no other call finds again.
    _nameless: Option<Nameless>,
}

/// A folder that goes with this value, or when the process is stopped.
struct Nameless(tempfile::TempDir);

impl Nameless {
    fn new() -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        enlist(folder.path());
        Ok(Self(folder))
    }
}

impl Drop for Nameless {
    fn drop(&mut self) {
        strike(self.0.path());
    }
}

impl WorkFolder {
    /// The folder beside an output, as an earlier call has left it or new.
    pub fn beside(output: &Path, kind: &'static Kind) -> Result<Self, DataError> {
        let mut name = output.file_name().unwrap_or_default().to_owned();
        name.push(kind.suffix);
        let path = output.with_file_name(name);
        let failed = |reason| DataError::Io { path: path.clone(), action: "write", reason };
        for _ in 0..TRIES {
            if let Some(lock) = Self::open(&path, output, kind)? {
                let folder = Self { path, kind, _lock: lock, _nameless: None };
                folder.check()?;
                return Ok(folder);
            }
            create(&path, kind).map_err(failed)?;
        }
        Err(busy(output))
    }

    /// A folder among the temporary ones of the system, for output that is no file. Nothing can be resumed from it.
    pub fn nameless(kind: &'static Kind) -> Result<Self, DataError> {
        let place = std::env::temp_dir();
        let make = || -> io::Result<Self> {
            let folder = Nameless::new()?;
            let path = folder.0.path().to_owned();
            let lock = write_mark(&path, kind)?;
            Ok(Self { path, kind, _lock: lock, _nameless: Some(folder) })
        };
        make().map_err(|reason| DataError::Io { path: place, action: "write in", reason })
    }

    /// Opens a folder and locks it; `None` where there is none.
    fn open(path: &Path, output: &Path, kind: &Kind) -> Result<Option<File>, DataError> {
        let failed = |reason| DataError::Io { path: path.to_owned(), action: "read", reason };
        match std::fs::symlink_metadata(path) {
            Err(reason) if reason.kind() == ErrorKind::NotFound => return Ok(None),
            Err(reason) => return Err(failed(reason)),
            Ok(meta) if !meta.is_dir() => return Err(refused(path, kind)),
            Ok(_) => (),
        }
        let mark = path.join(MARK);
        match std::fs::symlink_metadata(&mark) {
            Ok(meta) if meta.is_file() && meta.len() == kind.mark().len() as u64 => (),
            _ if !path.exists() => return Ok(None),
            _ => return Err(refused(path, kind)),
        }
        let mut lock = match super::open(&mark) {
            Err(reason) if reason.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(failed)?,
        };
        let mut text = String::new();
        if lock.read_to_string(&mut text).is_err() || text != kind.mark() {
            return Err(refused(path, kind));
        }
        if !super::lock(&lock).map_err(failed)? {
            return Err(busy(output));
        }
        // Its last owner may have removed it meanwhile.
        Ok(is_at(&lock, &mark).map_err(failed)?.then_some(lock))
    }

    /// Refuses a folder in which a name of ours is a link or a folder.
    fn check(&self) -> Result<(), DataError> {
        for path in self.ours()? {
            let plain = std::fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file());
            if !plain {
                let problem =
                    format!("it is not a file that {} wrote; move it away", self.kind.work);
                return Err(DataError::format(path.display().to_string(), problem));
            }
        }
        Ok(())
    }

    /// The files of the work that are there.
    fn ours(&self) -> Result<Vec<PathBuf>, DataError> {
        let listed = super::list(&self.path).map_err(|reason| self.failed("list", reason))?;
        let mut ours = listed.unwrap_or_default();
        ours.retain(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(self.kind.is_ours)
        });
        Ok(ours)
    }

    /// A file of the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.path
    }

    /// Removes the files of the work, and nothing else.
    pub fn empty(&self) -> Result<(), DataError> {
        let remove = |path: &PathBuf| super::remove(path);
        self.ours()?.iter().try_for_each(remove).map_err(|reason| self.failed("write", reason))
    }

    /// Removes the folder with the files of the work. Where others are in it, it stays.
    pub fn clear(self) -> Result<(), DataError> {
        self.empty()?;
        // What kills leave of files that are written whole.
        let _ = super::temporary::sweep(&self.path);
        let listed = super::list(&self.path).map_err(|reason| self.failed("list", reason))?;
        if self._nameless.is_some() || listed.is_some_and(|paths| paths.len() > 1) {
            return Ok(());
        }
        let remove = || {
            let stray = Temporary::name(folder_of(&self.path))?;
            super::rename(&self.path, &stray)?;
            super::remove(&stray.join(MARK))?;
            super::remove_folder(&stray)
        };
        remove().map_err(|reason| self.failed("write", reason))
    }

    fn failed(&self, action: &'static str, reason: io::Error) -> DataError {
        DataError::Io { path: self.path.clone(), action, reason }
    }
}

/// Makes a folder that has its mark from the first moment.
fn create(path: &Path, kind: &Kind) -> io::Result<()> {
    let above = folder_of(path);
    super::make_folder(above)?;
    let fresh = Temporary::folder(above)?;
    let renamed = write_mark(&fresh, kind).and_then(|_lock| super::rename(&fresh, path));
    match renamed {
        Ok(()) => Ok(()),
        // Another process took it for a stray one before it had its mark; the caller tries again.
        Err(reason) if reason.kind() == ErrorKind::NotFound => Ok(()),
        Err(reason) => {
            let _ = remove_stray(&fresh);
            // Another process may have made it just now.
            if path.is_dir() { Ok(()) } else { Err(reason) }
        }
    }
}

fn write_mark(folder: &Path, kind: &Kind) -> io::Result<File> {
    let mark = folder.join(MARK);
    let mut lock = File::create_new(&mark)?;
    // Another process may have taken it for a stray one before it was locked.
    if !super::lock(&lock)? || !is_at(&lock, &mark)? {
        return Err(ErrorKind::NotFound.into());
    }
    lock.write_all(kind.mark().as_bytes())?;
    super::sync(&lock)?;
    Ok(lock)
}

/// Removes a temporary folder in which there is at most a mark that nobody holds.
pub(super) fn remove_stray(folder: &Path) -> io::Result<()> {
    let mark = folder.join(MARK);
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.path() != mark || !entry.file_type()?.is_file() {
            return Ok(());
        }
    }
    remove_unheld(&mark)?;
    super::remove_folder(folder)
}

fn refused(path: &Path, kind: &Kind) -> DataError {
    let problem = format!(
        "{} keeps its work in a folder of this name, and this one is not magnon's; move it away, or choose another output",
        kind.work
    );
    DataError::format(path.display().to_string(), problem)
}

fn busy(output: &Path) -> DataError {
    let problem = "another process is writing it; wait for its end, or choose another output";
    DataError::format(output.display().to_string(), problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Folder;

    const KIND: Kind = Kind { suffix: ".working", work: "testing", is_ours: |name| name == "part" };

    fn beside(folder: &Folder) -> Result<WorkFolder, DataError> {
        WorkFolder::beside(&folder.path("out"), &KIND)
    }

    fn names(folder: &Folder) -> Vec<String> {
        let entries = std::fs::read_dir(folder.root()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_folder_is_made_found_again_and_removed() {
        let folder = Folder::new(&[]);
        let work = beside(&folder).unwrap();
        std::fs::write(work.path("part"), "half").unwrap();
        let error = beside(&folder).err().unwrap().to_string();
        assert!(error.contains("another process"), "{error}");
        drop(work);
        let work = beside(&folder).unwrap();
        assert_eq!(std::fs::read(work.path("part")).unwrap(), b"half");
        work.clear().unwrap();
        assert_eq!(names(&folder), [""; 0]);
    }

    #[test]
    fn a_folder_without_the_mark_is_refused_and_untouched() {
        for file in ["out.working/thesis.tex", "out.working/magnon.work", "out.working"] {
            let folder = Folder::new(&[(file, b"somebody's")]);
            let error = beside(&folder).err().unwrap().to_string();
            assert!(error.contains("not magnon's"), "{error}");
            assert_eq!(std::fs::read(folder.path(file)).unwrap(), b"somebody's");
        }
        let folder = Folder::new(&[]);
        std::fs::create_dir(folder.path("out.working")).unwrap();
        assert!(beside(&folder).is_err());
        assert!(folder.path("out.working").is_dir());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let folder = Folder::new(&[("docs/part", b"somebody's")]);
        std::os::unix::fs::symlink(folder.path("docs"), folder.path("out.working")).unwrap();
        assert!(beside(&folder).is_err());
        std::fs::remove_file(folder.path("out.working")).unwrap();
        let work = beside(&folder).unwrap();
        std::os::unix::fs::symlink(folder.path("docs/part"), work.path("part")).unwrap();
        drop(work);
        let error = beside(&folder).err().unwrap().to_string();
        assert!(error.contains("part"), "{error}");
        assert_eq!(std::fs::read(folder.path("docs/part")).unwrap(), b"somebody's");
    }

    #[test]
    fn files_of_others_stay_and_keep_the_folder() {
        let folder = Folder::new(&[]);
        let work = beside(&folder).unwrap();
        std::fs::write(work.path("part"), "ours").unwrap();
        std::fs::write(work.path("notes"), "somebody's").unwrap();
        work.clear().unwrap();
        assert!(!folder.path("out.working/part").exists());
        assert!(folder.path("out.working/notes").exists());
        beside(&folder).unwrap();
    }

    #[test]
    fn a_kill_at_any_moment_leaves_nothing_that_is_in_the_way() {
        use crate::disk::faults::{self, Fault};
        let folder = Folder::new(&[]);
        let whole = || beside(&folder).and_then(WorkFolder::clear);
        let (done, seen) = faults::with(faults::NEVER, Fault::Crash, whole);
        done.unwrap();
        for at in 0..seen.len() {
            faults::with(at, Fault::Crash, whole).0.unwrap_err();
            super::super::temporary::sweep(folder.root()).unwrap();
            whole().unwrap();
            super::super::temporary::sweep(folder.root()).unwrap();
            assert_eq!(names(&folder), [""; 0], "operation {at}");
        }
    }
}
