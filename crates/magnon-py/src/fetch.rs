//! Public data sets by name.

use crate::dataset::json;
use crate::errors::Failure;
use crate::task::{Call, Watch};
use magnon::fetch::Progress;
use magnon::workflow::{self, Progress as _};
use pyo3::prelude::*;

/// What a name stands for. A public data set is downloaded where it is not in the cache.
pub fn local(name: &str, watch: &Watch) -> Result<String, Failure> {
    Ok(workflow::locate(name, &mut |progress| show(watch, progress))?)
}

/// Tells of a download, and says whether to go on.
fn show(watch: &Watch, progress: Progress<'_>) -> bool {
    match progress {
        Progress::Started { file, .. } => watch.remark(&format!("fetching {}", file.address)),
        Progress::Received { file, bytes, total } => {
            watch.step(bytes as usize, total.unwrap_or(bytes) as usize, file.path);
        }
        Progress::Unverified { file, sha256 } => {
            watch.remark(&format!("{}: taken on trust, its sha256 is {sha256}", file.path));
        }
        _ => (),
    }
    !watch.is_stopped()
}

/// Downloads a data set, or finds it in the cache, and gives its folder.
#[pyfunction]
#[pyo3(signature = (name, allow_unverified=false, watch=None))]
pub fn fetch(
    py: Python<'_>,
    name: String,
    allow_unverified: bool,
    watch: Option<Py<PyAny>>,
) -> PyResult<String> {
    let call = Call { threads: None, watch };
    call.run(py, move |watch| {
        let show = &mut |progress: Progress<'_>| show(watch, progress);
        Ok(workflow::fetch(&name, allow_unverified, show)?.to_string_lossy().into_owned())
    })
}

/// The data sets that can be fetched, as JSON.
#[pyfunction]
pub fn fetch_list() -> PyResult<String> {
    json(&workflow::public_data())
}
