//! Small files that claim, or unpack to, far more than they hold: cost follows what lies on disk.

// A helper that fails is a test that fails.
#![allow(clippy::unwrap_used, clippy::panic)]

mod counting;
mod data_fixtures;

use counting::{NOW, PEAK, calls};
use data_fixtures::{Files, adjacency, gz, npy, planetoid, write, zip};
use magnon::data::{DataError, Dataset, LoadConfig, load};
use std::io::{Cursor, Write};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard};

/// One test at a time makes its files and reads them, so that what is counted is its own.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// What comes of a data set, and the most bytes that were in use on the way to it.
fn read(data: &str, files: Files) -> (Result<Dataset, DataError>, usize) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &files);
    drop(files);
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let outcome = load(&folder.path().join(data), &LoadConfig::default());
    let used = PEAK.load(Relaxed).saturating_sub(before);
    (outcome, used)
}

/// The error of a data set, and the most bytes that were in use on the way to it.
fn refused(data: &str, files: Files) -> (String, usize) {
    let (outcome, used) = read(data, files);
    (outcome.unwrap_err().to_string(), used)
}

/// Changes what the central directory says about the packed and unpacked size of a member.
fn claim(archive: &mut [u8], member: &str, packed: u32, unpacked: u32) {
    let entry = |at: &usize| {
        archive[*at..].starts_with(b"PK\x01\x02")
            && archive[at + 46..].starts_with(member.as_bytes())
    };
    let at = (0..archive.len() - 46).find(entry).unwrap();
    archive[at + 20..at + 24].copy_from_slice(&packed.to_le_bytes());
    archive[at + 24..at + 28].copy_from_slice(&unpacked.to_le_bytes());
}

fn stored(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in files {
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn sizes_claimed_in_a_zip_cost_nothing() {
    let _turn = turn();
    let labels = npy("|u1", "(1100000000,)", &[]);
    let honest = zip(&[("edges.npy", npy("<i4", "(1, 2)", &[0; 8])), ("node_labels.npy", labels)]);
    for (packed, word) in
        [(3_000_000_000, "members claim 3000000"), (100, "more than 100 packed bytes can hold")]
    {
        let mut archive = honest.clone();
        claim(&mut archive, "node_labels.npy", packed, 4_000_000_000);
        let (error, used) = refused("h.npz", vec![("h.npz", archive)]);
        assert!(error.contains(word), "{error}");
        assert!(used < 1 << 20, "{used} bytes");
    }
    // The same for a text in an archive of files.
    let mut archive = zip(&[("e.csv", b"0,1\n".to_vec())]);
    claim(&mut archive, "e.csv", 4, 4_000_000_000);
    let (error, used) = refused("a.zip", vec![("a.zip", archive)]);
    assert!(error.contains("more than 4 packed bytes"), "{error}");
    assert!(used < 1 << 20, "{used} bytes");
}

#[test]
fn archives_in_archives_are_bounded_by_the_outer_one() {
    let _turn = turn();
    // 16 MiB of edges, packed, thirty times over, packed again: 480 MiB in a few kilobytes.
    let inner = gz(&b"0,1\n".repeat(4 << 20)).repeat(30);
    let archive = zip(&[("e.csv.gz", inner)]);
    assert!(archive.len() < 100_000, "{}", archive.len());
    let (error, used) = refused("a.zip", vec![("a.zip", archive)]);
    assert!(error.contains("decompression bomb"), "{error}");
    assert!(used < 300 << 20, "{used} bytes");
}

#[test]
fn members_share_what_their_archive_may_unpack_to() {
    let _turn = turn();
    // Each list of 24 MiB is within bounds, all of them are not.
    let list = [b"0".to_vec(), vec![b'\n'; 24 << 20]].concat();
    let names: Vec<String> = (0..4)
        .flat_map(|k| ["train", "valid", "test"].map(|part| format!("split/{k}/{part}.csv")))
        .collect();
    let mut files =
        vec![("raw/edge.csv", b"0,1\n".to_vec()), ("raw/num-node-list.csv", b"2\n".to_vec())];
    files.extend(names.iter().map(|name| (name.as_str(), list.clone())));
    let archive = zip(&files);
    drop(files);
    let (error, used) = refused("a.zip", vec![("a.zip", archive)]);
    assert!(error.contains("decompression bomb"), "{error}");
    assert!(used < 100 << 20, "{used} bytes");
}

#[test]
fn members_that_overlap_are_refused() {
    let _turn = turn();
    let mut archive = stored(&[
        ("a.csv", b"0,1\n".repeat(1000)),
        ("b.csv", b"0,1\n".repeat(1000)),
        ("c.csv", b"0,1\n".repeat(1000)),
    ]);
    let length = archive.len() as u32;
    claim(&mut archive, "c.csv", length - 8000, length - 8000);
    assert!(!refused("a.zip", vec![("a.zip", archive.clone())]).0.contains("members claim"));
    claim(&mut archive, "c.csv", length, length);
    let (error, _) = refused("a.zip", vec![("a.zip", archive)]);
    assert!(error.contains("members claim"), "{error}");
}

/// A dictionary whose nodes all have the same list of neighbours, remembered once.
fn shared_lists(neighbours: usize, nodes: usize) -> Vec<u8> {
    [
        &b"\x80\x02}(K\x00]("[..],
        &b"K\x01".repeat(neighbours),
        b"eq\x00",
        &b"K\x00h\x00".repeat(nodes),
        b"u.",
    ]
    .concat()
}

#[test]
fn lists_shared_in_a_pickle_are_not_multiplied() {
    let _turn = turn();
    let mut files = planetoid();
    files.iter_mut().find(|file| file.0.ends_with(".graph")).unwrap().1 =
        shared_lists(20_000, 10_000);
    let (error, used) = refused("", files);
    assert!(error.contains("ind.tiny.graph: more than 80013 neighbours"), "{error}");
    assert!(used < 100 * 80_013, "{used} bytes");
}

#[test]
fn texts_shared_in_a_pickle_are_not_copied() {
    let _turn = turn();
    // A long name with an escape in it, which is made anew from the bytes, for 20,000 classes.
    let name = [&b"V\\u0041"[..], &vec![b'a'; 100_000], b"\nq\x00"].concat();
    let bytes = [&name, &b"h\x00h\x00\x930".repeat(20_000)[..], b"."].concat();
    let files = vec![("adj.npz", adjacency([1, 2, 0])), ("features.pkl", bytes)];
    let (error, used) = refused("", files);
    assert!(error.contains("damaged"), "{error}");
    assert!(used < 20 << 20, "{used} bytes");
    // Axes that are written once and referred to as often as one likes.
    let axes = [&b"("[..], &b"K\x00".repeat(50_000), b"t"].concat();
    let bytes = [
        &b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01"[..],
        &axes,
        b"cnumpy\ndtype\nU\x02f8K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89U\x00tb.",
    ]
    .concat();
    let files = vec![("adj.npz", adjacency([1, 2, 0])), ("features.pkl", bytes)];
    assert!(refused("", files).0.contains("50000 axes"));
}

#[test]
fn members_of_an_archive_cost_in_proportion() {
    let _turn = turn();
    let mask = |bytes: &[u8]| npy("|b1", "(3,)", bytes);
    let split = zip(&[
        ("train_mask.npy", mask(&[1, 0, 0])),
        ("val_mask.npy", mask(&[0, 1, 0])),
        ("test_mask.npy", mask(&[0, 0, 1])),
    ]);
    let work = |count: usize| {
        let names: Vec<String> = (0..count).map(|k| format!("x_split_0.6_0.2_{k}.npz")).collect();
        let mut files = vec![
            ("out1_graph_edges.txt", b"0\t1\n1\t2\n".to_vec()),
            ("out1_node_feature_label.txt", b"0\t1\t0\n1\t1\t1\n2\t0\t1\n".to_vec()),
        ];
        files.extend(names.iter().map(|name| (name.as_str(), split.clone())));
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &vec![("a.zip", zip(&files))]);
        let before = calls();
        let dataset = load(&folder.path().join("a.zip"), &LoadConfig::default()).unwrap();
        assert_eq!(dataset.splits.len(), count);
        calls() - before
    };
    // Requests for memory stand for work: a directory that is read again asks for every name in it.
    let (few, many) = (work(100), work(400));
    assert!(many < 5 * few, "{few} and {many} requests");
}

/// Nodes of which each has an attribute of its own, in the formats that name attributes node by node.
#[test]
fn attributes_of_single_nodes_are_not_spread_over_all() {
    let _turn = turn();
    const NODES: usize = 6000;
    let all = |node: &dyn Fn(usize) -> String| (0..NODES).map(node).collect::<String>();
    let gml = format!("graph [\n{}]", all(&|k| format!("node [ id {k} a{k} 1 ]\n")));
    let keys = all(&|k| format!("<key id='k{k}' for='node' attr.name='a{k}'/>\n"));
    let nodes = all(&|k| format!("<node id='{k}'><data key='k{k}'>1</data></node>\n"));
    let graphml = format!("<graphml>{keys}<graph>{nodes}</graph></graphml>");
    let keys = all(&|k| format!("<attribute id='{k}' title='a{k}'/>\n"));
    let values = |k| format!("<attvalues><attvalue for='{k}' value='1'/></attvalues>");
    let nodes = all(&|k| format!("<node id='{k}'>{}</node>\n", values(k)));
    let gexf = format!(
        "<gexf><graph><attributes class='node'>{keys}</attributes><nodes>{nodes}</nodes></graph></gexf>"
    );
    let nodes = all(&|k| format!("{{\"id\":{k},\"a{k}\":1}},"));
    let json = format!("{{\"nodes\":[{}],\"links\":[]}}", nodes.trim_end_matches(','));
    for (name, text) in [("g.gml", gml), ("g.graphml", graphml), ("g.gexf", gexf), ("g.json", json)]
    {
        let bytes = text.len();
        let (outcome, used) = read(name, vec![(name, text.into_bytes())]);
        let dataset = outcome.unwrap();
        assert_eq!(dataset.graph.nodes(), NODES, "{name}");
        let said = dataset.remarks.join("\n");
        assert!(said.contains("that not all nodes have") && said.contains("more"), "{said}");
        assert!(used < 60 * bytes, "{name}: {used} bytes for {bytes}");
    }
}

#[test]
fn defaults_and_names_of_lists_are_not_multiplied() {
    let _turn = turn();
    let keys = |text: &str| {
        let key = |k| {
            format!("<key id='k{k}' for='node' attr.name='a{k}'><default>{text}</default></key>")
        };
        (0..4000).map(key).collect::<String>()
    };
    let nodes: String = (0..4000).map(|k| format!("<node id='{k}'/>")).collect();
    let file = |text: &str| format!("<graphml>{}<graph>{nodes}</graph></graphml>", keys(text));
    let text = file("1");
    let bytes = text.len();
    let (error, used) = refused("g.graphml", vec![("g.graphml", text.into_bytes())]);
    assert!(error.contains("the defaults of its attributes fill far more cells"), "{error}");
    assert!(used < 200 * bytes, "{used} bytes for {bytes}");
    // Words are no features, and so no cells.
    let text = file("word");
    let bytes = text.len();
    let (outcome, used) = read("g.graphml", vec![("g.graphml", text.into_bytes())]);
    assert!(outcome.is_err(), "{:?}", outcome.map(|dataset| dataset.remarks));
    assert!(used < 200 * bytes, "{used} bytes for {bytes}");

    let name = "n".repeat(100_000);
    let list = "1,".repeat(20_000);
    let text = format!("{{\"nodes\":[{{\"{name}\":[{list}1]}}],\"links\":[]}}");
    let bytes = text.len();
    let (error, used) = refused("g.json", vec![("g.json", text.into_bytes())]);
    assert!(error.contains("names of its lists are too long"), "{error}");
    assert!(used < 100 * bytes, "{used} bytes for {bytes}");

    let attributes: String = (0..5000).map(|k| format!("<attribute id='{k}'/>")).collect();
    let text =
        format!("<gexf><graph><attributes class='{name}'>{attributes}</attributes></graph></gexf>");
    let bytes = text.len();
    let (_, used) = read("g.gexf", vec![("g.gexf", text.into_bytes())]);
    assert!(used < 60 * bytes, "{used} bytes for {bytes}");
}

fn empty() -> Vec<u8> {
    format!("{}\n", ",".repeat(999_990)).into_bytes()
}

/// A line that never ends, and a header of far more columns than there are rows.
#[test]
fn columns_cost_in_proportion() {
    let _turn = turn();
    let adjacency = || ("adj.npz", adjacency([1, 2, 0]));
    for field in ["1,", "a,", "1 ", "1\t", "\"\";"] {
        let line = field.repeat(6_000_000);
        let bytes = line.len();
        for (data, files) in [
            ("e.csv", vec![("e.csv", line.clone().into_bytes())]),
            ("", vec![adjacency(), ("features.csv", line.clone().into_bytes())]),
            ("", vec![adjacency(), ("nodes.csv", line.clone().into_bytes())]),
        ] {
            let (error, used) = refused(data, files);
            assert!(error.contains("more than 1000000 columns"), "{field:?} {data}: {error}");
            assert!(used < 10 * bytes, "{field:?} {data}: {used} bytes for {bytes}");
        }
    }
    let header = format!("source,target{}\n", ",a".repeat(300_000));
    let row = format!("x,y{}\n", ",1".repeat(300_000));
    let text = [header, row].concat();
    let bytes = text.len();
    let (outcome, used) = read("e.csv", vec![("e.csv", text.clone().into_bytes())]);
    outcome.unwrap();
    assert!(used < 100 * bytes, "{used} bytes for {bytes}");
    // Columns without cells or names.
    let (error, used) =
        refused("", vec![adjacency(), ("features.csv", [empty(), empty()].concat())]);
    assert!(error.contains("too many for so few bytes"), "{error}");
    assert!(used < 100 * empty().len(), "{used} bytes");
    let text = text.replace("source,target", "id,b").replace("x,y", "0,1");
    let (_, used) = read("", vec![adjacency(), ("features.csv", text.into_bytes())]);
    assert!(used < 100 * bytes, "{used} bytes for {bytes}");
}
