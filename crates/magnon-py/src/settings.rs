//! What a caller gives: an object of keywords in JSON, read as the settings of a call.

use crate::errors::Failure;
use crate::task::Call;
use magnon::settings::from_json;
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Most threads of a call.
const MOST_THREADS: u64 = 1024;

/// The settings of a call, and what every call takes besides.
pub struct Asked<T> {
    pub settings: T,
    /// The seed that was given.
    pub seed: Option<u64>,
    pub call: Call,
}

impl<T: Default + Serialize + DeserializeOwned> Asked<T> {
    /// Reads keywords.
    pub fn read(py: Python<'_>, keywords: &str, watch: Option<Py<PyAny>>) -> PyResult<Self> {
        Self::parsed(keywords, watch).map_err(|failure| failure.exception(py))
    }

    fn parsed(keywords: &str, watch: Option<Py<PyAny>>) -> Result<Self, Failure> {
        let mut given = object(keywords)?;
        let seed = whole(&mut given, "seed", 0..=u64::MAX)?;
        let threads = whole(&mut given, "threads", 1..=MOST_THREADS)?;
        let call = Call { threads: threads.map(|threads| threads as usize), watch };
        Ok(Self { settings: from_json(given)?, seed, call })
    }
}

impl<T> Asked<T> {
    /// The seed that was given, or 0.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }
}

/// A call as Python writes it, for the page of a run.
pub fn written(function: &str, data: &str, keywords: &str) -> String {
    let word = |value: Value| match value {
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        value => value.to_string(),
    };
    let given = object(keywords).unwrap_or_default();
    let given = given.into_iter().map(|(name, value)| format!(", {name}={}", word(value)));
    format!("magnon.{function}({}{})", Value::from(data), given.collect::<String>())
}

fn object(keywords: &str) -> Result<Map<String, Value>, Failure> {
    serde_json::from_str(keywords).map_err(Failure::argument)
}

/// Takes a whole number out of what was given.
fn whole(
    given: &mut Map<String, Value>,
    name: &str,
    range: std::ops::RangeInclusive<u64>,
) -> Result<Option<u64>, Failure> {
    let Some(value) = given.remove(name) else { return Ok(None) };
    match value.as_u64().filter(|number| range.contains(number)) {
        Some(number) => Ok(Some(number)),
        None => {
            let (least, most) = (range.start(), range.end());
            let words =
                format!("{name} is {value}, but must be a whole number from {least} to {most}");
            Err(Failure::argument(words))
        }
    }
}
