//! Lying and odd input, one case at a time: always an error in words, never unbounded memory.

// A helper that fails is a test that fails.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::data_fixtures::{
    Files, adjacency, coordinates, f4, fixtures, i4, npy, read, write, zip,
};
use magnon::data::write::{write_atomic, write_dataset, write_npy};
use magnon::data::{DataError, LoadConfig, WeightTransform, attach_features, attach_labels, load};
use magnon::matrix::Matrix;
use std::error::Error;
use std::path::Path;

fn error(data: &str, files: Files) -> String {
    read(data, &files).unwrap_err().to_string()
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
fn line_ends_of_every_kind() {
    let endings = [".csv", ".tsv", ".txt", ".content", ".cites", "-txt", ".mtx", ".tab", ".index"];
    let mut checked = 0;
    for (data, files) in fixtures() {
        let expected = read(data, &files).unwrap();
        for end in ["\r", "\r\n"] {
            let mut files = files.clone();
            for (name, bytes) in &mut files {
                if endings.iter().any(|ending| name.ends_with(ending)) {
                    let text = String::from_utf8(bytes.clone()).unwrap().replace("\r\n", "\n");
                    *bytes = text.replace('\n', end).into_bytes();
                    checked += 1;
                }
            }
            let found = read(data, &files).unwrap();
            assert_eq!(found.graph, expected.graph, "{files:?}");
            assert_eq!(found.labels, expected.labels);
            assert_eq!(found.splits, expected.splits);
            assert_eq!(found.remarks, expected.remarks);
        }
    }
    assert!(checked > 20, "{checked}");
    let text = error("e.csv", vec![("e.csv", b"0,1\r1,2\r2\r".to_vec())]);
    assert!(text.contains("e.csv, line 3: ragged"), "{text}");
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
    assert!(attach_features(&mut dataset, &path, &LoadConfig::default()).is_err());
    assert!(attach_labels(&mut dataset, &path, &LoadConfig::default()).is_err());
    assert!(attach_labels(&mut dataset, folder.path(), &LoadConfig::default()).is_err());
}

#[test]
fn writing_where_it_cannot_be() {
    let matrix = Matrix::<f32>::zeros(100, 100);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("other");
    std::fs::write(&file, b"").unwrap();
    let error = write_npy(&file.join("a.npy"), &matrix).unwrap_err().to_string();
    assert!(error.contains("a.npy: cannot write"), "{error}");
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

#[test]
fn entries_given_twice_add_up() {
    let dataset = read("o.npz", &vec![("o.npz", coordinates([1.0; 3]))]).unwrap();
    assert_eq!(dataset.graph.weights(0), Some(&[2.0][..]));
    let dataset = read("o.npz", &vec![("o.npz", coordinates([0.5, 0.5, 1.0]))]).unwrap();
    assert!(!dataset.graph.is_weighted());
    let text = b"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n1 2 1\n";
    let dataset = read("m.mtx", &vec![("m.mtx", text.to_vec())]).unwrap();
    assert_eq!(dataset.graph.weights(0), Some(&[2.0][..]));
    let dataset = read("e.csv", &vec![("e.csv", b"0,1\n0,1\n".to_vec())]).unwrap();
    assert!(!dataset.graph.is_weighted());
}

#[test]
fn zeros_are_no_edges() {
    let text = b"%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0\n2 3 1\n".to_vec();
    for (name, bytes) in [
        ("o.npz", coordinates([1.0, 1.0, 0.0])),
        ("m.mtx", text),
        ("e.csv", b"0,1,0\n1,2,3\n".to_vec()),
        ("n.csv", b"anna,ben,0.0\nben,carl,3\n".to_vec()),
    ] {
        let dataset = read(name, &vec![(name, bytes)]).unwrap();
        assert_eq!((dataset.graph.nodes(), dataset.graph.edges()), (3, 1), "{name}");
        let said = |remark: &String| remark.starts_with("1 edges of weight 0");
        assert_eq!(dataset.remarks.iter().filter(|r| said(r)).count(), 1, "{name}");
    }
}

#[test]
fn more_nodes_than_can_be() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &vec![("e.csv", b"0,1\n".to_vec())]);
    for nodes in [(1 << 30) + 1, usize::MAX] {
        let config = LoadConfig { nodes: Some(nodes), ..LoadConfig::default() };
        let error = load(&folder.path().join("e.csv"), &config).unwrap_err().to_string();
        assert!(error.contains("1073741824 are the most"), "{error}");
    }
}

#[test]
fn columns_that_are_not_there_cost_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let features = zip(&[
        ("indices.npy", i4(&[1, 1_999_999_999, 0])),
        ("indptr.npy", i4(&[0, 1, 2, 3])),
        ("format.npy", npy("|S3", "()", b"csr")),
        ("shape.npy", i4(&[3, 2_000_000_000])),
        ("data.npy", f4(&[1.0, 2.0, 1.0], "(3,)")),
    ]);
    write(folder.path(), &vec![("g.npz", adjacency([1, 2, 0])), ("f.npz", features)]);
    let mut dataset = load(&folder.path().join("g.npz"), &LoadConfig::default()).unwrap();
    attach_features(&mut dataset, &folder.path().join("f.npz"), &LoadConfig::default()).unwrap();
    assert_eq!(dataset.features.unwrap().cols(), 2_000_000_000);
}

#[test]
fn an_error_says_everything_once() {
    for error in [
        load(Path::new("/no/such/data"), &LoadConfig::default()).unwrap_err(),
        read("e.csv", &vec![("e.csv", Vec::new())]).unwrap_err(),
    ] {
        assert!(error.source().is_none(), "{error}");
    }
}

/// A file that was cut short is told from a whole one, wherever it was cut.
#[test]
fn files_that_end_early_are_refused() {
    let graphml = "<?xml version='1.0'?>\n<graphml>\n<key id='d0' for='node' attr.name='x'/>\n\
        <graph edgedefault='directed'>\n<node id='a'><data key='d0'>1</data></node>\n<node id='b'/>\n\
        <edge source='a' target='b'/>\n</graph>\n</graphml>\n";
    let gexf = "<?xml version='1.0'?>\n<gexf>\n<graph defaultedgetype='directed'>\n\
        <nodes><node id='a' label='A'/><node id='b'/></nodes>\n\
        <edges><edge source='a' target='b' weight='2'/></edges>\n</graph>\n</gexf>\n";
    let gml = "Creator \"me\"\ngraph [\n directed 1\n node [ id 1 label \"a\" ]\n node [ id 2 ]\n\
        edge [ source 1 target 2 ]\n]\n";
    let json = "{\"directed\": true, \"nodes\": [{\"id\": \"a\"}, {\"id\": 2}],\n\
        \"links\": [{\"source\": \"a\", \"target\": 2, \"weight\": 1.5}]}\n";
    for (name, text) in [("g.graphml", graphml), ("g.gexf", gexf), ("g.gml", gml), ("g.json", json)]
    {
        let whole = text.trim_end().len();
        for end in 0..=text.len() {
            let outcome = read(name, &vec![(name, text.as_bytes()[..end].to_vec())]);
            assert_eq!(outcome.is_ok(), end >= whole, "{name}, {end} of {whole} bytes");
        }
        let refused = |end: usize| error(name, vec![(name, text.as_bytes()[..end].to_vec())]);
        let error = refused(whole - 1);
        // Where its text ends: that of the GML before the bracket on the last line.
        let line = text[..whole - 1].trim_end().lines().count();
        let ends = error.contains(&format!("line {line}: ")) && error.contains("ends early");
        assert!(ends || error.contains("broken XML"), "{error}");
        let middle = text.find("node").unwrap() + 60;
        let cut = text[..middle].rfind(['>', ']', '}']).unwrap() + 1;
        let error = refused(cut);
        assert!(error.contains("ends early"), "{name}: {error}");
        // Two documents one after the other, and one in a text.
        for more in if name == "g.gml" { vec![] } else { vec![text, "and so on"] } {
            let both = [text.as_bytes(), more.as_bytes()].concat();
            assert!(read(name, &vec![(name, both)]).is_err(), "{name}: {more}");
        }
    }
}

/// Weights that single precision cannot hold are called what they are.
#[test]
fn weights_beyond_single_precision() {
    let graphml = |weight: &str| {
        format!(
            "<graphml><key id='w' for='edge' attr.name='weight'/><graph><node id='a'/><node id='b'/>\
             <edge source='a' target='b'><data key='w'>{weight}</data></edge>\
             <edge source='b' target='a'><data key='w'>2</data></edge></graph></graphml>"
        )
    };
    let files = |weight: &str| {
        [
            ("n.csv", format!("a,b,{weight}\nb,a,2\n")),
            ("i.csv", format!("0,1,{weight}\n1,0,2\n")),
            ("g.graphml", graphml(weight)),
            (
                "m.mtx",
                format!(
                    "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 {weight}\n2 1 2\n"
                ),
            ),
        ]
    };
    let load_with = |weight: &str, weight_transform: WeightTransform| {
        let config = LoadConfig { weight_transform, ..LoadConfig::default() };
        files(weight).map(|(name, text)| {
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), &vec![(name, text.into_bytes())]);
            load(&folder.path().join(name), &config)
        })
    };
    for outcome in load_with("1e39", WeightTransform::None) {
        let error = outcome.unwrap_err().to_string();
        assert!(error.contains("1e39") && error.contains("single precision"), "{error}");
        assert!(error.contains(" → ") && error.contains("--weight-transform log"), "{error}");
    }
    for outcome in load_with("1e400", WeightTransform::None) {
        let error = outcome.unwrap_err().to_string();
        assert!(error.contains("larger than any number of double precision"), "{error}");
    }
    for dataset in load_with("1e39", WeightTransform::Log) {
        let dataset = dataset.unwrap();
        let weights = [0, 1].map(|node| dataset.graph.weights(node).unwrap()[0]);
        assert_eq!(weights, [1e39f64.ln_1p() as f32, 2f32.ln_1p()]);
    }
    for dataset in load_with("1e39", WeightTransform::Scale) {
        assert_eq!(dataset.unwrap().graph.weights(0).unwrap(), [2.0]);
    }
    for dataset in load_with("1e-300", WeightTransform::None) {
        let dataset = dataset.unwrap();
        assert_eq!(dataset.graph.edges(), 1);
        let said = dataset.remarks.join("\n");
        assert!(said.contains("0 in single precision, such as 1e-300"), "{said}");
        assert!(!said.contains("of weight 0"), "{said}");
    }
}

#[test]
fn hyperedges_are_told_of() {
    let text = "<graphml><graph><node id='a'/><node id='b'/><node id='c'/><edge source='a' target='b'/>\
        <hyperedge><endpoint node='a'/><endpoint node='b'/><endpoint node='c'/></hyperedge>\
        </graph></graphml>";
    let dataset = read("g.graphml", &vec![("g.graphml", text.as_bytes().to_vec())]).unwrap();
    assert_eq!((dataset.graph.nodes(), dataset.graph.edges()), (3, 1));
    let said = dataset.remarks.join("\n");
    assert!(said.contains("hyperedges were left out (1 in the file)"), "{said}");
}

/// Nodes without edges are nodes, whatever they are called.
#[test]
fn lone_nodes_of_an_adjacency_list_are_kept() {
    for (text, nodes, edges) in
        [("a\nb\nc\n", 3, 0), ("0\n1\n2\n", 3, 0), ("7\n9 7\n30\n", 3, 1), ("0 1\n1\n2\n", 3, 1)]
    {
        let dataset = read("g.adjlist", &vec![("g.adjlist", text.as_bytes().to_vec())]).unwrap();
        assert_eq!((dataset.graph.nodes(), dataset.graph.edges()), (nodes, edges), "{text:?}");
    }
}

/// The same holds for features.
#[test]
fn features_beyond_single_precision() {
    let nodes = |value: &str| format!("id,x\na,{value}\nb,2\n").into_bytes();
    for (value, words) in
        [("1e39", "1e39 is larger than any number of single precision"), ("inf", "a finite number")]
    {
        let files = vec![("edges.csv", b"a,b\nb,a\n".to_vec()), ("nodes.csv", nodes(value))];
        let error = error("", files);
        assert!(error.contains("nodes.csv, line 2") && error.contains(words), "{error}");
    }
    let text = "graph [ node [ id 1 x 1e39 ] node [ id 2 x 1 ] edge [ source 1 target 2 ] ]";
    let dataset = read("g.gml", &vec![("g.gml", text.as_bytes().to_vec())]).unwrap();
    let said = dataset.remarks.join("\n");
    assert!(said.contains("the attribute x was left out, as it has numbers larger"), "{said}");
}
