//! Zip archives whose claims are checked before anything is asked of them.

use super::bomb;
use crate::DataError;
use std::io::{Read, Seek};
use zip::ZipArchive;
use zip::read::ZipFile;

/// No deflate stream unpacks to more than this many times its size.
const MOST_DEFLATED: u64 = 1032;

/// What the zip reader complained about, in words that say what to do.
pub(crate) fn zip_error(file: &str, error: zip::result::ZipError) -> DataError {
    DataError::format(file, format!("truncated or not a zip file ({error}); fetch it again"))
}

/// Opens the zip archive `file` of `length` bytes. Members that overlap, or reach beyond the end,
/// claim more bytes together than the file has.
pub(crate) fn open_zip<R: Read + Seek>(
    source: R,
    length: u64,
    file: &str,
) -> Result<ZipArchive<R>, DataError> {
    let archive = ZipArchive::new(source).map_err(|error| zip_error(file, error))?;
    let mut claimed = 0u64;
    for index in 0..archive.len() {
        let member = archive.by_index_data(index).map_err(|error| zip_error(file, error))?;
        claimed = claimed.saturating_add(member.compressed_size());
    }
    if claimed > length {
        let problem = format!(
            "damaged: its members claim {claimed} packed bytes, but the file has {length}; fetch \
             it again"
        );
        return Err(DataError::format(file, problem));
    }
    Ok(archive)
}

/// A member of a checked archive and its size, which is at most `room`. Read no more than that: the
/// member may hold more than it says.
pub(crate) fn open_member<'a, R: Read + Seek>(
    archive: &'a mut ZipArchive<R>,
    index: usize,
    room: u64,
    file: &str,
) -> Result<(ZipFile<'a, R>, u64), DataError> {
    let member = archive.by_index(index).map_err(|error| zip_error(file, error))?;
    let (size, packed) = (member.size(), member.compressed_size());
    if size > packed.saturating_mul(MOST_DEFLATED) {
        let problem = format!(
            "damaged: it claims {size} bytes, more than {packed} packed bytes can hold; fetch it \
             again"
        );
        return Err(DataError::format(file, problem));
    }
    if size > room {
        return Err(bomb(file, size, room));
    }
    Ok((member, size))
}
