//! Public data sets by name.

use crate::errors::Failure;
use crate::task::{Call, Watch};
use magnon::workflow::{Progress as _, generator, settled_source};
use magnon_fetch::{FetchError, Options, Progress};
use pyo3::prelude::*;
use std::path::Path;

/// What a name stands for: itself, or the folder of a public data set, which is fetched where it is not here.
pub fn local(name: &str, watch: &Watch) -> Result<String, Failure> {
    let own = Path::new(name).exists() || generator(name).is_some();
    if own || magnon_fetch::find(name).is_none() {
        return Ok(settled_source(name));
    }
    download(name, false, watch)
}

fn download(name: &str, allow_unverified: bool, watch: &Watch) -> Result<String, Failure> {
    if let Some(folder) = magnon_fetch::cached(name) {
        return Ok(folder.to_string_lossy().into_owned());
    }
    let options = Options { allow_unverified, ..Default::default() };
    let fetched = magnon_fetch::fetch(name, &options, &mut |progress| {
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
    });
    match fetched {
        Ok(folder) => Ok(folder.to_string_lossy().into_owned()),
        Err(FetchError::Cancelled { .. }) => Err(magnon::Error::Stopped.into()),
        Err(error) => Err(Failure::Named("FetchError", error.to_string())),
    }
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
    call.run(py, move |watch| download(&name, allow_unverified, watch))
}

/// The data sets that can be fetched, as JSON.
#[pyfunction]
pub fn fetch_list() -> String {
    magnon_cli::commands::fetch::list_json()
}
