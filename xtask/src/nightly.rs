//! The nightly toolchain, which sanitizers and fuzzing need.

use anyhow::ensure;
use std::process::{Command, Stdio};

/// The one platform that sanitizers are run on.
pub const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Says what is missing.
pub fn check() -> anyhow::Result<()> {
    ensure!(
        cfg!(all(target_os = "linux", target_arch = "x86_64")),
        "sanitizers are run on x86-64 Linux only"
    );
    let answers = cargo(&["--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let there = answers.is_ok_and(|status| status.success());
    ensure!(there, "a nightly toolchain is needed: rustup toolchain install nightly");
    Ok(())
}

/// `cargo` of the nightly toolchain. The variable that an outer cargo sets would name the stable compiler.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    for variable in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(variable);
    }
    command.arg("+nightly").args(arguments);
    command
}
