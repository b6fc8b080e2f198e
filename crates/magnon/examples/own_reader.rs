//! Adds a reader: flights, one in a line, as `VIE-ZRH 12`.
//!
//! ```sh
//! cargo run --release --example own_reader
//! ```

use magnon::data::{DataError, LoadConfig, RawData, Reader, load, register};
use std::error::Error;
use std::fs;
use std::path::Path;

struct Flights;

impl Reader for Flights {
    fn format(&self) -> String {
        "a list of flights (.flights)".to_owned()
    }

    fn knows(&self, path: &Path) -> bool {
        path.extension().is_some_and(|ending| ending == "flights")
    }

    fn read(&self, path: &Path) -> Result<RawData, DataError> {
        let wrong = |problem: &str| DataError::format(path.display().to_string(), problem);
        let text = fs::read_to_string(path).map_err(|error| wrong(&error.to_string()))?;
        let (mut names, mut edges, mut weights) = (Vec::<String>::new(), Vec::new(), Vec::new());
        let mut number = |name: &str| {
            let known = names.iter().position(|other| other == name);
            known.unwrap_or_else(|| {
                names.push(name.to_owned());
                names.len() - 1
            }) as u32
        };
        for line in text.lines() {
            let (flight, count) =
                line.split_once(' ').ok_or_else(|| wrong("a count is missing"))?;
            let (from, to) = flight.split_once('-').ok_or_else(|| wrong("a \"-\" is missing"))?;
            edges.push((number(from), number(to)));
            weights.push(count.parse().map_err(|_| wrong("a count is not a number"))?);
        }
        let (nodes, weights) = (names.len(), Some(weights));
        Ok(RawData { nodes, edges, weights, names: Some(names), ..Default::default() })
    }
}

/// Reads a file of flights.
pub fn main() -> Result<(), Box<dyn Error>> {
    register(Flights);
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("week.flights");
    fs::write(&path, "VIE-ZRH 12\nZRH-VIE 11\nVIE-OSL 3\n")?;
    let data = load(&path, &LoadConfig::default())?;
    println!("{} edges between {} nodes", data.graph.edges(), data.graph.nodes());
    Ok(())
}
