//! `reproduce`: the tables and figures of the paper again, ours beside what it prints.
//!
//! Accuracies are measured in the paper's setting, the authors' split with several seeds, and in ours,
//! random splits of 60/20/20 per cent of each class. MGC has the paper's hyper-parameters (the presets), the
//! other models the defaults that `magnon models` shows: the paper leaves theirs to their own papers.

mod accuracy;
mod cell;
mod charge;
mod data;
mod figures;
mod markdown;
mod order;
mod paper;
mod statistics;

pub use cell::{Cell, CellRecord};
pub use figures::{EigenmapData, ResponseData};

use super::{Journal, Progress};
use crate::Error;
use data::Collection;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Instant;

/// A table or a figure of the paper.
pub struct Part {
    /// What it is called.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    make: fn(&mut Work) -> Result<Vec<Table>, Error>,
}

/// The parts, in the order of the paper.
pub const PARTS: &[Part] = &[
    Part {
        name: "dataset-statistics",
        summary: "nodes, edges, features and classes of the data sets",
        make: statistics::make,
    },
    Part { name: "accuracy", summary: "every model on every data set", make: accuracy::make },
    Part {
        name: "frequency-response",
        summary: "spectra of the operator over several charges, low and high pass",
        make: figures::responses,
    },
    Part {
        name: "order",
        summary: "LinearRank against Markov diffusion on a linear classifier",
        make: order::make,
    },
    Part { name: "charge", summary: "MGC without and with direction", make: charge::make },
    Part { name: "eigenmap", summary: "the magnetic eigenmap of Texas", make: figures::eigenmap },
];

/// Configuration of a reproduction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReproduceConfig {
    /// Folders that the data sets are looked for in, each under its name.
    pub folders: Vec<PathBuf>,
    /// Seeds on the authors' split, and random splits.
    pub runs: usize,
    /// The data sets that are looked at; empty for all.
    pub only: Vec<String>,
}

impl Default for ReproduceConfig {
    fn default() -> Self {
        Self { folders: Vec::new(), runs: 10, only: Vec::new() }
    }
}

/// One table.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// The part that it is of.
    pub part: &'static str,
    /// What it shows.
    pub title: String,
    /// How it was made.
    pub setting: String,
    /// Heads of the columns after the first.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Row>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// One row of a table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What it is about.
    pub name: String,
    /// One cell for each column.
    pub cells: Vec<Cell>,
    /// Seconds that it took, where it was computed here.
    pub seconds: Option<f64>,
}

/// What came of a reproduction.
#[derive(Clone, Debug, Serialize)]
pub struct Reproduction {
    /// The tables.
    pub tables: Vec<Table>,
    /// Spectra, for figures.
    pub responses: Vec<ResponseData>,
    /// The map, for a figure.
    pub eigenmap: Option<EigenmapData>,
    /// Data sets that were not found, with how to get them.
    pub missing: Vec<String>,
    /// Seeds and splits.
    pub runs: usize,
    /// Seconds in all.
    pub seconds: f64,
}

/// What the parts work with.
struct Work<'a> {
    data: Collection,
    config: &'a ReproduceConfig,
    journal: Option<&'a mut Journal<CellRecord>>,
    progress: &'a dyn Progress,
    responses: Vec<ResponseData>,
    eigenmap: Option<EigenmapData>,
}

/// The journal of a reproduction.
pub fn journal(path: &std::path::Path) -> Result<Journal<CellRecord>, Error> {
    Journal::open_about(path, "paper".to_owned())
}

/// Makes some parts again, all of them where none is named.
pub fn reproduce(
    parts: &[&str],
    config: &ReproduceConfig,
    journal: Option<&mut Journal<CellRecord>>,
    progress: &dyn Progress,
) -> Result<Reproduction, Error> {
    let start = Instant::now();
    let wrong = |text: String| Err(Error::Argument(text));
    if let Some(other) = parts.iter().find(|part| !PARTS.iter().any(|known| known.name == **part)) {
        let names = PARTS.iter().map(|part| part.name).collect::<Vec<_>>().join(", ");
        return wrong(format!("the paper has no '{other}' here; its parts are {names} and all"));
    }
    if let Some(other) = config.only.iter().find(|name| !paper::NAMES.contains(&name.as_str())) {
        let names = paper::NAMES.join(", ");
        return wrong(format!("'{other}' is no data set of the paper; those are {names}"));
    }
    if !(1..=1000).contains(&config.runs) {
        return wrong(format!("the number of runs is {}; it must be from 1 to 1000", config.runs));
    }
    let data = Collection::read(config, progress)?;
    if data.found.is_empty() {
        return wrong(data.missing.join("; "));
    }
    let mut work = Work { data, config, journal, progress, responses: Vec::new(), eigenmap: None };
    let mut tables = Vec::new();
    for part in PARTS.iter().filter(|part| parts.is_empty() || parts.contains(&part.name)) {
        tables.extend((part.make)(&mut work)?);
    }
    Ok(Reproduction {
        tables,
        responses: work.responses,
        eigenmap: work.eigenmap,
        missing: work.data.missing,
        runs: config.runs,
        seconds: start.elapsed().as_secs_f64(),
    })
}
