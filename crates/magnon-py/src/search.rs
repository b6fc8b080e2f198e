//! Many trainings: comparisons of models, and searches for settings.

use crate::dataset::{Dataset, json};
use crate::errors::Failure;
use crate::model::trainable;
use crate::settings::Asked;
use crate::task::Call;
use magnon::data;
use magnon::settings::{CompareSettings, TuneSettings};
use magnon::train::RunConfig;
use magnon::workflow::compare::{self as comparing, Handed};
use magnon::workflow::{Journal, choose_splits, pages, tune as tuning};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Compares models on a data set; gives the comparison as JSON and its page. What the file `journal` has is not done
/// again, and what is done is kept in it.
#[pyfunction]
#[pyo3(signature = (dataset, keywords, watch=None, journal=None))]
pub fn compare(
    py: Python<'_>,
    dataset: &Dataset,
    keywords: String,
    watch: Option<Py<PyAny>>,
    journal: Option<PathBuf>,
) -> PyResult<(String, String)> {
    let (call, asked) = Compared::parse(py, dataset, keywords, watch)?;
    let (found, page) = call.run(py, move |watch| {
        let Compared { data, config, split } = asked;
        let mut journal = journal.map(|path| Journal::open(&path, &data)).transpose()?;
        let found = comparing::compare(&data, split, &config, journal.as_mut(), watch)?;
        let page = pages::comparison(&found).html()?;
        Ok((found, page))
    })?;
    Ok((json(&found)?, page))
}

/// Where a comparison stands by the file `journal`, as JSON, after parts were `tried` for so many seconds.
#[pyfunction]
#[pyo3(signature = (dataset, keywords, journal, tried, seconds))]
pub fn compare_parts(
    py: Python<'_>,
    dataset: &Dataset,
    keywords: String,
    journal: PathBuf,
    tried: Vec<String>,
    seconds: f64,
) -> PyResult<String> {
    let (call, asked) = Compared::parse(py, dataset, keywords, None)?;
    let parts = call.run(py, move |watch| {
        let Compared { data, config, split } = asked;
        let mut journal = Journal::open(&journal, &data)?;
        let handed = Handed { tried: tried.into_iter().collect(), seconds };
        Ok(comparing::compare_parts(&data, split, &config, &mut journal, &handed, watch)?)
    })?;
    json(&parts)
}

/// Runs an open part of a comparison into the file `journal`, after others were `tried`.
#[pyfunction]
#[pyo3(signature = (dataset, keywords, journal, tried, part))]
pub fn compare_part(
    py: Python<'_>,
    dataset: &Dataset,
    keywords: String,
    journal: PathBuf,
    tried: Vec<String>,
    part: String,
) -> PyResult<()> {
    let (call, asked) = Compared::parse(py, dataset, keywords, None)?;
    call.run(py, move |watch| {
        let Compared { data, config, split } = asked;
        let mut journal = Journal::open(&journal, &data)?;
        let handed = Handed { tried: tried.into_iter().collect(), seconds: 0.0 };
        let part = (part.as_str(), &handed);
        Ok(comparing::compare_part(&data, split, &config, &mut journal, part, watch)?)
    })
}

/// What a comparison is asked for.
struct Compared {
    data: data::Dataset,
    config: comparing::CompareConfig,
    split: Option<data::SplitChoice>,
}

impl Compared {
    fn parse(
        py: Python<'_>,
        dataset: &Dataset,
        keywords: String,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<(Call, Self)> {
        let asked = Asked::<CompareSettings>::read(py, &keywords, watch)?;
        let config = asked.settings.config(asked.seed());
        let config = config.map_err(|error| Failure::from(error).exception(py))?;
        let data = trainable(&dataset.inner).map_err(|failure| failure.exception(py))?;
        let split = asked.settings.data.split;
        Ok((asked.call, Self { data, config, split }))
    }
}

/// Searches for better settings of a model; gives the search as JSON. Trainings that the file `journal` has are not run
/// again, and those that are run are kept in it.
#[pyfunction]
#[pyo3(signature = (dataset, keywords, watch=None, journal=None))]
pub fn tune(
    py: Python<'_>,
    dataset: &Dataset,
    keywords: String,
    watch: Option<Py<PyAny>>,
    journal: Option<PathBuf>,
) -> PyResult<String> {
    let (call, asked) = SearchCall::parse(py, dataset, keywords, watch)?;
    let found = call.run(py, move |watch| {
        let SearchCall { data, config, base, number, seed } = asked;
        let splits = choose_splits(&data, &base.data, number, seed)?;
        let mut journal = journal.map(|path| Journal::open(&path, &data)).transpose()?;
        Ok(tuning::tune(&data, &base, &splits, &config, journal.as_mut(), watch)?)
    })?;
    json(&found)
}

/// Where a search stands by the file `journal`, as JSON, after so many seconds.
#[pyfunction]
#[pyo3(signature = (dataset, keywords, journal, seconds))]
pub fn tune_parts(
    py: Python<'_>,
    dataset: &Dataset,
    keywords: String,
    journal: PathBuf,
    seconds: f64,
) -> PyResult<String> {
    let (call, asked) = SearchCall::parse(py, dataset, keywords, None)?;
    let parts = call.run(py, move |watch| {
        let SearchCall { data, config, base, number, seed } = asked;
        let splits = choose_splits(&data, &base.data, number, seed)?;
        let mut journal = Journal::open(&journal, &data)?;
        Ok(tuning::tune_parts(&data, &base, &splits, &config, &mut journal, seconds, watch)?)
    })?;
    json(&parts)
}

/// Trains the trial of an open part of a search into the file `journal`.
#[pyfunction]
#[pyo3(signature = (dataset, keywords, journal, part))]
pub fn tune_part(
    py: Python<'_>,
    dataset: &Dataset,
    keywords: String,
    journal: PathBuf,
    part: String,
) -> PyResult<()> {
    let (call, asked) = SearchCall::parse(py, dataset, keywords, None)?;
    call.run(py, move |watch| {
        let SearchCall { data, config, base, number, seed } = asked;
        let splits = choose_splits(&data, &base.data, number, seed)?;
        let mut journal = Journal::open(&journal, &data)?;
        Ok(tuning::tune_part(&data, &base, &splits, &config, &mut journal, &part, watch)?)
    })
}

/// What a search is asked for.
struct SearchCall {
    data: data::Dataset,
    config: tuning::TuneConfig,
    base: RunConfig,
    number: usize,
    seed: u64,
}

impl SearchCall {
    fn parse(
        py: Python<'_>,
        dataset: &Dataset,
        keywords: String,
        watch: Option<Py<PyAny>>,
    ) -> PyResult<(Call, Self)> {
        let asked = Asked::<TuneSettings>::read(py, &keywords, watch)?;
        let (settings, seed) = (&asked.settings, asked.seed());
        let failed = |error| Failure::from(error).exception(py);
        let config = settings.config(seed).map_err(failed)?;
        let base = settings.base(seed).map_err(failed)?;
        let data = trainable(&dataset.inner).map_err(|failure| failure.exception(py))?;
        let number = settings.splits;
        Ok((asked.call, Self { data, config, base, number, seed }))
    }
}
