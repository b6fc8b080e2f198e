//! `cargo xtask golden`: whether every command still gives the same results, to the bit.
//!
//! All commands of [`CASES`] run with `--json` on one thread and on two. What they print and the files that
//! they write, less times and pages, become digests: one of numbers and files, one of sentences, so that a change of
//! words alone is told from a change of results. Digests are those of one kind of processor: elsewhere, compare with a
//! binary that was built before a change.

mod cases;

use crate::{peers, release_binary, root, target};
use anyhow::{Context, bail, ensure};
use cases::{CASES, Case};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Digests of a case: of its numbers and files, and of its sentences.
type Digests = BTreeMap<String, [String; 2]>;

/// Compares with what was recorded.
pub fn check() -> anyhow::Result<()> {
    let recorded = fs::read_to_string(record_path()).context("xtask/golden.txt")?;
    let (processor, expected) = parse(&recorded)?;
    if processor != instructions() {
        eprintln!(
            "recorded with {processor}, and this processor has {}: last digits may differ. Build the program as it was \
             before the change and give --against BINARY",
            instructions()
        );
    }
    compare(&expected, &digests(&release_binary()?)?)
}

/// Compares with another binary.
pub fn against(other: &Path) -> anyhow::Result<()> {
    let other = fs::canonicalize(other).with_context(|| format!("{}", other.display()))?;
    let ours = release_binary()?;
    compare(&digests(&other)?, &digests(&ours)?)
}

/// Records what the program gives now.
pub fn record() -> anyhow::Result<()> {
    let found = digests(&release_binary()?)?;
    let lines = found.iter().map(|(name, [numbers, words])| format!("{name} {numbers} {words}\n"));
    let text = format!("processor {}\n{}", instructions(), lines.collect::<String>());
    fs::write(record_path(), text)?;
    eprintln!("{} cases recorded", found.len());
    Ok(())
}

fn record_path() -> PathBuf {
    root().join("xtask").join("golden.txt")
}

fn parse(text: &str) -> anyhow::Result<(&str, Digests)> {
    let (first, rest) = text.split_once('\n').context("xtask/golden.txt is empty")?;
    let processor = first.strip_prefix("processor ").context("xtask/golden.txt: no processor")?;
    let line = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        [name, numbers, words] => Ok((name.to_owned(), [numbers.to_owned(), words.to_owned()])),
        _ => bail!("xtask/golden.txt: {line}"),
    };
    Ok((processor, rest.lines().map(line).collect::<anyhow::Result<_>>()?))
}

/// The instructions that decide which kernels run.
fn instructions() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            return "avx512";
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            return "avx2";
        }
    }
    env::consts::ARCH
}

fn compare(expected: &Digests, found: &Digests) -> anyhow::Result<()> {
    let (mut changed, mut reworded) = (Vec::new(), Vec::new());
    for (name, [numbers, words]) in found {
        match expected.get(name) {
            Some([other, _]) if other != numbers => changed.push(name.as_str()),
            Some([_, other]) if other != words => reworded.push(name.as_str()),
            Some(_) => (),
            None => eprintln!("new: {name}"),
        }
    }
    for name in expected.keys().filter(|name| !found.contains_key(*name)) {
        eprintln!("left out: {name}");
    }
    if !reworded.is_empty() {
        eprintln!("other words: {}", reworded.join(", "));
    }
    ensure!(changed.is_empty(), "other results: {}", changed.join(", "));
    eprintln!("{} cases, all results as they were", found.len());
    Ok(())
}

/// Runs all cases on one thread and on two, which must give the same.
fn digests(magnon: &Path) -> anyhow::Result<Digests> {
    let data = peers::data()?;
    let [one, two] = ["1", "2"].map(|threads| run_all(magnon, threads, data.as_deref()));
    let (one, two) = (one?, two?);
    for (name, digests) in &one {
        ensure!(two.get(name) == Some(digests), "{name}: other results on two threads than on one");
    }
    Ok(one)
}

fn run_all(magnon: &Path, threads: &str, data: Option<&Path>) -> anyhow::Result<Digests> {
    // The same folder each time: some files name their sources.
    let folder = target().join("golden");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let mut found = Digests::new();
    let mut known = BTreeMap::new();
    for case in CASES {
        let Some(words) = words(case, data) else { continue };
        let output = Command::new(magnon)
            .args(&words)
            .args(["--json", "--quiet", "--threads", threads])
            .current_dir(&folder)
            // Trainings that an earlier call has kept would not be done again.
            .env("MAGNON_CACHE", folder.join("cache"))
            .output()?;
        let error = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "magnon {}: {error}", case.command);
        let printed = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("magnon {}: not one JSON object", case.command))?;
        let mut sums = [Sha256::new(), Sha256::new()];
        add_json(&printed, data, &mut sums);
        for path in changed_files(&folder, &mut known)? {
            add_file(&folder, &path, data, &mut sums)?;
        }
        found.insert(case.name.to_owned(), sums.map(digest));
    }
    Ok(found)
}

fn digest(sum: Sha256) -> String {
    sum.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The words of a command; `None` where it needs data that are not there.
fn words(case: &Case, data: Option<&Path>) -> Option<Vec<String>> {
    let place = |word: &str| match word.strip_prefix("DATA") {
        Some(below) => Some(data?.to_string_lossy().into_owned() + below),
        None => Some(word.to_owned()),
    };
    case.command.split(' ').map(place).collect()
}

/// Files that were not there before, or have other bytes, in order.
fn changed_files(
    folder: &Path,
    known: &mut BTreeMap<PathBuf, Vec<u8>>,
) -> anyhow::Result<Vec<PathBuf>> {
    let mut folders = vec![folder.to_owned()];
    let mut changed = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let sum = Sha256::digest(fs::read(&path)?).to_vec();
            if known.insert(path.clone(), sum.clone()).is_none_or(|before| before != sum) {
                changed.push(path);
            }
        }
    }
    changed.sort();
    Ok(changed)
}

/// Adds a file to the digests. Pages carry a date and times, and checksums are those of files with times.
fn add_file(
    folder: &Path,
    path: &Path,
    data: Option<&Path>,
    sums: &mut [Sha256; 2],
) -> anyhow::Result<()> {
    let name = path.strip_prefix(folder)?;
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let is_left_out = name.starts_with("cache")
        || path.file_name().is_some_and(|name| name == "checksums.json")
        || ["html", "md", "jsonl"].contains(&ending);
    if is_left_out {
        return Ok(());
    }
    sums[0].update(name.to_string_lossy().as_bytes());
    let bytes = fs::read(path)?;
    match ending {
        "json" => add_json(&serde_json::from_slice(&bytes)?, data, sums),
        "csv" => sums[0].update(without_times(&String::from_utf8_lossy(&bytes))),
        _ => sums[0].update(&bytes),
    }
    Ok(())
}

/// A table without its columns of times.
fn without_times(table: &str) -> String {
    let header = table.lines().next().unwrap_or_default();
    let is_time: Vec<bool> = header.split(',').map(|name| name.ends_with("seconds")).collect();
    let mut kept = String::new();
    for line in table.lines() {
        let cells = line.split(',').enumerate();
        for (_, cell) in cells.filter(|(k, _)| !is_time.get(*k).copied().unwrap_or(false)) {
            kept += cell;
            kept.push(',');
        }
        kept.push('\n');
    }
    kept
}

/// Adds values to the digests: sentences to the second, all others to the first, times to neither.
fn add_json(value: &Value, data: Option<&Path>, sums: &mut [Sha256; 2]) {
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                if !key.ends_with("second") && !key.ends_with("seconds") {
                    sums[0].update(key.as_bytes());
                    add_json(value, data, sums);
                }
            }
        }
        Value::Array(values) => {
            sums[0].update(values.len().to_le_bytes());
            values.iter().for_each(|value| add_json(value, data, sums));
        }
        Value::String(text) => {
            let text = match data {
                Some(data) => text.replace(&*data.to_string_lossy(), "DATA"),
                None => text.clone(),
            };
            sums[usize::from(text.contains(' '))].update(text.as_bytes());
        }
        other => sums[0].update(other.to_string().as_bytes()),
    }
}
