//! Pickles as Python 2 writes them.

use super::Files;

/// An array of NumPy, without the frame of a pickle around it.
fn array(kind: &str, shape: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut bytes = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R\
        (K\x01"
        .to_vec();
    bytes.extend(shape.iter().flat_map(|&axis| [b'K', axis]));
    bytes.push(if shape.len() == 1 { b'\x85' } else { b'\x86' });
    bytes.extend(b"cnumpy\ndtype\nU\x02");
    bytes.extend(kind.as_bytes());
    bytes.extend(b"K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89U");
    bytes.push(payload.len() as u8);
    bytes.extend(payload);
    bytes.extend(b"tb");
    bytes
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn framed(parts: &[&[u8]]) -> Vec<u8> {
    [b"\x80\x02", &parts.concat()[..], b"."].concat()
}

/// Protocol 2 pickle of a 3 x 2 float64 array, as NumPy writes it.
pub fn pickle() -> Vec<u8> {
    framed(&[&array("f8", &[3, 2], &doubles(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))])
}

/// A csr matrix of scipy with a one on the diagonal of each row.
fn diagonal(rows: u8, cols: u8) -> Vec<u8> {
    let numbers = |end: u8| -> Vec<u8> {
        (0..end).flat_map(|number| i32::from(number).to_le_bytes()).collect()
    };
    framed(&[
        b"ccopy_reg\n_reconstructor\n(cscipy.sparse.csr\ncsr_matrix\nc__builtin__\nobject\nNtR}(",
        b"U\x06_shape",
        &[b'K', rows, b'K', cols, b'\x86'],
        b"U\x07indices",
        &array("i4", &[rows], &numbers(rows)),
        b"U\x06indptr",
        &array("i4", &[rows + 1], &numbers(rows + 1)),
        b"U\x04data",
        &array("f8", &[rows], &doubles(&vec![1.0; rows.into()])),
        b"ub",
    ])
}

/// A cycle of three nodes, of which the last is for testing.
pub fn planetoid() -> Files {
    let classes = |rows: u8| {
        let ones: Vec<f64> = (0..rows).flat_map(|_| [0.0, 1.0]).collect();
        framed(&[&array("f8", &[rows, 2], &doubles(&ones))])
    };
    let graph = framed(&[b"}(K\x00](K\x01eK\x01](K\x02eK\x02](K\x00eu"]);
    vec![
        ("ind.tiny.x", diagonal(1, 2)),
        ("ind.tiny.tx", diagonal(1, 2)),
        ("ind.tiny.allx", diagonal(2, 2)),
        ("ind.tiny.y", classes(1)),
        ("ind.tiny.ty", classes(1)),
        ("ind.tiny.ally", classes(2)),
        ("ind.tiny.graph", graph),
        ("ind.tiny.test.index", b"2\n".to_vec()),
    ]
}
