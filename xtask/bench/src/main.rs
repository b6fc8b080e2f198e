//! Timings of magnon and its peers, interleaved in one run, as a table of ratios.
//!
//! `magnon-bench PYTHON SCRIPTS MAGNON WORK PART SIZE [DATA]` is called by `cargo xtask bench`.

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
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where things are, and at which size they are measured.
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
    /// Whether all is as small as possible: to see that the benchmarks run, not how fast.
    pub tiny: bool,
}

impl Places {
    /// A size of a benchmark: the one that is measured, or that of a trial.
    pub fn size<T>(&self, full: T, tiny: T) -> T {
        if self.tiny { tiny } else { full }
    }

    /// The real data sets.
    pub fn data(&self) -> anyhow::Result<&Path> {
        self.data.as_deref().context("MAGNON_DATA is not set")
    }

    /// Whether a peer is there. Only a trial goes without one, and says so.
    pub fn has(&self, module: &str) -> anyhow::Result<bool> {
        if !self.tiny {
            return Ok(true);
        }
        let mut import = Command::new(&self.python);
        import.args(["-c", &format!("import {module}")]).stderr(Stdio::null());
        let found = import.status().context("the peers' interpreter")?.success();
        if !found {
            println!("left out: rows against {module}, which is not installed");
        }
        Ok(found)
    }
}

/// A part of the benchmark.
struct Part {
    name: &'static str,
    needs: Need,
    measure: fn(&Places) -> anyhow::Result<()>,
}

/// What a part needs and not every machine has.
#[derive(PartialEq)]
enum Need {
    Nothing,
    /// The real data sets.
    Data,
    /// An NVIDIA card.
    Card,
}

const PARTS: [Part; 13] = [
    Part { name: "product", needs: Need::Nothing, measure: product::measure },
    Part { name: "edges", needs: Need::Data, measure: edges::measure },
    Part { name: "large-edges", needs: Need::Nothing, measure: edges::measure_large },
    Part { name: "cycles", needs: Need::Nothing, measure: cycles::measure },
    Part { name: "large-cycles", needs: Need::Nothing, measure: large_cycles::measure },
    Part { name: "repeated", needs: Need::Nothing, measure: repeated::measure },
    Part { name: "spectrum", needs: Need::Data, measure: spectrum::measure },
    Part { name: "memory", needs: Need::Nothing, measure: memory::measure },
    Part { name: "training", needs: Need::Data, measure: training::measure },
    Part { name: "models", needs: Need::Data, measure: models::measure },
    Part { name: "gpu-products", needs: Need::Card, measure: gpu::measure_products },
    Part { name: "gpu-steps", needs: Need::Card, measure: gpu::measure_steps },
    Part { name: "gpu-large", needs: Need::Card, measure: gpu::measure_large },
];

fn main() -> anyhow::Result<()> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [python, scripts, magnon, work, part, size, data @ ..] = &arguments[..] else {
        bail!("usage: magnon-bench PYTHON SCRIPTS MAGNON WORK PART full|tiny [DATA]");
    };
    let places = Places {
        python: python.clone(),
        scripts: scripts.clone(),
        magnon: magnon.clone(),
        work: work.clone(),
        data: data.first().cloned(),
        tiny: size.as_os_str() == "tiny",
    };
    std::fs::create_dir_all(work).with_context(|| format!("{}", work.display()))?;
    let part = part.to_string_lossy();
    println!("{}\n", machine::describe());
    if places.tiny {
        println!("Tiny inputs: this shows that the benchmarks run. The figures mean nothing.\n");
    }
    if part == "bank" {
        return models::measure_bank(&places);
    }
    let wanted = |one: &&Part| match &*part {
        "all" => one.needs != Need::Card,
        "gpu" => one.name == "gpu-products" || one.name == "gpu-steps",
        name => one.name == name,
    };
    let mut parts = PARTS.iter().filter(wanted).peekable();
    if parts.peek().is_none() {
        let names: Vec<&str> = PARTS.iter().map(|one| one.name).collect();
        bail!("there is no part '{part}'; there are all, gpu, bank, {}", names.join(", "));
    }
    for one in parts {
        if one.needs == Need::Data && places.data.is_none() {
            println!("left out: {}, which needs MAGNON_DATA\n", one.name);
            continue;
        }
        (one.measure)(&places).with_context(|| format!("the part {}", one.name))?;
    }
    Ok(())
}
