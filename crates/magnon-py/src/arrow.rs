//! Tables through the Arrow PyCapsule interface: whatever library they come from, it is not imported.

use crate::arrays::line;
use crate::errors::Failure;
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods, PyList};

/// The columns of an Arrow stream: name, and numbers as an array or anything else as a list of texts.
#[pyfunction]
pub fn table<'py>(
    py: Python<'py>,
    capsule: &Bound<'py, PyCapsule>,
) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let failed = |error: ArrowError| Failure::data(error).exception(py);
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds a stream by the rules of the Arrow C interface; from_raw moves it out
    // and marks it released, so that the capsule does not free it again. tests/test_tables.py reads streams of
    // three libraries and drops them.
    let reader = unsafe {
        RecordBatchStreamReader::from_raw(pointer.cast::<FFI_ArrowArrayStream>().as_ptr())
    };
    let reader = reader.map_err(failed)?;
    let batches = reader.collect::<Result<Vec<RecordBatch>, _>>().map_err(failed)?;
    let Some(first) = batches.first() else { return Ok(Vec::new()) };
    let schema = first.schema();
    let column = |(k, field): (usize, &std::sync::Arc<arrow_schema::Field>)| {
        let parts: Vec<&ArrayRef> = batches.iter().map(|batch| batch.column(k)).collect();
        Ok((field.name().clone(), column(py, field.name(), &parts)?))
    };
    schema.fields().iter().enumerate().map(column).collect()
}

/// The numbers of one type of all parts.
macro_rules! numbers {
    ($py:expr, $parts:expr, $kind:ty, $to:ty) => {
        line::<$to>(
            $py,
            $parts
                .iter()
                .flat_map(|part| part.as_primitive::<$kind>().values().iter().map(|&x| x as $to))
                .collect(),
        )
        .into_any()
    };
}

fn column<'py>(py: Python<'py>, name: &str, parts: &[&ArrayRef]) -> PyResult<Bound<'py, PyAny>> {
    let wrong = |words: String| Failure::data(words).exception(py);
    if parts.iter().any(|part| part.null_count() > 0) {
        return Err(wrong(format!("column {name} has missing values")));
    }
    let Some(kind) = parts.first().map(|part| part.data_type()) else {
        return Ok(PyList::empty(py).into_any());
    };
    Ok(match kind {
        DataType::Int8 => numbers!(py, parts, Int8Type, i64),
        DataType::Int16 => numbers!(py, parts, Int16Type, i64),
        DataType::Int32 => numbers!(py, parts, Int32Type, i64),
        DataType::Int64 => numbers!(py, parts, Int64Type, i64),
        DataType::UInt8 => numbers!(py, parts, UInt8Type, i64),
        DataType::UInt16 => numbers!(py, parts, UInt16Type, i64),
        DataType::UInt32 => numbers!(py, parts, UInt32Type, i64),
        DataType::UInt64 => {
            let all = parts.iter().flat_map(|part| part.as_primitive::<UInt64Type>().values());
            let all = all.map(|&x| i64::try_from(x)).collect::<Result<Vec<_>, _>>();
            line(py, all.map_err(|_| wrong(format!("column {name} has too large numbers")))?)
                .into_any()
        }
        DataType::Float32 => numbers!(py, parts, Float32Type, f64),
        DataType::Float64 => numbers!(py, parts, Float64Type, f64),
        _ => PyList::new(
            py,
            texts(parts).ok_or_else(|| {
                wrong(format!(
                    "column {name} is of type {kind}, which is neither numbers nor texts"
                ))
            })?,
        )?
        .into_any(),
    })
}

/// The texts of all parts, whichever way they are stored.
fn texts(parts: &[&ArrayRef]) -> Option<Vec<String>> {
    let mut all = Vec::new();
    for part in parts {
        let owned = |text: Option<&str>| text.unwrap_or_default().to_owned();
        match part.data_type() {
            DataType::Utf8 => all.extend(part.as_string::<i32>().iter().map(owned)),
            DataType::LargeUtf8 => all.extend(part.as_string::<i64>().iter().map(owned)),
            DataType::Utf8View => all.extend(part.as_string_view().iter().map(owned)),
            DataType::Dictionary(..) => {
                let dictionary = part.as_any_dictionary();
                let values = dictionary.values().clone();
                let words = texts(&[&values])?;
                let keys = dictionary.normalized_keys();
                all.extend(keys.into_iter().filter_map(|key| words.get(key).cloned()));
            }
            _ => return None,
        }
    }
    Some(all)
}
