//! `cargo xtask test`: everything that must hold.

use crate::{bench, browser, cargo, licences, peers, python, root, run as step, tested_binary};
use anyhow::anyhow;
use std::process::Command;
use std::thread;

pub fn run() -> anyhow::Result<()> {
    let data = peers::data()?;
    step(&mut cargo(&["fmt", "--all", "--check"]))?;
    // The peers come over the network while our own code is compiled.
    let peers_coming = thread::spawn(move || {
        peers::python("requirements-python.txt")?;
        peers::python("requirements-test.txt")?;
        anyhow::Ok(())
    });
    step(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))?;
    let mut docs = cargo(&["doc", "--workspace", "--no-deps", "--document-private-items"]);
    step(docs.env("RUSTDOCFLAGS", "--deny warnings"))?;
    let mut tests = cargo(&["test", "--workspace"]);
    if let Some(data) = &data {
        tests.env("MAGNON_DATA", data);
    }
    step(&mut tests)?;
    licences::check()?;
    // What is published holds all that it needs.
    let packages = [
        "magnon-core",
        "magnon-data",
        "magnon-fetch",
        "magnon-learn",
        "magnon-report",
        "magnon",
        "magnon-cli",
    ];
    let named = packages.iter().flat_map(|name| ["--package", name]);
    let flags = ["package", "--no-verify", "--allow-dirty", "--quiet"];
    step(&mut cargo(&flags.into_iter().chain(named).collect::<Vec<_>>()))?;
    pages()?;
    peers_coming.join().map_err(|_| anyhow!("the peers were not installed"))??;
    python::test(data.as_deref())?;
    ["all", "bank"].into_iter().try_for_each(bench::trial)?;

    peers::check(&tested_binary()?, data.as_deref())
}

/// The report's sample pages, opened in a browser.
fn pages() -> anyhow::Result<()> {
    let Some(browser) = browser::find() else {
        eprintln!("\nleft out: checks of the report in a browser; install chromium for them");
        return Ok(());
    };
    let folder = root().join("target").join("pages");
    // The tests have built the examples.
    let name = format!("sample_report{}", std::env::consts::EXE_SUFFIX);
    let sample = crate::target().join("debug").join("examples").join(name);
    step(Command::new(sample).arg(&folder))?;
    let check = || {
        let mut command = Command::new("python3");
        command.arg(peers::scripts().join("check_report.py")).arg(&browser);
        command
    };
    step(check().arg("--self-test"))?;
    step(check().args([&folder, &folder.join("pictures")]))
}
