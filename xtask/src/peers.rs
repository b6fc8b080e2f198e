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
/// On a machine of continuous integration its absence is an error: checks must not vanish there.
pub fn data() -> anyhow::Result<Option<PathBuf>> {
    match env::var_os("MAGNON_DATA") {
        Some(folder) => {
            let folder = root().join(Path::new(&folder));
            let found = folder.is_dir();
            anyhow::ensure!(found, "MAGNON_DATA: {} is not a folder", folder.display());
            Ok(Some(folder))
        }
        None if env::var_os("CI").is_some() => anyhow::bail!("CI runs need MAGNON_DATA"),
        None => Ok(None),
    }
}
