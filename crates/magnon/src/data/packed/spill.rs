//! Files of numbers that are written from front to back, and gone on with after a kill.

use crate::data::DataError;
use crate::data::store::io_error;
use crate::disk;
use bytemuck::{AnyBitPattern, NoUninit, Pod};
use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file of numbers that grows at its end.
pub(super) struct Spill {
    path: PathBuf,
    file: BufWriter<File>,
    len: u64,
}

/// Bytes that are gathered before they are written.
const BUFFER: usize = 1 << 15;

impl Spill {
    /// Opens a file and cuts it to the `len` bytes that are known to be good; makes it where it is missing.
    pub fn open(path: &Path, len: u64) -> Result<Self, DataError> {
        let open = || {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(path)?;
            file.set_len(len)?;
            (&file).seek(SeekFrom::Start(len))?;
            Ok(file)
        };
        let file = open().map_err(|reason| io_error(path, "write", reason))?;
        Ok(Self { path: path.to_owned(), file: BufWriter::with_capacity(BUFFER, file), len })
    }

    /// Appends numbers.
    pub fn push<T: NoUninit>(&mut self, numbers: &[T]) -> Result<(), DataError> {
        let bytes = bytemuck::cast_slice(numbers);
        self.file.write_all(bytes).map_err(|reason| io_error(&self.path, "write", reason))?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Bytes so far.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Waits until all is on the disk.
    pub fn sync(&mut self) -> Result<(), DataError> {
        let flushed = self.file.flush().and_then(|()| disk::sync(self.file.get_ref()));
        flushed.map_err(|reason| io_error(&self.path, "write", reason))
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
    let refused = || crate::data::room::out_of_memory(&path.display().to_string(), len);
    let mut numbers = crate::memory::try_zeroed::<T>(count).ok_or_else(refused)?;
    let read = disk::open(path).and_then(|mut file| read_numbers(&mut file, &mut numbers));
    read.map_err(|reason| io_error(path, "read", reason))?;
    Ok(numbers)
}
