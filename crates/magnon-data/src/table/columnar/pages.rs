//! The pages of a Parquet file, whose headers are read before any page is unpacked.

use super::room::Room;
use super::thrift::{Bytes, Value, Visitor, is_whole, kind};
use crate::DataError;
use flate2::read::MultiGzDecoder;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;
use std::io::Read;
use std::sync::Arc;

/// Bytes that are asked for at first where a header is expected.
const PEEK: usize = 512;

/// No deflate stream unpacks to more than this many times its size.
const MOST_DEFLATED: u64 = 1032;

/// What the pages of a column claim.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Claims {
    /// Bytes once all are unpacked.
    pub(crate) unpacked: u64,
    /// Bytes of the largest once it is unpacked. No text of the column is longer.
    pub(crate) largest: u64,
    /// Values, missing ones and items of lists included.
    pub(crate) values: u64,
}

impl Claims {
    /// Both together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            unpacked: self.unpacked.saturating_add(other.unpacked),
            largest: self.largest.max(other.largest),
            values: self.values.saturating_add(other.values),
        }
    }
}

/// Kinds of pages.
const DATA: i64 = 0;
const INDEX: i64 = 1;
const DICTIONARY: i64 = 2;
const DATA_V2: i64 = 3;

/// Encodings of texts that say within a page how many texts there are.
const DELTA: [i64; 2] = [6, 7];

/// The header of a page.
#[derive(Default)]
struct Header {
    kind: i64,
    unpacked: i64,
    packed: i64,
    values: i64,
    encoding: i64,
    /// Bytes in front of a page of the second version that are not packed.
    levels: i64,
}

/// Whether a field of a header has the type that the decoder takes it for.
fn fits(path: &[i16], found: u8) -> bool {
    match path {
        [1..=4] | [5, 1..=4] | [7, 1 | 2] | [8, 1..=6] => is_whole(found),
        [5..=8] => found == kind::STRUCT,
        [7, 3] | [8, 7] => matches!(found, kind::TRUE | kind::FALSE),
        _ => true,
    }
}

/// Reads a header; gives the bytes that it takes, too.
fn header_of(bytes: &[u8]) -> Option<(Header, usize)> {
    let (mut header, mut wide) = (Header::default(), false);
    let mut take = |path: &[i16], value: Value| {
        let Value::Whole(number) = value else { return };
        wide |= i32::try_from(number).is_err();
        match path {
            [1] => header.kind = number,
            [2] => header.unpacked = number,
            [3] => header.packed = number,
            [5 | 7 | 8, 1] => header.values = number,
            [5, 2] | [8, 4] => header.encoding = number,
            [8, 5 | 6] => header.levels += number,
            _ => {}
        }
    };
    let mut bytes = Bytes::new(bytes);
    bytes.structure(&mut Visitor { fits: &fits, take: &mut take })?;
    (!wide).then_some((header, bytes.at()))
}

/// Sums what the pages of a column claim, and makes sure that none unpacks to more than it claims.
pub(super) fn claims_of<R: ChunkReader + 'static>(
    source: &Arc<R>,
    chunk: &ColumnChunkMetaData,
    rows: usize,
    room: &Room,
) -> Result<Claims, DataError> {
    let broken = || room.damaged("the header of a page does not hold together");
    let (mut at, length) = chunk.byte_range();
    let end = at.saturating_add(length);
    let (mut claims, mut delta) = (Claims::default(), false);
    while at < end {
        let left = usize::try_from(end - at).map_err(|_| broken())?;
        let mut peek = PEEK.min(left);
        let (header, size) = loop {
            let bytes = source.get_bytes(at, peek).map_err(|error| room.damaged(error))?;
            match header_of(&bytes) {
                Some(found) => break found,
                None if peek == left => return Err(broken()),
                None => peek = peek.saturating_mul(8).min(left),
            }
        };
        let whole = |number: i64| u64::try_from(number).map_err(|_| broken());
        let (unpacked, packed) = (whole(header.unpacked)?, whole(header.packed)?);
        let start = at + size as u64;
        at = start.checked_add(packed).filter(|&next| next <= end).ok_or_else(broken)?;
        if header.kind == INDEX {
            continue;
        }
        let values = whole(header.values)?;
        match header.kind {
            // A word of a dictionary takes a byte at least.
            DICTIONARY if values > unpacked => {
                let problem = format!("a dictionary claims {values} words in {unpacked} bytes");
                return Err(room.damaged(problem));
            }
            DICTIONARY => {}
            DATA | DATA_V2 => {
                claims.values = claims.values.saturating_add(values);
                delta |= DELTA.contains(&header.encoding);
            }
            _ => return Err(broken()),
        }
        room.lend(unpacked, "pages of a column")?;
        let most = packed.saturating_mul(MOST_DEFLATED);
        if matches!(chunk.compression(), Compression::GZIP(_)) && most > room.limit() {
            let levels = whole(header.levels)?;
            let bytes = source.get_bytes(start, packed as usize);
            let bytes = bytes.map_err(|error| room.damaged(error))?;
            inflates(bytes.get(levels as usize..).unwrap_or_default(), unpacked, room)?;
        }
        claims.unpacked = claims.unpacked.saturating_add(unpacked);
        claims.largest = claims.largest.max(unpacked);
    }
    let claimed = u64::try_from(chunk.num_values()).map_err(|_| broken())?;
    if claims.values > claimed || claimed < rows as u64 {
        let found = claims.values;
        let problem =
            format!("a column of {rows} rows claims {claimed} values, and its pages {found}");
        return Err(room.damaged(problem));
    }
    if delta {
        check_delta(source, chunk, rows, room)?;
    }
    Ok(claims)
}

/// Makes sure that a packed page holds no more than `claimed` bytes: the decoder would unpack it to its end.
fn inflates(packed: &[u8], claimed: u64, room: &Room) -> Result<(), DataError> {
    let mut source = MultiGzDecoder::new(packed).take(claimed + 1);
    match std::io::copy(&mut source, &mut std::io::sink()) {
        Ok(found) if found <= claimed => Ok(()),
        Ok(_) => {
            Err(room.damaged(format!("a page unpacks to more than the {claimed} bytes it claims")))
        }
        Err(error) => Err(room.damaged(error)),
    }
}

/// Checks how many texts the pages of a column with delta encodings say that they hold.
fn check_delta<R: ChunkReader + 'static>(
    source: &Arc<R>,
    chunk: &ColumnChunkMetaData,
    rows: usize,
    room: &Room,
) -> Result<(), DataError> {
    let broken = || room.damaged("a page of texts does not hold together");
    let optional = chunk.column_descr().max_def_level() > 0;
    let pages = SerializedPageReader::new(source.clone(), chunk, rows, None);
    let mut pages = pages.map_err(|error| room.damaged(error))?;
    while let Some(page) = pages.get_next_page().map_err(|error| room.damaged(error))? {
        let shared = page.encoding() == Encoding::DELTA_BYTE_ARRAY;
        if !shared && page.encoding() != Encoding::DELTA_LENGTH_BYTE_ARRAY {
            continue;
        }
        let start = match &page {
            // Levels of the first version are behind their length.
            Page::DataPage { buf, .. } if optional => {
                let length = buf.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
                length.map(|length| length as usize + 4)
            }
            Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
                Some(*def_levels_byte_len as usize + *rep_levels_byte_len as usize)
            }
            _ => Some(0),
        };
        let texts = start.and_then(|start| page.buffer().get(start..)).ok_or_else(broken)?;
        let mut texts = Bytes::new(texts);
        let most = u64::from(page.num_values());
        pass_packed(&mut texts, most).ok_or_else(broken)?;
        // Lengths of shared beginnings come before those of the rest.
        if shared {
            pass_packed(&mut texts, most).ok_or_else(broken)?;
        }
    }
    Ok(())
}

/// Passes over whole numbers in the encoding of differences, of which there are `most` at most.
fn pass_packed(bytes: &mut Bytes, most: u64) -> Option<()> {
    let (block, parts) = (bytes.count()?, bytes.count()?);
    let count = bytes.count().filter(|&count| count <= most)?;
    bytes.count()?; // the first number
    if parts == 0 || parts > block {
        return None;
    }
    let per = usize::try_from(block / parts).ok()?;
    let mut left = count.saturating_sub(1);
    while left > 0 {
        bytes.count()?; // the least difference
        let mut widths = Vec::new();
        for _ in 0..parts {
            widths.push(bytes.byte()?);
        }
        for width in widths {
            // Behind the last number there are no bits.
            if left > 0 {
                bytes.skip((usize::from(width)).checked_mul(per)? / 8)?;
            }
            left = left.saturating_sub(per as u64);
        }
    }
    Some(())
}
