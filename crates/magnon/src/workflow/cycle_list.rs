//! `cycles --enumerate`: all cycles counted by length, and listed where that is asked for.

use super::Progress;
use crate::Error;
use crate::cycles::{CycleCounts, Cycles, count_cycles};
use crate::data::write::{table, write_atomic};
use crate::data::{Dataset, NodeNames};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::PathBuf;

/// Configuration of [`list_cycles`].
///
/// | name | default | purpose |
/// |---|---|---|
/// | `max_length` | | longest length |
/// | `limit` | | most cycles, in the order of their smallest node |
/// | `csv` | | a file for every cycle: its length, and its nodes in order |
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CycleListConfig {
    /// Longest length.
    pub max_length: Option<usize>,
    /// Most cycles, in the order of their smallest node.
    pub limit: Option<usize>,
    /// A file for every cycle: its length, and its nodes in order, by number and a space between them, or by
    /// name and an arrow between them, as names may have spaces.
    pub csv: Option<PathBuf>,
}

/// Counts all cycles on all threads, or one by one where their number is limited or they are listed. A search that
/// is stopped gives what is known by then, and writes no list.
pub fn list_cycles(
    dataset: &Dataset,
    config: &CycleListConfig,
    progress: &dyn Progress,
) -> Result<CycleCounts, Error> {
    let CycleListConfig { max_length, limit, csv } = config;
    let (graph, stop) = (&dataset.graph, progress.stop_flag());
    if limit.is_none() && csv.is_none() {
        return Ok(count_cycles(graph, *max_length, stop));
    }
    let mut cycles = Cycles::until(graph, *max_length, stop);
    let mut by_length = BTreeMap::new();
    let listed = cycles.by_ref().take(limit.unwrap_or(usize::MAX));
    let counted = listed.inspect(|cycle| *by_length.entry(cycle.len()).or_insert(0) += 1);
    match csv {
        Some(path) => {
            let names = dataset.node_names.as_ref();
            let between = if names.is_some() { " → " } else { " " };
            let words = |cycle: &[u32]| {
                let nodes = cycle.iter().map(|&node| node_text(node, names));
                nodes.collect::<Vec<_>>().join(between)
            };
            let rows = counted.map(|cycle| [cycle.len().to_string(), words(&cycle)]);
            let written = write_atomic(path, |target| {
                table(target, &["length", "nodes"], rows)?;
                // A list that is not whole gets no name.
                if progress.is_stopped() { Err(ErrorKind::Interrupted.into()) } else { Ok(()) }
            });
            if !progress.is_stopped() {
                written?;
            }
        }
        None => counted.for_each(drop),
    }
    let complete = cycles.next().is_none() && !progress.is_stopped();
    Ok(CycleCounts { by_length, complete })
}

/// A cycle by the names of its nodes, such as `a → b → a`; of a long one the first `most` nodes.
pub fn cycle_text(cycle: &[u32], names: Option<&NodeNames>, most: usize) -> String {
    let name = |&node: &u32| node_text(node, names);
    let mut parts: Vec<String> = cycle.iter().take(most).map(name).collect();
    if cycle.len() > most {
        parts.push("…".to_owned());
    }
    parts.extend(cycle.first().map(name));
    parts.join(" → ")
}

/// A node by its name, or its number where it has none.
fn node_text(node: u32, names: Option<&NodeNames>) -> String {
    match names.and_then(|names| names.name(node as usize)) {
        Some(name) => name.into_owned(),
        None => node.to_string(),
    }
}
