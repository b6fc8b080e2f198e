//! WebGraph's ASCII format: the number of nodes, then the successors of each node on a line.

use crate::DataError;
use crate::allocate::reserve;
use crate::raw_dataset::{Raw, check_count};
use crate::store::Store;
use crate::text::without_bom;
use memchr::memchr;

/// Files in WebGraph's format, by the ending that WebGraph gives.
pub(crate) fn finds(store: &Store) -> Vec<String> {
    store.candidates().filter(|name| name.ends_with(".graph-txt")).map(str::to_owned).collect()
}

/// Reads the graph.
pub(crate) fn read(store: &Store, name: &str) -> Result<Raw, DataError> {
    parse(without_bom(&store.read_text(name)?), &store.label(name))
}

fn parse(text: &[u8], file: &str) -> Result<Raw, DataError> {
    let mut rest = text;
    let first = next_line(&mut rest).unwrap_or_default().trim_ascii();
    let claimed = std::str::from_utf8(first).ok().and_then(|text| text.parse().ok());
    let claimed = claimed
        .ok_or_else(|| DataError::line(file, 1, "the first line must be the number of nodes"))?;
    let nodes = check_count(file, "nodes", claimed, text.len() as u64)?;
    let mut edges = Vec::new();
    for node in 0..nodes {
        let line = next_line(&mut rest).ok_or_else(|| {
            let problem = format!("truncated: {nodes} lines of successors are needed after it");
            DataError::line(file, node + 1, problem)
        })?;
        // A successor takes a digit and a blank.
        reserve(&mut edges, line.len() / 2 + 1, file)?;
        successors(line, node as u32, nodes, &mut edges)
            .map_err(|problem| DataError::line(file, node + 2, problem))?;
    }
    if !rest.trim_ascii().is_empty() {
        let problem = format!("there are more lines than the {nodes} nodes of the first line");
        return Err(DataError::line(file, nodes + 2, problem));
    }
    Ok(Raw { file: file.to_owned(), edges, nodes, ..Raw::default() })
}

fn next_line<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    if rest.is_empty() {
        return None;
    }
    let end = memchr(b'\n', rest).unwrap_or(rest.len());
    let (line, after) = rest.split_at(end);
    *rest = after.get(1..).unwrap_or_default();
    Some(line)
}

/// Adds the numbers of a line as targets of `node`.
fn successors(
    line: &[u8],
    node: u32,
    nodes: usize,
    edges: &mut Vec<(u32, u32)>,
) -> Result<(), String> {
    let mut value: Option<u64> = None;
    for &byte in line.iter().chain(b" ") {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            // Beyond any node the value need not grow.
            let next = value.unwrap_or(0).saturating_mul(10).saturating_add(u64::from(digit));
            value = Some(next);
        } else if byte.is_ascii_whitespace() {
            if let Some(target) = value.take() {
                if target >= nodes as u64 {
                    return Err(format!("the successor {target} is not below {nodes}, the nodes"));
                }
                edges.push((node, target as u32));
            }
        } else {
            return Err("successors must be node numbers parted by blanks".into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_rows() {
        let raw = parse(b"3\n1 2 \n\n0\n", "f").unwrap();
        assert_eq!((raw.edges, raw.nodes), (vec![(0, 1), (0, 2), (2, 0)], 3));
    }

    #[test]
    fn faults_name_their_line() {
        let error = |text: &[u8]| parse(text, "f").unwrap_err().to_string();
        assert!(error(b"2\n1\n").starts_with("f, line 2: truncated"));
        assert!(error(b"2\n1\n2\n").starts_with("f, line 3: the successor 2"));
        assert!(error(b"2\n1\nx\n").starts_with("f, line 3: successors"));
        assert!(error(b"1\n\n0\n").starts_with("f, line 3: there are more lines"));
        assert!(error(b"999999999999\n").contains("too many"));
        assert!(error(b"").starts_with("f, line 1"));
    }
}
