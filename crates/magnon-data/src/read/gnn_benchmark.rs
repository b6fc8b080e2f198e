//! The `.npz` files of the graph-network benchmarks: `adj_data`… or `adj_matrix.data`….

use super::npz_with;
use crate::allocate::collect;
use crate::numpy::{Axis, Npz, Sparse};
use crate::raw_dataset::Raw;
use crate::store::Store;
use crate::{DataError, Features, Labels, NodeNames};

/// How the members of the two layouts begin.
const PREFIXES: [(&str, &str); 2] = [("adj_", "attr_"), ("adj_matrix.", "attr_matrix.")];

/// Files with an adjacency in either layout.
pub(crate) fn finds(store: &Store) -> Vec<String> {
    npz_with(store, |npz| PREFIXES.iter().any(|(adj, _)| npz.has(&format!("{adj}indptr"))))
}

/// Reads the graph with its attributes, labels and names, where they are there.
pub(crate) fn read(store: &Store, name: &str) -> Result<Raw, DataError> {
    let file = store.label(name);
    let mut npz = Npz::open(store, name)?;
    let short = npz.has("adj_indptr");
    let (adj, attr) = if short { PREFIXES[0] } else { PREFIXES[1] };
    let mut raw = Raw::from_matrix(&file, Sparse::from_members(&mut npz, Axis::Rows, adj)?)?;
    if short {
        raw.turn("the file stores cited → citing; edges were turned to run from the citing node");
    } else {
        raw.remarks.push("edges run as stored; the file does not say which end is citing".into());
    }
    if npz.has(&format!("{attr}indptr")) {
        let attributes = Sparse::from_members(&mut npz, Axis::Rows, attr)?;
        raw.features = Some(Features::Sparse(attributes.into_features(&file)?));
    }
    if npz.has("labels") {
        let numbers = npz.array("labels")?.integers()?;
        raw.labels = Some(match texts(&mut npz, "class_names") {
            Some(names) => Labels::from_named(&file, &numbers, names)?,
            None => Labels::from_numbers(&collect(numbers.into_iter().map(Some), &file)?, &file)?,
        });
    }
    let names = texts(&mut npz, "node_names").filter(|names| names.len() == raw.nodes);
    raw.node_names = names.map(NodeNames::Words);
    Ok(raw)
}

/// A member of texts; `None` where it is missing or pickled, as names can be done without.
fn texts(npz: &mut Npz, name: &str) -> Option<Vec<String>> {
    npz.array(name).and_then(|array| array.strings()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Folder, bytes_of, npy, zip};

    fn file(prefix: &str) -> Vec<u8> {
        let member = |name: &str| format!("{prefix}{name}.npy");
        zip(&[
            (&member("data"), &npy("<f4", "(2,)", &bytes_of(&[1f32, 1.0]))),
            (&member("indices"), &npy("<i4", "(2,)", &bytes_of(&[1i32, 0]))),
            (&member("indptr"), &npy("<i4", "(4,)", &bytes_of(&[0i32, 1, 1, 2]))),
            (&member("shape"), &npy("<i8", "(2,)", &bytes_of(&[3i64, 3]))),
            ("labels.npy", &npy("|i1", "(3,)", &[1, 0, 1])),
            ("class_names.npy", &npy("|S1", "(2,)", b"zy")),
            ("metadata.npy", &npy("|O", "()", b"\x80\x03}q\x00.")),
        ])
    }

    #[test]
    fn one_layout_is_turned_the_other_kept() {
        let folder = Folder::new(&[("a.npz", &file("adj_")), ("b.npz", &file("adj_matrix."))]);
        let store = Store::open(folder.root()).unwrap();
        assert_eq!(finds(&store), ["a.npz", "b.npz"]);
        let turned = read(&store, "a.npz").unwrap();
        assert_eq!(turned.edges, [(1, 0), (0, 2)]);
        assert_eq!(turned.labels.unwrap().names, ["z", "y"]);
        assert_eq!(read(&store, "b.npz").unwrap().edges, [(0, 1), (2, 0)]);
    }
}
