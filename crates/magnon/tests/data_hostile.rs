//! Damaged, lying and odd input: always an error in words, never a panic, never unbounded memory.

// A helper that fails is a test that fails.
#![allow(clippy::unwrap_used, clippy::panic)]

use magnon::data::write::{write_atomic, write_dataset, write_npy};
use magnon::data::{
    DataError, Dataset, FeatureNorm, LoadConfig, attach_features, attach_labels, load,
};
use magnon::matrix::Matrix;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, RngSeed};
use std::io::{Cursor, Write};
use std::path::Path;

type Files = Vec<(&'static str, Vec<u8>)>;

fn zip(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn npy(descr: &str, shape: &str, payload: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), payload].concat()
}

fn i4(values: &[i32]) -> Vec<u8> {
    let payload: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    npy("<i4", &format!("({},)", values.len()), &payload)
}

fn f4(values: &[f32], shape: &str) -> Vec<u8> {
    let payload: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    npy("<f4", shape, &payload)
}

/// A cycle of three nodes as scipy writes it.
fn adjacency(indices: [i32; 3]) -> Vec<u8> {
    zip(&[
        ("indices.npy", i4(&indices)),
        ("indptr.npy", i4(&[0, 1, 2, 3])),
        ("format.npy", npy("|S3", "()", b"csr")),
        ("shape.npy", i4(&[3, 3])),
        ("data.npy", f4(&[1.0, 2.0, 1.0], "(3,)")),
    ])
}

/// Protocol 2 pickle of a 3 x 2 float64 array, as NumPy writes it.
fn pickle() -> Vec<u8> {
    let mut bytes =
        b"\x80\x02cnumpy.core.multiarray\n_reconstruct\nq\x00cnumpy\nndarray\nq\x01K\x00\
        \x85U\x01b\x87R(K\x01K\x03K\x02\x86cnumpy\ndtype\nU\x02f8K\x00K\x01\x87R(K\x03U\x01<NNNJ\
        \xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89U\x30"
            .to_vec();
    for value in [1f64, 2.0, 3.0, 4.0, 5.0, 6.0] {
        bytes.extend(value.to_le_bytes());
    }
    bytes.extend(b"tb.");
    bytes
}

/// One small valid data set a format.
fn fixtures() -> Vec<(&'static str, Files)> {
    let text = |text: &str| text.as_bytes().to_vec();
    let masks = |bytes: &[u8]| npy("|b1", "(3,)", bytes);
    let heterophilous = zip(&[
        ("edges.npy", npy("<i4", "(2, 2)", &[0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0])),
        ("node_labels.npy", i4(&[0, 1, 1])),
        ("node_features.npy", f4(&[1.0, 0.0, 0.5, 1.0, 2.0, 0.0], "(3, 2)")),
        ("train_masks.npy", npy("|b1", "(1, 3)", &[1, 0, 0])),
        ("val_masks.npy", npy("|b1", "(1, 3)", &[0, 1, 0])),
        ("test_masks.npy", npy("|b1", "(1, 3)", &[0, 0, 1])),
    ]);
    let benchmark = zip(&[
        ("adj_data.npy", f4(&[1.0, 1.0], "(2,)")),
        ("adj_indices.npy", i4(&[1, 2])),
        ("adj_indptr.npy", i4(&[0, 1, 2, 2])),
        ("adj_shape.npy", i4(&[3, 3])),
        ("labels.npy", npy("|i1", "(3,)", &[0, 1, 0])),
        ("class_names.npy", npy("<U1", "(2,)", b"a\0\0\0b\0\0\0")),
    ]);
    let split = zip(&[
        ("train_mask.npy", masks(&[1, 0, 0])),
        ("val_mask.npy", masks(&[0, 1, 0])),
        ("test_mask.npy", masks(&[0, 0, 1])),
    ]);
    vec![
        (
            "",
            vec![
                ("adj.npz", adjacency([1, 2, 0])),
                ("features.pkl", pickle()),
                ("labels.csv", text("0\n1\n1\n")),
                ("idx_train.csv", text("0\n")),
                ("idx_valid.csv", text("1\n")),
                ("idx_test.csv", text("2\n")),
            ],
        ),
        (
            "",
            vec![
                ("adj.npz", adjacency([1, 2, 0])),
                ("features.npy", f4(&[1.0, 2.0, 3.0], "(3, 1)")),
            ],
        ),
        ("g.npz", vec![("g.npz", adjacency([1, 2, 0]))]),
        ("h.npz", vec![("h.npz", heterophilous)]),
        ("b.npz", vec![("b.npz", benchmark)]),
        (
            "",
            vec![
                ("x.content", text("a\t0\t1\tu\nb\t1\t0\tv\nc\t1\t1\tu\n")),
                ("x.cites", text("a\tb\nb\tc\nc\tz\n")),
            ],
        ),
        (
            "",
            vec![
                ("out1_graph_edges.txt", text("node_id\tnode_id\n0\t1\n1\t2\n")),
                (
                    "out1_node_feature_label.txt",
                    text("node_id\tfeature\tlabel\n0\t0,1\t0\n1\t1,0\t1\n2\t1,1\t0\n"),
                ),
                ("texas_split_0.6_0.2_0.npz", split),
            ],
        ),
        (
            "",
            vec![
                ("raw/edge.csv.gz", gz(b"0,1\n1,2\n")),
                ("raw/num-node-list.csv.gz", gz(b"3\n")),
                ("raw/node-feat.csv.gz", gz(b"0.5\n1.5\n2\n")),
                ("raw/node-label.csv.gz", gz(b"0\n1\n0\n")),
                ("split/time/train.csv.gz", gz(b"0\n")),
                ("split/time/valid.csv.gz", gz(b"1\n")),
                ("split/time/test.csv.gz", gz(b"2\n")),
            ],
        ),
        ("e.csv", vec![("e.csv", text("source,target,weight\n0,1,0.5\n7,1,2\n\"3\",0,1e-2\n"))]),
        ("n.tsv", vec![("n.tsv", text("# names\nanna\tben\nben\tcarl\n"))]),
        ("e.txt", vec![("e.txt", text("5 6\r\n6 7\r\n7 99999999999"))]),
        ("w.graph-txt", vec![("w.graph-txt", text("3\n1 2\n\n0\n"))]),
        (
            "m.mtx",
            vec![(
                "m.mtx",
                text("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 5\n3 1 2\n"),
            )],
        ),
        (
            "p.cites.tab",
            vec![("p.cites.tab", text("DIRECTED\tcites\nNO\n1\tpaper:3\t|\tpaper:1\n"))],
        ),
        ("z.zip", vec![("z.zip", zip(&[("top/e.csv", b"0,1\n1,2\n".to_vec())]))]),
    ]
}

fn write(folder: &Path, files: &Files) {
    for (name, bytes) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

fn read(data: &str, files: &Files) -> Result<Dataset, DataError> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), files);
    load(&folder.path().join(data), &LoadConfig::default())
}

fn error(data: &str, files: Files) -> String {
    read(data, &files).unwrap_err().to_string()
}

#[test]
fn fixtures_are_valid() {
    for (data, files) in fixtures() {
        let names: Vec<_> = files.iter().map(|file| file.0).collect();
        read(data, &files).unwrap_or_else(|error| panic!("{names:?}: {error}"));
    }
}

/// One way to do harm to bytes.
#[derive(Clone, Debug)]
enum Harm {
    Cut(prop::sample::Index),
    Change(prop::sample::Index, u8),
    Insert(prop::sample::Index, Vec<u8>),
    Repeat(prop::sample::Index, usize),
}

fn harm() -> impl Strategy<Value = Harm> {
    let tokens = prop::sample::select(vec![
        b"-1".to_vec(),
        b"nan".to_vec(),
        b"1e999".to_vec(),
        b"99999999999999999999999".to_vec(),
        b"4294967295".to_vec(),
        b"\n".to_vec(),
        b"\"".to_vec(),
        b"\xff\xfe".to_vec(),
        b",".to_vec(),
        vec![0; 9],
    ]);
    prop_oneof![
        any::<prop::sample::Index>().prop_map(Harm::Cut),
        (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, byte)| Harm::Change(at, byte)),
        (any::<prop::sample::Index>(), tokens).prop_map(|(at, token)| Harm::Insert(at, token)),
        (any::<prop::sample::Index>(), 1..40usize).prop_map(|(at, count)| Harm::Repeat(at, count)),
    ]
}

fn apply(harm: &Harm, bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    match harm {
        Harm::Cut(at) => bytes.truncate(at.index(bytes.len())),
        Harm::Change(at, byte) => {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        Harm::Insert(at, token) => {
            let at = at.index(bytes.len());
            bytes.splice(at..at, token.iter().copied());
        }
        Harm::Repeat(at, count) => {
            let at = at.index(bytes.len());
            let end = (at + count).min(bytes.len());
            let part = bytes[at..end].to_vec();
            bytes.splice(at..at, part);
        }
    }
}

proptest! {
    #![proptest_config(Config {
        cases: 1500,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Fixed(20),
        failure_persistence: None,
        ..Config::default()
    })]

    #[test]
    fn damaged_files_never_panic(
        which in any::<prop::sample::Index>(),
        file in any::<prop::sample::Index>(),
        harms in prop::collection::vec(harm(), 1..4),
    ) {
        let fixtures = fixtures();
        let (data, mut files) = fixtures[which.index(fixtures.len())].clone();
        let file = file.index(files.len());
        for harm in &harms {
            apply(harm, &mut files[file].1);
        }
        // Text that is changed may still be a graph; what counts is that an answer comes back.
        if let Ok(dataset) = read(data, &files) {
            prop_assert!(dataset.graph.nodes() > 0);
        }
    }

    #[test]
    fn damaged_members_never_panic(
        member in 0..5usize,
        harms in prop::collection::vec(harm(), 1..4),
    ) {
        let names = ["indices", "indptr", "format", "shape", "data"];
        let mut members = vec![
            ("indices.npy", i4(&[1, 2, 0])),
            ("indptr.npy", i4(&[0, 1, 2, 3])),
            ("format.npy", npy("|S3", "()", b"csr")),
            ("shape.npy", i4(&[3, 3])),
            ("data.npy", f4(&[1.0, 2.0, 1.0], "(3,)")),
        ];
        prop_assert!(members[member].0.starts_with(names[member]));
        for harm in &harms {
            apply(harm, &mut members[member].1);
        }
        let _ = read("g.npz", &vec![("g.npz", zip(&members))]);
    }

    #[test]
    fn damaged_pickles_never_panic(harms in prop::collection::vec(harm(), 1..5)) {
        let mut bytes = pickle();
        for harm in &harms {
            apply(harm, &mut bytes);
        }
        let files = vec![("adj.npz", adjacency([1, 2, 0])), ("features.pkl", bytes)];
        let _ = read("", &files);
    }
}

#[test]
fn a_truncated_zip() {
    let bytes = adjacency([1, 2, 0]);
    let half = bytes[..bytes.len() / 2].to_vec();
    assert!(error("g.npz", vec![("g.npz", half)]).contains("truncated or not a zip file"));
}

#[test]
fn a_header_that_claims_too_much() {
    let features = f4(&[1.0], "(3, 1152921504606846976)");
    let files = vec![("adj.npz", adjacency([1, 2, 0])), ("features.npy", features)];
    let error = error("", files);
    assert!(error.contains("features.npy") && error.contains("truncated"), "{error}");
}

#[test]
fn a_header_of_endless_brackets() {
    let mut features = npy("<f4", "(3, 1)", &[0; 12]);
    features.splice(10..10, std::iter::repeat_n(b'[', 9000));
    let length = (features.len() - 10 - 12) as u16;
    features[8..10].copy_from_slice(&length.to_le_bytes());
    let files = vec![("adj.npz", adjacency([1, 2, 0])), ("features.npy", features)];
    assert!(error("", files).contains("header"));
}

#[test]
fn indices_outside_of_the_graph() {
    let error_of = |indices| error("g.npz", vec![("g.npz", adjacency(indices))]);
    assert!(error_of([1, 3, 0]).contains("entry 1 lies in column 3"));
    assert!(error_of([1, -2, 0]).contains("the index -2 at position 1 is negative"));
}

#[test]
fn a_vast_node_number_costs_no_memory() {
    let edges = b"0\t1\n1\t4294967295\n".to_vec();
    let text = error(
        "",
        vec![
            ("out1_graph_edges.txt", edges),
            ("out1_node_feature_label.txt", b"0\t1\t0\n1\t1\t1\n".to_vec()),
        ],
    );
    assert!(text.contains("4294967296 nodes"), "{text}");
}

#[test]
fn a_ragged_table() {
    let files =
        vec![("adj.npz", adjacency([1, 2, 0])), ("features.csv", b"1,2\n3,4\n5\n".to_vec())];
    assert!(error("", files).contains("features.csv, line 3: ragged"));
}

#[test]
fn features_that_are_not_finite() {
    for value in [f32::NAN, f32::INFINITY] {
        let features = f4(&[1.0, 2.0, 3.0, value, 5.0, 6.0], "(3, 2)");
        let files = vec![("adj.npz", adjacency([1, 2, 0])), ("features.npy", features)];
        let error = error("", files);
        assert!(error.contains("features.npy: the feature in row 1, column 1"), "{error}");
    }
    let table = b"1,2\n3,inf\n5,6\n".to_vec();
    let files = vec![("adj.npz", adjacency([1, 2, 0])), ("features.csv", table)];
    assert!(error("", files).contains("line 2: column 2"));
}

#[test]
fn tables_of_the_wrong_length() {
    let files = vec![("adj.npz", adjacency([1, 2, 0])), ("labels.csv", b"0\n1\n".to_vec())];
    assert!(error("", files).contains("2 labels, but the graph has 3 nodes"));
    let files = vec![("adj.npz", adjacency([1, 2, 0])), ("features.csv", b"0\n".repeat(4))];
    assert!(error("", files).contains("4 rows, but the graph has 3 nodes"));
    let files = vec![("adj.npz", adjacency([1, 2, 0])), ("idx_train.csv", b"0\n3\n".to_vec())];
    assert!(error("", files).contains("node 3"));
}

#[test]
fn an_empty_graph() {
    for text in [&b""[..], b"# only a comment\n", b"\n\n"] {
        assert!(error("e.csv", vec![("e.csv", text.to_vec())]).contains("no nodes"));
    }
}

#[test]
fn files_that_cannot_be_read() {
    let missing = load(Path::new("/no/such/data"), &LoadConfig::default()).unwrap_err();
    assert!(matches!(missing, DataError::Io { action: "read", .. }), "{missing}");
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("adj.npz")).unwrap();
    let error = load(folder.path(), &LoadConfig::default()).unwrap_err();
    assert!(matches!(error, DataError::Unknown { .. }), "{error}");
}

#[test]
fn a_pickle_that_would_run_code() {
    let bytes = b"cos\nsystem\n(S'echo harm'\ntR.".to_vec();
    let files = vec![("adj.npz", adjacency([1, 2, 0])), ("features.pkl", bytes)];
    assert!(error("", files).contains("an object of os.system"));
}

#[test]
fn a_pickle_of_deep_nests_and_cycles() {
    for bytes in [b"\x80\x02(lq\x00h\x00a.".to_vec(), [vec![b']'; 200_000], b".".to_vec()].concat()]
    {
        let files = vec![("adj.npz", adjacency([1, 2, 0])), ("features.pkl", bytes)];
        assert!(error("", files).contains("a list"));
    }
}

#[test]
fn attaching_checks_too() {
    let folder = tempfile::tempdir().unwrap();
    let files = vec![("e.csv", b"0,1\n".to_vec()), ("f.csv", b"1\n".to_vec())];
    write(folder.path(), &files);
    let mut dataset = load(&folder.path().join("e.csv"), &LoadConfig::default()).unwrap();
    let path = folder.path().join("f.csv");
    assert!(attach_features(&mut dataset, &path, FeatureNorm::Auto).is_err());
    assert!(attach_labels(&mut dataset, &path).is_err());
    assert!(attach_labels(&mut dataset, folder.path()).is_err());
}

#[test]
fn writing_where_it_cannot_be() {
    let matrix = Matrix::<f32>::zeros(100, 100);
    let error = write_npy(Path::new("/no/such/folder/a.npy"), &matrix).unwrap_err().to_string();
    assert!(error.starts_with("/no/such/folder/a.npy: cannot write"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let error = write_npy(folder.path(), &matrix).unwrap_err().to_string();
    assert!(error.contains("it is a folder"), "{error}");
    let dataset = read("g.npz", &vec![("g.npz", adjacency([1, 2, 0]))]).unwrap();
    std::fs::write(folder.path().join("file"), b"").unwrap();
    assert!(write_dataset(&folder.path().join("file"), &dataset).is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn writing_to_a_full_disk() {
    let path = Path::new("/dev/full");
    let error = write_npy(path, &Matrix::<f32>::zeros(1000, 1000)).unwrap_err();
    assert!(matches!(error, DataError::Io { action: "write", .. }));
    assert!(error.to_string().starts_with("/dev/full: cannot write"), "{error}");
    let error = write_atomic(path, |target| target.write_all(b"short")).unwrap_err();
    assert!(error.to_string().starts_with("/dev/full"), "{error}");
}
