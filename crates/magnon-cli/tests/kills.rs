//! `magnon train` is killed after any change of its files, again and again: its folder holds the old run, the new one, or
//! one to go on with. `magnon compare` is killed so, too: no run that was done is lost.
//!
//! `MAGNON_KILLS` says how often, for a longer test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{json, text, wait_for_changes};
use magnon::run::{FileError, RunFolder};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const KILLS: u64 = 30;

/// A run so short that most of its time goes into its files; its seed tells it from others.
fn arguments(seed: u64, out: &Path) -> Vec<String> {
    let flags = "train cyclic:nodes=60,columns=6,density=0.1 --charge 1/3 --hidden 4 --epochs 15 \
        --checkpoint-every 1 --threads 1 --no-report --quiet --json --seed";
    let flags = flags.split_whitespace().map(str::to_owned);
    flags.chain([seed.to_string(), "--out".to_owned(), text(out)]).collect()
}

/// What a folder holds, by the seed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Found {
    Nothing,
    UnderWay(u64),
    Whole(u64),
}
use Found::{Nothing, UnderWay, Whole};

/// Files that are equal in equal runs.
const EQUAL: [&str; 4] =
    ["config.json", "history.csv", "model.safetensors", "predictions.safetensors"];

fn contents(out: &Path) -> [Vec<u8>; 4] {
    EQUAL.map(|name| fs::read(out.join(name)).unwrap())
}

/// Looks at a folder. A whole run must be what it is without kills.
fn look(out: &Path, runs: &[[Vec<u8>; 4]; 2]) -> Found {
    match RunFolder::open(out) {
        Ok(folder) => {
            let seed = folder.config().unwrap().train.seed;
            folder.model().unwrap();
            folder.predictions().unwrap().unwrap();
            assert!(contents(out) == runs[seed as usize], "a mixture");
            Whole(seed)
        }
        Err(FileError::Unfinished { .. }) => {
            UnderWay(RunFolder::begun_config(out).unwrap().train.seed)
        }
        Err(error) => {
            assert!(error.to_string().contains("no run folder"), "{error}");
            Nothing
        }
    }
}

fn start(arguments: &[String]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_magnon"));
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs a command to its end, and gives how often its files were seen to change.
fn run_watched(arguments: &[String], out: &Path) -> u64 {
    let mut child = start(arguments);
    let changes = wait_for_changes(&mut child, out, u64::MAX);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    changes
}

/// Starts a command and kills it after some changes of its files.
fn kill(arguments: &[String], out: &Path, changes: u64) {
    let mut child = start(arguments);
    wait_for_changes(&mut child, out, changes);
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    // A kill leaves no code: without one it was killed, and with one it was over before.
    assert!(output.status.code().is_none_or(|code| code == 0 || cfg!(windows)), "{error}");
}

fn kills() -> u64 {
    std::env::var("MAGNON_KILLS").map_or(KILLS, |count| count.parse().unwrap())
}

/// Numbers that look like chance, and are the same every time.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

#[test]
fn kills_leave_the_old_run_or_the_new_one_or_one_to_go_on_with() {
    let kills = kills();
    let root = tempfile::tempdir().unwrap();
    let out = root.path().join("run");
    let mut changes = 0;
    let runs = [0, 1].map(|seed| {
        let whole = root.path().join(seed.to_string());
        changes = run_watched(&arguments(seed, &whole), &whole).max(changes);
        contents(&whole)
    });
    let mut dice = Dice(kills);
    let mut found = Nothing;
    for round in 0..kills {
        let begun = RunFolder::begun_config(&out).ok().map(|config| config.train.seed);
        let (seed, more) = match (begun, found) {
            (Some(seed), _) if dice.throw(3) > 0 => (seed, Some("--resume")),
            (_, Nothing) => (dice.throw(2), None),
            (_, UnderWay(seed) | Whole(seed)) => (1 - seed, Some("--overwrite")),
        };
        let mut arguments = arguments(seed, &out);
        arguments.extend(more.map(str::to_owned));
        kill(&arguments, &out, dice.throw(changes + 1));
        let now = look(&out, &runs);
        let allowed = [found, UnderWay(seed), Whole(seed)];
        assert!(allowed.contains(&now), "round {round}, {more:?} {seed}: {now:?} after {found:?}");
        found = now;
        if dice.throw(10) == 0 && out.exists() {
            fs::remove_dir_all(&out).unwrap();
            found = Nothing;
        }
    }
    // What the last kill has left is gone on with, or replaced, and nothing of it stays.
    let more = match found {
        Nothing => None,
        UnderWay(_) => Some("--resume"),
        Whole(_) => Some("--overwrite"),
    };
    let seed = if let UnderWay(seed) = found { seed } else { 1 };
    let mut last = arguments(seed, &out);
    last.extend(more.map(str::to_owned));
    last.retain(|flag| flag != "--json");
    json(&last.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(look(&out, &runs), Whole(seed));
    let names = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name());
    let names: BTreeSet<String> = names.map(|name| name.into_string().unwrap()).collect();
    let expected = [&EQUAL[..], &["checksums.json", "metrics.json"]].concat();
    assert_eq!(names, expected.into_iter().map(str::to_owned).collect());
}

fn comparison(out: &Path) -> Vec<String> {
    let flags = "compare cyclic:nodes=60,columns=6,density=0.1 --models mgc,gcn,sgc --splits 3 --draws 1 \
        --threads 1 --quiet --json --output";
    flags.split_whitespace().map(str::to_owned).chain([text(out)]).collect()
}

/// The runs that a comparison has kept, by their keys, without the times that they took.
fn kept(out: &Path) -> BTreeMap<String, Value> {
    let names = fs::read_dir(out).into_iter().flatten().flatten().map(|entry| entry.path());
    let journal = names.into_iter().find(|path| path.extension().is_some_and(|e| e == "jsonl"));
    let text = journal.map(|path| fs::read_to_string(path).unwrap()).unwrap_or_default();
    // A line that was cut short has no end.
    let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n')).skip(1);
    let jobs = lines.map(|line| {
        let mut job = serde_json::from_str::<Value>(line).unwrap()["record"].take();
        job.as_object_mut().unwrap().retain(|key, _| !key.ends_with("seconds"));
        (job["key"].as_str().unwrap().to_owned(), job)
    });
    jobs.collect()
}

#[test]
fn kills_lose_no_run_of_a_comparison() {
    let root = tempfile::tempdir().unwrap();
    let (whole, out) = (root.path().join("whole"), root.path().join("out"));
    let changes = run_watched(&comparison(&whole), &whole);
    let expected = kept(&whole);
    let mut dice = Dice(7);
    let mut before = BTreeMap::new();
    for round in 0..kills() {
        kill(&comparison(&out), &out, dice.throw(changes + 1));
        let now = kept(&out);
        assert!(before.keys().all(|key| now.contains_key(key)), "round {round}: a run is lost");
        assert!(now.iter().all(|(key, job)| expected.get(key) == Some(job)), "round {round}");
        before = now;
        if before.len() == expected.len() {
            fs::remove_dir_all(&out).unwrap();
            before.clear();
        }
    }
    json(
        &comparison(&out)
            .iter()
            .filter(|flag| *flag != "--json")
            .map(String::as_str)
            .collect::<Vec<_>>(),
    );
    assert_eq!(kept(&out), expected);
}
