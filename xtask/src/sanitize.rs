//! `cargo xtask sanitize`: Miri on the unsafe corners, AddressSanitizer on the tests.

use crate::{nightly, run as step};
use std::process::Stdio;

/// Tests that go through the `unsafe` blocks that Miri can run: the sums of a product, lines, views of dense
/// matrices, large arrays, and the scan of edge lists.
const CORNERS: [&str; 5] = [
    "operator::kernel::",
    "operator::line::",
    "nn::cpu::product::",
    "memory::tests::",
    "data::read::edge_stops::",
];

pub fn run() -> anyhow::Result<()> {
    nightly::check()?;
    let mut miri = nightly::cargo(&["miri", "--version"]);
    let there = miri.stdout(Stdio::null()).stderr(Stdio::null()).status();
    if there.is_ok_and(|status| status.success()) {
        let mut miri = nightly::cargo(&["miri", "test", "--package", "magnon", "--lib", "--"]);
        // The threads of a pool outlive the tests.
        step(miri.args(CORNERS).env("MIRIFLAGS", "-Zmiri-ignore-leaks"))?;
    } else {
        eprintln!(
            "\nleft out: Miri; install it with: rustup component add miri rust-src --toolchain nightly"
        );
    }
    // The leak checker would see what lives as long as the process: pools of threads, tables of names.
    let flags = "allocator_may_return_null=1:detect_leaks=0";
    let tests =
        ["test", "--package", "magnon", "--package", "magnon-cli", "--target", nightly::TARGET];
    let mut suite = nightly::cargo(&tests);
    suite.args(["--lib", "--bins", "--tests", "--target-dir", "target/sanitize"]);
    step(suite.env("RUSTFLAGS", "-Zsanitizer=address").env("ASAN_OPTIONS", flags))
}
