//! Schemas of Arrow files, looked over before the decoder builds its tree of fields from them.

use super::room::Room;
use crate::DataError;
use arrow_ipc::{Field, KeyValue, Schema};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// The most fields within each other.
const DEEPEST: usize = 64;

/// The fewest bytes in which a field is written.
const LEAST: usize = 16;

/// Checks the schema that a Parquet file has beside its own, as text. What is no schema is left to the decoder.
pub(super) fn check_embedded(text: &str, room: &Room) -> Result<(), DataError> {
    let Ok(bytes) = BASE64_STANDARD.decode(text) else { return Ok(()) };
    let message = if bytes.starts_with(&[0xff; 4]) { bytes.get(8..) } else { Some(&bytes[..]) };
    let Some(Ok(message)) = message.map(arrow_ipc::root_as_message) else { return Ok(()) };
    let Some(schema) = message.header_as_schema() else { return Ok(()) };
    check_schema(schema, bytes.len(), room)
}

/// Checks a schema that is written in `length` bytes. Fields can share what they are written in, so that few bytes
/// stand for many.
pub(super) fn check_schema(schema: Schema, length: usize, room: &Room) -> Result<(), DataError> {
    let mut texts: u64 = schema.custom_metadata().into_iter().flatten().map(pair_of).sum();
    room.lend(texts, "the notes of its schema")?;
    let mut open: Vec<(Field, usize)> =
        schema.fields().into_iter().flatten().map(|field| (field, 1)).collect();
    let mut left = length / LEAST;
    while let Some((field, depth)) = open.pop() {
        let children = field.children().map_or(0, |children| children.len());
        // Those that wait are counted, too: a list of them can be shared.
        if left <= open.len() + children {
            return Err(room.damaged("its schema claims more fields than its bytes can hold"));
        }
        left -= 1;
        if depth > DEEPEST {
            let problem = format!(
                "its columns are nested more than {DEEPEST} levels deep; flatten them before you \
                 write the file"
            );
            return Err(DataError::format(room.file(), problem));
        }
        texts = texts.saturating_add(text_of(field));
        room.lend(texts, "the names of its columns")?;
        open.extend(field.children().into_iter().flatten().map(|child| (child, depth + 1)));
    }
    Ok(())
}

/// The bytes that a note takes in memory.
fn pair_of(pair: KeyValue) -> u64 {
    let text = |text: Option<&str>| text.map_or(0, str::len) as u64;
    text(pair.key()) + text(pair.value()) + 64
}

/// The bytes that a field takes in memory, without its children.
fn text_of(field: Field) -> u64 {
    let text = |text: Option<&str>| text.map_or(0, str::len) as u64;
    let pairs: u64 = field.custom_metadata().into_iter().flatten().map(pair_of).sum();
    let zone = field.type_as_timestamp().map_or(0, |kind| text(kind.timezone()));
    let tags =
        field.type_as_union().and_then(|kind| kind.typeIds()).map_or(0, |ids| ids.len() as u64 * 8);
    text(field.name()) + pairs + zone + tags + 256
}
