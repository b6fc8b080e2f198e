//! NVIDIA cards: tests, timings, and the kernels in their general form.

use crate::{cargo, peers, release_binary, root, run};
use std::env;
use std::process::Command;

/// The tests of the engine on the card that is there; without one they fail.
pub fn test() -> anyhow::Result<()> {
    let mut test =
        cargo(&["test", "--package", "magnon", "--features", "cuda", "--test", "network"]);
    run(test.args(["--", "cuda::", "--nocapture"]).env("MAGNON_DEVICE", "cuda"))
}

/// Timings against torch on the same card. The interpreter is `MAGNON_PYTHON` or `python3`: one with torch
/// for the card must be there.
pub fn bench(part: &str) -> anyhow::Result<()> {
    let python = env::var_os("MAGNON_PYTHON").unwrap_or_else(|| "python3".into());
    let magnon = release_binary()?;
    let work = root().join("target").join("peers").join("bench");
    let mut bench = cargo(&["run", "--release", "--package", "magnon-bench", "--"]);
    bench.arg(python).arg(peers::scripts()).arg(magnon).arg(work).args([part, "full"]);
    bench.args(peers::data()?);
    run(&mut bench)
}

/// Compiles the kernels for a base architecture, without a card.
pub fn kernels() -> anyhow::Result<()> {
    let python = peers::python("requirements-kernels.txt")?;
    let folder = root().join("crates/magnon-core/src/compute/cuda/kernels");
    run(Command::new(python).arg(peers::scripts().join("make_kernels.py")).arg(folder))
}
