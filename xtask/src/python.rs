//! The Python package: its wheels, and its tests in an environment of their own.

use crate::{cargo, peers, release_binary, root, run as step, target, tested_binary};
use anyhow::{Context, ensure};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Builds what would be published, into target/wheels: a wheel that is tagged for the oldest systems it runs
/// on, and a source distribution that builds from the lock file.
pub fn wheel() -> anyhow::Result<()> {
    let python = peers::python("requirements-wheel.txt")?;
    let maturin = python.with_file_name("maturin");
    let manifest = package().join("Cargo.toml");
    let build = |word: &str| {
        let mut command = Command::new(&maturin);
        command.arg(word).arg("--manifest-path").arg(&manifest);
        command
    };
    step(build("build").args(["--release", "--locked", "--compatibility", "pypi"]))?;
    step(&mut build("sdist"))?;
    check_sources(&python)
}

/// The sources must resolve without the network, to the versions of the lock file. They have fewer crates than the
/// workspace, so Cargo drops what it no longer needs from the lock file; `--locked` would refuse that.
fn check_sources(python: &Path) -> anyhow::Result<()> {
    let folder = root().join("target").join("peers").join("sources");
    let sources = target().join("wheels");
    let is_sources = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "gz");
    let found = std::fs::read_dir(&sources)?.filter_map(|entry| Some(entry.ok()?.path()));
    let archive = found.filter(is_sources).max().context("maturin left no source distribution")?;
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    let mut unpack = Command::new(python);
    step(unpack.args(["-m", "tarfile", "-e"]).args([&archive, &folder]))?;
    let unpacked = std::fs::read_dir(&folder)?.next().context("the archive is empty")??.path();
    let versions = |lock: &Path| -> anyhow::Result<BTreeSet<String>> {
        let text = std::fs::read_to_string(lock.join("Cargo.lock"))?;
        Ok(text.split("[[package]]").skip(1).map(|one| one.lines().take(3).collect()).collect())
    };
    let known = versions(&unpacked)?;
    let words = ["metadata", "--offline", "--format-version", "1"];
    step(cargo(&words).current_dir(&unpacked).stdout(Stdio::null()))?;
    let other: Vec<String> = versions(&unpacked)?.difference(&known).cloned().collect();
    ensure!(other.is_empty(), "the lock file lacks {}", other.join(", "));
    Ok(())
}

/// Writes the keywords that functions of the package share, from the settings of the library: a test holds them to it.
pub fn keywords() -> anyhow::Result<()> {
    let mut test = cargo(&["test", "--package", "magnon-cli", "--test", "keywords"]);
    step(test.env("MAGNON_WRITE_KEYWORDS", "1"))
}

/// Times the wheel that would be published against the command, scipy and networkx.
pub fn bench() -> anyhow::Result<()> {
    wheel()?;
    let magnon = release_binary()?;
    let python = peers::python("requirements-bench-python.txt")?;
    install(&python, &target().join("wheels"))?;
    step(Command::new(&python).arg(peers::scripts().join("bench_python.py")).arg(magnon))
}

/// Builds a wheel of what the tests were built with, installs it and tests it.
pub fn test(data: Option<&Path>) -> anyhow::Result<()> {
    // Examples bring the dependencies of tests along: with the features that `cargo test --workspace` has built, so
    // that nothing is built twice.
    step(&mut cargo(&["build", "--quiet", "--workspace", "--lib", "--examples"]))?;
    let python = peers::python("requirements-python.txt")?;
    let library = target().join("debug").join(library_name());
    let folder = root().join("target").join("peers").join("wheel");
    let script = peers::scripts().join("pack_wheel.py");
    let mut pack = Command::new(&python);
    step(pack.arg(script).args([&package(), &library, &folder]))?;
    install(&python, &folder)?;
    let mut tests = Command::new(&python);
    tests.args([
        "-m",
        "pytest",
        "--quiet",
        "--tb=short",
        "-rs",
        "--numprocesses=2",
        "--dist=loadgroup",
        "--config-file",
    ]);
    tests.arg(package().join("pyproject.toml")).arg(package().join("tests"));
    // Nothing of the sources may stand in for what is installed.
    tests.env_remove("PYTHONPATH").env("PYTHONSAFEPATH", "1").env("OMP_NUM_THREADS", "1");
    if let Some(data) = data {
        tests.env("MAGNON_DATA", data);
    }
    step(&mut tests)?;
    let mut bench = Command::new(&python);
    bench.arg(peers::scripts().join("bench_python.py")).arg(tested_binary()?).arg("tiny");
    step(bench.env_remove("PYTHONPATH").env("PYTHONSAFEPATH", "1"))
}

fn package() -> PathBuf {
    root().join("crates").join("magnon-py")
}

fn library_name() -> String {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    format!("{DLL_PREFIX}_magnon{DLL_SUFFIX}")
}

/// Installs the wheel that lies in a folder.
fn install(python: &Path, folder: &Path) -> anyhow::Result<()> {
    let is_wheel = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "whl");
    let paths = std::fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
    let found = paths.filter(is_wheel).max();
    let wheel = found.with_context(|| format!("{}: no wheel", folder.display()))?;
    let mut command = Command::new(python);
    let flags = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--force-reinstall"];
    step(command.args(flags).arg(wheel))
}
