//! Packed graphs are the graphs that are read whole: same rows, same operator, same bits; and what is damaged, or
//! too large, is refused.

use magnon::data::{Dataset, LoadConfig, PackConfig, PackReport, load, pack};
use magnon::graph::{Duplicates, SelfLoops};
use magnon::operator::{Charge, MagneticOperator, Normalize, OperatorConfig, Symmetrize};
use magnon::progress::Progress;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// The least budget that there may be, so that a few hundred thousand edges are sorted in several parts.
const LITTLE: u64 = 8 << 20;

fn packed(source: &Path, config: &PackConfig) -> (Dataset, PackReport) {
    let output = source.with_extension("magnon");
    let report = pack(source, &output, config, &()).unwrap();
    assert!(!output.with_extension("magnon.packing").exists());
    let load_config = LoadConfig { self_loops: config.load.self_loops, ..LoadConfig::default() };
    (load(&output, &load_config).unwrap(), report)
}

/// Packs a text and holds it to the same text read whole.
fn check(name: &str, text: &[u8], load_config: &LoadConfig) -> PackReport {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join(name);
    fs::write(&source, text).unwrap();
    let whole = load(&source, load_config).unwrap();
    let config = PackConfig { load: load_config.clone(), memory: LITTLE };
    let (mapped, report) = packed(&source, &config);
    assert_eq!(mapped.graph, whole.graph, "{name}");
    assert_eq!(mapped.node_names, whole.node_names, "{name}");
    assert_eq!(mapped.report, whole.report, "{name}");
    assert_eq!(mapped.graph.is_symmetric(), whole.graph.is_symmetric());
    for normalize in [Normalize::Symmetric, Normalize::Directed] {
        for symmetrize in [Symmetrize::Max, Symmetrize::Mean] {
            let charge = Charge::fraction(1, 5).unwrap();
            let config = OperatorConfig { charge, normalize, symmetrize, ..Default::default() };
            let operator =
                |dataset: &Dataset| MagneticOperator::new(&dataset.graph, &config).unwrap();
            let (a, b) = (operator(&mapped), operator(&whole));
            assert_eq!(a.degrees(), b.degrees(), "{name} {config:?}");
            assert_eq!(a.stored(), b.stored());
            assert!(a.rows() == b.rows(), "{name} {config:?}");
        }
    }
    report
}

fn plain(name: &str, text: &str) -> PackReport {
    check(name, text.as_bytes(), &LoadConfig::default())
}

/// Numbers that look like chance.
fn dice(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |sides| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % sides
    }
}

fn edges(count: usize, nodes: u64, line: impl Fn(u64, u64, u64) -> String) -> String {
    let mut throw = dice(7);
    (0..count).map(|_| line(throw(nodes), throw(nodes), throw(9))).collect()
}

#[test]
fn packed_graphs_are_those_that_are_read_whole() {
    plain("plain.txt", "# a comment\n0 1\n1 0\n1 2\n2 2\n\n2 2\n1 2\n4 0\n");
    plain("header.csv", "source,target\n3,1\n1,2\n2,3\n");
    plain("gaps.tsv", "7\t900\n64\t7\n63\t0\n");
    plain("wide.txt", "7 99999999999\n99999999999 5000000000\n7 5\n");
    plain("late.txt", &(edges(30_000, 50, |u, v, _| format!("{u} {v}\n")) + "3 99999999999\n"));
    plain("names.csv", "source,target\nb,a\n\"x, y\",b\na,b\n");
    plain("named.txt", &(edges(30_000, 50, |u, v, _| format!("{u} {v}\n")) + "3 ä\n"));
    plain(
        "weights.csv",
        "0,1,-2.5\n1,0,3\n1,1,1e-3\n0,1,0.5\n2,0,0\n0,2,1\n2,1,0.1\n2,1,0.2\n2,1,0.3\n",
    );
    plain("ones.csv", "0,1,1\n1,0,1\n1,2,1\n");
    plain("returns.txt", "0 1\r1 2\r2 0\r");
    plain("feeds.txt", "0 1\r\n1 2\r\n2 0");
    let keep = LoadConfig { self_loops: SelfLoops::Keep, ..Default::default() };
    check("loops.txt", b"0 1\n1 1\n1 1\n0 0\n", &keep);
    let largest = LoadConfig { duplicates: Duplicates::Max, ..Default::default() };
    check("largest.csv", b"0,1,2\n0,1,5\n0,1,3\n1,2,1\n", &largest);
    let reversed = LoadConfig { reverse: true, nodes: Some(9), ..Default::default() };
    check("nodes.txt", b"3 1\n1 7\n", &reversed);
    let bare = LoadConfig { unweighted: true, ..Default::default() };
    check("bare.csv", b"0,1,2\n1,2,5\n", &bare);
    for transform in ["log", "scale"] {
        let transform = serde_json::from_str(&format!("\"{transform}\"")).unwrap();
        let config = LoadConfig { weight_transform: transform, ..Default::default() };
        check("transformed.csv", b"0,1,2.5\n1,2,5\n2,0,-1\n", &config);
    }
    check(
        "matrix.mtx",
        b"%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.5\n3 1 2\n",
        &LoadConfig::default(),
    );
}

#[test]
fn many_edges_are_sorted_in_parts() {
    let report = plain("many.txt", &edges(400_000, 20_000, |u, v, _| format!("{u} {v}\n")));
    assert!(report.buckets > 2, "{}", report.buckets);
    // Fewer edges are held in memory, in parts as well.
    let report = plain("held.txt", &edges(200_000, 20_000, |u, v, _| format!("{u} {v}\n")));
    assert!(report.buckets > 2, "{}", report.buckets);
    let text = edges(300_000, 3_000, |u, v, w| format!("{u},{v},{}\n", w as f32 / 4.0 - 0.5));
    assert!(plain("heavy.csv", &text).buckets > 2);
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(edges(50_000, 900, |u, v, _| format!("{u} {v}\n")).as_bytes()).unwrap();
    check("gz.txt.gz", &gz.finish().unwrap(), &LoadConfig::default());
}

/// A file with a graph of several buckets, and its packed bytes.
fn sample(folder: &Path) -> (PathBuf, Vec<u8>, PackConfig) {
    let source = folder.join("edges.txt");
    fs::write(&source, edges(300_000, 9_000, |u, v, _| format!("{u} {v}\n"))).unwrap();
    let config = PackConfig { memory: LITTLE, ..Default::default() };
    let output = folder.join("whole.magnon");
    pack(&source, &output, &config, &()).unwrap();
    (source, fs::read(output).unwrap(), config)
}

/// Stops after so many steps.
struct StopAfter(AtomicI32);

impl Progress for StopAfter {
    fn step(&self, _: usize, _: usize, _: &str) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed) < 0
    }
}

#[test]
fn packing_goes_on_from_where_it_was_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let (source, whole, config) = sample(folder.path());
    let output = folder.path().join("stopped.magnon");
    let mut stops = 0;
    for after in [0, 2, 11, 3, 16, 1, 40, 200] {
        match pack(&source, &output, &config, &StopAfter(AtomicI32::new(after))) {
            Ok(report) => {
                assert!(report.resumed);
                break;
            }
            Err(error) => {
                assert!(error.to_string().contains("goes on from here"), "{error}");
                assert!(!output.exists());
                stops += 1;
            }
        }
    }
    assert!(stops > 2 && fs::read(&output).unwrap() == whole, "{stops}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn a_changed_source_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("edges.txt");
    let output = folder.path().join("g.magnon");
    fs::write(&source, "0 1\n1 2\n").unwrap();
    let config = PackConfig::default();
    pack(&source, &output, &config, &AtomicBool::new(true)).unwrap_err();
    fs::write(&source, "0 1\n1 2\n2 3\n").unwrap();
    let report = pack(&source, &output, &config, &()).unwrap();
    assert_eq!((report.edges, report.resumed), (3, false));
}

#[test]
fn damaged_graphs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (_, whole, _) = sample(folder.path());
    let path = folder.path().join("damaged.magnon");
    let refused = |bytes: &[u8], word: &str| {
        fs::write(&path, bytes).unwrap();
        let error = load(&path, &LoadConfig::default()).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    for length in [0, 5, 100, 4095, 4096, 40_000, whole.len() - 1] {
        refused(&whole[..length], if length < 4096 { "damaged.magnon" } else { "truncated" });
    }
    refused(&[&whole[..], &[0]].concat(), "truncated or damaged");
    for at in [9, 4100, 80_000, whole.len() / 2, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 64;
        refused(&bytes, if at == 9 { "version" } else { "checksum" });
    }
}

#[test]
fn what_does_not_fit_is_refused_with_the_figure() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("edges.txt");
    fs::write(&source, "0 4294967295\n").unwrap();
    let output = folder.path().join("g.magnon");
    let error = |config: PackConfig| {
        let error = pack(&source, &output, &config, &()).unwrap_err();
        fs::remove_dir_all(folder.path().join("g.magnon.packing")).ok();
        error.to_string()
    };
    assert!(error(PackConfig { memory: 1, ..Default::default() }).contains("at least 8388608"));
    assert!(
        error(PackConfig { memory: LITTLE, ..Default::default() }).contains("ids up to 4294967295")
    );
    let load = LoadConfig { nodes: Some((1 << 30) + 1), ..Default::default() };
    fs::write(&source, "0 1\n").unwrap();
    assert!(error(PackConfig { load, ..Default::default() }).contains("at most 2^30"));
    let strict = LoadConfig { duplicates: Duplicates::Error, ..Default::default() };
    fs::write(&source, "0 1\n0 1\n").unwrap();
    assert!(error(PackConfig { load: strict, ..Default::default() }).contains("more than once"));
    fs::write(&source, "0 1\n0 x y\n").unwrap();
    assert!(error(PackConfig::default()).contains("line 2: ragged"));
    fs::write(&source, "# nothing\n").unwrap();
    assert!(error(PackConfig::default()).contains("empty"));
}
