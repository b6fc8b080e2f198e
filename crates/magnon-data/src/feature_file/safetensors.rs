//! A table among the tensors of a safetensors file.

use super::elements::Elements;
use super::{Beside, Opened};
use crate::DataError;
use crate::allocate::zeroed;
use crate::listing::listed;
use crate::numpy::{DType, Header, Kind};
use crate::store::io_error;
use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Names that say which tensor the features are.
const NAMES: [&str; 2] = ["features", "x"];

/// Bytes that a header may have, as the format has it.
const LONGEST: u64 = 100_000_000;

/// What an element is, by its name in the format; others are not read.
const TYPES: [(Dtype, Kind, usize); 13] = [
    (Dtype::BOOL, Kind::Bool, 1),
    (Dtype::U8, Kind::Uint, 1),
    (Dtype::I8, Kind::Int, 1),
    (Dtype::U16, Kind::Uint, 2),
    (Dtype::I16, Kind::Int, 2),
    (Dtype::U32, Kind::Uint, 4),
    (Dtype::I32, Kind::Int, 4),
    (Dtype::U64, Kind::Uint, 8),
    (Dtype::I64, Kind::Int, 8),
    (Dtype::F16, Kind::Float, 2),
    (Dtype::BF16, Kind::Brain, 2),
    (Dtype::F32, Kind::Float, 4),
    (Dtype::F64, Kind::Float, 8),
];

/// Opens a file and checks its header against its size.
pub(super) fn open(path: &Path, _: &Beside) -> Result<Opened, DataError> {
    let failed = |reason| io_error(path, "read", reason);
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let (header, start) = table(&path.display().to_string(), file, length)?;
    Ok(Opened::in_order(Elements::new(path, header, start)?))
}

/// The table of features in a file of `length` bytes, and where its numbers begin.
pub(crate) fn table(
    label: &str,
    mut source: impl Read,
    length: u64,
) -> Result<(Header, u64), DataError> {
    let wrong = |problem: String| DataError::format(label, problem);
    let short = |error: io::Error| wrong(format!("not a safetensors file: {error}"));
    let mut size = [0; 8];
    source.read_exact(&mut size).map_err(short)?;
    let size = u64::from_le_bytes(size);
    if size > LONGEST.min(length) {
        return Err(wrong(format!("not a safetensors file: it claims a header of {size} bytes")));
    }
    let mut text = zeroed::<u8>(size as usize, label)?;
    source.read_exact(&mut text).map_err(short)?;
    let metadata: Metadata = serde_json::from_slice(&text)
        .map_err(|error| wrong(format!("not a safetensors file: {error}")))?;
    let mut tensors: Vec<(String, &TensorInfo)> = metadata.tensors().into_iter().collect();
    tensors.sort_by(|a, b| a.0.cmp(&b.0));
    let (name, found) = choose(&tensors).ok_or_else(|| {
        let shape = |(name, info): &(String, &TensorInfo)| format!("{name} {:?}", info.shape);
        let all: Vec<String> = tensors.iter().map(shape).collect();
        wrong(format!(
            "it is not clear which of its tensors holds the features: {}; call it 'features' or 'x', or let it \
             be the only one with two axes",
            listed(&all)
        ))
    })?;
    let known = TYPES.iter().find(|(dtype, ..)| *dtype == found.dtype);
    let &(_, kind, bytes) = known.ok_or_else(|| {
        wrong(format!("the tensor '{name}' holds {:?}, not real numbers", found.dtype))
    })?;
    let header = Header {
        dtype: DType { kind, size: bytes, big_endian: false },
        fortran: false,
        shape: found.shape.clone(),
    };
    // Shapes and offsets agree: the crate has checked that. That the bytes are there, it cannot know.
    let (from, to) = found.data_offsets;
    let start = 8 + size + from as u64;
    match header.size() {
        Some((_, bytes))
            if from.checked_add(bytes) == Some(to) && 8 + size + to as u64 <= length =>
        {
            Ok((header, start))
        }
        _ => {
            Err(wrong(format!("truncated: the tensor '{name}' does not lie within {length} bytes")))
        }
    }
}

/// The tensor that is named so, or the only table.
fn choose<'a>(tensors: &[(String, &'a TensorInfo)]) -> Option<(String, &'a TensorInfo)> {
    let named = NAMES.iter().find_map(|name| tensors.iter().find(|(found, _)| found == name));
    let mut tables = tensors.iter().filter(|(_, info)| info.shape.len() == 2);
    let only = tables.next().filter(|_| tables.next().is_none());
    named.or(only).cloned()
}
