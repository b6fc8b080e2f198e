//! The peers that we are compared with, in a Python environment of their own.

use crate::{root, run};
use anyhow::Context;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The folder of the peers' scripts.
pub fn scripts() -> PathBuf {
    root().join("xtask").join("peers")
}

/// The interpreter of an environment that holds `requirements`, made when need be.
pub fn python(requirements: &str) -> anyhow::Result<PathBuf> {
    if let Some(python) = installed(requirements) {
        return Ok(python);
    }
    let list = scripts().join(requirements);
    let wanted = fs::read_to_string(&list).with_context(|| format!("{}", list.display()))?;
    let environment = environment(requirements);
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))
        .context("the checks against scipy need python3 with its venv module")?;
    let python = environment.join("bin").join("python");
    let mut install = Command::new(&python);
    run(install
        .args(["-m", "pip", "install", "--quiet", "--no-compile", "--requirement"])
        .arg(&list))?;
    fs::write(environment.join("installed"), wanted)?;
    Ok(python)
}

/// The interpreter of such an environment, where it is there and up to date.
pub fn installed(requirements: &str) -> Option<PathBuf> {
    let wanted = fs::read_to_string(scripts().join(requirements)).ok()?;
    let environment = environment(requirements);
    let installed = fs::read_to_string(environment.join("installed")).ok()?;
    (installed == wanted).then(|| environment.join("bin").join("python"))
}

fn environment(requirements: &str) -> PathBuf {
    root().join("target").join("peers").join(requirements)
}

/// The folder of the real data sets, where the environment names one.
///
/// On a machine of continuous integration its absence is an error, so that checks do not vanish there unnoticed. A machine
/// that has no real data says so with `MAGNON_NO_DATA`. The tests follow the same rule.
pub fn data() -> anyhow::Result<Option<PathBuf>> {
    match env::var_os("MAGNON_DATA") {
        Some(folder) => {
            let folder = root().join(Path::new(&folder));
            let found = folder.is_dir();
            anyhow::ensure!(found, "MAGNON_DATA: {} is not a folder", folder.display());
            Ok(Some(folder))
        }
        None if env::var_os("CI").is_some() && env::var_os("MAGNON_NO_DATA").is_none() => {
            anyhow::bail!("CI is set, but not MAGNON_DATA; without real data, set MAGNON_NO_DATA=1")
        }
        None => Ok(None),
    }
}

/// Scripts that hold the command to other libraries, on generated graphs and on real ones.
const ON_GRAPHS: [&str; 5] = [
    "check_graph.py",
    "check_operator.py",
    "check_cycles.py",
    "check_spectrum.py",
    "check_models.py",
];
/// Scripts that write all that they read.
const ON_FILES: [&str; 2] = ["check_formats.py", "check_on_disk.py"];

/// Runs all scripts, without real graphs where there is no folder of them.
pub fn check(magnon: &Path, data: Option<&Path>) -> anyhow::Result<()> {
    let python = python("requirements-test.txt")?;
    let work = root().join("target").join("peers").join("work");
    fs::create_dir_all(&work)?;
    let peer = |script: &str| {
        let mut command = Command::new(&python);
        // Scripts that use both cores do so by running two checks at a time.
        command.env("OMP_NUM_THREADS", "1").arg(scripts().join(script));
        command
    };
    for script in ON_GRAPHS.iter().chain(&ON_FILES) {
        run(peer(script).arg("--self-test"))?;
    }
    for script in ON_GRAPHS {
        run(peer(script).args([magnon, &work]).args(data))?;
    }
    for script in ON_FILES {
        run(peer(script).args([magnon, &work]))?;
    }
    if data.is_none() {
        eprintln!(
            "\nleft out: checks on real graphs; set MAGNON_DATA to the folder that holds them"
        );
    }
    Ok(())
}
