//! The table against copies of the real files: the folder `MAGNON_DATA`, served from loopback.

mod common;
#[path = "../../magnon/tests/real_data/mod.rs"]
mod real_data;

use common::{Reply, Server, cache, get};
use magnon_fetch::{Options, Rewrite, datasets, find};
use real_data::real_data;
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

#[test]
fn every_data_set_with_checksums_is_fetched_whole() {
    let Some(data) = real_data() else { return };
    let sums = fs::read_to_string(data.join("SHA256SUMS")).unwrap();
    let copies: HashMap<String, PathBuf> = sums
        .lines()
        .filter_map(|line| line.split_once("  "))
        .map(|(sum, path)| (sum.to_owned(), data.join(path)))
        .collect();
    let server =
        Server::start(move |_, request| match copies.get(request.target.trim_start_matches('/')) {
            Some(path) => Reply::whole(&fs::read(path).unwrap()),
            None => Reply::status(404),
        });
    // Addresses of the server are checksums.
    let sums: HashMap<&str, &str> = datasets()
        .iter()
        .flat_map(|entry| entry.files)
        .filter_map(|file| Some((file.address, file.sha256?)))
        .collect();
    let cache = cache();
    let options = server.options(cache.path());
    let host = options.address.clone();
    let options = Options {
        address: Rewrite::new(move |address| {
            host.apply(&format!("https://example.org/{}", sums.get(address).unwrap_or(&"none")))
        }),
        ..options
    };
    let mut fetched = 0;
    for entry in datasets() {
        if entry.files.iter().all(|file| file.sha256.is_some()) {
            let folder = get(entry, &options).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(entry.cached(cache.path()), Some(folder));
            fetched += 1;
        }
    }
    assert!(fetched >= 20, "{fetched}");
    assert!(find("cornell").unwrap().is_verified());
}
