//! `cargo xtask bench`: us and the peers in one run.

use crate::{cargo, peers, release_binary, root, run as step};

pub fn run(part: &str) -> anyhow::Result<()> {
    let python = peers::python("requirements-bench.txt")?;
    let magnon = release_binary()?;
    let work = root().join("target").join("peers").join("bench");
    let mut bench = cargo(&["run", "--release", "--package", "magnon-bench", "--"]);
    bench.arg(python).arg(peers::scripts()).arg(magnon).arg(work).arg(part);
    bench.args(peers::data()?);
    step(&mut bench)
}
