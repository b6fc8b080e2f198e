//! One small valid data set for each format, and what they are made of.

// Each test uses some of these; a helper that fails is a test that fails.
#![allow(dead_code, clippy::unwrap_used)]

mod pickles;

use magnon::data::{DataError, Dataset, LoadConfig, PackConfig, load, pack};
pub use pickles::{pickle, planetoid};
use std::io::{Cursor, Write};
use std::path::Path;

pub type Files = Vec<(&'static str, Vec<u8>)>;

pub fn zip(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

pub fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn zst(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

pub fn tar(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        builder.append_data(&mut header, name, &bytes[..]).unwrap();
    }
    builder.into_inner().unwrap()
}

pub fn npy(descr: &str, shape: &str, payload: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), payload].concat()
}

pub fn i4(values: &[i32]) -> Vec<u8> {
    let payload: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    npy("<i4", &format!("({},)", values.len()), &payload)
}

pub fn f4(values: &[f32], shape: &str) -> Vec<u8> {
    let payload: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    npy("<f4", shape, &payload)
}

/// A cycle of three nodes as scipy writes it.
pub fn adjacency(indices: [i32; 3]) -> Vec<u8> {
    compressed("csr", "", indices)
}

/// The members of a compressed matrix, each with a prefix to its name.
fn compressed(format: &str, prefix: &str, indices: [i32; 3]) -> Vec<u8> {
    let name = |member: &str| format!("{prefix}{member}.npy");
    let names = ["indices", "indptr", "format", "shape", "data"].map(name);
    let arrays = [
        i4(&indices),
        i4(&[0, 1, 2, 3]),
        npy("|S3", "()", format.as_bytes()),
        i4(&[3, 3]),
        f4(&[1.0, 2.0, 1.0], "(3,)"),
    ];
    let members: Vec<_> = names.iter().map(String::as_str).zip(arrays).collect();
    zip(&members)
}

/// The members of a matrix by coordinates, with one place twice.
pub fn coordinates(values: [f32; 3]) -> Vec<u8> {
    zip(&[
        ("row.npy", i4(&[0, 0, 1])),
        ("col.npy", i4(&[1, 1, 0])),
        ("format.npy", npy("|S3", "()", b"coo")),
        ("shape.npy", i4(&[3, 3])),
        ("data.npy", f4(&values, "(3,)")),
    ])
}

/// One small valid data set a format.
pub fn fixtures() -> Vec<(&'static str, Files)> {
    let text = |text: &str| text.as_bytes().to_vec();
    let archived = [("data/top/e.csv", b"0,1\n1,2\n".to_vec())];
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
        ("c.npz", vec![("c.npz", compressed("csc", "", [1, 2, 0]))]),
        ("o.npz", vec![("o.npz", coordinates([1.0, 2.0, 3.0]))]),
        ("a.npz", vec![("a.npz", compressed("csr", "adj_matrix.", [1, 2, 0]))]),
        ("", planetoid()),
        ("d.npy", vec![("d.npy", f4(&[0.0, 1.0, 0.5, 0.0], "(2, 2)"))]),
        ("p.npy", vec![("p.npy", npy("|u1", "(3, 2)", &[0, 1, 1, 2, 2, 0]))]),
        ("r.npy", vec![("r.npy", npy("|u1", "(2, 3)", &[0, 1, 2, 1, 2, 0]))]),
        ("e.csv.zst", vec![("e.csv.zst", zst(b"0,1\n1,2\n"))]),
        ("z.zip", vec![("z.zip", zip(&archived))]),
        ("t.tar", vec![("t.tar", tar(&archived))]),
        ("t.tgz", vec![("t.tgz", gz(&tar(&archived)))]),
        (
            "",
            vec![
                ("edges.csv", text("time,sender,receiver,amount\n1,a,b,2.5\n2,b,c,1\n3,c,a,4\n")),
                ("features.tsv", text("id\tx\ty\nc\t1.5\t-2\na\t2\t0\nb\t3\t1e-3\nd\t0\t0\n")),
                ("labels.csv", text("node,label\nb,u\na,v\nc,?\n")),
            ],
        ),
        ("k.graphml", vec![("k.graphml", text(GRAPHML))]),
        ("k.gexf", vec![("k.gexf", text(GEXF))]),
        ("k.gml", vec![("k.gml", text(GML))]),
        ("k.json", vec![("k.json", text(NODE_LINK))]),
        ("k.adjlist", vec![("k.adjlist", text("# nodes\na b c\nb c\nc\n"))]),
        ("k.pt", vec![("k.pt", torch())]),
        ("g.magnon", vec![("g.magnon", packed())]),
    ]
}

/// A packed graph with weights and names. It is written with care for the disk, so once is enough.
fn packed() -> Vec<u8> {
    static BYTES: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    let make = || {
        let folder = tempfile::tempdir().unwrap();
        let (source, output) = (folder.path().join("e.csv"), folder.path().join("g.magnon"));
        std::fs::write(&source, "a,b,0.5\nb,c,2\nc,a,1\n").unwrap();
        pack(&source, &output, &PackConfig::default(), &()).unwrap();
        std::fs::read(output).unwrap()
    };
    BYTES.get_or_init(make).clone()
}

const GRAPHML: &str = r#"<graphml><key id="w" for="edge" attr.name="weight"/>
<key id="x" for="node" attr.name="age"><default>5</default></key><graph edgedefault="directed">
<node id="a"><data key="x">2.5</data></node><node id="b"/><edge source="a" target="b">
<data key="w">1.5</data></edge><edge source="b" target="a" directed="false"/></graph></graphml>"#;

const GEXF: &str = r#"<gexf><graph defaultedgetype="directed"><attributes class="node">
<attribute id="0" title="age"/></attributes><nodes><node id="0" label="a"><attvalues>
<attvalue for="0" value="1.5"/></attvalues></node><node id="1" label="b"/></nodes>
<edges><edge source="1" target="0" weight="2.5"/></edges></graph></gexf>"#;

const GML: &str = "graph [ directed 1 node [ id 5 label \"a\" age 2 ] node [ id 7 label \"b\" age 3 ]\n\
                   edge [ source 7 target 5 weight 2.5 ] ]";

const NODE_LINK: &str = r#"{"directed": true, "nodes": [{"id": "a", "x": [0.5, 1], "label": 3},
{"id": "b", "x": [2, 1.5], "label": 4}], "links": [{"source": "b", "target": "a", "weight": 2.5}]}"#;

/// A dictionary of tensors as PyTorch keeps it: a pickle that names the numbers beside it.
fn torch() -> Vec<u8> {
    let word = |word: &str| {
        let length = (word.len() as u32).to_le_bytes();
        [b"X", &length[..], word.as_bytes()].concat()
    };
    let number = |value: u8| vec![b'K', value];
    let tensor = |kind: &str, key: &str, rows: u8, cols: u8| {
        let storage =
            [word("storage"), format!("ctorch\n{kind}\n").into_bytes(), word(key)].concat();
        let storage = [&b"("[..], &storage, &word("cpu"), &number(rows * cols), b"tQ"].concat();
        let shape = [&b"("[..], &number(rows), &number(cols), b"t"].concat();
        let strides = [&b"("[..], &number(cols), &number(1), b"t"].concat();
        let parts = [&storage[..], &number(0), &shape, &strides, b"\x89}tR"].concat();
        [&b"ctorch._utils\n_rebuild_tensor_v2\n("[..], &parts].concat()
    };
    let edges = [word("edge_index"), tensor("IntStorage", "0", 2, 3)].concat();
    let features = [word("x"), tensor("FloatStorage", "1", 3, 2)].concat();
    let code = [&b"\x80\x02}("[..], &edges, &features, b"u."].concat();
    let ends: Vec<u8> = [0i32, 1, 2, 1, 2, 0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let rows: Vec<u8> =
        [0.5f32, 1.0, 2.0, -1.0, 0.0, 3.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    zip(&[("archive/data.pkl", code), ("archive/data/0", ends), ("archive/data/1", rows)])
}

pub fn write(folder: &Path, files: &Files) {
    for (name, bytes) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

pub fn read(data: &str, files: &Files) -> Result<Dataset, DataError> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), files);
    load(&folder.path().join(data), &LoadConfig::default())
}

pub fn error(data: &str, files: Files) -> String {
    read(data, &files).unwrap_err().to_string()
}
