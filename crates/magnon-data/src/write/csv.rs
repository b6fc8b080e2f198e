//! Plain text tables.

use super::atomic::write_atomic;
use crate::{DataError, Labels};
use magnon_core::graph::DiGraph;
use std::fmt::Display;
use std::io;
use std::path::Path;

/// Writes a header line and rows; a cell with a comma, a quote or a line end is put in quotes.
pub fn write_csv<R, C>(
    path: &Path,
    header: &[&str],
    rows: impl IntoIterator<Item = R>,
) -> Result<(), DataError>
where
    R: IntoIterator<Item = C>,
    C: Display,
{
    write_atomic(path, |target| table(target, header, rows))
}

/// The same as bytes.
pub fn csv<R, C>(header: &[&str], rows: impl IntoIterator<Item = R>) -> io::Result<Vec<u8>>
where
    R: IntoIterator<Item = C>,
    C: Display,
{
    let mut bytes = Vec::new();
    table(&mut bytes, header, rows)?;
    Ok(bytes)
}

/// Hands on a header line and rows.
pub fn table<R, C>(
    mut target: impl io::Write,
    header: &[&str],
    rows: impl IntoIterator<Item = R>,
) -> io::Result<()>
where
    R: IntoIterator<Item = C>,
    C: Display,
{
    line(&mut target, header)?;
    rows.into_iter().try_for_each(|row| line(&mut target, row))
}

fn line<C: Display>(
    target: &mut dyn io::Write,
    row: impl IntoIterator<Item = C>,
) -> io::Result<()> {
    for (k, cell) in row.into_iter().enumerate() {
        if k > 0 {
            target.write_all(b",")?;
        }
        target.write_all(quoted(&cell.to_string()).as_bytes())?;
    }
    target.write_all(b"\n")
}

/// A cell, in quotes where it has a comma, a quote or a line end.
pub fn quoted(cell: &str) -> std::borrow::Cow<'_, str> {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\"")).into()
    } else {
        cell.into()
    }
}

/// Writes the class number of each node on a line; `nan` where a node has none.
pub fn write_labels(path: &Path, labels: &Labels) -> Result<(), DataError> {
    write_atomic(path, |target| {
        labels.classes.iter().try_for_each(|class| match class {
            Some(class) => writeln!(target, "{class}"),
            None => writeln!(target, "nan"),
        })
    })
}

/// Writes one node number per line.
pub fn write_indices(path: &Path, nodes: &[u32]) -> Result<(), DataError> {
    write_atomic(path, |target| nodes.iter().try_for_each(|node| writeln!(target, "{node}")))
}

/// Writes `source,target` or, for a weighted graph, `source,target,weight` with a header line.
pub fn write_edges(path: &Path, graph: &DiGraph) -> Result<(), DataError> {
    write_atomic(path, |target| {
        let columns = if graph.is_weighted() { "source,target,weight" } else { "source,target" };
        writeln!(target, "{columns}")?;
        for source in 0..graph.nodes() {
            let weights = graph.weights(source);
            for (k, node) in graph.targets(source).iter().enumerate() {
                match weights.and_then(|weights| weights.get(k)) {
                    Some(weight) => writeln!(target, "{source},{node},{weight}")?,
                    None => writeln!(target, "{source},{node}")?,
                }
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Folder;

    #[test]
    fn cells_are_quoted_where_needed() {
        let folder = Folder::new(&[]);
        let path = folder.path("t.csv");
        write_csv(&path, &["a", "b"], [["1", "x, y"], ["2", "say \"hi\""]]).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(text, "a,b\n1,\"x, y\"\n2,\"say \"\"hi\"\"\"\n");
    }
}
