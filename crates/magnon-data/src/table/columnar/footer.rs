//! The footer of a Parquet file, looked over before the decoder builds its tree of columns from it.

use super::fields::check_embedded;
use super::room::Room;
use super::thrift::{Bytes, Value, Visitor, is_whole, kind};
use crate::DataError;
use parquet::arrow::ARROW_SCHEMA_META_KEY;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader};
use parquet::file::reader::ChunkReader;
use std::sync::Arc;

/// The most groups within each other. The decoder goes down one call for each.
const DEEPEST: usize = 64;

/// What a column of the schema costs at most, beside its path.
const COLUMN: u64 = 1024;

/// Reads the footer of a file. What it says about columns is checked, what it says about their pages is not.
pub(super) fn read_footer<R: ChunkReader>(
    source: &R,
    room: &Room,
) -> Result<ArrowReaderMetadata, DataError> {
    let wrong = |problem: &dyn std::fmt::Display| {
        DataError::format(room.file(), format!("not a Parquet file: {problem}"))
    };
    let length = source.len();
    let tail = length.checked_sub(8).ok_or_else(|| wrong(&"it is too short"))?;
    let end = source.get_bytes(tail, 8).map_err(|error| wrong(&error))?;
    let size = match end.split_at_checked(4) {
        Some((size, b"PAR1")) => u32::from_le_bytes(size.try_into().unwrap_or_default()),
        Some((_, b"PARE")) => return Err(wrong(&"it is encrypted")),
        _ => return Err(wrong(&"its last bytes are not those of one")),
    };
    let start = tail.checked_sub(u64::from(size)).ok_or_else(|| {
        room.damaged(format!("its footer claims {size} bytes, but the file has {length}"))
    })?;
    let bytes = source.get_bytes(start, size as usize).map_err(|error| wrong(&error))?;
    let schema = schema_of(&bytes, room)?;
    let failed = |error: parquet::errors::ParquetError| wrong(&error);
    let schema = ParquetMetaDataReader::decode_schema(&schema).map_err(failed)?;
    // With the schema that was checked, another one in these bytes is skipped.
    let options = ParquetMetaDataOptions::new().with_schema(schema);
    let metadata = ParquetMetaDataReader::decode_metadata_with_options(&bytes, Some(&options));
    let metadata = metadata.map_err(failed)?;
    for entry in metadata.file_metadata().key_value_metadata().into_iter().flatten() {
        if entry.key == ARROW_SCHEMA_META_KEY {
            check_embedded(entry.value.as_deref().unwrap_or_default(), room)?;
        }
    }
    check_places(&metadata, length, room)?;
    ArrowReaderMetadata::try_new(Arc::new(metadata), ArrowReaderOptions::new()).map_err(failed)
}

/// Whether a field of a column's description has the type that the decoder takes it for.
fn fits(path: &[i16], found: u8) -> bool {
    match path {
        [1..=3 | 5..=9] | [10, 5, 1 | 2] | [10, 18, 2] => is_whole(found),
        [4] | [10, 17 | 18, 1] => found == kind::BINARY,
        [10] | [10, _] | [10, 7 | 8, 2] | [10, 7 | 8, 2, _] => found == kind::STRUCT,
        [10, 7 | 8, 1] | [10, 10, 2] => matches!(found, kind::TRUE | kind::FALSE),
        [10, 10 | 16, 1] => found == kind::BYTE,
        _ => true,
    }
}

/// A footer that holds the schema alone, whose columns are few enough and not nested too deeply.
fn schema_of(footer: &[u8], room: &Room) -> Result<Vec<u8>, DataError> {
    let broken = || room.damaged("its footer does not hold together");
    let mut bytes = Bytes::new(footer);
    let mut last = 0;
    loop {
        let (id, kind) = bytes.field(last).flatten().ok_or_else(broken)?;
        if id == 2 && kind == kind::LIST {
            break;
        }
        bytes.pass(kind).ok_or_else(broken)?;
        last = id;
    }
    let start = bytes.at();
    let (count, kind) = bytes.list().ok_or_else(broken)?;
    if kind != kind::STRUCT {
        return Err(broken());
    }
    room.lend((count as u64).saturating_mul(COLUMN), "the columns of its schema")?;
    // For each group that is open, how many of its members are to come, and how long the path to it is.
    let mut open: Vec<(usize, u64)> = Vec::new();
    let mut paths = 0u64;
    for index in 0..count {
        let (mut name, mut children) = (0, 0);
        let mut take = |path: &[i16], value: Value| match (path, value) {
            ([4], Value::Bytes(length)) => name = length as u64,
            ([5], Value::Whole(count)) => children = count,
            _ => {}
        };
        bytes.structure(&mut Visitor { fits: &fits, take: &mut take }).ok_or_else(broken)?;
        let above = match open.last_mut() {
            Some((left, path)) => {
                *left -= 1;
                *path
            }
            None if index == 0 => 0,
            None => return Err(room.damaged("its schema has columns beside the root")),
        };
        let children = usize::try_from(children).ok().filter(|&n| n < count).ok_or_else(|| {
            room.damaged("a group of its schema claims more columns than there are")
        })?;
        // Each part of a path is a text of its own.
        let path = if index == 0 { 0 } else { above + name + 32 };
        paths = paths.saturating_add(path);
        if children > 0 {
            open.push((children, path));
        }
        if open.len() > DEEPEST {
            let problem = format!(
                "its columns are nested more than {DEEPEST} levels deep; flatten them before you \
                 write the file"
            );
            return Err(DataError::format(room.file(), problem));
        }
        while open.last().is_some_and(|&(left, _)| left == 0) {
            open.pop();
        }
    }
    if !open.is_empty() {
        return Err(room.damaged("a group of its schema claims more columns than there are"));
    }
    room.lend(paths, "the names of its columns")?;
    let schema = footer.get(start..bytes.at()).unwrap_or_default();
    // Field 2, a list, and the end of the structure.
    Ok([&[0x29], schema, &[0]].concat())
}

/// Checks where the columns lie, and that the rows of the groups add up.
fn check_places(metadata: &ParquetMetaData, length: u64, room: &Room) -> Result<(), DataError> {
    let outside = || room.damaged("a column lies outside of the file");
    let mut spans = Vec::new();
    let mut rows = 0u64;
    for group in metadata.row_groups() {
        let negative = || room.damaged("a group of rows claims fewer than 0");
        rows = rows.saturating_add(u64::try_from(group.num_rows()).map_err(|_| negative())?);
        for column in group.columns() {
            let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
            let start = u64::try_from(start).map_err(|_| outside())?;
            let size = u64::try_from(column.compressed_size()).map_err(|_| outside())?;
            let end = start.checked_add(size).filter(|&end| end <= length).ok_or_else(outside)?;
            spans.push(start..end);
        }
    }
    let claimed = metadata.file_metadata().num_rows();
    if i64::try_from(rows) != Ok(claimed) {
        let problem = format!("it claims {claimed} rows, but its groups of rows have {rows}");
        return Err(room.damaged(problem));
    }
    spans.retain(|span| span.start < span.end);
    spans.sort_unstable_by_key(|span| span.start);
    if spans.windows(2).any(|pair| pair[1].start < pair[0].end) {
        return Err(room.damaged("two of its columns lie in the same place"));
    }
    Ok(())
}
