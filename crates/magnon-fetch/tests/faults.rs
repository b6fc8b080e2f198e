//! File operations of a download fail in turn: the data set is whole or not there, an error is in words, and the next
//! try comes to its end. `MAGNON_FAULTS=all` takes every operation.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod common;
#[path = "../../magnon/tests/failing_disk/mod.rs"]
mod failing_disk;

use common::{Reply, Server, bytes, cache, get, known, options};
use failing_disk::{FailingDisk, Fault, GONE};
use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs};

/// About so many faults.
const FAULTS: usize = 30;

/// What the process below prints.
const FETCHED: &str = "the sample is there";

/// Fetches, in the process that the other test starts.
#[test]
fn child() {
    let (Ok(host), Ok(cache)) = (env::var("MAGNON_TEST_HOST"), env::var("MAGNON_TEST_CACHE"))
    else {
        println!(
            "left out: this is a part of the other test, which runs it in processes of its own"
        );
        return;
    };
    let options =
        options(Path::new(&cache), move |address| address.replace("https://example.org", &host));
    match get(&known(), &options) {
        Ok(folder) => println!("{FETCHED}: {}", folder.display()),
        Err(error) => println!("error: {error}"),
    }
}

fn fetch(server: &Server, cache: &Path, disk: &FailingDisk, fault: Option<Fault>) -> Output {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "child", "--nocapture", "--test-threads", "1"]);
    command.env("MAGNON_TEST_HOST", server.host()).env("MAGNON_TEST_CACHE", cache);
    disk.plan(&mut command, fault);
    command.output().unwrap()
}

#[test]
fn failing_operations_leave_no_broken_data_set() {
    let server = Server::start(|_, request| Reply::part(&bytes().0, request));
    let cache = cache();
    let disk = FailingDisk::new(cache.path());
    let place = cache.path().join("sample/graph.txt");
    let fetched = |output: &Output| String::from_utf8_lossy(&output.stdout).contains(FETCHED);
    assert!(fetched(&fetch(&server, cache.path(), &disk, None)));
    let faults = disk.faults(FAULTS);
    for &fault in &faults {
        fs::remove_dir_all(cache.path().join("sample")).unwrap();
        let ended = fetch(&server, cache.path(), &disk, Some(fault));
        let said = String::from_utf8_lossy(&ended.stdout);
        match ended.status.code() {
            Some(0) => assert!(fetched(&ended) || said.contains("error: "), "{fault:?}: {said}"),
            Some(GONE) => assert_eq!(fault.kind, "exit"),
            code => panic!("{fault:?}: {code:?}, {said}"),
        }
        if place.exists() || fetched(&ended) {
            assert!(fs::read(&place).unwrap() == bytes().0, "half-written, {fault:?}");
        }
        assert!(fetched(&fetch(&server, cache.path(), &disk, None)), "{fault:?}");
        assert!(fs::read(&place).unwrap() == bytes().0, "other bytes, {fault:?}");
    }
    eprintln!("{} faults of a download", faults.len());
    assert!(faults.len() > FAULTS / 2);
}
