//! Where the bytes of a data set come from: a folder, a file among its neighbours, or an archive.

mod archive;
mod budget;
mod inflate;
mod listing;
mod stream;
mod zipped;

use super::DataError;
use super::allocate::out_of_memory;
use super::text::settle_line_ends;
use inflate::Packing;
use magnon_core::memory;
use std::cell::{Ref, RefCell};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, Cursor, ErrorKind, Read, Seek};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use archive::Archive;
pub(crate) use archive::is_archive;
pub(crate) use budget::Budget;
pub(crate) use budget::allowance;
use inflate::{bomb, read_bounded};
pub(crate) use zipped::{open_member, open_zip};

/// A source that can be read from any place.
pub(crate) trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

/// One file of a store.
struct Entry {
    /// Path relative to the store, with `/`, without the suffix of a compression.
    name: String,
    packing: Packing,
    place: Place,
}

/// Where the bytes of an entry lie.
enum Place {
    Disk(PathBuf),
    Archived(archive::Member),
}

/// A set of named files. Names are labels only: nothing is ever written under them.
pub(crate) struct Store {
    /// What was opened.
    path: PathBuf,
    root: PathBuf,
    /// Sorted by name.
    entries: Vec<Entry>,
    archive: Option<Archive>,
    only: Option<String>,
    budget: Rc<Budget>,
    /// The names of all files that were opened.
    opened: RefCell<BTreeSet<String>>,
}

impl Store {
    /// Opens a folder, an archive, a single file, or the common prefix of several files.
    pub(crate) fn open(path: &Path) -> Result<Self, DataError> {
        let meta = match std::fs::metadata(path) {
            Ok(meta) => meta,
            Err(source) => {
                return Self::open_prefix(path).ok_or_else(|| io_error(path, "read", source));
            }
        };
        if meta.is_dir() {
            let entries = listing::folder(path)?;
            return Ok(Self::new(path, path, entries, None));
        }
        if !meta.is_file() {
            let problem = "neither a file nor a folder; save the data to a file first".to_owned();
            return Err(DataError::Unknown { path: path.to_owned(), problem });
        }
        if is_archive(path)? {
            let budget = Rc::new(Budget::default());
            let (archive, entries) = Archive::open(path, &budget)?;
            let archive = Some(archive);
            let opened = RefCell::default();
            return Ok(Self {
                path: path.to_owned(),
                root: path.to_owned(),
                entries,
                archive,
                only: None,
                budget,
                opened,
            });
        }
        let (name, packing) = inflate::split_suffix(&listing::file_name(path));
        let mut entries = listing::beside(path);
        entries.retain(|entry| entry.name != name);
        let only = Some(name.clone());
        entries.push(Entry { name, packing, place: Place::Disk(path.to_owned()) });
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self::new(path, path.parent().unwrap_or(Path::new("")), entries, only))
    }

    /// A store of files on disk.
    fn new(path: &Path, root: &Path, entries: Vec<Entry>, only: Option<String>) -> Self {
        let budget = Rc::new(Budget::default());
        let opened = RefCell::default();
        let (path, root) = (path.to_owned(), root.to_owned());
        Self { path, root, entries, archive: None, only, budget, opened }
    }

    /// The files whose names go on after `path`, such as `ind.cora` with `ind.cora.x`.
    fn open_prefix(path: &Path) -> Option<Self> {
        let prefix = listing::file_name(path) + ".";
        let entries = listing::beside(path);
        let first = entries.iter().find(|entry| entry.name.starts_with(&prefix))?;
        let only = Some(first.name.clone());
        Some(Self::new(path, path.parent().unwrap_or(Path::new("")), entries, only))
    }

    /// The files on the disk that data may be read from: the one that was named, or those of the folder or the prefix.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        if self.path.is_file() {
            return vec![self.path.clone()];
        }
        let prefix = self.path.to_string_lossy();
        let on_disk = self.entries.iter().filter_map(|entry| match &entry.place {
            Place::Disk(path) => Some(path),
            Place::Archived(_) => None,
        });
        on_disk.filter(|path| path.to_string_lossy().starts_with(&*prefix)).cloned().collect()
    }

    /// What was opened, as it was named.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path that was opened, or the folder of the file that was.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The one file that the user named, if a file was named.
    pub(crate) fn only(&self) -> Option<&str> {
        self.only.as_deref()
    }

    /// All names, sorted.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// The names that may start a data set: the file that was named, or else all.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = &str> {
        self.names().filter(|&name| self.only.as_ref().is_none_or(|only| only == name))
    }

    /// Whether there is a file of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The first of `names` that exists.
    pub(crate) fn first<'a>(&self, names: &[&'a str]) -> Option<&'a str> {
        names.iter().copied().find(|name| self.has(name))
    }

    fn find(&self, name: &str) -> Option<&Entry> {
        let at = self.entries.binary_search_by(|entry| entry.name.as_str().cmp(name)).ok()?;
        self.entries.get(at)
    }

    /// How errors call a file.
    pub(crate) fn label(&self, name: &str) -> String {
        match self.find(name) {
            Some(Entry { place: Place::Disk(path), .. }) => path.display().to_string(),
            _ => self.root.join(name).display().to_string(),
        }
    }

    /// Where a file lies on disk as it is, without a packing around it.
    pub(crate) fn plain_path(&self, name: &str) -> Option<&Path> {
        match self.find(name)? {
            Entry { place: Place::Disk(path), packing: Packing::None, .. } => Some(path),
            _ => None,
        }
    }

    /// The names of all files that were opened.
    pub(crate) fn read_names(&self) -> Ref<'_, BTreeSet<String>> {
        self.opened.borrow()
    }

    /// Forgets which files were opened, after a first look at them.
    pub(crate) fn forget_reads(&self) {
        self.opened.borrow_mut().clear();
    }

    /// Notes that a file was used.
    fn note(&self, name: &str) {
        self.opened.borrow_mut().insert(name.to_owned());
    }

    /// What may still come out of the packed files.
    pub(crate) fn budget(&self) -> Rc<Budget> {
        self.budget.clone()
    }

    /// The most bytes that may be made of a file of `length` bytes whose content is packed in itself. What lies in an
    /// archive, or is packed once more, is measured by what lies on the disk.
    #[cfg(feature = "columnar")]
    pub(crate) fn allowance(&self, name: &str, length: u64) -> u64 {
        match self.plain_path(name) {
            Some(_) => allowance(length),
            None => self.budget.room(&self.label(name)),
        }
    }

    /// The content of a file, unpacked.
    pub(crate) fn read(&self, name: &str) -> Result<Vec<u8>, DataError> {
        self.note(name);
        let label = self.label(name);
        let entry = self
            .find(name)
            .ok_or_else(|| DataError::format(&label, "this file is missing from the data set"))?;
        let (bytes, drawn) = match (&entry.place, &self.archive) {
            (Place::Disk(path), _) => {
                let bytes = read_disk(path)?;
                if entry.packing == Packing::None {
                    return Ok(bytes);
                }
                self.budget.add(&label, bytes.len() as u64);
                (bytes, 0)
            }
            (Place::Archived(member), Some(archive)) => {
                let bytes = archive.read(member, self.budget.room(&label), &label)?;
                let drawn = bytes.len() as u64;
                (bytes, drawn)
            }
            (Place::Archived(_), None) => (Vec::new(), 0),
        };
        let room = self.budget.room(&label).saturating_sub(drawn);
        let bytes = entry.packing.unpack(bytes, room, &label)?;
        let unpacked = if entry.packing == Packing::None { 0 } else { bytes.len() as u64 };
        self.budget.draw(&label, drawn.saturating_add(unpacked));
        Ok(bytes)
    }

    /// The first bytes of a plain file; none where it cannot be read or is packed.
    pub(crate) fn start(&self, name: &str) -> Vec<u8> {
        let mut start = Vec::new();
        if let Some(file) = self.plain_path(name).and_then(|path| File::open(path).ok())
            && file.take(512).read_to_end(&mut start).is_err()
        {
            start.clear();
        }
        start
    }

    /// The content of a text file, unpacked, with line feeds at the ends of its lines.
    pub(crate) fn read_text(&self, name: &str) -> Result<Vec<u8>, DataError> {
        let mut text = self.read(name)?;
        settle_line_ends(&mut text);
        Ok(text)
    }

    /// A file for reading at any place, and its length. Plain files are not drawn into memory.
    pub(crate) fn open_seek(&self, name: &str) -> Result<(Box<dyn ReadSeek>, u64), DataError> {
        self.note(name);
        if let Some(path) = self.plain_path(name) {
            let open = || -> std::io::Result<_> {
                let file = File::open(path)?;
                let length = file.metadata()?.len();
                Ok((file, length))
            };
            let (file, length) = open().map_err(|source| io_error(path, "read", source))?;
            return Ok((Box::new(BufReader::new(file)), length));
        }
        let bytes = self.read(name)?;
        let length = bytes.len() as u64;
        Ok((Box::new(Cursor::new(bytes)), length))
    }
}

/// The bytes of a file as they are on disk.
fn read_disk(path: &Path) -> Result<Vec<u8>, DataError> {
    let failed = |source| io_error(path, "read", source);
    let mut file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let refused = || out_of_memory(&path.display().to_string(), length);
    let room = usize::try_from(length).ok().and_then(|length| memory::try_room(length + 1));
    let mut bytes = room.ok_or_else(refused)?;
    match file.read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(source) if source.kind() == ErrorKind::OutOfMemory => Err(refused()),
        Err(source) => Err(failed(source)),
    }
}

/// A [`DataError::Io`].
pub(crate) fn io_error(path: &Path, action: &'static str, reason: std::io::Error) -> DataError {
    DataError::Io { path: path.to_owned(), action, reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Folder;

    #[test]
    fn a_file_sees_its_neighbours() {
        let folder = Folder::new(&[("a.txt", b"one"), ("b.txt", b"two")]);
        let store = Store::open(&folder.path("a.txt")).unwrap();
        assert_eq!(store.names().collect::<Vec<_>>(), ["a.txt", "b.txt"]);
        assert_eq!(store.candidates().collect::<Vec<_>>(), ["a.txt"]);
        assert_eq!(store.read("b.txt").unwrap(), b"two");
        assert!(store.read("c.txt").is_err());
    }

    #[test]
    fn the_files_that_data_are_read_from() {
        let names = ["d/raw/edge.csv", "d/raw/notes", "ind.cora.x", "ind.cora.y", "other"];
        let folder = Folder::new(&names.map(|name| (name, b"".as_slice())));
        let files = |name: &str| {
            let files = Store::open(&folder.path(name)).unwrap().files();
            let names = files.iter().map(|path| path.strip_prefix(folder.root()).unwrap());
            names.map(|path| path.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(files("d"), ["d/raw/edge.csv", "d/raw/notes"]);
        assert_eq!(files("ind.cora"), ["ind.cora.x", "ind.cora.y"]);
        assert_eq!(files("other"), ["other"]);
    }

    #[test]
    fn missing_files_are_named() {
        let error = Store::open(Path::new("/no/such/file")).err().unwrap().to_string();
        assert!(error.starts_with("/no/such/file: cannot read"), "{error}");
    }
}
