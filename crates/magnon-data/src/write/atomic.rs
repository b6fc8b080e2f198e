//! Files that are either wholly there or not at all.

use crate::DataError;
use crate::disk::{self, Stream, Target, TargetFile, Temporary, WriteSeek, folder_of};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Bytes that are gathered before they are written.
const BUFFER: usize = 1 << 18;

/// Lets `content` write a temporary file beside `path`, then renames it to `path`. On any error
/// nothing stays behind, and a file that was there before is untouched. The bytes are on the disk
/// before the name is, and the name is when this returns.
///
/// Where `path` is a link, the file that it leads to is replaced. A device, a pipe or `/dev/stdout` is written to as
/// it is.
pub fn write_atomic(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), DataError> {
    let attempt = || match Target::of(path)? {
        Target::File(file) => prepare(file, |target| content(target))?.place(),
        Target::Stream(path) => {
            let mut target = BufWriter::with_capacity(BUFFER, Stream::open(&path)?);
            content(&mut target)?;
            target.flush()
        }
    };
    attempt().map_err(|reason| failed(path, reason))
}

/// The same for a file that we keep for ourselves: a link of its name is replaced itself, and what it leads to stays.
pub fn write_own(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), DataError> {
    let write = || prepare(TargetFile::own(path), |target| content(target))?.place();
    write().map_err(|reason| failed(path, reason))
}

/// The place of a file of ours in a folder of outputs, for a writer to put it there. A link of its name is taken away: the
/// folder was named, and not what somebody's link in it leads to.
pub fn file_in(folder: &Path, name: &str) -> Result<PathBuf, DataError> {
    let path = folder.join(name);
    if path.is_symlink() {
        disk::remove(&path).map_err(|reason| failed(&path, reason))?;
    }
    Ok(path)
}

/// The same for a format that is not written in order. A device or a pipe is refused.
pub fn write_seekable(
    path: &Path,
    content: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>,
) -> Result<(), DataError> {
    let attempt = || prepare(TargetFile::of(path)?, content)?.place();
    attempt().map_err(|reason| failed(path, reason))
}

/// Refuses a path that [`write_atomic`] cannot write to, such as a folder, before there is anything to write. A format
/// that is not written in order (`.npz`, a packed graph) refuses devices and pipes, too.
pub fn check_output(path: &Path, in_order: bool) -> Result<(), DataError> {
    let found = match in_order {
        true => Target::of(path).map(drop),
        false => TargetFile::of(path).map(drop),
    };
    found.map_err(|reason| failed(path, reason))
}

/// Whether output to this path is written to a device, a pipe or the standard output.
pub fn is_stream(path: &Path) -> bool {
    matches!(Target::of(path), Ok(Target::Stream(_)))
}

fn failed(path: &Path, reason: io::Error) -> DataError {
    DataError::Io { path: path.to_owned(), action: "write", reason }
}

/// A file that is written, and waits for its name. It goes away where it does not get it.
pub struct Prepared {
    temporary: Temporary,
    target: TargetFile,
    /// Locked while it is open, so that nobody takes the file for a stray one.
    _file: File,
}

impl Prepared {
    /// Writes a file of ours beside `path`.
    pub fn own(
        path: &Path,
        content: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>,
    ) -> Result<Self, DataError> {
        prepare(TargetFile::own(path), content).map_err(|reason| failed(path, reason))
    }

    /// Gives the file its name.
    pub fn commit(self) -> Result<(), DataError> {
        let path: PathBuf = self.target.path.clone();
        self.place().map_err(|reason| failed(&path, reason))
    }

    fn place(self) -> io::Result<()> {
        self.target.put(self.temporary.path())?;
        self.temporary.keep();
        Ok(())
    }
}

fn prepare(
    target: TargetFile,
    content: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>,
) -> io::Result<Prepared> {
    let folder = folder_of(&target.path);
    if !folder.is_dir() {
        disk::make_folder(folder).map_err(|error| {
            let problem = format!("the folder {} cannot be made: {error}", folder.display());
            io::Error::new(error.kind(), problem)
        })?;
    }
    let (file, temporary) = Temporary::file(folder)?;
    let file = fill(file, content)?;
    disk::sync(&file)?;
    Ok(Prepared { temporary, target, _file: file })
}

/// Writes all of the content and gives the file back.
fn fill(
    file: File,
    content: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>,
) -> io::Result<File> {
    let mut writer = BufWriter::with_capacity(BUFFER, disk::Written(&file));
    content(&mut writer)?;
    writer.into_inner().map_err(|error| error.into_error())?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Operation;
    use crate::disk::faults::{self, Fault};
    use crate::testing::Folder;

    #[test]
    fn a_failure_leaves_nothing_and_spares_what_was_there() {
        let folder = Folder::new(&[("old", b"kept")]);
        let fail = |w: &mut dyn Write| {
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

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_place_of_a_file_of_ours_is_replaced_itself() {
        let folder = Folder::new(&[("theirs", b"theirs")]);
        std::os::unix::fs::symlink(folder.path("theirs"), folder.path("ours")).unwrap();
        write_own(&folder.path("ours"), |w| w.write_all(b"ours")).unwrap();
        assert_eq!(std::fs::read(folder.path("theirs")).unwrap(), b"theirs");
        assert_eq!(std::fs::read(folder.path("ours")).unwrap(), b"ours");
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
    fn bytes_are_on_the_disk_before_their_name_is() {
        use Operation::{Create, Look, Rename, Sync, SyncFolder, Write};
        let folder = Folder::new(&[]);
        let write = || write_atomic(&folder.path("new"), |w| w.write_all(b"new"));
        let (written, seen) = faults::with(faults::NEVER, Fault::Crash, write);
        written.unwrap();
        assert_eq!(seen, [Look, Create, Look, Write, Sync, Rename, SyncFolder]);
        // Some file systems cannot be waited for; that is no failure, and any other error is one.
        for at in [4, 6] {
            for kind in [io::ErrorKind::InvalidInput, io::ErrorKind::Unsupported] {
                faults::with(at, Fault::Error(kind), write).0.unwrap();
            }
            faults::with(at, Fault::Error(io::ErrorKind::StorageFull), write).0.unwrap_err();
        }
        assert_eq!(std::fs::read_dir(folder.root()).unwrap().count(), 1);
    }
}
