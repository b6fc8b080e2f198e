//! Columns of Parquet files, which lie apart: a block reads its own and no others.
//!
//! What is a feature is what it is in a table that is read whole: ids, labels and words are none, and a column of lists is
//! a column per place.

use super::by_id::places;
use super::source::{Run, Source, Take};
use super::{Beside, Opened};
use crate::DataError;
use crate::allocate::{collect, reserve};
use crate::attach::short;
use crate::store::{allowance, io_error};
use crate::table::columnar::{
    BATCH, Claims, Room, Rows, Words, exact, guarded, has_numbers, holds, is_list, name_of,
};
use crate::table::{
    Cells, Column, Holds, Meaning, NodeIndex, Table, TableKind, label_remark, meaning,
};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Columns that are decoded side by side; each has a page in memory.
const TOGETHER: usize = 8;

/// Numbers of a column of lists that are decoded at a time.
const NUMBERS: usize = 1 << 20;

/// A file and those of its columns that are features.
struct Parquet {
    path: PathBuf,
    rows: Rows<File>,
    /// What its size on disk allows to be made of it.
    limit: u64,
    columns: Vec<ColumnPlace>,
}

/// Where a column of the table is in the file.
#[derive(Clone, Debug)]
struct ColumnPlace {
    name: String,
    /// Which of the file's columns.
    field: usize,
    /// Which place of how many in its lists.
    item: Option<(usize, usize)>,
}

/// Opens a file, and finds out which columns are ids and which are features.
pub(super) fn open(path: &Path, beside: &Beside) -> Result<Opened, DataError> {
    guarded(&path.display().to_string(), || opened(path, beside))
}

fn opened(path: &Path, beside: &Beside) -> Result<Opened, DataError> {
    let label = path.display().to_string();
    let failed = |reason| io_error(path, "read", reason);
    let file = File::open(path).map_err(failed)?;
    let limit = allowance(file.metadata().map_err(failed)?.len());
    let rows = Rows::open(Arc::new(file), &Room::new(label.clone(), limit))?;
    let mut parquet = Parquet { path: path.to_owned(), rows, limit, columns: Vec::new() };
    let all = parquet.places()?;
    let table = parquet.outline(&all, beside.config.columns.id.as_deref())?;
    let (dataset, columns) = (beside.dataset, &beside.config.columns);
    let index = NodeIndex::new(dataset.node_names.as_ref(), dataset.graph.nodes(), &label)?;
    let is_node = |id: &str| index.get(id).is_some();
    let roles = table.roles(TableKind::Features, columns, &is_node)?;
    let mut remarks = Vec::new();
    let is_word = |k: &usize| !matches!(table.columns[*k].cells, Cells::Numbers(_));
    let (words, numbers): (Vec<usize>, Vec<usize>) = roles.rest.iter().partition(|k| is_word(k));
    if !words.is_empty() {
        remarks.push(format!("{}: {}", short(&label), table.words_remark(&words)));
    }
    if let Some(k) = roles.label {
        remarks.push(format!("{}: {}", short(&label), label_remark(&table.columns[k].name)));
    }
    let ids = roles.id.map(|k| table.ids(k)).transpose()?;
    drop(table);
    parquet.columns = numbers.iter().map(|&k| all[k].clone()).collect();
    if parquet.columns.is_empty() {
        return Err(DataError::format(label, "there is no column of numbers in it"));
    }
    let placed = ids.map(|ids| places(&ids, &index, beside, &label)).transpose()?;
    let (places, more) = placed.map_or((None, Vec::new()), |(places, more)| (Some(places), more));
    remarks.extend(more);
    Ok(Opened { source: Box::new(parquet), places, remarks })
}

impl Parquet {
    fn label(&self) -> String {
        self.path.display().to_string()
    }

    fn wrong(&self, problem: impl ToString) -> DataError {
        DataError::format(self.label(), problem.to_string())
    }

    /// What is made of the file is counted from here on.
    fn room(&self) -> Room {
        Room::new(self.label(), self.limit)
    }

    /// What the pages of a column claim. Pages are unpacked one after the other, but a batch of lists is in memory whole.
    fn claims(&self, field: usize) -> Result<Claims, DataError> {
        let room = self.room();
        let claims = self.rows.claims(field, &room)?;
        let lists =
            self.rows.schema().fields().get(field).is_some_and(|of| is_list(of.data_type()));
        if lists {
            room.lend(claims.values.saturating_mul(8), "its lists")?;
        }
        Ok(claims)
    }

    /// Reads some of the file's columns, which come in their order.
    fn batches(
        &self,
        fields: &[usize],
        rows: usize,
    ) -> Result<impl Iterator<Item = Result<RecordBatch, DataError>>, DataError> {
        let label = self.label();
        let mut reader = guarded(&label, || self.rows.batches(fields, rows, &self.room()))?;
        let next = move || {
            let next = || Ok(reader.next());
            let batch = guarded(&label, next).transpose()?;
            Some(
                batch.and_then(|batch| batch.map_err(|e| DataError::format(&label, e.to_string()))),
            )
        };
        Ok(std::iter::from_fn(next))
    }

    /// The columns of the table: those of the file, and of lists one per place.
    fn places(&self) -> Result<Vec<ColumnPlace>, DataError> {
        let mut places = Vec::new();
        let room = self.room();
        for (field, of) in self.rows.schema().fields().iter().enumerate() {
            let name = name_of(of);
            if holds(of.data_type()) == Holds::Numbers {
                self.claims(field)?;
            }
            let length = match of.data_type() {
                kind if is_list(kind) && !has_numbers(kind) => {
                    let problem = "holds lists of other things than numbers";
                    return Err(self.wrong(format!("the column '{name}' {problem}")));
                }
                DataType::FixedSizeList(_, length) => {
                    self.claims(field)?;
                    usize::try_from(*length).unwrap_or(0)
                }
                kind if is_list(kind) => self.first_length(field)?,
                _ => {
                    places.push(ColumnPlace { name, field, item: None });
                    continue;
                }
            };
            let each =
                (size_of::<ColumnPlace>() + size_of::<Column>() + 2 * name.len()) as u64 + 40;
            room.take(each.saturating_mul(length as u64), "the columns of its lists")?;
            reserve(&mut places, length, &self.label())?;
            let place =
                |k| ColumnPlace { name: format!("{name}_{k}"), field, item: Some((k, length)) };
            places.extend((0..length).map(place));
        }
        // An index that is stored last is still the name of the row.
        if let Some(at) = places.iter().position(|place| place.name.is_empty()) {
            places[..=at].rotate_right(1);
        }
        Ok(places)
    }

    /// The length of the first list of a column.
    fn first_length(&self, field: usize) -> Result<usize, DataError> {
        self.claims(field)?;
        let Some(batch) = self.batches(&[field], 1)?.next() else { return Ok(0) };
        let batch = batch?;
        Ok(batch.columns().first().and_then(|array| list_lengths(array)?.next()).unwrap_or(0))
    }

    /// The table with its names and kinds, but of cells only those of columns that could be ids.
    fn outline(&self, places: &[ColumnPlace], wanted: Option<&str>) -> Result<Table, DataError> {
        let fields = self.rows.schema().fields();
        let column = |place: &ColumnPlace| match (place.item, fields.get(place.field)) {
            (None, Some(field)) => Column::held(place.name.clone(), &holds(field.data_type())),
            _ => Column::new(place.name.clone(), Cells::Numbers(Vec::new())),
        };
        let columns = collect(places.iter().map(column), &self.label())?;
        let mut table = Table { file: self.label(), named: true, columns, rows: self.rows.len() };
        let room = self.room();
        let mut words = Words::new(&room);
        let wanted = match wanted {
            None | Some("none") => None,
            Some(wanted) => Some(table.find(wanted)?),
        };
        for (k, place) in places.iter().enumerate() {
            let column = &table.columns[k];
            let first =
                k == 0 && (column.name.is_empty() || matches!(column.cells, Cells::Words(_)));
            let could = first || meaning(&place.name) == Some(Meaning::Id);
            let used = place.item.is_none() && wanted.map_or(could, |wanted| wanted == k);
            if used && column.cells != Cells::Other {
                room.lend(table.rows as u64 * 8, "its rows")?;
                let rows = self.rows.fitting(self.claims(place.field)?, &room);
                for batch in self.batches(&[place.field], rows)? {
                    words.add(&mut table.columns[k], self.array(&batch?, 0)?)?;
                }
            }
        }
        Ok(table)
    }

    fn array<'a>(&self, batch: &'a RecordBatch, at: usize) -> Result<&'a ArrayRef, DataError> {
        batch.columns().get(at).ok_or_else(|| self.wrong("damaged: a column is not there"))
    }

    /// The features of some columns, a batch of rows after the other. `first` is the number of the first.
    fn read(&self, first: usize, columns: &[ColumnPlace], take: Take) -> Result<(), DataError> {
        let mut fields: Vec<usize> = columns.iter().map(|place| place.field).collect();
        fields.sort_unstable();
        fields.dedup();
        let longest = columns.iter().filter_map(|place| place.item).map(|(_, length)| length).max();
        let rows = (NUMBERS / longest.unwrap_or(1).max(1)).clamp(1, BATCH);
        let mut row = 0;
        let mut singles: Vec<f32> = Vec::new();
        for batch in self.batches(&fields, rows)? {
            let batch = batch?;
            let mut number = first;
            for group in columns.chunk_by(|a, b| a.field == b.field) {
                let [ColumnPlace { name, field, item }, ..] = group else { continue };
                let array =
                    self.array(&batch, fields.binary_search(field).unwrap_or(usize::MAX))?;
                let numbers = match item {
                    None => exact(array),
                    Some((_, length)) => {
                        exact(&self.items(array, *length).map_err(|problem| {
                            self.wrong(format!("the column '{name}' {problem}"))
                        })?)
                    }
                };
                let numbers = numbers.ok_or_else(|| {
                    self.wrong(format!(
                        "the column '{name}' holds whole numbers beyond 2^53, or no numbers, which are no features; \
                         name it with --id-column if it holds ids, or leave it out of the file"
                    ))
                })?;
                singles.clear();
                singles.extend(numbers.iter().map(|&number| number as f32));
                match item {
                    None => take(Run::of_column(row, number, &singles))?,
                    Some((from, length)) => {
                        for (row, list) in (row..).zip(singles.chunks_exact((*length).max(1))) {
                            let part = list.get(*from..from + group.len()).unwrap_or_default();
                            take(Run::of_row(row, number, part))?;
                        }
                    }
                }
                number += group.len();
            }
            row += batch.num_rows();
        }
        self.rows.check_found(row, &self.room())
    }

    /// The numbers of lists one after the other.
    fn items(&self, array: &ArrayRef, length: usize) -> Result<ArrayRef, &'static str> {
        if array.null_count() > 0 {
            return Err("lacks a list");
        }
        let mut lengths = list_lengths(array).ok_or("holds no lists")?;
        if lengths.any(|found| found != length) {
            return Err("holds lists of different lengths");
        }
        let (values, from) = match array.data_type() {
            DataType::List(_) => {
                let list = array.as_list::<i32>();
                (list.values(), list.value_offsets().first().map_or(0, |&at| at as usize))
            }
            DataType::LargeList(_) => {
                let list = array.as_list::<i64>();
                (list.values(), list.value_offsets().first().map_or(0, |&at| at as usize))
            }
            _ => {
                let list = array.as_fixed_size_list();
                (list.values(), list.value_offset_at(0))
            }
        };
        Ok(values.slice(from, length * array.len()))
    }
}

/// How long each list of an array is.
fn list_lengths(array: &ArrayRef) -> Option<Box<dyn Iterator<Item = usize> + '_>> {
    Some(match array.data_type() {
        DataType::List(_) => {
            let ends = array.as_list::<i32>().value_offsets().windows(2);
            Box::new(ends.map(|ends| (ends[1] - ends[0]) as usize))
        }
        DataType::LargeList(_) => {
            let ends = array.as_list::<i64>().value_offsets().windows(2);
            Box::new(ends.map(|ends| (ends[1] - ends[0]) as usize))
        }
        DataType::FixedSizeList(_, length) => {
            Box::new(std::iter::repeat_n(usize::try_from(*length).unwrap_or(0), array.len()))
        }
        _ => return None,
    })
}

impl Source for Parquet {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn cols(&self) -> usize {
        self.columns.len()
    }

    fn runs(&self, columns: Range<usize>, take: Take) -> Result<(), DataError> {
        // Columns of one list lie together and are read at once.
        let mut first = columns.start;
        while first < columns.end {
            let mut fields = 1;
            let next = |k: usize| self.columns[k].field != self.columns[k - 1].field;
            let end = (first + 1..columns.end)
                .find(|&k| {
                    fields += usize::from(next(k));
                    fields > TOGETHER
                })
                .unwrap_or(columns.end);
            self.read(first, &self.columns[first..end], take)?;
            first = end;
        }
        Ok(())
    }
}
