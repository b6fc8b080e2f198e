//! Rows of a table and nodes of a graph, matched by name.

use crate::allocate::{out_of_memory, reserve};
use crate::{DataError, NodeNames};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// Which row belongs to which node.
#[derive(Debug)]
pub(crate) struct Joined {
    /// The row of each node, where it has one.
    pub(crate) rows: Vec<Option<u32>>,
    /// Rows whose id is not a node of the graph.
    pub(crate) extra: Vec<u32>,
}

impl Joined {
    /// Nodes without a row.
    pub(crate) fn missing(&self) -> impl Iterator<Item = usize> + '_ {
        self.rows.iter().enumerate().filter(|(_, row)| row.is_none()).map(|(node, _)| node)
    }
}

/// The nodes of a graph, to be found by name.
pub(crate) enum NodeIndex<'a> {
    /// The nodes are called 0, 1, 2….
    Plain(usize),
    Numbers(HashMap<u64, u32>),
    Words(HashMap<&'a str, u32>),
}

impl<'a> NodeIndex<'a> {
    pub(crate) fn new(
        names: Option<&'a NodeNames>,
        nodes: usize,
        file: &str,
    ) -> Result<Self, DataError> {
        Ok(match names {
            None => Self::Plain(nodes),
            Some(NodeNames::Numbers(ids)) => {
                let mut map = room_for(ids.len(), file)?;
                map.extend(ids.iter().copied().zip(0..));
                Self::Numbers(map)
            }
            Some(NodeNames::Words(words)) => {
                let mut map = room_for(words.len(), file)?;
                map.extend(words.iter().map(String::as_str).zip(0..));
                Self::Words(map)
            }
        })
    }

    /// The node of that name.
    pub(crate) fn get(&self, name: &str) -> Option<u32> {
        match self {
            Self::Plain(nodes) => {
                let node = name.parse::<u32>().ok()?;
                ((node as usize) < *nodes).then_some(node)
            }
            Self::Numbers(nodes) => nodes.get(&name.parse().ok()?).copied(),
            Self::Words(nodes) => nodes.get(name).copied(),
        }
    }
}

/// An empty map with room for so many entries.
fn room_for<K: Eq + Hash>(entries: usize, file: &str) -> Result<HashMap<K, u32>, DataError> {
    let mut map = HashMap::new();
    let bytes = entries as u64 * (size_of::<(K, u32)>() as u64 + 1);
    map.try_reserve(entries).map_err(|_| out_of_memory(file, bytes))?;
    Ok(map)
}

/// Matches the rows' ids with the nodes. An id that is there twice is refused.
pub(crate) fn join(
    ids: &[Arc<str>],
    index: &NodeIndex,
    nodes: usize,
    file: &str,
) -> Result<Joined, DataError> {
    let mut joined = Joined { rows: Vec::new(), extra: Vec::new() };
    reserve(&mut joined.rows, nodes, file)?;
    joined.rows.resize(nodes, None);
    let twice = |row: u32, other: u32| {
        let id = &ids[row as usize];
        let problem =
            format!("the id '{id}' is there twice, in rows {} and {}", other + 1, row + 1);
        DataError::format(file, problem)
    };
    let mut strangers: HashMap<&str, u32> = HashMap::new();
    for (id, row) in ids.iter().zip(0u32..) {
        match index.get(id) {
            Some(node) => {
                if let Some(other) = joined.rows[node as usize].replace(row) {
                    return Err(twice(row, other));
                }
            }
            None => {
                if strangers.try_reserve(1).is_err() {
                    return Err(out_of_memory(file, (strangers.len() as u64) * 32));
                }
                if let Some(other) = strangers.insert(id, row) {
                    return Err(twice(row, other));
                }
                reserve(&mut joined.extra, 1, file)?;
                joined.extra.push(row);
            }
        }
    }
    Ok(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_find_their_nodes() {
        let ids = |ids: &[&str]| ids.iter().map(|&id| id.into()).collect::<Vec<Arc<str>>>();
        let words = NodeNames::Words(["b", "a", "c"].map(str::to_owned).to_vec());
        let numbers = NodeNames::Numbers(vec![5, 30, 7]);
        for (names, table, rows, extra) in [
            (Some(&words), ids(&["a", "x", "b"]), [Some(2), Some(0), None], vec![1]),
            (Some(&numbers), ids(&["30", "5"]), [Some(1), Some(0), None], vec![]),
            (None, ids(&["2", "3", "0"]), [Some(2), None, Some(0)], vec![1]),
        ] {
            let index = NodeIndex::new(names, 3, "f").unwrap();
            let joined = join(&table, &index, 3, "f").unwrap();
            assert_eq!((joined.rows, joined.extra), (rows.to_vec(), extra));
        }
        let index = NodeIndex::new(None, 3, "f").unwrap();
        let error = join(&ids(&["1", "9", "1"]), &index, 3, "f").unwrap_err().to_string();
        assert_eq!(error, "f: the id '1' is there twice, in rows 1 and 3");
        assert!(join(&ids(&["8", "8"]), &index, 3, "f").is_err());
    }
}
