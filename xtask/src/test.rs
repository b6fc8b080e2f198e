//! `cargo xtask test`: everything that must hold.

use crate::{cargo, peers, release_binary, root, run as step};
use std::process::Command;

pub fn run() -> anyhow::Result<()> {
    let data = peers::data()?;
    step(&mut cargo(&["fmt", "--all", "--check"]))?;
    step(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))?;
    let mut docs = cargo(&["doc", "--workspace", "--no-deps", "--document-private-items"]);
    step(docs.env("RUSTDOCFLAGS", "--deny warnings"))?;
    let mut tests = cargo(&["test", "--workspace"]);
    if let Some(data) = &data {
        tests.env("MAGNON_DATA", data);
    }
    step(&mut tests)?;

    let Some(data) = data else {
        eprintln!(
            "\nleft out: checks on real graphs; set MAGNON_DATA to the folder that holds them"
        );
        return Ok(());
    };
    let magnon = release_binary()?;
    let python = peers::python("requirements-test.txt")?;
    let work = root().join("target").join("peers").join("work");
    std::fs::create_dir_all(&work)?;
    for script in ["check_graph.py", "check_operator.py"] {
        let script = peers::scripts().join(script);
        step(Command::new(&python).arg(&script).arg("--self-test"))?;
    }
    let script = |name: &str| peers::scripts().join(name);
    step(Command::new(&python).arg(script("check_graph.py")).arg(&magnon).arg(&data))?;
    step(Command::new(&python).arg(script("check_operator.py")).args([&magnon, &data, &work]))?;
    Ok(())
}
