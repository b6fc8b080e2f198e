//! Python pickles, read as data. Nothing in them is ever run: classes are only names here.

mod machine;
mod numpy;
mod opcodes;
mod value;

use super::{DataError, Features};
pub(crate) use value::{Id, Pickle, Value};

/// Reads a pickle.
pub(crate) fn parse<'a>(bytes: &'a [u8], file: &str) -> Result<Pickle<'a>, DataError> {
    machine::run(bytes).map_err(|problem| DataError::format(file, problem))
}

/// Reads a pickled NumPy array or scipy matrix as features.
pub(crate) fn features(bytes: &[u8], file: &str) -> Result<Features, DataError> {
    let pickle = parse(bytes, file)?;
    let root = pickle.root();
    if let Some(matrix) = pickle.sparse(root, file)? {
        return matrix.into_features(file).map(Features::Sparse);
    }
    match pickle.array(root, file)? {
        Some(array) => array.matrix().map(Features::Dense),
        None => {
            let found = pickle.describe(root);
            let problem = format!("a NumPy array or a scipy matrix is needed, not {found}");
            Err(DataError::format(file, problem))
        }
    }
}
