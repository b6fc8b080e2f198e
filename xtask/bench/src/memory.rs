//! Peak memory of `magnon propagate`.

use crate::Places;
use crate::product::{COLUMNS, NODES, propagate_command};
use anyhow::{Context, ensure};
use std::os::unix::process::ExitStatusExt;

/// Runs the command and compares its largest resident set with the sizes that it cannot avoid.
pub fn measure(places: &Places) -> anyhow::Result<()> {
    let child = propagate_command(places).spawn()?;
    let mut status = 0;
    // SAFETY: both outputs are plain values that the call fills; all zero is a valid `rusage`.
    let (waited, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::wait4(child.id() as libc::pid_t, &mut status, 0, &mut usage), usage)
    };
    ensure!(waited > 0, "waiting for magnon propagate failed");
    let status = std::process::ExitStatus::from_raw(status);
    ensure!(status.success(), "magnon propagate: {status}");
    let peak = usage.ru_maxrss as f64 * 1024.0;

    let graph = crate::product::graph()?;
    let pattern = magnon::operator::Pattern::new(&graph).context("pattern")?;
    let input = (NODES * COLUMNS * 4) as f64;
    let output = (NODES * COLUMNS * 8) as f64;
    let base = input + output + 5.0 * pattern.stored() as f64 + 16.0 * NODES as f64;
    let mib = 1024.0 * 1024.0;
    println!(
        "Peak memory of `magnon propagate` on the random graph: {:.0} MiB, {:.2} × (input features + \
         output + 5 bytes per stored entry + 16 bytes per node = {:.0} MiB).",
        peak / mib,
        peak / base,
        base / mib
    );
    Ok(())
}
