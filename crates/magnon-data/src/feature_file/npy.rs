//! NumPy's arrays: of any real type, half precision among them, in either order.

use super::elements::Elements;
use super::{Beside, Opened};
use crate::DataError;
use crate::numpy::Array;
use crate::store::io_error;
use std::fs::File;
use std::io::Seek;
use std::path::Path;

/// Opens a file and checks its header against its size.
pub(super) fn open(path: &Path, _: &Beside) -> Result<Opened, DataError> {
    let failed = |reason| io_error(path, "read", reason);
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let header = Array::open(&path.display().to_string(), &file, length)?.into_header();
    let start = (&file).stream_position().map_err(failed)?;
    Ok(Opened::in_order(Elements::new(path, header, start)?))
}
