//! `cargo xtask bench`: us and the peers in one run.

use crate::{cargo, peers, release_binary, root, run as step, target, tested_binary};
use std::process::Command;

/// Measures a part, or all of them.
pub fn run(part: &str) -> anyhow::Result<()> {
    let python = peers::python("requirements-bench.txt")?;
    let magnon = release_binary()?;
    let work = root().join("target").join("peers").join("bench");
    let mut bench = cargo(&["run", "--release", "--package", "magnon-bench", "--"]);
    bench.arg(python).arg(peers::scripts()).arg(magnon).arg(work).args([part, "full"]);
    bench.args(peers::data()?);
    step(&mut bench)
}

/// Runs every part on tiny inputs, so that none breaks unnoticed. What is printed means nothing. Peers that are large to
/// install are left out, unless the benchmarks have installed them.
pub fn trial(part: &str) -> anyhow::Result<()> {
    let python = match peers::installed("requirements-bench.txt") {
        Some(python) => python,
        None => peers::python("requirements-test.txt")?,
    };
    // With the features that `cargo test --workspace` has built, so that nothing is built twice.
    let flags = ["--workspace", "--lib", "--examples", "--bin", "magnon-bench"];
    step(cargo(&["build", "--quiet"]).args(flags))?;
    let work = root().join("target").join("peers").join("bench-trial");
    let mut bench = Command::new(target().join("debug").join("magnon-bench"));
    bench.arg(python).arg(peers::scripts()).arg(tested_binary()?).arg(work).args([part, "tiny"]);
    bench.args(peers::data()?);
    step(&mut bench)
}
