//! Edge lists: one `source target [weight]` a line, as csv, tsv or parted by blanks.

use super::edge_layout::Layout;
use super::edge_names;
use super::edge_scan::{self, Fault, Id};
use super::node_ids;
use crate::companions::is_table_of_nodes;
use crate::raw_dataset::Raw;
use crate::recognise::recognise;
use crate::store::Store;
use crate::text::{Delimiter, line_of, without_bom};
use crate::{DataError, LoadConfig};

/// How the names of edge lists end.
const ENDINGS: [&str; 7] = [".txt", ".csv", ".tsv", ".edges", ".edgelist", ".el", ".snap"];

/// Tables that go with a graph, and other texts that are none.
fn is_companion(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let tables = ["features", "labels", "idx_", "readme", "license", "node_ids", "mapping"];
    tables.iter().any(|start| name.starts_with(start)) || is_table_of_nodes(&name)
}

/// Edge lists among the files. A file that was named is taken at its word.
pub(crate) fn finds(store: &Store) -> Vec<String> {
    let named = store.only().is_some();
    let fits = |name: &&str| ENDINGS.iter().any(|end| name.ends_with(end)) && !is_companion(name);
    // What has a reader of its own, or is known to be no text, is none.
    let other = |name: &&str| {
        [".npz", ".npy", ".pkl"].iter().any(|end| name.ends_with(end))
            || recognise(name, &store.start(name)).is_some()
    };
    let taken = |name: &&str| if named { !other(name) } else { fits(name) };
    store.candidates().filter(taken).map(str::to_owned).collect()
}

/// Reads an edge list.
pub(crate) fn read(store: &Store, name: &str, config: &LoadConfig) -> Result<Raw, DataError> {
    let bytes = store.read_text(name)?;
    parse(without_bom(&bytes), &store.label(name), config)
}

/// Reads the text of an edge list.
fn parse(text: &[u8], file: &str, config: &LoadConfig) -> Result<Raw, DataError> {
    if text.get(..1024).unwrap_or(text).contains(&0) {
        return Err(DataError::format(file, "neither text nor any other format that is known"));
    }
    let Some(layout) = Layout::detect(text, file, config)? else {
        return Ok(Raw { file: file.to_owned(), ..Raw::default() });
    };
    let mut raw = if layout.numeric { numbers(text, &layout, file)? } else { None };
    if raw.is_none() {
        raw = Some(edge_names::parse(text, &layout, file)?);
    }
    let mut raw = raw.unwrap_or_default();
    raw.file = file.to_owned();
    raw.remarks.extend(layout.remarks(&raw));
    raw.reading.columns = layout.uses();
    Ok(raw)
}

/// Reads numbered nodes, or gives `None` where an id turns out to be a name.
fn numbers(text: &[u8], layout: &Layout, file: &str) -> Result<Option<Raw>, DataError> {
    let blank;
    let layout = match layout.delimiter {
        // Between two numbers a tab is a blank like any other.
        Delimiter::Byte(b'\t') if layout.width == 2 => {
            blank = Layout { delimiter: Delimiter::Blank, ..layout.clone() };
            &blank
        }
        _ => layout,
    };
    match scan::<u32>(text, layout, file) {
        Ok(raw) => Ok(Some(raw)),
        Err((_, Fault::Wide)) => match scan::<u64>(text, layout, file) {
            Ok(raw) => Ok(Some(raw)),
            Err((_, Fault::NotANumber | Fault::Wide)) => Ok(None),
            Err((at, fault)) => Err(fault.into_error(file, line_of(text, at), layout)),
        },
        Err((_, Fault::NotANumber)) => Ok(None),
        Err((at, fault)) => Err(fault.into_error(file, line_of(text, at), layout)),
    }
}

/// Reads pairs of node numbers as they stand, for layouts that number their nodes from 0.
pub(super) fn node_pairs(text: &[u8], file: &str) -> Result<Vec<(u32, u32)>, DataError> {
    let text = without_bom(text);
    let config = LoadConfig { unweighted: true, ..LoadConfig::default() };
    let Some(layout) = Layout::detect(text, file, &config)? else { return Ok(Vec::new()) };
    let body = text.get(layout.start..).unwrap_or_default();
    match edge_scan::scan::<u32>(body, &layout) {
        Ok(scanned) => Ok(scanned.pairs),
        Err((at, fault)) => Err(fault.into_error(file, line_of(text, layout.start + at), &layout)),
    }
}

/// Scans the edges and numbers the nodes by ascending id.
fn scan<I: Id>(text: &[u8], layout: &Layout, file: &str) -> Result<Raw, (usize, Fault)> {
    let body = text.get(layout.start..).unwrap_or_default();
    let scanned = edge_scan::scan::<I>(body, layout).map_err(|(at, f)| (layout.start + at, f))?;
    let weights = layout.columns.weight.is_some().then_some(scanned.weights);
    let nodes = node_ids::compact(scanned.pairs, scanned.top).map_err(|fault| (0, fault))?;
    let padded = scanned.padded.map(|at| {
        let line = line_of(text, layout.start + at);
        format!(
            "line {line} writes a node with zeros before its number; ids are numbers here, so 007 \
             and 7 are one node (a letter before each id would keep them apart)"
        )
    });
    Ok(Raw {
        remarks: padded.into_iter().collect(),
        file: file.to_owned(),
        edges: nodes.edges,
        weights,
        beyond: scanned.beyond,
        rounded: scanned.rounded,
        nodes: nodes.count,
        node_names: nodes.names,
        ..Raw::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeNames;

    fn ok(text: &str) -> Raw {
        parse(text.as_bytes(), "f", &LoadConfig::default()).unwrap()
    }

    fn words(words: &[&str]) -> NodeNames {
        NodeNames::Words(words.iter().map(|&word| word.to_owned()).collect())
    }

    fn error(text: &str) -> String {
        parse(text.as_bytes(), "f", &LoadConfig::default()).unwrap_err().to_string()
    }

    #[test]
    fn separators_comments_and_line_ends() {
        for text in [
            "0 1\n1 2\n",
            "0\t1\r\n1\t2\r\n",
            "# c\n0,1\n% c\n\n1 , 2",
            "source;target\n0;1\n// c\n1;2",
            "from to\n 0   1 \n1 2 ",
            "\"0\",\"1\"\n\"1\",\"2\"\n",
        ] {
            let raw = ok(text);
            assert_eq!((raw.edges, raw.nodes), (vec![(0, 1), (1, 2)], 3), "{text:?}");
            assert_eq!(raw.node_names, None);
        }
    }

    #[test]
    fn gaps_in_the_numbers_are_closed() {
        let raw = ok("30 5\n5 99999999999\n");
        assert_eq!((raw.edges, raw.nodes), (vec![(1, 0), (0, 2)], 3));
        assert_eq!(raw.node_names, Some(NodeNames::Numbers(vec![5, 30, 99999999999])));
        let raw = ok("7 9\n9 7\n");
        assert_eq!((raw.edges, raw.nodes), (vec![(0, 1), (1, 0)], 2));
    }

    #[test]
    fn zeros_before_numbers_and_names() {
        for text in ["1 2\n007 1\n7 2\n", "1 2\n\"007\" 1\n7 2\n", "1 2\r007 1\r7 2"] {
            let mut text = text.as_bytes().to_vec();
            crate::text::settle_line_ends(&mut text);
            let raw = parse(&text, "f", &LoadConfig::default()).unwrap();
            assert_eq!((raw.edges, raw.nodes), (vec![(0, 1), (2, 0), (2, 1)], 3));
            assert!(raw.remarks[0].starts_with("line 2 writes a node with zeros"));
        }
        assert!(ok("0 10\n10 0\n").remarks.is_empty());
        let names = ok("a 007\n7 a\n");
        assert_eq!(names.node_names, Some(words(&["a", "007", "7"])));
        assert_eq!(names.remarks, ["ids are taken as names, so 7 and 007 are different nodes"]);
        assert!(ok("a 007\n8 a\n").remarks.is_empty());
        assert_eq!(ok("a 07\n007 a\n").remarks.len(), 1);
    }

    #[test]
    fn names_are_numbered_as_they_come() {
        let raw = ok("source,target\nb,a\n\"x, y\",b\n");
        assert_eq!(raw.edges, [(0, 1), (2, 0)]);
        assert_eq!(raw.node_names, Some(words(&["b", "a", "x, y"])));
        assert!(raw.remarks[0].ends_with("header: source,target"), "{:?}", raw.remarks);
        let mixed = ok("1 2\n2 word\n");
        assert_eq!(mixed.node_names, Some(words(&["1", "2", "word"])));
        assert!(mixed.remarks[0].contains("line 2"), "{:?}", mixed.remarks);
    }

    #[test]
    fn weights_and_further_columns() {
        let raw = ok("0,1,-2.5\n1,0,3\n1,1,1e-3");
        assert_eq!(raw.weights.unwrap(), [-2.5, 3.0, 1e-3]);
        let raw = ok("0 1 2 12:30\n1 0 3 12:31\n");
        assert_eq!(raw.weights.unwrap(), [2.0, 3.0]);
        assert_eq!(raw.remarks, ["columns that were not used: column 4"]);
        assert_eq!(ok("0 1 x\n1 0 y\n").weights, None);
    }

    #[test]
    fn faults_name_their_line() {
        assert!(error("0 1\n\n-4 1\n").starts_with("f, line 3: the node number -4 is negative"));
        assert!(error("0 1\n1 2 3\n").starts_with("f, line 2: ragged"));
        assert!(error("0 1\n1\n").starts_with("f, line 2: ragged"));
        assert!(error("a b 1\nb c nan\n").starts_with("f, line 2: the weight 'nan'"));
        assert!(error("0 1 1\n1 2 inf\n").starts_with("f, line 2: the weight 'inf'"));
        assert!(error("0 1 1\n1 2 x\n").starts_with("f, line 2: the weight 'x'"));
        assert!(error("17\n18\n").contains("one column"));
    }

    #[test]
    fn many_chunks_give_the_same_edges() {
        let text: String =
            (0..200_000).map(|i| format!("{}\t{}\n", i % 1000, (i * 7) % 1000)).collect();
        let raw = ok(&text);
        assert_eq!(raw.edges.len(), 200_000);
        assert!(
            raw.edges
                .iter()
                .enumerate()
                .all(|(i, &(u, v))| { (u as usize, v as usize) == (i % 1000, (i * 7) % 1000) })
        );
        let broken = text + "5 x y\n";
        assert!(error(&broken).starts_with("f, line 200001: ragged"));
    }
}
