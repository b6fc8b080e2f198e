//! Tables that stand beside a graph: features and labels in any of their formats.

use super::scipy_npz;
use crate::allocate::collect;
use crate::feature_file::safetensors;
use crate::numpy::{Array, Npz};
use crate::pickle;
use crate::store::{Store, io_error};
use crate::text;
use crate::{DataError, Features, Labels};
use std::io::{Seek, SeekFrom};
use std::path::Path;

fn ending(name: &str) -> &str {
    Path::new(name).extension().and_then(|ending| ending.to_str()).unwrap_or_default()
}

/// Reads features from npy, npz, safetensors, pickle or text, by the ending of the name.
pub(crate) fn features(store: &Store, name: &str) -> Result<Features, DataError> {
    let label = store.label(name);
    match ending(name) {
        "npy" => Array::from_store(store, name)?.matrix().map(Features::Dense),
        "npz" => {
            let mut npz = Npz::open(store, name)?;
            let members = npz.names();
            match &members[..] {
                [member] => npz.array(member)?.matrix().map(Features::Dense),
                _ => scipy_npz::matrix(store, name)?.into_features(&label).map(Features::Sparse),
            }
        }
        "safetensors" => {
            let (mut source, length) = store.open_seek(name)?;
            let (header, start) = safetensors::table(&label, &mut source, length)?;
            let failed = |error| io_error(Path::new(&label), "read", error);
            source.seek(SeekFrom::Start(start)).map_err(failed)?;
            Array::new(&label, header, source, length - start)?.matrix().map(Features::Dense)
        }
        "pkl" | "pickle" => pickle::features(&store.read(name)?, &label),
        _ => text::matrix(&store.read_text(name)?, &label).map(Features::Dense),
    }
}

/// Reads labels from npy or text, by the ending of the name.
pub(crate) fn labels(store: &Store, name: &str) -> Result<Labels, DataError> {
    let label = store.label(name);
    if ending(name) != "npy" {
        return text::labels(&store.read_text(name)?, &label);
    }
    let array = Array::from_store(store, name)?;
    if !matches!(array.shape(), [_] | [_, 1]) {
        let problem = format!("labels are one per node, but the array is {:?}", array.shape());
        return Err(DataError::format(label, problem));
    }
    if array.is_text() {
        let words = collect(array.strings()?.into_iter().map(Some), &label)?;
        return Labels::from_words(&words, &label);
    }
    let numbers = collect(array.integers()?.into_iter().map(Some), &label)?;
    Labels::from_numbers(&numbers, &label)
}
