//! `magnon pack` and `magnon propagate --memory` are killed after any change of their files: nothing half-written has the
//! final name, and the same commands come to the same bytes. `MAGNON_KILLS` says how often, for a longer test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{json, magnon, text, wait_for_changes};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const KILLS: u64 = 6;
const NODES: u64 = 12_000;

fn arguments(words: &str, root: &Path) -> Vec<String> {
    words.split_whitespace().map(|word| word.replace('@', &text(root))).collect()
}

fn run(words: &str, root: &Path) {
    let arguments = arguments(words, root);
    let output = magnon(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn start(words: &str, root: &Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_magnon"));
    command.args(arguments(words, root)).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Runs a command to its end, and gives how often its files were seen to change.
fn run_watched(words: &str, root: &Path) -> u64 {
    let mut child = start(words, root);
    let changes = wait_for_changes(&mut child, root, u64::MAX);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    changes
}

/// Runs a command again and again, each time killed some changes of its files later, until it comes to its end.
fn run_under_kills(words: &str, root: &Path, output: &Path, whole: &[u8], changes: u64) {
    let kills = std::env::var("MAGNON_KILLS").map_or(KILLS, |count| count.parse().unwrap());
    for kill in 0..kills {
        let mut child = start(words, root);
        wait_for_changes(&mut child, root, 1 + kill * changes / kills);
        child.kill().unwrap();
        child.wait().unwrap();
        if output.exists() {
            assert!(fs::read(output).unwrap() == whole, "half-written");
            fs::remove_file(output).unwrap();
        }
    }
    run(words, root);
    assert!(fs::read(output).unwrap() == whole, "other bytes");
}

#[test]
fn kills_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let edge = |k: u64| {
        format!("{} {}\n", k % NODES, (k.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) % NODES)
    };
    let lines: String = (0..20 * NODES).map(edge).collect();
    fs::write(root.join("edges.txt"), lines).unwrap();
    let pack = "pack @/edges.txt -o @/g.magnon --memory 8M --quiet";
    let changes = run_watched(pack, root);
    let packed = root.join("g.magnon");
    let whole = fs::read(&packed).unwrap();
    fs::remove_file(&packed).unwrap();
    run_under_kills(pack, root, &packed, &whole, changes);
    let info = json(&["info", &text(&packed), "--quiet"]);
    let count = |key: &str| info[key].as_u64().unwrap();
    assert_eq!(count("edges") + count("duplicates"), 20 * NODES);

    let nodes = count("nodes");
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({nodes}, 24), }}\n");
    let values = (0..24 * nodes).flat_map(|k| ((k % 7) as f32 - 3.0).to_le_bytes());
    let start = [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()];
    fs::write(root.join("x.npy"), [start.concat(), values.collect()].concat()).unwrap();
    let flags = "propagate @/g.magnon --features @/x.npy --feature-norm none --charge 1/4 --order 12 --quiet";
    run(&format!("{flags} -o @/whole.npy"), root);
    let whole = fs::read(root.join("whole.npy")).unwrap();
    // Room for eight of the columns at a time.
    let memory = nodes * (224 + 12 * 8);
    let blocks = format!("{flags} --memory {memory} -o @/y.npy");
    let output = root.join("y.npy");
    let changes = run_watched(&blocks, root);
    assert!(fs::read(&output).unwrap() == whole, "other bytes");
    fs::remove_file(&output).unwrap();
    run_under_kills(&blocks, root, &output, &whole, changes);
    assert_eq!(fs::read_dir(root).unwrap().count(), 5, "something is left");
}

#[test]
#[cfg(target_os = "linux")] // for the maps of another process
fn a_graph_that_is_cut_short_in_use_is_an_error() {
    use common::{processor_time, wait_before_end};
    use std::time::Duration;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let edges: String =
        (0..60_000u64).map(|k| format!("{} {}\n", k % 4000, k * 7919 % 4001)).collect();
    fs::write(root.join("e.txt"), edges).unwrap();
    run("pack @/e.txt -o @/g.magnon --quiet", root);
    let words =
        "propagate @/g.magnon --charge 1/4 --features degree --order 100000 -o @/y.npy --quiet";
    let mut child = start(words, root);
    let (id, enough) = (child.id(), Duration::from_millis(500));
    let is_mapped = || fs::read_to_string(format!("/proc/{id}/maps")).unwrap().contains("g.magnon");
    wait_before_end(&mut child, "half a second of work on the mapped graph", || {
        is_mapped() && processor_time(id) >= enough
    });
    fs::OpenOptions::new().write(true).open(root.join("g.magnon")).unwrap().set_len(4096).unwrap();
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("bus error") || error.contains("truncated"), "{error}");
}

/// Parts lie beside the graph, and no command takes one for a graph.
#[test]
fn parts_are_written_beside_the_graph() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let ring: String = (0..10).map(|u| format!("{u} {}\n", (u + 1) % 10)).collect();
    fs::write(root.join("e.txt"), ring).unwrap();
    let words = arguments("pack @/e.txt -o @/g.magnon --parts 3 --quiet", root);
    let found = json(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let parts = found["parts"].as_array().unwrap();
    let rows: Vec<_> = parts.iter().map(|part| part["rows"].as_u64().unwrap()).collect();
    assert_eq!(rows, [3, 3, 4]);
    assert!(parts.iter().all(|part| part["halo"] == 2), "{found}");
    let output = magnon(&["info", &text(&root.join("g.2.magnon"))]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("part 2 of 3"), "{error}");
}

/// Trained on filtered features in half precision, a model is as good as on those in single precision.
#[test]
fn training_takes_filtered_features_in_half_precision() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let data = "cyclic:nodes=600,columns=8 --charge 1/3 --quiet";
    let train = format!("{data} --epochs 60 --batch 100");
    let words = |flags: &str| arguments(flags, root);
    let accuracy = |name: &str, dtype: &str| {
        run(&format!("propagate {data} --dtype {dtype} -o @/{name}.npy"), root);
        let words = words(&format!("train {train} --filtered @/{name}.npy -o @/{name}"));
        let found = json(&words.iter().map(String::as_str).collect::<Vec<_>>());
        found["test_accuracy"].as_f64().unwrap_or_else(|| panic!("{found}"))
    };
    let (single, half) = (accuracy("single", "float32"), accuracy("half", "float16"));
    assert!(single > 0.7 && (single - half).abs() < 0.02, "{single} {half}");
    let size = |name: &str| fs::metadata(root.join(name)).unwrap().len() - 128;
    assert_eq!(size("single.npy"), 2 * size("half.npy"));
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let root = text(folder.path());
    fs::write(folder.path().join("e.txt"), "0 1\n").unwrap();
    let said = |words: &str| {
        let words: Vec<String> =
            words.split_whitespace().map(|word| word.replace('@', &root)).collect();
        let output = magnon(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(!output.status.success(), "{words:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(said("pack @/e.txt -o @/g.txt").contains("must end in .magnon"));
    assert!(said("pack -o @/g.magnon").contains("name the edge list"));
    assert!(said("pack @/e.txt -o @/g.magnon --memory 3M").contains("at least"));
    assert!(said("pack @/e.txt -o @/g.magnon --features degree").contains("edges alone"));
    assert!(said("propagate @/e.txt --memory 1G").contains("--output"));
    assert!(said("propagate @/e.txt --dtype float16").contains("--output"));
    assert!(said("propagate @/e.txt --memory 1G -o @/y.npy").contains("--features F.npy"));
}
