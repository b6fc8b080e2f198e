//! Many trainings: comparisons of models, and searches for settings.

use crate::dataset::{Dataset, json};
use crate::errors::Failure;
use crate::flags::{Flags, flags_of};
use crate::model::trainable;
use crate::task::Call;
use magnon::data;
use magnon::train::RunConfig;
use magnon::workflow::compare::{self as comparing, Kept};
use magnon::workflow::{Journal, choose_splits, tune as tuning};
use magnon_cli::compare_page;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Compares models on a data set; gives the comparison as JSON and its page. Jobs that the file `journal` has are
/// not run again, and those that are run are kept in it.
#[pyfunction]
#[pyo3(signature = (dataset, flags, watch=None, journal=None))]
pub fn compare(
    py: Python<'_>,
    dataset: &Dataset,
    flags: Vec<String>,
    watch: Option<Py<PyAny>>,
    journal: Option<PathBuf>,
) -> PyResult<(String, String)> {
    let flags = Flags::parse(py, "compare", flags, watch)?;
    let args = flags_of!(flags, Compare);
    let config = args.config(&flags.common);
    let config = config.map_err(|error| Failure::command(error).exception(py))?;
    let (data, split) = (dataset.inner.clone(), args.data.flags.split);
    let (found, page) = flags.call.run(py, move |watch| {
        let data = trainable(&data)?;
        let mut journal = journal.map(|path| Journal::open(&path, &data)).transpose()?;
        let kept = Kept { jobs: journal.as_mut(), ..Kept::default() };
        let found = comparing::compare(&data, split, &config, kept, watch)?;
        let page = compare_page::page(&found).html();
        let page = page.map_err(|error| Failure::Named("MagnonError", error.to_string()))?;
        Ok((found, page))
    })?;
    Ok((json(&found)?, page))
}

/// Runs one part of a comparison into the file `journal`; gives how many parts there are, as JSON. A part beyond the
/// last is none.
#[pyfunction]
#[pyo3(signature = (dataset, flags, part, journal))]
pub fn compare_part(
    py: Python<'_>,
    dataset: &Dataset,
    flags: Vec<String>,
    part: usize,
    journal: PathBuf,
) -> PyResult<String> {
    let flags = Flags::parse(py, "compare", flags, None)?;
    let args = flags_of!(flags, Compare);
    let config = args.config(&flags.common);
    let config = config.map_err(|error| Failure::command(error).exception(py))?;
    let (data, split) = (dataset.inner.clone(), args.data.flags.split);
    let parts = flags.call.run(py, move |watch| {
        let data = trainable(&data)?;
        let mut journal = Journal::open(&journal, &data)?;
        let kept = Kept::jobs(&mut journal);
        Ok(comparing::compare_part(&data, split, &config, kept, part, watch)?)
    })?;
    json(&parts)
}

/// Searches for better settings of a model; gives the search as JSON. Trainings that the file `journal` has are not run
/// again, and those that are run are kept in it.
#[pyfunction]
#[pyo3(signature = (dataset, flags, watch=None, journal=None))]
pub fn tune(
    py: Python<'_>,
    dataset: &Dataset,
    flags: Vec<String>,
    watch: Option<Py<PyAny>>,
    journal: Option<PathBuf>,
) -> PyResult<String> {
    let (call, asked) = Asked::parse(py, dataset, flags, watch)?;
    let found = call.run(py, move |watch| {
        let Asked { data, config, base, number, seed } = asked;
        let splits = choose_splits(&data, &base.data, number, seed)?;
        let mut journal = journal.map(|path| Journal::open(&path, &data)).transpose()?;
        Ok(tuning::tune(&data, &base, &splits, &config, journal.as_mut(), watch)?)
    })?;
    json(&found)
}

/// Trains one of the trials that the next rung of a search lacks into the file `journal`; gives where the search stands,
/// as JSON. A part beyond the last is none.
#[pyfunction]
#[pyo3(signature = (dataset, flags, part, journal))]
pub fn tune_part(
    py: Python<'_>,
    dataset: &Dataset,
    flags: Vec<String>,
    part: usize,
    journal: PathBuf,
) -> PyResult<String> {
    let (call, asked) = Asked::parse(py, dataset, flags, None)?;
    let parts = call.run(py, move |watch| {
        let Asked { data, config, base, number, seed } = asked;
        let splits = choose_splits(&data, &base.data, number, seed)?;
        let mut journal = Journal::open(&journal, &data)?;
        Ok(tuning::tune_part(&data, &base, &splits, &config, &mut journal, part, watch)?)
    })?;
    json(&parts)
}

/// What a search is asked for.
struct Asked {
    data: data::Dataset,
    config: tuning::TuneConfig,
    base: RunConfig,
    number: usize,
    seed: u64,
}

impl Asked {
    fn parse(
        py: Python<'_>,
        dataset: &Dataset,
        flags: Vec<String>,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<(Call, Self)> {
        let flags = Flags::parse(py, "tune", flags, watch)?;
        let args = flags_of!(flags, Tune);
        let failed = |error| Failure::command(error).exception(py);
        let config = args.config(&flags.common).map_err(failed)?;
        let base = args.base(&flags.common).map_err(failed)?;
        let data = trainable(&dataset.inner).map_err(|failure| failure.exception(py))?;
        let (number, seed) = (args.splits, flags.common.seed());
        Ok((flags.call, Self { data, config, base, number, seed }))
    }
}
