//! Files of numbers that are written from front to back, and gone on with after a kill.

use crate::DataError;
use crate::disk;
use crate::store::io_error;
use bytemuck::{AnyBitPattern, NoUninit, Pod};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A stretch of a file that was written, and its checksum: what is resumed must still be so.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Written {
    /// Which stretch it is.
    pub name: String,
    /// The file that it lies in.
    pub file: String,
    pub start: u64,
    pub bytes: u64,
    pub crc32: u32,
}

impl Written {
    /// Nothing so far, of a file of this name.
    pub fn new(name: &str) -> Self {
        Self::at(name, name, 0)
    }

    /// Nothing so far, from a place in a file on.
    pub fn at(name: &str, file: &str, start: u64) -> Self {
        let (name, file) = (name.to_owned(), file.to_owned());
        Self { name, file, start, bytes: 0, crc32: 0 }
    }

    /// Whether the file still has these bytes.
    pub fn is_there(&self, folder: &Path) -> bool {
        let check = || -> io::Result<u32> {
            let mut file = disk::open(&folder.join(&self.file))?;
            file.seek(SeekFrom::Start(self.start))?;
            let mut hasher = crc32fast::Hasher::new();
            let mut piece = vec![0; (1 << 20).min(self.bytes as usize)];
            let mut left = self.bytes;
            while left > 0 {
                let part = &mut piece[..left.min(1 << 20) as usize];
                file.read_exact(part)?;
                hasher.update(part);
                left -= part.len() as u64;
            }
            Ok(hasher.finalize())
        };
        check().is_ok_and(|sum| sum == self.crc32)
    }
}

/// A stretch of a file that grows at its end.
pub(super) struct Spill {
    path: PathBuf,
    file: BufWriter<File>,
    written: Written,
    sum: crc32fast::Hasher,
}

/// Bytes that are gathered before they are written.
const BUFFER: usize = 1 << 15;

impl Spill {
    /// Opens a file to write behind what is written, and makes it where it is missing. What lies behind that is cut off
    /// where the stretch has the file to itself.
    pub fn open(folder: &Path, written: Written) -> Result<Self, DataError> {
        let path = folder.join(&written.file);
        let end = written.start + written.bytes;
        let open = || {
            let mut options = OpenOptions::new();
            let file = options.read(true).write(true).create(true).truncate(false).open(&path)?;
            if written.name == written.file {
                file.set_len(end)?;
            }
            (&file).seek(SeekFrom::Start(end))?;
            Ok(file)
        };
        let file = open().map_err(|reason| io_error(&path, "write", reason))?;
        let file = BufWriter::with_capacity(BUFFER, file);
        let sum = crc32fast::Hasher::new_with_initial_len(written.crc32, written.bytes);
        Ok(Self { path, file, written, sum })
    }

    /// Appends numbers.
    pub fn push<T: NoUninit>(&mut self, numbers: &[T]) -> Result<(), DataError> {
        let bytes = bytemuck::cast_slice(numbers);
        self.file.write_all(bytes).map_err(|reason| io_error(&self.path, "write", reason))?;
        self.sum.update(bytes);
        self.written.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Bytes so far.
    pub fn len(&self) -> u64 {
        self.written.bytes
    }

    /// Waits until all is on the disk, and says what that is.
    pub fn sync(&mut self) -> Result<Written, DataError> {
        let flushed = self.file.flush().and_then(|()| disk::sync(self.file.get_ref()));
        flushed.map_err(|reason| io_error(&self.path, "write", reason))?;
        self.written.crc32 = self.sum.clone().finalize();
        Ok(self.written.clone())
    }
}

/// Numbers of a file from front to back, a piece at a time.
pub(super) struct Pieces<T> {
    path: PathBuf,
    file: BufReader<File>,
    left: u64,
    piece: Vec<T>,
}

impl<T: Pod> Pieces<T> {
    /// Pieces of at most `size` numbers of the first `len` bytes.
    pub fn open(path: &Path, len: u64, size: usize) -> Result<Self, DataError> {
        let file = disk::open(path).map_err(|reason| io_error(path, "read", reason))?;
        let piece = vec![T::zeroed(); size];
        let left = len / size_of::<T>() as u64;
        Ok(Self {
            path: path.to_owned(),
            file: BufReader::with_capacity(BUFFER, file),
            left,
            piece,
        })
    }

    /// The next piece; `None` after the last.
    pub fn next(&mut self) -> Result<Option<&mut [T]>, DataError> {
        let count = self.left.min(self.piece.len() as u64) as usize;
        if count == 0 {
            return Ok(None);
        }
        self.left -= count as u64;
        let numbers = &mut self.piece[..count];
        read_numbers(&mut self.file, numbers)
            .map_err(|reason| io_error(&self.path, "read", reason))?;
        Ok(Some(numbers))
    }
}

/// Fills a list with what comes next.
pub(super) fn read_numbers<T: AnyBitPattern + NoUninit>(
    source: &mut impl Read,
    numbers: &mut [T],
) -> std::io::Result<()> {
    source.read_exact(bytemuck::cast_slice_mut(numbers))
}

/// Reads a whole file of numbers.
pub(super) fn read_all<T: Pod>(path: &Path, len: u64) -> Result<Vec<T>, DataError> {
    let count = len as usize / size_of::<T>();
    let refused = || crate::allocate::out_of_memory(&path.display().to_string(), len);
    let mut numbers = magnon_core::memory::try_zeroed::<T>(count).ok_or_else(refused)?;
    let read = disk::open(path).and_then(|mut file| read_numbers(&mut file, &mut numbers));
    read.map_err(|reason| io_error(path, "read", reason))?;
    Ok(numbers)
}
