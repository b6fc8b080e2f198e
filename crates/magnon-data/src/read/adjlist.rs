//! Adjacency lists of networkx: a node and the nodes that it points to on every line.

use super::edge_names::Names;
use crate::DataError;
use crate::allocate::reserve;
use crate::raw_dataset::Raw;
use crate::store::Store;
use crate::text::{Lines, is_comment};

/// Files by the ending that networkx's documentation gives them: their lines look like any others.
pub(crate) fn finds(store: &Store) -> Vec<String> {
    store.candidates().filter(|name| name.ends_with(".adjlist")).map(str::to_owned).collect()
}

/// Reads the graph.
pub(crate) fn read(store: &Store, name: &str) -> Result<Raw, DataError> {
    let file = store.label(name);
    let text = store.read_text(name)?;
    let mut names = Names::default();
    let mut raw = Raw { file: file.clone(), ..Raw::default() };
    for (line, content) in Lines::new(&text).filter(|(_, line)| !is_comment(line)) {
        let many = || DataError::line(&file, line, "there are more nodes than 32 bits can number");
        let mut nodes = content.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
        let Some(source) = nodes.next() else { continue };
        let source = names.number(source, &file)?.ok_or_else(many)?;
        for target in nodes {
            reserve(&mut raw.edges, 1, &file)?;
            raw.edges.push((source, names.number(target, &file)?.ok_or_else(many)?));
        }
    }
    names.settle(&mut raw)?;
    raw.remarks.push("every line is a node and the nodes that it points to".into());
    Ok(raw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Folder;

    #[test]
    fn lines_are_nodes() {
        let text = b"# networkx\na b c\nb\nc a\nd\n";
        let folder = Folder::new(&[("g.adjlist", text)]);
        let store = Store::open(folder.root()).unwrap();
        let raw = read(&store, &finds(&store)[0]).unwrap();
        assert_eq!((raw.edges, raw.nodes), (vec![(0, 1), (0, 2), (2, 0)], 4));
        let folder = Folder::new(&[("g.adjlist", b"2 0\n0 1\n1\n")]);
        let raw = read(&Store::open(folder.root()).unwrap(), "g.adjlist").unwrap();
        assert_eq!((raw.edges, raw.nodes, raw.node_names), (vec![(2, 0), (0, 1)], 3, None));
    }
}
