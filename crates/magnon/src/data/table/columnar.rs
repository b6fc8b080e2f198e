//! Tables in Parquet and Arrow files (Feather is Arrow's file format).

use super::{Cells, Column, Table};
use crate::data::DataError;
use crate::data::room::reserve;
use crate::data::store::Store;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Field};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use std::io::Cursor;

/// Rows that are decoded at a time.
pub(crate) const BATCH: usize = 8192;

/// Reads a Parquet file.
pub(super) fn parquet(store: &Store, name: &str) -> Result<Table, DataError> {
    let file = store.label(name);
    let bytes = bytes::Bytes::from(store.read(name)?);
    guarded(&file, || read_parquet(bytes, file.clone()))
}

/// The decoders answer most damage with an error, and some with a panic.
pub(crate) fn guarded<T>(
    file: &str,
    read: impl FnOnce() -> Result<T, DataError>,
) -> Result<T, DataError> {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read));
    outcome.unwrap_or_else(|_| {
        Err(DataError::format(file, "damaged: its parts do not fit together; fetch it again"))
    })
}

fn read_parquet(bytes: bytes::Bytes, file: String) -> Result<Table, DataError> {
    let length = bytes.len() as u64;
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes)
        .map_err(|error| DataError::format(&file, format!("not a Parquet file: {error}")))?;
    check_parquet(builder.metadata(), length, &file)?;
    let reader = builder.with_batch_size(BATCH).build();
    table(reader.map_err(|error| DataError::format(&file, error.to_string()))?, file)
}

/// Checks what a file of `length` bytes claims; gives the number of its rows.
pub(crate) fn check_parquet(
    metadata: &ParquetMetaData,
    length: u64,
    file: &str,
) -> Result<usize, DataError> {
    let rows = metadata.file_metadata().num_rows().max(0) as u64;
    let rows = crate::data::raw::check_count(file, "rows", rows, length.saturating_mul(64))?;
    let columns = metadata.row_groups().iter().flat_map(|group| group.columns());
    let places = |column: &ColumnChunkMetaData| {
        [column.compressed_size(), column.data_page_offset()]
            .into_iter()
            .chain(column.dictionary_page_offset())
            .all(|number| (0..=length as i64).contains(&number))
    };
    if !columns.into_iter().all(places) {
        return Err(DataError::format(file, "damaged: a column lies outside of the file"));
    }
    Ok(rows)
}

/// Reads an Arrow file: Feather's second version, or a stream.
pub(super) fn arrow(store: &Store, name: &str) -> Result<Table, DataError> {
    let file = store.label(name);
    let bytes = store.read(name)?;
    let failed = |error: ArrowError| {
        let old = "; Feather's first version cannot be read: write it again with a newer library";
        let hint = if bytes.starts_with(b"FEA1") { old } else { "" };
        DataError::format(&file, format!("not an Arrow file: {error}{hint}"))
    };
    guarded(&file, || read_arrow(&bytes, file.clone(), failed))
}

fn read_arrow(
    bytes: &[u8],
    file: String,
    failed: impl Fn(ArrowError) -> DataError,
) -> Result<Table, DataError> {
    if bytes.starts_with(b"ARROW1") {
        let reader = arrow_ipc::reader::FileReader::try_new(Cursor::new(bytes), None);
        return table(reader.map_err(failed)?, file);
    }
    let reader = arrow_ipc::reader::StreamReader::try_new(Cursor::new(bytes), None);
    table(reader.map_err(failed)?, file)
}

/// Puts the batches of a reader together. A column of lists becomes one column per place in the list.
fn table(reader: impl RecordBatchReader, file: String) -> Result<Table, DataError> {
    let schema = reader.schema();
    let mut groups: Vec<Vec<Column>> = schema
        .fields()
        .iter()
        .map(|field| {
            if is_list(field.data_type()) {
                return Vec::new();
            }
            let cells = match is_number(field.data_type()) {
                true => Cells::Numbers(Vec::new()),
                false => Cells::Words(Vec::new()),
            };
            vec![Column { name: name_of(field), cells, stray: None, gap: None }]
        })
        .collect();
    let mut rows = 0;
    for batch in reader {
        let batch = batch.map_err(|error| DataError::format(&file, error.to_string()))?;
        for ((group, array), field) in groups.iter_mut().zip(batch.columns()).zip(schema.fields()) {
            let array = array.as_ref();
            match &mut group[..] {
                [column] if !is_list(field.data_type()) => add(column, array, &file)?,
                _ => add_lists(group, array, field.name(), &file)?,
            }
        }
        rows += batch.num_rows();
    }
    let mut columns: Vec<Column> = groups.into_iter().flatten().collect();
    // An index that is stored last is still the name of the row.
    if let Some(at) = columns.iter().position(|column| column.name.is_empty()) {
        columns[..=at].rotate_right(1);
    }
    Ok(Table { file, named: true, columns, rows })
}

/// What a column is called. pandas keeps its index under a name of its own.
pub(crate) fn name_of(field: &Field) -> String {
    let index = field.name().starts_with("__index_level_");
    if index { String::new() } else { field.name().clone() }
}

pub(crate) fn is_list(kind: &DataType) -> bool {
    matches!(kind, DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(_, _))
}

/// Adds lists of equal length to their columns.
fn add_lists(
    group: &mut Vec<Column>,
    array: &dyn Array,
    name: &str,
    file: &str,
) -> Result<(), DataError> {
    let refuse = |problem: &str| DataError::format(file, format!("the column '{name}' {problem}"));
    for row in 0..array.len() {
        let list = match array.data_type() {
            _ if array.is_null(row) => return Err(refuse("lacks a list")),
            DataType::List(_) => array.as_list::<i32>().value(row),
            DataType::LargeList(_) => array.as_list::<i64>().value(row),
            _ => array.as_fixed_size_list().value(row),
        };
        let numbers = exact(list.as_ref())
            .ok_or_else(|| refuse("holds lists of other things than numbers"))?;
        if group.is_empty() {
            let column = |k| Column {
                name: format!("{name}_{k}"),
                cells: Cells::Numbers(Vec::new()),
                stray: None,
                gap: None,
            };
            group.extend((0..numbers.len()).map(column));
        }
        if numbers.len() != group.len() {
            return Err(refuse("holds lists of different lengths"));
        }
        for (column, number) in group.iter_mut().zip(numbers) {
            if let Cells::Numbers(cells) = &mut column.cells {
                reserve(cells, 1, file)?;
                cells.push(number);
            }
        }
    }
    Ok(())
}

fn is_number(kind: &DataType) -> bool {
    kind.is_numeric() || *kind == DataType::Boolean
}

/// Whether cells of this type are numbers to [`exact`], large ones aside.
pub(crate) fn is_exact(kind: &DataType) -> bool {
    kind.is_integer() || kind.is_floating() || *kind == DataType::Boolean
}

/// Adds the rows of an array to a column.
pub(crate) fn add(column: &mut Column, array: &dyn Array, file: &str) -> Result<(), DataError> {
    match &mut column.cells {
        Cells::Numbers(numbers) => {
            reserve(numbers, array.len(), file)?;
            match exact(array) {
                Some(found) => numbers.extend(found),
                // From here on, the column holds numbers that must stay as they are written.
                None => {
                    let word = |number: &f64| (!number.is_nan()).then(|| number.to_string());
                    let mut words: Vec<Option<String>> = numbers.iter().map(word).collect();
                    words.extend(texts(array));
                    column.cells = Cells::Words(words);
                }
            }
        }
        Cells::Words(words) => {
            reserve(words, array.len(), file)?;
            words.extend(texts(array));
        }
    }
    Ok(())
}

/// Numbers in double precision; `None` where one of them would be rounded, or the type is no number.
pub(crate) fn exact(array: &dyn Array) -> Option<Vec<f64>> {
    fn of<T: ArrowPrimitiveType>(
        array: &dyn Array,
        number: impl Fn(T::Native) -> Option<f64>,
    ) -> Option<Vec<f64>> {
        let cells = array.as_primitive::<T>().iter();
        cells.map(|cell| cell.map_or(Some(f64::NAN), &number)).collect()
    }
    const MOST: u64 = 1 << 53;
    match array.data_type() {
        DataType::Int8 => of::<Int8Type>(array, |x| Some(x.into())),
        DataType::Int16 => of::<Int16Type>(array, |x| Some(x.into())),
        DataType::Int32 => of::<Int32Type>(array, |x| Some(x.into())),
        DataType::Int64 => {
            of::<Int64Type>(array, |x| (x.unsigned_abs() <= MOST).then_some(x as f64))
        }
        DataType::UInt8 => of::<UInt8Type>(array, |x| Some(x.into())),
        DataType::UInt16 => of::<UInt16Type>(array, |x| Some(x.into())),
        DataType::UInt32 => of::<UInt32Type>(array, |x| Some(x.into())),
        DataType::UInt64 => of::<UInt64Type>(array, |x| (x <= MOST).then_some(x as f64)),
        DataType::Float16 => of::<Float16Type>(array, |x| Some(x.to_f64())),
        DataType::Float32 => of::<Float32Type>(array, |x| Some(x.into())),
        DataType::Float64 => of::<Float64Type>(array, Some),
        DataType::Boolean => {
            let number = |cell: Option<bool>| cell.map_or(f64::NAN, |set| f64::from(u8::from(set)));
            Some(array.as_boolean().iter().map(number).collect())
        }
        _ => None,
    }
}

/// Cells as text. Dates, structures and other kinds have none: nothing here could use them.
fn texts(array: &dyn Array) -> Vec<Option<String>> {
    fn words<'a>(cells: impl Iterator<Item = Option<&'a str>>) -> Vec<Option<String>> {
        let word = |cell: Option<&str>| cell.filter(|word| !word.is_empty()).map(str::to_owned);
        cells.map(word).collect()
    }
    fn whole<T: ArrowPrimitiveType>(array: &dyn Array) -> Vec<Option<String>>
    where
        T::Native: std::fmt::Display,
    {
        array.as_primitive::<T>().iter().map(|x| x.map(|x| x.to_string())).collect()
    }
    match array.data_type() {
        DataType::Utf8 => words(array.as_string::<i32>().iter()),
        DataType::LargeUtf8 => words(array.as_string::<i64>().iter()),
        DataType::Utf8View => words(array.as_string_view().iter()),
        DataType::Int64 => whole::<Int64Type>(array),
        DataType::UInt64 => whole::<UInt64Type>(array),
        DataType::Dictionary(_, _) => {
            let Some(dictionary) = array.as_any_dictionary_opt() else {
                return vec![None; array.len()];
            };
            let values = match exact(dictionary.values().as_ref()) {
                Some(numbers) => {
                    numbers.iter().map(|n| (!n.is_nan()).then(|| n.to_string())).collect()
                }
                None => texts(dictionary.values().as_ref()),
            };
            if values.is_empty() {
                return vec![None; array.len()];
            }
            let cell = |(row, &key): (usize, &usize)| match dictionary.keys().is_null(row) {
                true => None,
                false => values.get(key).cloned().flatten(),
            };
            dictionary.normalized_keys().iter().enumerate().map(cell).collect()
        }
        _ => vec![None; array.len()],
    }
}
