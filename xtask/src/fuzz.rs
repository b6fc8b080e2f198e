//! `cargo xtask fuzz [MINUTES]`: every target in turn, under AddressSanitizer.

use crate::{nightly, root, run as step};
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Code that counts where the fuzzer has been, and AddressSanitizer; as cargo-fuzz builds.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares \
    --cfg fuzzing -Zsanitizer=address";

/// A small file may ask for no more memory than this, in MiB.
const MEMORY: &str = "-malloc_limit_mb=1500";

pub fn run(minutes: f64) -> anyhow::Result<()> {
    nightly::check()?;
    let mut build = nightly::cargo(&["build", "--profile", "fuzz", "--package", "magnon-fuzz"]);
    build.args(["--bins", "--features", "fuzzer"]);
    // A folder of its own: the flags would have the rest built anew.
    build.args(["--target", nightly::TARGET, "--target-dir", "fuzz/target"]);
    step(build.env("RUSTFLAGS", FLAGS))?;
    let fuzz = root().join("fuzz");
    let built = fuzz.join("target").join(nightly::TARGET).join("fuzz");
    let targets = seeds(&built.join("seeds"), &fuzz.join("corpus"))?;
    let seconds = (60.0 * minutes / targets.len() as f64).ceil() as u64;
    let scratch = Scratch::new()?;
    let mut found = Vec::new();
    println!("{:<24}{:>12}{:>10}{:>10}", "target", "executions", "coverage", "corpus");
    for target in &targets {
        let results = fuzz_one(&built.join("fuzz"), &fuzz, target, seconds, &scratch)?;
        let Results { executions, coverage, corpus, failed } = results;
        println!("{target:<24}{executions:>12}{coverage:>10}{corpus:>10}");
        found.extend(failed.then_some(target.as_str()));
    }
    if !found.is_empty() {
        bail!(
            "there are finds in fuzz/artifacts, and reports in target/fuzz: {}",
            found.join(", ")
        );
    }
    Ok(())
}

/// Writes the seeds, and gives the names of the targets.
fn seeds(program: &Path, corpus: &Path) -> anyhow::Result<Vec<String>> {
    let output = Command::new(program).arg(corpus).output();
    let output = output.with_context(|| format!("cannot run {}", program.display()))?;
    if !output.status.success() {
        bail!("no seeds: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

/// What a target came to.
struct Results {
    executions: u64,
    /// Edges between blocks of code that were taken.
    coverage: u64,
    /// Inputs that are kept, as each goes somewhere new.
    corpus: u64,
    failed: bool,
}

fn fuzz_one(
    program: &Path,
    fuzz: &Path,
    target: &str,
    seconds: u64,
    scratch: &Scratch,
) -> anyhow::Result<Results> {
    let corpus = fuzz.join("corpus").join(target);
    let artifacts = fuzz.join("artifacts").join(target);
    let reports = root().join("target").join("fuzz");
    fs::create_dir_all(&artifacts)?;
    fs::create_dir_all(&reports)?;
    let report = reports.join(format!("{target}.log"));
    let log = fs::File::create(&report)?;
    let status = Command::new(program)
        .arg(&corpus)
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .arg(format!("-dict={}", fuzz.join("tokens.dict").display()))
        .arg(format!("-max_total_time={seconds}"))
        .args(["-timeout=20", "-rss_limit_mb=3000", MEMORY, "-max_len=8192", "-len_control=20"])
        .arg("-print_final_stats=1")
        // Vast sizes are refused by trying, which must not count as an error.
        .env("ASAN_OPTIONS", "allocator_may_return_null=1")
        .envs([("MAGNON_FUZZ", target), ("RAYON_NUM_THREADS", "1")])
        .env("TMPDIR", &scratch.0)
        .stdout(log.try_clone()?)
        .stderr(log)
        .status()
        .with_context(|| format!("cannot run {}", program.display()))?;
    let text = String::from_utf8_lossy(&fs::read(&report)?).into_owned();
    let number = |line: &str, word: &str| -> Option<u64> {
        let (_, rest) = line.split_once(word)?;
        let digits = rest.trim_start().split(|c: char| !c.is_ascii_digit()).next();
        digits?.parse().ok()
    };
    let last = |word: &str| text.lines().rev().find_map(|line| number(line, word)).unwrap_or(0);
    Ok(Results {
        executions: last("stat::number_of_executed_units:"),
        coverage: last("cov:"),
        corpus: last("corp:"),
        failed: !status.success(),
    })
}

/// A folder for the files that readers are given: in memory, where the system has such a place.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> anyhow::Result<Self> {
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() { memory.to_owned() } else { env::temp_dir() };
        let folder = base.join(format!("magnon-fuzz-{}", std::process::id()));
        fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0); // for tidiness alone
    }
}
