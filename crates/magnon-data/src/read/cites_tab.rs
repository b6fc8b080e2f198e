//! LINQS citations as a table: `number, paper:A, |, paper:B` on a line, where A cites B.

use super::edge_names::Names;
use crate::DataError;
use crate::allocate::reserve;
use crate::raw_dataset::Raw;
use crate::store::Store;
use crate::text::{Delimiter, Lines};

/// Files of citations.
pub(crate) fn finds(store: &Store) -> Vec<String> {
    store.candidates().filter(|name| name.ends_with(".cites.tab")).map(str::to_owned).collect()
}

/// Reads the graph; the nodes are in the order of their paper numbers.
pub(crate) fn read(store: &Store, name: &str) -> Result<Raw, DataError> {
    let file = store.label(name);
    let text = store.read_text(name)?;
    let mut names = Names::default();
    let mut edges = Vec::new();
    let mut fields = Vec::new();
    for (number, line) in Lines::new(&text) {
        Delimiter::Blank.split(line, &mut fields);
        let (source, target) = match fields[..] {
            [_, source, b"|", target] => (source, target),
            // Two lines of header come first.
            _ if edges.is_empty() && number <= 2 => continue,
            _ => {
                let problem = "a line must read: number, paper:A, |, paper:B";
                return Err(DataError::line(file, number, problem));
            }
        };
        match (names.number(bare(source), &file)?, names.number(bare(target), &file)?) {
            (Some(source), Some(target)) => {
                reserve(&mut edges, 1, &file)?;
                edges.push((source, target));
            }
            _ => return Err(DataError::line(file, number, "too many papers")),
        }
    }
    let mut raw = Raw { file, edges, ..Raw::default() };
    names.settle(&mut raw)?;
    Ok(raw)
}

/// The id without its kind.
fn bare(id: &[u8]) -> &[u8] {
    id.strip_prefix(b"paper:").unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Folder;

    #[test]
    fn the_first_paper_cites_the_second() {
        let text =
            b"DIRECTED\tcites\nNO_FEATURES\n1\tpaper:30\t|\tpaper:20\n2\tpaper:20\t|\tpaper:9\n";
        let folder = Folder::new(&[("x.cites.tab", text)]);
        let store = Store::open(folder.root()).unwrap();
        let raw = read(&store, &finds(&store)[0]).unwrap();
        assert_eq!(raw.edges, [(2, 1), (1, 0)]);
        let names = raw.node_names.unwrap();
        assert_eq!((names.name(0).unwrap(), names.name(2).unwrap()), ("9".into(), "30".into()));
    }
}
