//! Licences, bans and sources of the crates that we build on, as `deny.toml` has them.

use crate::{cargo, run as step};
use std::process::Stdio;

/// Asks cargo-deny, where it is installed. Advisories need a network, and are left to `cargo deny check`.
pub fn check() -> anyhow::Result<()> {
    let version =
        cargo(&["deny", "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !version.is_ok_and(|status| status.success()) {
        eprintln!("\nleft out: licences and bans of crates; cargo install cargo-deny for them");
        return Ok(());
    }
    let offline = ["deny", "--workspace", "--offline", "--log-level", "error"];
    step(cargo(&offline).args(["check", "licenses", "bans", "sources"]))
}
