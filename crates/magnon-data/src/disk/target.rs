//! `Target`: what the path of an output names.

use super::metadata;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};

/// The name of the standard output, on every system.
pub const STDOUT: &str = "/dev/stdout";

/// Links that are followed one after the other, as many as Linux follows.
const LINKS: usize = 40;

/// Where output goes.
#[derive(Debug)]
pub enum Target {
    /// A regular file, which may not exist yet.
    File(TargetFile),
    /// A device, a pipe or the standard output: its bytes are written in order, and it stays what it is.
    Stream(PathBuf),
}

/// A regular file to be replaced, or the name of a new one. Links are resolved: a link keeps pointing to its file,
/// which is what gets replaced.
#[derive(Debug)]
pub struct TargetFile {
    pub path: PathBuf,
    /// Those of the file that is replaced.
    pub permissions: Option<Permissions>,
}

impl Target {
    /// What a path names. A folder is refused.
    pub fn of(path: &Path) -> io::Result<Self> {
        if let Some(open) = descriptor(path) {
            return Ok(Self::Stream(open));
        }
        let Some(meta) = metadata(path)? else {
            let path = follow(path)?;
            return Ok(Self::File(TargetFile { path, permissions: None }));
        };
        if meta.is_dir() {
            return Err(io::Error::new(ErrorKind::IsADirectory, "it is a folder; name a file"));
        }
        if !meta.is_file() {
            return Ok(Self::Stream(path.to_owned()));
        }
        let path = std::fs::canonicalize(path)?;
        Ok(Self::File(TargetFile { path, permissions: Some(meta.permissions()) }))
    }
}

impl TargetFile {
    /// A file of ours, such as those of a work folder. A link of its name is replaced itself.
    pub fn own(path: &Path) -> Self {
        Self { path: path.to_owned(), permissions: None }
    }

    /// What a path names, for a format that is not written in order. A device or a pipe is refused.
    pub fn of(path: &Path) -> io::Result<Self> {
        match Target::of(path)? {
            Target::File(file) => Ok(file),
            Target::Stream(_) => Err(io::Error::new(
                ErrorKind::InvalidInput,
                "it is a device or a pipe, and this format is not written in order; name a file",
            )),
        }
    }

    /// Gives a finished file this name.
    pub fn put(&self, finished: &Path) -> io::Result<()> {
        if let Some(permissions) = &self.permissions {
            std::fs::set_permissions(finished, permissions.clone())?;
        }
        super::rename(finished, &self.path)?;
        super::sync_folder(folder_of(&self.path))
    }
}

/// The folder that a file is in.
pub fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Whether output to this path goes to the standard output.
pub fn is_stdout(path: &Path) -> bool {
    descriptor(path).is_some_and(|open| {
        [STDOUT, "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| open == Path::new(name))
    })
}

/// The open file of this process that a path or a link names. Even where that is a regular file, it is written to as it
/// is: the shell that opened it holds the file and not its name.
fn descriptor(path: &Path) -> Option<PathBuf> {
    let is_open = |path: &Path| {
        let numbered = ["/dev/fd", "/proc/self/fd"].iter().any(|folder| path.starts_with(folder));
        // The standard output has its name on every system.
        path == Path::new(STDOUT) || cfg!(unix) && (path == Path::new("/dev/stderr") || numbered)
    };
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        if is_open(&path) {
            return Some(path);
        }
        path = folder_of(&path).join(std::fs::read_link(&path).ok()?);
    }
    None
}

/// The name at the end of links that lead to no file yet.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let Ok(to) = std::fs::read_link(&path) else { return Ok(path) };
        path = folder_of(&path).join(to);
    }
    Err(io::Error::other("too many links point to each other"))
}

/// A stream that is open for writing.
pub enum Stream {
    Stdout(io::Stdout),
    File(File),
}

impl Stream {
    /// Opens it.
    pub fn open(path: &Path) -> io::Result<Self> {
        if path == Path::new(STDOUT) {
            return Ok(Self::Stdout(io::stdout()));
        }
        OpenOptions::new().write(true).open(path).map(Self::File)
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::File(file) => file.flush(),
        }
    }
}

/// A target that can be written at any place, as zip files need.
pub trait WriteSeek: Write + Seek {}
impl<T: Write + Seek> WriteSeek for T {}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::testing::Folder;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_resolved_whether_or_not_they_lead_to_a_file() {
        let folder = Folder::new(&[("there", b"")]);
        let root = std::fs::canonicalize(folder.root()).unwrap();
        for name in ["there", "missing"] {
            let link = root.join(format!("to-{name}"));
            symlink(name, &link).unwrap();
            symlink(&link, root.join(format!("twice-{name}"))).unwrap();
            assert_eq!(TargetFile::of(&link).unwrap().path, root.join(name));
            let twice = TargetFile::of(&root.join(format!("twice-{name}"))).unwrap();
            assert_eq!(twice.path, root.join(name));
        }
        symlink("round", root.join("round")).unwrap();
        assert!(Target::of(&root.join("round")).is_err());
        symlink(&root, root.join("folder")).unwrap();
        let error = Target::of(&root.join("folder")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IsADirectory);
    }

    #[test]
    fn devices_and_open_files_are_streams() {
        for name in ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/fd/1"] {
            assert!(matches!(Target::of(Path::new(name)).unwrap(), Target::Stream(_)), "{name}");
            let error = TargetFile::of(Path::new(name)).unwrap_err().to_string();
            assert!(error.contains("device or a pipe"), "{error}");
        }
        let folder = Folder::new(&[]);
        symlink(STDOUT, folder.path("out")).unwrap();
        assert!(is_stdout(&folder.path("out")) && !is_stdout(&folder.path("other")));
        assert!(matches!(Target::of(&folder.path("out")).unwrap(), Target::Stream(_)));
    }
}
