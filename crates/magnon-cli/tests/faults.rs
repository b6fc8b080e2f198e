//! File operations of `magnon pack` and `magnon propagate --memory` fail in turn: what has the final name is whole, an
//! error is in words, and the same command then comes to the same bytes. `MAGNON_FAULTS=all` takes every operation.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
#[path = "../../magnon/tests/failing_disk/mod.rs"]
mod failing_disk;

use common::text;
use failing_disk::{FailingDisk, Fault, GONE};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// About so many faults for each command.
const FAULTS: usize = 30;

const NODES: u64 = 400;

fn run(words: &str, root: &Path, disk: &FailingDisk, fault: Option<Fault>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_magnon"));
    command.args(words.split_whitespace().map(|word| word.replace('@', &text(root))));
    disk.plan(&mut command, fault);
    command.output().unwrap()
}

fn succeed(words: &str, root: &Path, disk: &FailingDisk) {
    let output = run(words, root, disk, None);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Runs a command into each fault, and then to its end; gives how many faults there were.
fn endure(words: &str, output: &Path, root: &Path, disk: &FailingDisk) -> usize {
    succeed(words, root, disk);
    let whole = fs::read(output).unwrap();
    let names = || fs::read_dir(root).unwrap().count();
    let files = names();
    let faults = disk.faults(FAULTS);
    for &fault in &faults {
        fs::remove_file(output).unwrap();
        let ended = run(words, root, disk, Some(fault));
        let error = String::from_utf8_lossy(&ended.stderr);
        match ended.status.code() {
            Some(0) => assert!(output.exists(), "{fault:?}"),
            Some(GONE) => assert_eq!(fault.kind, "exit", "{error}"),
            Some(1) => assert!(error.starts_with("error: "), "{fault:?}: {error}"),
            code => panic!("{fault:?}: {code:?}, {error}"),
        }
        assert!(!error.contains("panicked"), "{fault:?}: {error}");
        if output.exists() {
            assert!(fs::read(output).unwrap() == whole, "half-written, {fault:?}");
        }
        succeed(words, root, disk);
        assert!(fs::read(output).unwrap() == whole, "other bytes, {fault:?}");
        assert_eq!(names(), files, "something is left, {fault:?}");
    }
    faults.len()
}

/// A disk that is full is told of with what fills it and what to do, and the command goes on when there is room.
fn fill_up(words: &str, says: &str, output: &Path, root: &Path, disk: &FailingDisk) {
    let mut told = 0;
    for at in (0..60).step_by(4) {
        fs::remove_file(output).unwrap();
        let ended = run(words, root, disk, Some(Fault { at, kind: "ENOSPC" }));
        let error = String::from_utf8_lossy(&ended.stderr);
        // The fault may as well meet a read, which no full disk fails.
        if error.contains("cannot write: No space left") {
            told += 1;
            let complete = error.contains(says) && error.contains("name an output on another disk");
            assert!(complete, "{at}: {error}");
        }
        succeed(words, root, disk);
    }
    assert!(told > 0, "no operation found the disk full");
}

/// A command that is killed, and whose work is then damaged in one bit of each file, comes to the same bytes.
fn damage(words: &str, output: &Path, work: &Path, root: &Path, disk: &FailingDisk) {
    let whole = fs::read(output).unwrap();
    let mut damaged = 0;
    succeed(words, root, disk);
    let exits = disk.faults(usize::MAX).into_iter().filter(|fault| fault.kind == "exit");
    for fault in exits.step_by(3) {
        fs::remove_file(output).unwrap();
        run(words, root, disk, Some(fault));
        let files = fs::read_dir(work).into_iter().flatten().map(|entry| entry.unwrap().path());
        for path in files.filter(|path| path.file_name().unwrap() != "magnon.work") {
            let mut bytes = fs::read(&path).unwrap();
            let Some(byte) = bytes.get_mut(fault.at % 40) else { continue };
            *byte ^= 1;
            fs::write(&path, bytes).unwrap();
            damaged += 1;
        }
        succeed(words, root, disk);
        assert!(fs::read(output).unwrap() == whole, "other bytes, {fault:?}");
    }
    assert!(damaged > 10, "{damaged} files were there");
}

#[test]
fn failing_operations_leave_nothing_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let edge = |k: u64| format!("{} {}\n", k % NODES, (k.wrapping_mul(0x9E37_79B9) >> 7) % NODES);
    fs::write(root.join("edges.txt"), (0..10 * NODES).map(edge).collect::<String>()).unwrap();
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({NODES}, 24), }}\n");
    let values = (0..24 * NODES).flat_map(|k| ((k % 7) as f32 - 3.0).to_le_bytes());
    let start = [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()];
    fs::write(root.join("x.npy"), [start.concat(), values.collect()].concat()).unwrap();

    let disk = FailingDisk::new(root);
    let pack = "pack @/edges.txt -o @/g.magnon --memory 8M --quiet";
    let packed = endure(pack, &root.join("g.magnon"), root, &disk);
    fill_up(pack, "g.magnon.packing", &root.join("g.magnon"), root, &disk);
    damage(pack, &root.join("g.magnon"), &root.join("g.magnon.packing"), root, &disk);
    // Room for eight of the columns at a time.
    let memory = NODES * (224 + 12 * 8);
    let filter = format!(
        "propagate @/g.magnon --features @/x.npy --feature-norm none --charge 1/4 --order 3 --quiet \
         --memory {memory} -o @/y.npy"
    );
    let filtered = endure(&filter, &root.join("y.npy"), root, &disk);
    fill_up(&filter, "", &root.join("y.npy"), root, &disk);
    damage(&filter, &root.join("y.npy"), &root.join("y.npy.blocks"), root, &disk);
    eprintln!("{packed} faults of packing and {filtered} of filtering");
    assert!(packed.min(filtered) > FAULTS / 2);
}
