//! LINQS text: `NAME.content` with the nodes and `NAME.cites` with the edges.

use super::edge_names::Names;
use crate::allocate::reserve;
use crate::raw_dataset::Raw;
use crate::store::Store;
use crate::text::{Delimiter, Lines};
use crate::weights::not_single;
use crate::{DataError, Features, Labels, NodeNames};
use magnon_core::matrix::{SparseError, SparseMatrix};

/// The names for which both files are there, or that of a file that was named.
pub(crate) fn finds(store: &Store) -> Vec<String> {
    let named = store.only().is_some();
    let stem = |name: &str| {
        let stem = name.strip_suffix(".content").or_else(|| name.strip_suffix(".cites"))?;
        let both = store.has(&format!("{stem}.content")) && store.has(&format!("{stem}.cites"));
        (named || both).then(|| stem.to_owned())
    };
    let mut stems: Vec<String> = store.candidates().filter_map(stem).collect();
    stems.dedup();
    stems
}

/// Reads the nodes in the order of `.content` and the edges of `.cites`.
pub(crate) fn read(store: &Store, name: &str) -> Result<Raw, DataError> {
    let (content, cites) = (format!("{name}.content"), format!("{name}.cites"));
    if !store.has(&content) {
        let problem = format!(
            "{content} is needed beside it: it lists the nodes, and tells this file, which names \
             the target first, from an edge list"
        );
        return Err(DataError::format(store.label(&cites), problem));
    }
    if !store.has(&cites) {
        let problem = format!("{cites} with the edges is needed beside it");
        return Err(DataError::format(store.label(&content), problem));
    }
    let text = store.read_text(&content)?;
    let nodes = Nodes::parse(&text, &store.label(&content))?;
    let mut raw = Raw { file: store.label(&cites), ..Raw::default() };
    let unknown = nodes.edges(&store.read_text(&cites)?, &mut raw)?;
    if unknown > 0 {
        let problem = format!("{unknown} lines of {cites} name ids that {content} does not have");
        raw.remarks.push(problem);
    }
    raw.remarks.push(format!("{cites} names the target first; edges run from the second id"));
    raw.nodes = nodes.classes.len();
    let entries = nodes.entries.iter().copied();
    let features = SparseMatrix::from_triplets(raw.nodes, nodes.width, entries);
    let unfit = |error: SparseError| DataError::format(store.label(&content), error.to_string());
    raw.features = Some(Features::Sparse(features.map_err(unfit)?));
    raw.features_file = Some(store.label(&content));
    raw.labels = Some(Labels::from_words(&nodes.classes, &store.label(&content))?);
    raw.remarks.extend(nodes.names.remark_twins());
    raw.node_names = Some(NodeNames::Words(nodes.names.into_strings(&raw.file)?));
    Ok(raw)
}

/// What `.content` holds.
#[derive(Default)]
struct Nodes<'a> {
    names: Names<'a>,
    /// Columns of the features.
    width: usize,
    entries: Vec<(usize, u32, f32)>,
    classes: Vec<Option<String>>,
}

impl<'a> Nodes<'a> {
    fn parse(text: &'a [u8], file: &str) -> Result<Self, DataError> {
        let mut nodes = Self::default();
        for (number, line) in Lines::new(text) {
            let bad = |problem: String| DataError::line(file, number, problem);
            let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
            let (Some(id), Some(class)) = (fields.next(), fields.next_back()) else {
                return Err(bad("an id, features and a class name are needed".into()));
            };
            let row = nodes.classes.len();
            if nodes.names.number(id, file)? != u32::try_from(row).ok() {
                return Err(bad(format!("the id {} is there twice", String::from_utf8_lossy(id))));
            }
            let mut width = 0;
            for field in fields {
                if field != b"0" {
                    let value = std::str::from_utf8(field).ok().and_then(|text| text.parse().ok());
                    let value: f32 = value.filter(|v: &f32| v.is_finite()).ok_or_else(|| {
                        let wide = std::str::from_utf8(field).ok().and_then(|t| t.parse().ok());
                        let why = not_single(wide);
                        bad(format!("the feature in column {} {why}", width + 1))
                    })?;
                    let column = u32::try_from(width).map_err(|_| bad("too many".into()))?;
                    if value != 0.0 {
                        reserve(&mut nodes.entries, 1, file)?;
                        nodes.entries.push((row, column, value));
                    }
                }
                width += 1;
            }
            if row > 0 && width != nodes.width {
                let before = nodes.width;
                return Err(bad(format!("{width} features, but the lines before have {before}")));
            }
            nodes.width = width;
            reserve(&mut nodes.classes, 1, file)?;
            nodes.classes.push(Some(String::from_utf8_lossy(class).into_owned()));
        }
        Ok(nodes)
    }

    /// Adds the edges and gives back how many lines name unknown ids.
    fn edges(&self, text: &[u8], raw: &mut Raw) -> Result<usize, DataError> {
        let mut unknown = 0;
        let mut fields = Vec::new();
        for (number, line) in Lines::new(text) {
            Delimiter::Blank.split(line, &mut fields);
            let &[target, source] = &fields[..] else {
                let problem = format!("two ids are needed, but there are {}", fields.len());
                return Err(DataError::line(&raw.file, number, problem));
            };
            match (self.names.get(source), self.names.get(target)) {
                (Some(source), Some(target)) => {
                    reserve(&mut raw.edges, 1, &raw.file)?;
                    raw.edges.push((source, target));
                }
                _ => unknown += 1,
            }
        }
        Ok(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Folder, tgz};

    const CONTENT: &[u8] = b"p1\t0\t1\tzoo\np2\t1\t1\tart\np3\t0\t0\tzoo\n";
    const CITES: &[u8] = b"p1\tp2\np2 p3\np9 p1\n";

    #[test]
    fn the_second_id_is_the_source() {
        let archive = tgz(&[("x/x.content", CONTENT), ("x/x.cites", CITES)]);
        let folder =
            Folder::new(&[("x.content", CONTENT), ("x.cites", CITES), ("x.tgz", &archive)]);
        for path in [folder.path("x.cites"), folder.path("x.content"), folder.path("x.tgz")] {
            let store = Store::open(&path).unwrap();
            assert_eq!(finds(&store), ["x"]);
            let raw = read(&store, "x").unwrap();
            assert_eq!(raw.edges, [(1, 0), (2, 1)]);
            assert_eq!(raw.labels.unwrap().classes, [Some(1), Some(0), Some(1)]);
            assert_eq!(raw.features.unwrap().values(), [1.0, 1.0, 1.0]);
            assert!(raw.remarks[0].starts_with("1 lines"));
        }
    }

    #[test]
    fn a_file_alone_asks_for_the_other() {
        for (name, bytes, other) in
            [("x.cites", CITES, "x.content is needed"), ("x.content", CONTENT, "x.cites with")]
        {
            let folder = Folder::new(&[(name, bytes)]);
            let store = Store::open(&folder.path(name)).unwrap();
            assert_eq!(finds(&store), ["x"]);
            let error = read(&store, "x").unwrap_err().to_string();
            assert!(error.contains(other), "{error}");
            assert!(finds(&Store::open(folder.root()).unwrap()).is_empty());
        }
    }

    #[test]
    fn bad_lines_are_named() {
        for (text, problem) in [
            ("a 1 0 x\na 0 0 x\n", "f, line 2: the id a is there twice"),
            ("a 1 0 x\nb 0 x\n", "f, line 2: 1 features"),
            ("a 1 q x\n", "f, line 1: the feature in column 2"),
            ("a\n", "f, line 1: an id, features"),
        ] {
            let error = Nodes::parse(text.as_bytes(), "f").err().unwrap().to_string();
            assert!(error.starts_with(problem), "{error}");
        }
    }
}
