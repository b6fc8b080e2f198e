//! The layout of the paper's authors: `adj.npz` with features, labels and index lists beside it.

use super::scipy_npz;
use crate::raw_dataset::Raw;
use crate::store::Store;
use crate::{DataError, Split, text};

/// The layout is a folder; a file that was named is only that file.
pub(crate) fn finds(store: &Store) -> Vec<String> {
    let found = store.only().is_none() && store.has("adj.npz");
    if found { vec!["adj.npz".to_owned()] } else { Vec::new() }
}

/// Reads the graph and the split. Features and labels are tables beside them, as in any folder.
pub(crate) fn read(store: &Store, name: &str) -> Result<Raw, DataError> {
    let mut raw = scipy_npz::read(store, name)?;
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
