//! Peak memory of `magnon propagate`.

use crate::Places;
use crate::product::{COLUMNS, propagate_command};
use anyhow::{Context, ensure};
use std::process::Command;

pub const MIB: f64 = 1024.0 * 1024.0;

/// Runs the command and compares its largest resident set with the sizes that it cannot avoid.
pub fn measure(places: &Places) -> anyhow::Result<()> {
    crate::product::write_inputs(places)?;
    let peak = peak(&mut propagate_command(places))?;
    let graph = crate::product::graph(places)?;
    let nodes = graph.nodes();
    let pattern = magnon::operator::Pattern::new(&graph).context("pattern")?;
    let input = (nodes * COLUMNS * 4) as f64;
    let output = (nodes * COLUMNS * 8) as f64;
    let base = input + output + 5.0 * pattern.stored() as f64 + 16.0 * nodes as f64;
    println!(
        "Peak memory of `magnon propagate` on the random graph: {:.0} MiB, {:.2} × (input features + \
         output + 5 bytes per stored entry + 16 bytes per node = {:.0} MiB).",
        peak / MIB,
        peak / base,
        base / MIB
    );
    Ok(())
}

/// Bytes of the largest resident set of a command.
pub fn peak(command: &mut Command) -> anyhow::Result<f64> {
    let mut child = command.spawn()?;
    // The kernel keeps the largest value; the last look comes while the result is written, long
    // after the peak. (`ru_maxrss` would count this process too, from before the child's exec.)
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0.0;
    let ended = loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        peak = kib.map_or(peak, |kib| kib * 1024.0);
        if let Some(ended) = child.try_wait()? {
            break ended;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    };
    ensure!(ended.success(), "{}: {ended}", command.get_program().display());
    Ok(peak)
}
