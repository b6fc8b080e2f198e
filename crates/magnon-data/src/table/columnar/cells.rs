//! Cells of arrays: exact numbers, and texts that are kept once where they are the same.

use super::room::Room;
use crate::DataError;
use crate::allocate::reserve;
use crate::table::{Cells, Column};
use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions::{
    date32_to_datetime, date64_to_datetime, time32ms_to_time, time32s_to_time, time64ns_to_time,
    time64us_to_time, timestamp_ms_to_datetime, timestamp_ns_to_datetime, timestamp_s_to_datetime,
    timestamp_us_to_datetime,
};
use arrow_array::types::{
    Date32Type, Date64Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::{DataType, TimeUnit};
use foldhash::HashSet;
use std::sync::Arc;

/// Cells as text.
type Texts = Vec<Option<Arc<str>>>;

/// So many short texts are remembered.
const REMEMBERED: usize = 1 << 16;

/// Texts of more bytes than this are always remembered.
const SHORT: usize = 64;

/// What a text takes beside its bytes.
const TEXT: u64 = 16;

/// Texts of a table, those that are the same kept once.
pub(crate) struct Words<'a> {
    room: &'a Room,
    known: HashSet<Arc<str>>,
}

impl<'a> Words<'a> {
    pub(crate) fn new(room: &'a Room) -> Self {
        Self { room, known: HashSet::default() }
    }

    /// What the texts are counted against.
    pub(super) fn room(&self) -> &'a Room {
        self.room
    }

    /// The text of a cell; none where it is empty.
    fn word(&mut self, text: &str) -> Result<Option<Arc<str>>, DataError> {
        if text.is_empty() {
            return Ok(None);
        }
        if let Some(known) = self.known.get(text) {
            return Ok(Some(known.clone()));
        }
        self.room.take(TEXT + text.len() as u64, "its texts")?;
        let word: Arc<str> = text.into();
        if (text.len() > SHORT || self.known.len() < REMEMBERED)
            && self.known.try_reserve(1).is_ok()
        {
            self.known.insert(word.clone());
        }
        Ok(Some(word))
    }

    fn all<'b>(
        &mut self,
        cells: impl ExactSizeIterator<Item = Option<&'b str>>,
    ) -> Result<Texts, DataError> {
        let mut texts = Vec::new();
        reserve(&mut texts, cells.len(), self.room.file())?;
        for cell in cells {
            // The decoder may have copied a text that is stored once for each of its cells.
            self.room.take(cell.map_or(0, str::len) as u64, "its texts")?;
            texts.push(cell.map_or(Ok(None), |text| self.word(text))?);
        }
        Ok(texts)
    }

    /// Values of a type as text.
    fn shown<T: ArrowPrimitiveType, D: std::fmt::Debug>(
        &mut self,
        array: &dyn Array,
        show: impl Fn(T::Native) -> Option<D>,
    ) -> Result<Texts, DataError> {
        let mut texts = Vec::new();
        reserve(&mut texts, array.len(), self.room.file())?;
        for cell in array.as_primitive::<T>() {
            let text = cell.and_then(&show).map(|value| format!("{value:?}"));
            texts.push(text.map_or(Ok(None), |text| self.word(&text))?);
        }
        Ok(texts)
    }

    /// Adds the rows of an array to a column.
    pub(crate) fn add(&mut self, column: &mut Column, array: &dyn Array) -> Result<(), DataError> {
        match &mut column.cells {
            Cells::Numbers(numbers) => {
                self.room.take(array.len() as u64 * 8, "its rows")?;
                reserve(numbers, array.len(), self.room.file())?;
                match exact(array) {
                    Some(found) => numbers.extend(found),
                    // From here on, the column holds numbers that must stay as they are written.
                    None => {
                        let numbers = std::mem::take(numbers);
                        let mut words = self.numbers(&numbers)?;
                        words.append(&mut self.texts(array)?);
                        column.cells = Cells::Words(words);
                        column.kind = Some("whole numbers beyond 2^53".to_owned());
                    }
                }
            }
            Cells::Words(words) => {
                self.room.take(array.len() as u64 * 16, "its rows")?;
                reserve(words, array.len(), self.room.file())?;
                words.append(&mut self.texts(array)?);
            }
            Cells::Other => {}
        }
        Ok(())
    }

    /// Numbers as text.
    fn numbers(&mut self, numbers: &[f64]) -> Result<Texts, DataError> {
        self.room.take(numbers.len() as u64 * 16, "its rows")?;
        let mut texts = Vec::new();
        reserve(&mut texts, numbers.len(), self.room.file())?;
        for number in numbers {
            let text = (!number.is_nan()).then(|| number.to_string());
            texts.push(text.map_or(Ok(None), |text| self.word(&text))?);
        }
        Ok(texts)
    }

    /// Cells as text: dates and times as in ISO 8601. Structures and other kinds have none.
    fn texts(&mut self, array: &dyn Array) -> Result<Texts, DataError> {
        match array.data_type() {
            DataType::Utf8 => self.all(array.as_string::<i32>().iter()),
            DataType::LargeUtf8 => self.all(array.as_string::<i64>().iter()),
            DataType::Utf8View => self.all(array.as_string_view().iter()),
            DataType::Int64 => self.shown::<Int64Type, _>(array, Some),
            DataType::UInt64 => self.shown::<UInt64Type, _>(array, Some),
            DataType::Date32 => {
                self.shown::<Date32Type, _>(array, |x| Some(date32_to_datetime(x)?.date()))
            }
            DataType::Date64 => {
                self.shown::<Date64Type, _>(array, |x| Some(date64_to_datetime(x)?.date()))
            }
            DataType::Timestamp(unit, zone) => {
                let texts =
                    match unit {
                        TimeUnit::Second => {
                            self.shown::<TimestampSecondType, _>(array, timestamp_s_to_datetime)
                        }
                        TimeUnit::Millisecond => self
                            .shown::<TimestampMillisecondType, _>(array, timestamp_ms_to_datetime),
                        TimeUnit::Microsecond => self
                            .shown::<TimestampMicrosecondType, _>(array, timestamp_us_to_datetime),
                        TimeUnit::Nanosecond => self
                            .shown::<TimestampNanosecondType, _>(array, timestamp_ns_to_datetime),
                    };
                match zone {
                    None => texts,
                    // With a zone, the numbers count from the epoch in UTC.
                    Some(_) => {
                        let utc = |text: Option<Arc<str>>| text.map(|text| format!("{text}Z"));
                        let mut zoned = Vec::new();
                        for text in texts?.into_iter().map(utc) {
                            reserve(&mut zoned, 1, self.room.file())?;
                            zoned.push(text.map_or(Ok(None), |text| self.word(&text))?);
                        }
                        Ok(zoned)
                    }
                }
            }
            DataType::Time32(TimeUnit::Second) => {
                self.shown::<Time32SecondType, _>(array, time32s_to_time)
            }
            DataType::Time32(_) => self.shown::<Time32MillisecondType, _>(array, time32ms_to_time),
            DataType::Time64(TimeUnit::Microsecond) => {
                self.shown::<Time64MicrosecondType, _>(array, time64us_to_time)
            }
            DataType::Time64(_) => self.shown::<Time64NanosecondType, _>(array, time64ns_to_time),
            DataType::Dictionary(_, _) => self.categories(array),
            _ => Ok(vec![None; array.len()]),
        }
    }

    /// The words of a dictionary, each made once.
    fn categories(&mut self, array: &dyn Array) -> Result<Texts, DataError> {
        let Some(dictionary) = array.as_any_dictionary_opt() else {
            return Ok(vec![None; array.len()]);
        };
        let words = match exact(dictionary.values().as_ref()) {
            Some(numbers) => self.numbers(&numbers)?,
            None => self.texts(dictionary.values().as_ref())?,
        };
        if words.is_empty() {
            return Ok(vec![None; array.len()]);
        }
        let cell = |(row, &key): (usize, &usize)| match dictionary.keys().is_null(row) {
            true => None,
            false => words.get(key).cloned().flatten(),
        };
        Ok(dictionary.normalized_keys().iter().enumerate().map(cell).collect())
    }
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
