//! `cargo xtask sanitize`: Miri on the unsafe corners, AddressSanitizer on the tests.

use crate::{nightly, run as step};
use std::process::Stdio;

/// Tests that go through the `unsafe` blocks that Miri can run: the sums of a product, lines, views of dense
/// matrices, and the scan of edge lists. It has no wide vectors, and no advice for pages.
const CORNERS: [&str; 4] = [
    "compute::tile::kernel::",
    "compute::tile::line::",
    "compute::cpu::product::",
    "read::edge_stops::",
];

/// The threads of a pool outlive the tests, and its queues need the newer model of borrows.
const MIRI_FLAGS: &str = "-Zmiri-ignore-leaks -Zmiri-tree-borrows -Zmiri-permissive-provenance";

/// The crates whose unsafe code is looked at.
const LIBRARIES: [&str; 4] = ["magnon-core", "magnon-data", "magnon-learn", "magnon"];

fn packages(names: &[&'static str]) -> impl Iterator<Item = &'static str> {
    names.iter().flat_map(|name| ["--package", name])
}

pub fn run() -> anyhow::Result<()> {
    nightly::check()?;
    let mut miri = nightly::cargo(&["miri", "--version"]);
    let there = miri.stdout(Stdio::null()).stderr(Stdio::null()).status();
    if there.is_ok_and(|status| status.success()) {
        let mut miri = nightly::cargo(&["miri", "test", "--lib"]);
        miri.args(packages(&LIBRARIES)).arg("--");
        step(miri.args(CORNERS).env("MIRIFLAGS", MIRI_FLAGS))?;
    } else {
        eprintln!(
            "\nleft out: Miri; install it with: rustup component add miri rust-src --toolchain nightly"
        );
    }
    // The leak checker would see what lives as long as the process: pools of threads, tables of names.
    let flags = "allocator_may_return_null=1:detect_leaks=0";
    let mut suite = nightly::cargo(&["test", "--target", nightly::TARGET]);
    suite.args(packages(&LIBRARIES)).args(packages(&["magnon-cli"]));
    suite.args(["--lib", "--bins", "--tests", "--target-dir", "target/sanitize", "--no-fail-fast"]);
    // It limits the address space, of which AddressSanitizer reserves terabytes.
    suite.args(["--", "--skip", "sizes_that_cannot_be_had_are_errors"]);
    step(suite.env("RUSTFLAGS", "-Zsanitizer=address").env("ASAN_OPTIONS", flags))
}
