//! Arrow files: Feather's second version, or a stream. Their messages are looked over before any is decoded.

use super::fields::check_schema;
use super::room::Room;
use super::{Needs, Parts};
use crate::DataError;
use crate::table::{Table, columnar::cells::Words};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, MetadataVersion, RecordBatch, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};
use bytes::Bytes;
use std::collections::HashSet;
use std::sync::Arc;

/// A message that holds cells.
enum Part {
    /// The words of the columns that name this dictionary.
    Dictionary(i64),
    /// So many rows.
    Rows(u64),
}

/// A file whose messages were found.
struct Ipc {
    schema: SchemaRef,
    version: MetadataVersion,
    /// The dictionary of each field.
    dictionaries: Vec<Option<i64>>,
    parts: Vec<(Part, Block)>,
}

/// Reads a file.
pub(super) fn read_arrow(bytes: Bytes, needs: Needs, room: &Room) -> Result<Table, DataError> {
    let ipc = match bytes.starts_with(b"ARROW1") {
        true => Ipc::of_file(&bytes, room)?,
        false => Ipc::of_stream(&bytes, room)?,
    };
    let mut parts = Parts::new(&ipc.schema, needs, room)?;
    let wanted = parts.wanted();
    let ids: HashSet<i64> =
        wanted.iter().filter_map(|&field| *ipc.dictionaries.get(field)?).collect();
    let (mut rows, mut kept) = (0u64, 0u64);
    for (part, _) in &ipc.parts {
        if let Part::Rows(count) = part {
            rows = rows.saturating_add(*count);
        }
    }
    room.lend(rows.saturating_mul(8).saturating_mul(wanted.len().max(1) as u64), "its rows")?;
    let total = usize::try_from(rows).map_err(|_| room.damaged("it claims too many rows"))?;
    if wanted.is_empty() {
        return Ok(parts.into_table(room, total));
    }
    let failed = |error: ArrowError| DataError::format(room.file(), error.to_string());
    let mut decoder =
        FileDecoder::new(ipc.schema.clone(), ipc.version).with_projection(wanted.clone());
    let mut words = Words::new(room);
    for (part, block) in &ipc.parts {
        let (start, end) = span_of(block, &bytes, room)?;
        let shared = bytes.slice(start..end);
        let message = message_of(&bytes, block, room)?;
        let body = bytes.get(start + block.metaDataLength() as usize..end).unwrap_or_default();
        match part {
            Part::Dictionary(id) if !ids.contains(id) => {}
            Part::Dictionary(_) => {
                let batch = message.header_as_dictionary_batch().and_then(|batch| batch.data());
                let batch = batch.ok_or_else(|| room.damaged("a dictionary is empty"))?;
                // Dictionaries are kept to the end.
                kept = kept.saturating_add(check_batch(batch, body, room)?);
                room.lend(kept, "its dictionaries")?;
                decoder.read_dictionary(block, &shared.into()).map_err(failed)?;
            }
            Part::Rows(_) => {
                let batch = message.header_as_record_batch();
                let batch = batch.ok_or_else(|| room.damaged("a batch of rows is empty"))?;
                room.lend(check_batch(batch, body, room)?, "buffers of a batch of rows")?;
                let batch = decoder.read_record_batch(block, &shared.into()).map_err(failed)?;
                for (&field, array) in
                    wanted.iter().zip(batch.iter().flat_map(|batch| batch.columns()))
                {
                    parts.add(field, array.as_ref(), &mut words)?;
                }
            }
        }
    }
    Ok(parts.into_table(room, total))
}

/// The part of the bytes that a block names.
fn span_of(block: &Block, bytes: &Bytes, room: &Room) -> Result<(usize, usize), DataError> {
    let outside = || room.damaged("a part of it lies outside of the file");
    let whole = |number: i64| usize::try_from(number).map_err(|_| outside());
    let (start, head) = (whole(block.offset())?, whole(block.metaDataLength().into())?);
    let end = whole(block.bodyLength())?.checked_add(head).and_then(|size| size.checked_add(start));
    let end = end.filter(|&end| head >= 8 && end <= bytes.len()).ok_or_else(outside)?;
    Ok((start, end))
}

/// The message at the start of a block.
fn message_of<'a>(
    bytes: &'a Bytes,
    block: &Block,
    room: &Room,
) -> Result<arrow_ipc::Message<'a>, DataError> {
    let (start, _) = span_of(block, bytes, room)?;
    let head = bytes.get(start..start + block.metaDataLength() as usize).unwrap_or_default();
    let head = if head.starts_with(&[0xff; 4]) { head.get(8..) } else { head.get(4..) };
    root_as_message(head.unwrap_or_default()).map_err(|error| room.damaged(error))
}

/// Checks where the buffers of a batch lie; gives the bytes that they claim once they are unpacked.
fn check_batch(batch: RecordBatch, body: &[u8], room: &Room) -> Result<u64, DataError> {
    let outside = || room.damaged("a buffer lies outside of its batch of rows");
    let packed = batch.compression().is_some();
    let (mut stored, mut claimed) = (0u64, 0u64);
    for buffer in batch.buffers().into_iter().flatten() {
        let whole = |number: i64| usize::try_from(number).map_err(|_| outside());
        let (start, length) = (whole(buffer.offset())?, whole(buffer.length())?);
        let end = start.checked_add(length).ok_or_else(outside)?;
        let bytes = body.get(start..end).ok_or_else(outside)?;
        stored = stored.saturating_add(length as u64);
        // Packed buffers start with their size, or -1 where they are not packed.
        let size = bytes.first_chunk().map(|size| i64::from_le_bytes(*size)).filter(|_| packed);
        let size = size.and_then(|size| u64::try_from(size).ok()).unwrap_or(length as u64);
        claimed = claimed.saturating_add(size);
    }
    if stored > body.len() as u64 {
        return Err(room.damaged("two of its buffers lie in the same place"));
    }
    Ok(claimed)
}

impl Ipc {
    fn new(
        schema: arrow_ipc::Schema,
        length: usize,
        version: MetadataVersion,
        room: &Room,
    ) -> Result<Self, DataError> {
        check_schema(schema, length, room)?;
        if !schema.endianness().equals_to_target_endianness() {
            let problem =
                "not an Arrow file: its bytes are in the order of another kind of machine";
            return Err(DataError::format(room.file(), problem));
        }
        let fields = schema.fields().into_iter().flatten();
        let dictionaries = fields.map(|field| Some(field.dictionary()?.id())).collect();
        let schema = try_fb_to_schema(schema).map_err(|error| wrong(error, room))?;
        Ok(Self { schema: Arc::new(schema), version, dictionaries, parts: Vec::new() })
    }

    /// Adds a message, if it holds cells.
    fn push(
        &mut self,
        message: arrow_ipc::Message,
        block: Block,
        room: &Room,
    ) -> Result<(), DataError> {
        if let Some(batch) = message.header_as_dictionary_batch() {
            self.parts.push((Part::Dictionary(batch.id()), block));
        } else if let Some(batch) = message.header_as_record_batch() {
            let rows = u64::try_from(batch.length());
            let rows = rows.map_err(|_| room.damaged("a batch claims fewer rows than 0"))?;
            self.parts.push((Part::Rows(rows), block));
        }
        Ok(())
    }

    /// Finds the messages of a file through its footer.
    fn of_file(bytes: &Bytes, room: &Room) -> Result<Self, DataError> {
        let cut = || wrong("it is cut short", room);
        let (rest, tail) = bytes.split_last_chunk().ok_or_else(cut)?;
        let size = read_footer_length(*tail).map_err(|error| wrong(error, room))?;
        let start = rest.len().checked_sub(size).ok_or_else(cut)?;
        let footer = rest.get(start..).ok_or_else(cut)?;
        let footer = root_as_footer(footer).map_err(|error| wrong(error, room))?;
        let schema = footer.schema().ok_or_else(|| wrong("it has no schema", room))?;
        let mut ipc = Self::new(schema, size, footer.version(), room)?;
        let dictionaries = footer.dictionaries().into_iter().flatten();
        let batches = footer.recordBatches().into_iter().flatten();
        for block in dictionaries.chain(batches) {
            let message = message_of(bytes, block, room)?;
            ipc.push(message, *block, room)?;
        }
        Ok(ipc)
    }

    /// Finds the messages of a stream one after the other.
    fn of_stream(bytes: &Bytes, room: &Room) -> Result<Self, DataError> {
        let old = "Feather's first version cannot be read: write it again with a newer library";
        let cut = || match bytes.starts_with(b"FEA1") {
            true => wrong(old, room),
            false => wrong("it is cut short, or something else", room),
        };
        let mut found: Option<Self> = None;
        let mut at = 0;
        while at < bytes.len() {
            let number = |at: usize| Some(i32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
            let (prefix, size) = match number(at).ok_or_else(cut)? {
                -1 => (8, number(at + 4).ok_or_else(cut)?),
                size => (4, size),
            };
            if size == 0 {
                break;
            }
            let head = usize::try_from(size).ok().and_then(|size| size.checked_add(prefix));
            let head = head.filter(|&head| head <= bytes.len() - at).ok_or_else(cut)?;
            let message = bytes.get(at + prefix..at + head).unwrap_or_default();
            let message = root_as_message(message).map_err(|_| cut())?;
            let meta = i32::try_from(head).map_err(|_| cut())?;
            let block = Block::new(at as i64, meta, message.bodyLength());
            let (_, end) = span_of(&block, bytes, room)?;
            match (&mut found, message.header_as_schema()) {
                (None, Some(schema)) => {
                    found = Some(Self::new(schema, head, message.version(), room)?);
                }
                (Some(ipc), None) => ipc.push(message, block, room)?,
                _ => return Err(wrong("it does not start with its schema", room)),
            }
            at = end;
        }
        found.ok_or_else(cut)
    }
}

fn wrong(problem: impl std::fmt::Display, room: &Room) -> DataError {
    DataError::format(room.file(), format!("not an Arrow file: {problem}"))
}
