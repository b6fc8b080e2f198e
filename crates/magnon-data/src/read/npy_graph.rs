//! NumPy arrays as graphs: a dense square matrix, or edges as two columns or two rows.

use crate::DataError;
use crate::allocate::collect;
use crate::numpy::Array;
use crate::raw_dataset::{Raw, check_count};
use crate::store::Store;

/// An array that was named. In a folder, arrays are features and the like.
pub(crate) fn finds(store: &Store) -> Vec<String> {
    store.only().filter(|name| name.ends_with(".npy")).map(str::to_owned).into_iter().collect()
}

/// Reads the graph: entry (i, j) of a square matrix is the edge i → j; of edges, the source comes
/// first. An array of 2 x 2 is a matrix.
pub(crate) fn read(store: &Store, name: &str) -> Result<Raw, DataError> {
    let file = store.label(name);
    let array = Array::from_store(store, name)?;
    match *array.shape() {
        [rows, cols] if rows == cols => matrix(file, array, rows),
        [_, 2] | [2, _] if array.is_whole() => edges(file, array),
        [_, 2] | [2, _] => {
            let problem = "two columns or rows are edges, but these do not hold integers";
            Err(DataError::format(file, problem))
        }
        _ => {
            let problem = format!(
                "a graph is a square matrix (n x n) or edges (m x 2), but the array is {:?}",
                array.shape()
            );
            Err(DataError::format(file, problem))
        }
    }
}

/// The graph of a square matrix; only entries that are not zero are kept.
fn matrix<R: std::io::Read>(file: String, array: Array<R>, rows: usize) -> Result<Raw, DataError> {
    let nodes = check_count(&file, "rows", rows as u64, (rows as u64).saturating_pow(2))?;
    let (entries, rounded) = array.nonzeros()?;
    let weights = collect(entries.iter().map(|entry| entry.2), &file)?;
    let edges = collect(entries.into_iter().map(|(u, v, _)| (u, v)), &file)?;
    let remarks = vec!["the array was read as a matrix: row = source, column = target".into()];
    Ok(Raw { file, edges, weights: Some(weights), rounded, nodes, remarks, ..Raw::default() })
}

/// The graph of a list of edges; its nodes are 0 up to the largest number.
fn edges<R: std::io::Read>(file: String, array: Array<R>) -> Result<Raw, DataError> {
    let by_rows = array.shape().get(1) == Some(&2);
    let numbers = array.indices()?;
    let edges: Vec<(u32, u32)> = if by_rows {
        collect(numbers.chunks_exact(2).map(|edge| (edge[0], edge[1])), &file)?
    } else {
        let (sources, targets) = numbers.split_at(numbers.len() / 2);
        collect(sources.iter().copied().zip(targets.iter().copied()), &file)?
    };
    let top = numbers.iter().map(|&node| u64::from(node) + 1).max().unwrap_or(0);
    let nodes = check_count(&file, "nodes", top, (numbers.len() as u64).saturating_mul(8))?;
    let shape = if by_rows { "columns" } else { "rows" };
    let remarks = vec![format!("the array was read as edges: its {shape} are source and target")];
    Ok(Raw { file, edges, nodes, remarks, ..Raw::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Folder, bytes_of, npy};

    fn load(descr: &str, shape: &str, payload: &[u8]) -> Result<Raw, DataError> {
        let folder = Folder::new(&[("g.npy", &npy(descr, shape, payload))]);
        assert!(finds(&Store::open(folder.root()).unwrap()).is_empty());
        let store = Store::open(&folder.path("g.npy")).unwrap();
        read(&store, &finds(&store)[0])
    }

    #[test]
    fn a_square_matrix() {
        let raw = load("|b1", "(3, 3)", &[0, 1, 0, 0, 0, 1, 0, 0, 0]).unwrap();
        assert_eq!((raw.edges, raw.nodes), (vec![(0, 1), (1, 2)], 3));
        let raw = load("<f8", "(2, 2)", &bytes_of(&[0f64, 2.5, 0.0, -1.0])).unwrap();
        assert_eq!((raw.edges, raw.weights.unwrap()), (vec![(0, 1), (1, 1)], vec![2.5, -1.0]));
    }

    #[test]
    fn edges_in_columns_and_rows() {
        let columns = load("<i8", "(3, 2)", &bytes_of(&[0i64, 1, 1, 2, 2, 5])).unwrap();
        assert_eq!((columns.edges, columns.nodes), (vec![(0, 1), (1, 2), (2, 5)], 6));
        assert_eq!(columns.weights, None);
        let rows = load("<i4", "(2, 3)", &bytes_of(&[0i32, 1, 2, 1, 2, 5])).unwrap();
        assert_eq!((rows.edges, rows.nodes), (vec![(0, 1), (1, 2), (2, 5)], 6));
    }

    #[test]
    fn strangers_are_refused() {
        let error =
            |descr, shape, payload: &[u8]| load(descr, shape, payload).unwrap_err().to_string();
        assert!(error("|u1", "(4,)", &[0; 4]).contains("square matrix"));
        assert!(error("|u1", "(3, 4)", &[0; 12]).contains("[3, 4]"));
        assert!(error("<f4", "(3, 2)", &[0; 24]).contains("integers"));
        assert!(error("<i4", "(1, 2)", &bytes_of(&[0i32, -1])).contains("negative"));
        assert!(error("<u4", "(1, 2)", &bytes_of(&[0u32, u32::MAX])).contains("too many"));
        assert!(error("|S1", "(2, 2)", b"abcd").contains("text"));
    }
}
