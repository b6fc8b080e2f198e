//! Tables in Parquet and Arrow files (Feather is Arrow's file format).
//!
//! A file is looked over before its decoder sees it: how deep it is nested, where its parts lie, how much they claim
//! to be once they are unpacked. Only columns that are needed are decoded.

mod cells;
mod fields;
mod footer;
mod holds;
mod ipc;
mod pages;
mod quiet;
mod room;
mod rows;
mod thrift;

pub(crate) use cells::{Words, exact};
pub(crate) use holds::{has_numbers, holds, is_list, name_of};
pub(crate) use pages::Claims;
pub(crate) use quiet::guarded;
pub(crate) use room::Room;
pub(crate) use rows::{BATCH, Rows};

use super::{Cells, Column, Holds, Needs, Table};
use crate::DataError;
use crate::allocate::reserve;
use crate::store::Store;
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_schema::{DataType, Schema};
use bytes::Bytes;
use std::sync::Arc;

/// Columns of a Parquet file that are decoded side by side; each has a page in memory.
const TOGETHER: usize = 64;

/// Reads a Parquet file.
pub(super) fn parquet(store: &Store, name: &str, needs: Needs) -> Result<Table, DataError> {
    read(store, name, |bytes, room| read_parquet(bytes, needs, room))
}

/// Reads an Arrow file: Feather's second version, or a stream.
pub(super) fn arrow(store: &Store, name: &str, needs: Needs) -> Result<Table, DataError> {
    read(store, name, |bytes, room| ipc::read_arrow(bytes, needs, room))
}

fn read(
    store: &Store,
    name: &str,
    decode: impl FnOnce(Bytes, &Room) -> Result<Table, DataError>,
) -> Result<Table, DataError> {
    let file = store.label(name);
    let bytes = Bytes::from(store.read(name)?);
    let room = Room::new(file.clone(), store.allowance(name, bytes.len() as u64));
    guarded(&file, || decode(bytes, &room))
}

fn read_parquet(bytes: Bytes, needs: Needs, room: &Room) -> Result<Table, DataError> {
    let rows = Rows::open(Arc::new(bytes), room)?;
    let mut parts = Parts::new(rows.schema(), needs, room)?;
    let wanted = parts.wanted();
    let mut unpacked = 0u64;
    let mut cells = rows.len() as u64 * u64::from(wanted.is_empty());
    let mut claims = Vec::new();
    for &field in &wanted {
        let claimed = rows.claims(field, room)?;
        unpacked = unpacked.saturating_add(claimed.unpacked);
        cells = cells.saturating_add(claimed.values);
        claims.push(claimed);
    }
    room.lend(unpacked, "its pages")?;
    room.lend(cells.saturating_mul(8), "its rows")?;
    let mut words = Words::new(room);
    for (fields, claims) in wanted.chunks(TOGETHER).zip(claims.chunks(TOGETHER)) {
        let texts = fields.iter().zip(claims).filter(|(field, _)| parts.has_texts(**field));
        let texts = texts.map(|(_, claims)| *claims).fold(Claims::default(), Claims::and);
        let mut found = 0;
        for batch in rows.batches(fields, rows.fitting(texts, room), room)? {
            let batch = batch.map_err(|error| DataError::format(room.file(), error.to_string()))?;
            for (&field, array) in fields.iter().zip(batch.columns()) {
                parts.add(field, array.as_ref(), &mut words)?;
            }
            found += batch.num_rows();
        }
        rows.check_found(found, room)?;
    }
    Ok(parts.into_table(room, rows.len()))
}

/// A column of the file and what becomes of it.
struct Part {
    field: usize,
    name: String,
    holds: Holds,
    needed: bool,
    /// One, and for lists one per place in the list.
    columns: Vec<Column>,
}

/// The columns of a file while they are read.
struct Parts {
    parts: Vec<Part>,
    /// Where each column of the file is among them.
    places: Vec<usize>,
}

impl Parts {
    /// Finds out which columns are needed.
    fn new(schema: &Schema, needs: Needs, room: &Room) -> Result<Self, DataError> {
        let fields = schema.fields().iter().enumerate();
        let mut parts: Vec<Part> = fields
            .map(|(field, of)| {
                let (name, holds) = (name_of(of), holds(of.data_type()));
                Part {
                    field,
                    columns: vec![Column::held(name.clone(), &holds)],
                    name,
                    holds,
                    needed: false,
                }
            })
            .collect();
        // An index that is stored last is still the name of the row.
        let index = |part: &Part| part.name.is_empty() && part.holds != Holds::Lists;
        if let Some(at) = parts.iter().position(index) {
            parts[..=at].rotate_right(1);
        }
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        let kinds: Vec<Holds> = parts.iter().map(|part| part.holds.clone()).collect();
        let needed =
            needs(&names, &kinds).map_err(|problem| DataError::format(room.file(), problem))?;
        for (part, needed) in parts.iter_mut().zip(needed) {
            part.needed = needed && !matches!(part.holds, Holds::Other(_));
            if part.needed && part.holds == Holds::Lists {
                part.columns.clear();
                let kind = schema.fields().get(part.field).map(|field| field.data_type());
                if !kind.is_some_and(has_numbers) {
                    let problem = "holds lists of other things than numbers";
                    return Err(refuse(&part.name, problem, room));
                }
            }
        }
        let mut places = vec![0; parts.len()];
        parts.iter().enumerate().for_each(|(at, part)| places[part.field] = at);
        Ok(Self { parts, places })
    }

    /// The numbers of the columns that are decoded, ascending.
    fn wanted(&self) -> Vec<usize> {
        let mut wanted: Vec<usize> =
            self.parts.iter().filter(|part| part.needed).map(|part| part.field).collect();
        wanted.sort_unstable();
        wanted
    }

    /// Whether the cells of a column are texts.
    fn has_texts(&self, field: usize) -> bool {
        let part = self.places.get(field).and_then(|&at| self.parts.get(at));
        part.is_some_and(|part| part.holds == Holds::Words)
    }

    /// Adds rows of a column.
    fn add(&mut self, field: usize, array: &dyn Array, words: &mut Words) -> Result<(), DataError> {
        let at = self.places.get(field).copied().unwrap_or(usize::MAX);
        let Some(part) = self.parts.get_mut(at) else { return Ok(()) };
        match &mut part.columns[..] {
            [column] if part.holds != Holds::Lists => words.add(column, array),
            _ => add_lists(&mut part.columns, array, &part.name, words.room()),
        }
    }

    fn into_table(self, room: &Room, rows: usize) -> Table {
        let columns = self.parts.into_iter().flat_map(|part| part.columns).collect();
        Table { file: room.file().to_owned(), named: true, columns, rows }
    }
}

fn refuse(name: &str, problem: &str, room: &Room) -> DataError {
    DataError::format(room.file(), format!("the column '{name}' {problem}"))
}

/// Adds lists of equal length to their columns.
fn add_lists(
    group: &mut Vec<Column>,
    array: &dyn Array,
    name: &str,
    room: &Room,
) -> Result<(), DataError> {
    for row in 0..array.len() {
        let list = match array.data_type() {
            _ if array.is_null(row) => return Err(refuse(name, "lacks a list", room)),
            DataType::List(_) => array.as_list::<i32>().value(row),
            DataType::LargeList(_) => array.as_list::<i64>().value(row),
            _ => array.as_fixed_size_list().value(row),
        };
        room.take(list.len() as u64 * 8, "its lists")?;
        let numbers = exact(list.as_ref())
            .ok_or_else(|| refuse(name, "holds lists of other things than numbers", room))?;
        if group.is_empty() {
            let each = (size_of::<Column>() + name.len()) as u64 + 20;
            room.take(each.saturating_mul(numbers.len() as u64), "the columns of its lists")?;
            let column = |k| Column::new(format!("{name}_{k}"), Cells::Numbers(Vec::new()));
            group.extend((0..numbers.len()).map(column));
        }
        if numbers.len() != group.len() {
            return Err(refuse(name, "holds lists of different lengths", room));
        }
        for (column, number) in group.iter_mut().zip(numbers) {
            if let Cells::Numbers(cells) = &mut column.cells {
                reserve(cells, 1, room.file())?;
                cells.push(number);
            }
        }
    }
    Ok(())
}
