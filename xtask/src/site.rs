//! `cargo xtask site`: the documentation as a site, in target/site.

use crate::{peers, release_binary, root, run as step};
use std::process::Command;

pub fn build() -> anyhow::Result<()> {
    let magnon = release_binary()?;
    let python = peers::python("requirements-site.txt")?;
    let (folder, target) = (root().join("xtask").join("site"), root().join("target"));
    let mut assemble = Command::new(&python);
    assemble.arg(folder.join("assemble.py")).arg(root()).arg(magnon);
    // The settings name these two places.
    step(assemble.arg(target.join("site-pages")))?;
    let mut mkdocs = Command::new(&python);
    mkdocs.args(["-m", "mkdocs", "build", "--strict", "--quiet", "--config-file"]);
    // Its theme talks about its future otherwise.
    step(mkdocs.arg(folder.join("mkdocs.yml")).env("NO_MKDOCS_2_WARNING", "1"))
}
