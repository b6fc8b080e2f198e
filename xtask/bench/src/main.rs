//! Timings of magnon and its peers, interleaved in one run, as a table of ratios.
//!
//! `magnon-bench PYTHON SCRIPTS MAGNON WORK PART [DATA]` is called by `cargo xtask bench`.

mod cycles;
mod edges;
mod fitting;
mod gpu;
mod large_cycles;
mod machine;
mod memory;
mod models;
mod product;
mod repeated;
mod spectrum;
mod table;
mod training;
mod worker;

use anyhow::{Context, bail};
use std::path::PathBuf;

/// Paths that every measurement needs.
pub struct Places {
    /// The interpreter of the peers.
    pub python: PathBuf,
    /// The folder of their scripts.
    pub scripts: PathBuf,
    /// The `magnon` binary.
    pub magnon: PathBuf,
    /// Where files may be written.
    pub work: PathBuf,
    /// The real data sets, where there are any.
    pub data: Option<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [python, scripts, magnon, work, part, data @ ..] = &arguments[..] else {
        bail!("usage: magnon-bench PYTHON SCRIPTS MAGNON WORK PART [DATA]");
    };
    let places = Places {
        python: python.clone(),
        scripts: scripts.clone(),
        magnon: magnon.clone(),
        work: work.clone(),
        data: data.first().cloned(),
    };
    std::fs::create_dir_all(work).with_context(|| format!("{}", work.display()))?;
    println!("{}\n", machine::describe());
    if let Some(part @ ("gpu" | "gpu-products" | "gpu-steps")) = part.to_str() {
        return gpu::measure(&places, part);
    }
    if part.as_os_str() == "gpu-large" {
        return gpu::measure_large();
    }
    let mut peers = worker::Worker::start(python, scripts)?;
    let wants = |name: &str| part.as_os_str() == "all" || part.as_os_str() == name;
    if wants("product") {
        product::measure(&places, &mut peers)?.print();
    }
    if wants("edges") {
        if places.data.is_some() {
            edges::measure(&places, &mut peers)?.print();
        }
        edges::measure_large(&places, &mut peers)?.print();
    }
    if wants("cycles") {
        cycles::measure(&places, &mut peers)?.print();
        let mut table = table::Table::default();
        large_cycles::measure(&mut table)?;
        table.print();
    }
    if wants("spectrum") {
        repeated::measure(&places, &mut peers)?.print();
        if places.data.is_some() {
            spectrum::measure(&places, &mut peers)?;
        }
    }
    if wants("memory") {
        memory::measure(&places)?;
    }
    if wants("training")
        && let Some(data) = &places.data
    {
        training::measure(&places, data)?.print();
    }
    let bank = part.as_os_str() == "bank";
    if (wants("models") || bank)
        && let Some(data) = &places.data
    {
        models::measure(&places, data, bank.then_some("bank"))?.print();
    }
    peers.quit()
}
