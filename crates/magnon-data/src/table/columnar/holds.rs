//! What columns of each type can be used for.

use crate::table::column::Holds;
use arrow_schema::{DataType, Field, TimeUnit};

/// What a column of this type holds.
pub(crate) fn holds(kind: &DataType) -> Holds {
    match kind {
        _ if is_exact(kind) => Holds::Numbers,
        _ if is_list(kind) => Holds::Lists,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Holds::Words,
        DataType::Dictionary(_, words) => match holds(words) {
            Holds::Numbers | Holds::Words => Holds::Words,
            _ => Holds::Other(words_of(kind)),
        },
        DataType::Date32 | DataType::Date64 => Holds::Dates("dates"),
        DataType::Timestamp(_, _) => Holds::Dates("points in time"),
        DataType::Time32(TimeUnit::Second | TimeUnit::Millisecond)
        | DataType::Time64(TimeUnit::Microsecond | TimeUnit::Nanosecond) => {
            Holds::Dates("times of day")
        }
        _ => Holds::Other(words_of(kind)),
    }
}

/// A type in words.
fn words_of(kind: &DataType) -> String {
    let words = match kind {
        DataType::Null => "nothing (type null)",
        DataType::Decimal32(_, _)
        | DataType::Decimal64(_, _)
        | DataType::Decimal128(_, _)
        | DataType::Decimal256(_, _) => "decimal numbers",
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => "bytes (type binary)",
        DataType::Duration(_) => "durations",
        DataType::Interval(_) => "intervals",
        DataType::Struct(_) => "structures",
        DataType::Map(_, _) => "maps",
        DataType::Union(_, _) => "values of several types (type union)",
        DataType::RunEndEncoded(_, _) => "run-end encoded values",
        DataType::Dictionary(_, _) => "categories that are neither numbers nor text",
        DataType::ListView(_) | DataType::LargeListView(_) => "views of lists",
        _ => {
            let name: String = kind.to_string().chars().take(40).collect();
            return format!("values of the type {name}");
        }
    };
    words.to_owned()
}

/// What a column is called. pandas keeps its index under a name of its own.
pub(crate) fn name_of(field: &Field) -> String {
    let index = field.name().starts_with("__index_level_");
    if index { String::new() } else { field.name().clone() }
}

pub(crate) fn is_list(kind: &DataType) -> bool {
    matches!(kind, DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(_, _))
}

/// Whether the items of a list are numbers.
pub(crate) fn has_numbers(kind: &DataType) -> bool {
    match kind {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            is_exact(item.data_type())
        }
        _ => false,
    }
}

/// Whether cells of this type are numbers to [`exact`](super::cells::exact), large ones aside.
pub(crate) fn is_exact(kind: &DataType) -> bool {
    kind.is_integer() || kind.is_floating() || *kind == DataType::Boolean
}
