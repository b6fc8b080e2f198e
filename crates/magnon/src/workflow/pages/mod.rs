//! From results to pages.

mod comparison;
mod cycle_evidence;
mod date;
mod reproduction;
mod run;
mod run_facts;

pub use comparison::comparison;
pub use reproduction::save_reproduction;
pub use run::{run, save_run};

use crate::Error;
use crate::data::write::write_atomic;
use magnon_report::{Fact, Report};
use std::path::Path;

/// Writes a page into a file.
pub fn save(page: &Report, path: &Path) -> Result<(), Error> {
    let html = page.html()?;
    Ok(write_atomic(path, |out| out.write_all(html.as_bytes()))?)
}

/// A name and a value of a page's head.
fn fact(name: &str, value: String) -> Fact {
    Fact { name: name.to_owned(), value }
}
