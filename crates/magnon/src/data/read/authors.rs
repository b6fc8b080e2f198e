//! The layout of the paper's authors: `adj.npz` with features, labels and index lists beside it.

use super::{features, scipy_npz};
use crate::data::raw::Raw;
use crate::data::store::Store;
use crate::data::{DataError, Split, text};

const FEATURES: [&str; 4] = ["features.npz", "features.npy", "features.pkl", "features.csv"];

/// The layout is a folder; a file that was named is only that file.
pub(crate) fn finds(store: &Store) -> Vec<String> {
    let found = store.only().is_none() && store.has("adj.npz");
    if found { vec!["adj.npz".to_owned()] } else { Vec::new() }
}

/// Reads the folder. Everything but `adj.npz` may be missing.
pub(crate) fn read(store: &Store, name: &str) -> Result<Raw, DataError> {
    let mut raw = scipy_npz::read(store, name)?;
    if let Some(name) = store.first(&FEATURES) {
        raw.features = Some(features::features(store, name)?);
        raw.features_file = Some(store.label(name));
    }
    if let Some(name) = store.first(&["labels.csv", "labels.npy"]) {
        raw.labels = Some(features::labels(store, name)?);
        raw.labels_file = Some(store.label(name));
    }
    let list = |names: &[&str]| match store.first(names) {
        Some(name) => text::indices(&store.read_text(name)?, &store.label(name)),
        None => Ok(Vec::new()),
    };
    let train = list(&["idx_train.csv"])?;
    let val = list(&["idx_valid.csv", "idx_val.csv"])?;
    let test = list(&["idx_test.csv"])?;
    if !train.is_empty() {
        raw.splits.push(Split::from_lists(train, val, test));
    }
    Ok(raw)
}
