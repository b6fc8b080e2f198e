//! Unpacking gzip and zstd within bounds, so that a small file cannot fill the memory.

use crate::DataError;
use crate::allocate::{out_of_memory, reserve};
use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;
use std::io::{ErrorKind, Read};

/// How a file is packed. Plain sorts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Packing {
    None,
    Gzip,
    Zstd,
}

/// The name without the suffix of its packing, and the packing.
pub(super) fn split_suffix(name: &str) -> (String, Packing) {
    for (suffix, packing) in [(".gz", Packing::Gzip), (".zst", Packing::Zstd)] {
        let stem = name.strip_suffix(suffix);
        if let Some(stem) = stem.filter(|stem| !stem.is_empty() && !stem.ends_with(".tar")) {
            return (stem.to_owned(), packing);
        }
    }
    (name.to_owned(), Packing::None)
}

/// A file that unpacks to `size` bytes, more than the `limit` that its [`Budget`] leaves.
///
/// [`Budget`]: super::Budget
pub(crate) fn bomb(file: &str, size: impl std::fmt::Display, limit: u64) -> DataError {
    let problem = format!(
        "unpacks to {size} bytes, where the packed size on disk allows {limit}: refused as a \
         possible decompression bomb; store it unpacked if it can be trusted"
    );
    DataError::format(file, problem)
}

/// Reads `source` to its end, which must come within `limit` bytes. `expected` sizes the buffer.
pub(crate) fn read_bounded(
    source: impl Read,
    expected: u64,
    limit: u64,
    file: &str,
) -> Result<Vec<u8>, DataError> {
    // A claim is believed up to a point; the buffer grows beyond it only with real bytes.
    let expected = expected.min(limit).min(64 << 20);
    let mut bytes = Vec::new();
    bytes.try_reserve(expected as usize).map_err(|_| out_of_memory(file, expected))?;
    let read = source.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| match error.kind() {
        ErrorKind::OutOfMemory => out_of_memory(file, bytes.len() as u64),
        _ => {
            let problem = format!("damaged or truncated: it cannot be unpacked ({error})");
            DataError::format(file, problem)
        }
    })?;
    if bytes.len() as u64 > limit {
        return Err(bomb(file, format_args!("more than {limit}"), limit));
    }
    Ok(bytes)
}

impl Packing {
    /// The bytes without their packing, of which there may be `limit`.
    pub(super) fn unpack(
        self,
        bytes: Vec<u8>,
        limit: u64,
        file: &str,
    ) -> Result<Vec<u8>, DataError> {
        match self {
            Self::None => Ok(bytes),
            Self::Gzip => {
                let expected = (bytes.len() as u64).saturating_mul(4);
                read_bounded(MultiGzDecoder::new(&bytes[..]), expected, limit, file)
            }
            Self::Zstd => unzstd(&bytes, limit, file),
        }
    }
}

/// All frames of a zstd file, one after the other.
fn unzstd(bytes: &[u8], limit: u64, file: &str) -> Result<Vec<u8>, DataError> {
    let mut out = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let frame = StreamingDecoder::new(&mut rest)
            .map_err(|error| DataError::format(file, format!("not a zstd file ({error})")))?;
        let left = limit.saturating_sub(out.len() as u64);
        let mut bytes = read_bounded(frame, 0, left, file)?;
        reserve(&mut out, bytes.len(), file)?;
        out.append(&mut bytes);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    const LIMIT: u64 = 70 << 20;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn gzip_members_are_joined() {
        let bytes = [gzip(b"one "), gzip(b"two")].concat();
        assert_eq!(Packing::Gzip.unpack(bytes, LIMIT, "f").unwrap(), b"one two");
    }

    #[test]
    fn truncated_and_foreign_bytes_are_refused() {
        let bytes = gzip(&[7; 1000]);
        assert!(Packing::Gzip.unpack(bytes[..bytes.len() - 9].to_vec(), LIMIT, "f").is_err());
        assert!(Packing::Gzip.unpack(b"hello".to_vec(), LIMIT, "f").is_err());
        assert!(Packing::Zstd.unpack(b"hello".to_vec(), LIMIT, "f").is_err());
    }

    #[test]
    fn zstd_frames_are_joined() {
        let frame = |bytes: &[u8]| {
            let level = ruzstd::encoding::CompressionLevel::Fastest;
            ruzstd::encoding::compress_to_vec(bytes, level)
        };
        let bytes = [frame(b"one "), frame(b"two")].concat();
        assert_eq!(Packing::Zstd.unpack(bytes, LIMIT, "f").unwrap(), b"one two");
    }

    #[test]
    fn bombs_are_bounded() {
        let error = read_bounded(std::io::repeat(0), u64::MAX, 1 << 20, "f").unwrap_err();
        assert!(error.to_string().contains("more than 1048576 bytes"));
        let packed = gzip(&vec![0; 80 << 20]);
        let error = Packing::Gzip.unpack(packed, LIMIT, "f").unwrap_err().to_string();
        assert!(error.contains("decompression bomb"), "{error}");
        assert_eq!(
            Packing::Gzip.unpack(gzip(&vec![0; 1 << 20]), LIMIT, "f").unwrap().len(),
            1 << 20
        );
    }

    #[test]
    fn suffixes_are_split() {
        assert_eq!(split_suffix("a.csv.gz"), ("a.csv".into(), Packing::Gzip));
        assert_eq!(split_suffix("a.tar.gz"), ("a.tar.gz".into(), Packing::None));
        assert_eq!(split_suffix(".gz"), (".gz".into(), Packing::None));
    }
}
