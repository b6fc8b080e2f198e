//! The browser that the report's pages are checked in.

use crate::run;
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

/// What Chromium is called on the systems that we know.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The browser, installed where that can be done without asking anyone; none otherwise.
pub fn find() -> Option<PathBuf> {
    NAMES.into_iter().find_map(on_path).or_else(|| {
        let may_install = is_root() && on_path("apt-get").is_some();
        may_install.then(install)?;
        on_path("chromium")
    })
}

fn on_path(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    let files = env::split_paths(&folders).map(|folder| folder.join(name));
    files.into_iter().find(|file| fs::metadata(file).is_ok_and(|about| about.is_file()))
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|id| id.stdout.trim_ascii() == b"0")
}

/// Without a font a browser draws no text; the package asks for none.
fn install() {
    let apt = || {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    let packages = ["chromium", "fonts-dejavu-core"];
    let done = run(apt().args(["update", "--quiet"])).and_then(|()| {
        let options = ["install", "--quiet", "--yes", "--no-install-recommends"];
        run(apt().args(options).args(packages))
    });
    if let Err(error) = done {
        eprintln!("{error:#}");
    }
}
