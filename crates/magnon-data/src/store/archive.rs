//! Zip and tar archives as sources of files.

use super::{
    Budget, Entry, Place, inflate, io_error, listing, open_member, open_zip, read_bounded,
    read_disk,
};
use crate::DataError;
use crate::allocate::collect;
use flate2::read::MultiGzDecoder;
use std::cell::RefCell;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// Where a member lies in its archive.
pub(super) enum Member {
    Zip(usize),
    Tar(Range<u64>),
}

/// An archive whose members are read on demand.
pub(super) enum Archive {
    /// A zip file that stays open: its directory is read once, however many members are.
    Zip(RefCell<ZipArchive<BufReader<File>>>),
    /// A tar file on disk.
    Tar(PathBuf),
    /// A tar file that was packed, now in memory.
    Unpacked(Vec<u8>),
}

/// Whether a file is an archive of files, by its name or, for zip, by its first bytes. NumPy's `.npz`
/// and PyTorch's `.pt` are zips too, and so are sheets, but they count as one file.
pub(crate) fn is_archive(path: &Path) -> Result<bool, DataError> {
    let name = listing::file_name(path).to_ascii_lowercase();
    if [".npz", ".pt", ".pth", ".xlsx", ".ods"].iter().any(|suffix| name.ends_with(suffix)) {
        return Ok(false);
    }
    if [".zip", ".tar", ".tgz", ".tar.gz"].iter().any(|suffix| name.ends_with(suffix)) {
        return Ok(true);
    }
    let mut start = Vec::new();
    let file = File::open(path).map_err(|source| io_error(path, "read", source))?;
    file.take(4).read_to_end(&mut start).map_err(|source| io_error(path, "read", source))?;
    Ok(start == b"PK\x03\x04")
}

impl Archive {
    /// Opens an archive and lists its files. What it weighs goes into the budget.
    pub(super) fn open(path: &Path, budget: &Budget) -> Result<(Self, Vec<Entry>), DataError> {
        let name = listing::file_name(path).to_ascii_lowercase();
        let label = path.display().to_string();
        let meta = std::fs::metadata(path).map_err(|source| io_error(path, "read", source))?;
        budget.add(&label, meta.len());
        let (archive, mut members) = if name.ends_with(".tar") {
            let file = File::open(path).map_err(|source| io_error(path, "read", source))?;
            (Self::Tar(path.to_owned()), list_tar(BufReader::new(file), &label)?)
        } else if name.ends_with(".tgz") || name.ends_with(".tar.gz") {
            let packed = read_disk(path)?;
            let size = packed.len() as u64;
            let source = MultiGzDecoder::new(&packed[..]);
            let expected = size.saturating_mul(4);
            let bytes = read_bounded(source, expected, budget.room(&label), &label)?;
            budget.draw(&label, bytes.len() as u64);
            let members = list_tar(Cursor::new(&bytes), &label)?;
            (Self::Unpacked(bytes), members)
        } else {
            let archive = open(path)?;
            let members = list_zip(&archive);
            (Self::Zip(RefCell::new(archive)), members)
        };
        members.retain(|(name, _)| {
            !name.starts_with("__MACOSX/") && !name.rsplit('/').any(|part| part.starts_with('.'))
        });
        strip_common_folders(&mut members);
        let mut entries: Vec<Entry> = members
            .into_iter()
            .map(|(name, member)| {
                let (name, packing) = inflate::split_suffix(&name);
                Entry { name, packing, place: Place::Archived(member) }
            })
            .collect();
        listing::sort(&mut entries);
        Ok((archive, entries))
    }

    /// The bytes of a member, of which there may be `room`.
    pub(super) fn read(
        &self,
        member: &Member,
        room: u64,
        file: &str,
    ) -> Result<Vec<u8>, DataError> {
        match (self, member) {
            (Self::Zip(archive), Member::Zip(index)) => {
                let mut archive = archive.borrow_mut();
                let (member, size) = open_member(&mut archive, *index, room, file)?;
                read_bounded(member, size, size, file)
            }
            (Self::Unpacked(bytes), Member::Tar(span)) => {
                let span = usize::try_from(span.start).ok().zip(usize::try_from(span.end).ok());
                let bytes = span.and_then(|(start, end)| bytes.get(start..end));
                let bytes = bytes.ok_or_else(|| tar_error(file, "truncated"))?;
                collect(bytes.iter().copied(), file)
            }
            (Self::Tar(path), Member::Tar(span)) => {
                let mut open = File::open(path).map_err(|source| io_error(path, "read", source))?;
                let seek = open.seek(SeekFrom::Start(span.start));
                seek.map_err(|source| io_error(path, "read", source))?;
                let size = span.end.saturating_sub(span.start);
                let bytes = read_bounded(open.take(size), size, size, file)?;
                if bytes.len() as u64 != size {
                    return Err(tar_error(file, "truncated"));
                }
                Ok(bytes)
            }
            _ => Err(tar_error(file, "of another kind than its listing")),
        }
    }
}

fn tar_error(file: &str, problem: impl std::fmt::Display) -> DataError {
    DataError::format(file, format!("the archive is damaged: {problem}"))
}

fn open(path: &Path) -> Result<ZipArchive<BufReader<File>>, DataError> {
    let failed = |source| io_error(path, "read", source);
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    open_zip(BufReader::new(file), length, &path.display().to_string())
}

fn list_zip<R: Read + Seek>(archive: &ZipArchive<R>) -> Vec<(String, Member)> {
    let names = archive.file_names_raw().enumerate().map(|(index, name)| {
        (String::from_utf8_lossy(name).trim_start_matches("./").to_owned(), Member::Zip(index))
    });
    names.filter(|(name, _)| !name.ends_with('/')).collect()
}

fn list_tar(source: impl Read, file: &str) -> Result<Vec<(String, Member)>, DataError> {
    let mut members = Vec::new();
    for entry in tar::Archive::new(source).entries().map_err(|error| tar_error(file, error))? {
        let entry = entry.map_err(|error| tar_error(file, error))?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let start = entry.raw_file_position();
        let end = start.checked_add(entry.size()).ok_or_else(|| tar_error(file, "size"))?;
        members.push((name.trim_start_matches("./").to_owned(), Member::Tar(start..end)));
    }
    Ok(members)
}

/// Takes away the folders that all members share, as most archives have one or more.
fn strip_common_folders(members: &mut [(String, Member)]) {
    let Some(((first, _), others)) = members.split_first() else { return };
    let shared = others.iter().fold(first.len(), |shared, (name, _)| {
        let same = first.bytes().zip(name.bytes()).take(shared).take_while(|(a, b)| a == b);
        same.count()
    });
    // Up to the last slash that all have.
    let end = first.bytes().take(shared).rposition(|byte| byte == b'/').map_or(0, |at| at + 1);
    for (name, _) in members {
        name.drain(..end);
    }
}

#[cfg(test)]
mod tests {
    use crate::store::Store;
    use crate::testing::{Folder, tgz, zip};

    #[test]
    fn archives_read_like_folders() {
        for top in ["", "top/", "data/texas/"] {
            let (a, b) = (format!("{top}a.txt"), format!("{top}b.txt"));
            let files: &[(&str, &[u8])] = &[(&a, b"one"), (&b, b"two")];
            let folder = Folder::new(&[("x.zip", &zip(files)), ("x.tgz", &tgz(files))]);
            for name in ["x.zip", "x.tgz"] {
                let store = Store::open(&folder.path(name)).unwrap();
                assert_eq!(store.names().collect::<Vec<_>>(), ["a.txt", "b.txt"]);
                assert_eq!(store.read("b.txt").unwrap(), b"two");
            }
        }
    }

    #[test]
    fn a_truncated_zip_is_refused() {
        let bytes = zip(&[("a.txt", &[3; 5000])]);
        let folder = Folder::new(&[("x.zip", &bytes[..bytes.len() / 2])]);
        let error = Store::open(&folder.path("x.zip")).err().unwrap().to_string();
        assert!(error.contains("truncated or not a zip file"), "{error}");
    }
}
