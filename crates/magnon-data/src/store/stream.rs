//! Files that are unpacked as they are read, for texts larger than memory.

use super::budget::allowance;
use super::inflate::Packing;
use super::{Place, Store, io_error};
use crate::DataError;
use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};

/// Bytes that are asked of the disk at once.
const BUFFER: usize = 1 << 20;

impl Store {
    /// The unpacked bytes of a file from front to back, and how many they are where that is known. Only members
    /// of archives are drawn into memory.
    pub(crate) fn stream(&self, name: &str) -> Result<(Box<dyn Read>, Option<u64>), DataError> {
        self.note(name);
        let Some((path, packing)) = self.find(name).and_then(|entry| match &entry.place {
            Place::Disk(path) => Some((path, entry.packing)),
            Place::Archived(_) => None,
        }) else {
            let bytes = self.read(name)?;
            let length = bytes.len() as u64;
            return Ok((Box::new(Cursor::new(bytes)), Some(length)));
        };
        let failed = |reason| io_error(path, "read", reason);
        let file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let file = BufReader::with_capacity(BUFFER, file);
        let limit = allowance(length);
        Ok(match packing {
            Packing::None => (Box::new(file), Some(length)),
            Packing::Gzip => {
                (Box::new(Bounded { source: MultiGzDecoder::new(file), left: limit }), None)
            }
            Packing::Zstd => {
                let frames = Frames { between: Some(file), frame: None };
                (Box::new(Bounded { source: frames, left: limit }), None)
            }
        })
    }
}

/// Gives no more than what the packed size on disk allows.
struct Bounded<R> {
    source: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(bytes)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            io::Error::other(
                "it unpacks to more than its packed size allows: refused as a possible decompression bomb; \
                 store it unpacked if it can be trusted",
            )
        })?;
        Ok(count)
    }
}

/// All frames of a zstd file, one after the other.
struct Frames<R: Read> {
    between: Option<R>,
    frame: Option<StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>,
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                let count = frame.read(bytes)?;
                if count > 0 || bytes.is_empty() {
                    return Ok(count);
                }
                self.between = self.frame.take().map(StreamingDecoder::into_inner);
            }
            let Some(mut source) = self.between.take() else { return Ok(0) };
            if source.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.frame = Some(StreamingDecoder::new(source).map_err(io::Error::other)?);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::store::Store;
    use crate::testing::Folder;
    use flate2::{Compression, write::GzEncoder};
    use std::io::{Read, Write};

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read(name: &str, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
        let folder = Folder::new(&[(name, bytes)]);
        let store = Store::open(&folder.path(name)).unwrap();
        let (mut source, _) = store.stream("a.txt").unwrap();
        let mut text = Vec::new();
        source.read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn packed_files_are_streamed_whole() {
        let frame = |bytes: &[u8]| {
            let level = ruzstd::encoding::CompressionLevel::Fastest;
            ruzstd::encoding::compress_to_vec(bytes, level)
        };
        let members = [gzip(b"one "), gzip(b"two")].concat();
        let frames = [frame(b"one "), frame(b"two")].concat();
        for (name, bytes) in
            [("a.txt", b"one two".to_vec()), ("a.txt.gz", members), ("a.txt.zst", frames)]
        {
            assert_eq!(read(name, &bytes).unwrap(), b"one two", "{name}");
        }
        let bytes = gzip(&vec![0; 80 << 20]);
        assert!(read("a.txt.gz", &bytes).unwrap_err().to_string().contains("decompression bomb"));
        assert!(read("a.txt.gz", &gzip(b"one")[..9]).is_err());
        assert!(read("a.txt.zst", b"hello").is_err());
    }
}
