//! Running the binary, and waiting for what it does.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)] // each test file uses a part

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::thread::{sleep, yield_now};
use std::time::{Duration, Instant, SystemTime};

/// What a test waits for comes much sooner on any machine; after so long, something hangs.
const HANG: Duration = Duration::from_secs(120);

pub fn magnon(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_magnon")).args(arguments).output().unwrap()
}

/// The one JSON object of a run that must succeed.
pub fn json(arguments: &[&str]) -> Value {
    parsed(arguments, magnon(&[arguments, &["--json"]].concat()))
}

/// The same of a run in a folder, for commands that write where they are called.
pub fn json_in(folder: &Path, arguments: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_magnon"));
    let output = command.args(arguments).arg("--json").current_dir(folder).output().unwrap();
    parsed(arguments, output)
}

fn parsed(arguments: &[&str], output: Output) -> Value {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    serde_json::from_slice(&output.stdout).expect("exactly one JSON object")
}

/// Exit code and error text of a run that must fail, which prints nothing on standard output but with `--json` one
/// object about it.
pub fn failure(arguments: &[&str]) -> (i32, String) {
    let output = magnon(arguments);
    assert!(!output.status.success(), "{arguments:?} should fail");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!text.contains("panicked"), "{text}");
    let code = output.status.code().unwrap();
    if arguments.contains(&"--json") {
        let told: Value = serde_json::from_slice(&output.stdout).expect("exactly one JSON object");
        let words = told["error"].as_str().unwrap();
        assert!(text.contains(words.lines().next().unwrap()), "{words} is not in {text}");
        assert_eq!(told["exit"], code, "{told}");
        assert_eq!(told["kind"] == "usage", code == 2, "{told}");
    } else {
        assert!(output.stdout.is_empty(), "{arguments:?} printed something");
    }
    (code, text)
}

pub fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// Waits until something is so. A process that hangs is killed, and the test fails.
pub fn wait_until(child: &mut Child, what: &str, mut is_so: impl FnMut(&mut Child) -> bool) {
    let start = Instant::now();
    while !is_so(child) {
        if start.elapsed() > HANG {
            child.kill().unwrap();
            panic!("waited {HANG:?} for {what}");
        }
        sleep(Duration::from_millis(1));
    }
}

/// The same for what comes before the end of the process.
pub fn wait_before_end(child: &mut Child, what: &str, mut is_so: impl FnMut() -> bool) {
    wait_until(child, what, |child| {
        let found = is_so();
        assert!(found || !is_over(child), "it ended before {what}");
        found
    });
}

pub fn is_over(child: &mut Child) -> bool {
    child.try_wait().unwrap().is_some()
}

/// Sends a signal, such as `-INT`, to a process whose end was not asked for yet.
pub fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Processor time that a process has used: how far it is, however busy the machine.
#[cfg(target_os = "linux")]
pub fn processor_time(id: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    // The name of the program, in brackets, may hold anything. Times are the 14th and 15th field, in hundredths of seconds.
    let fields = stat.rsplit_once(')').unwrap().1.split_whitespace().skip(11).take(2);
    Duration::from_millis(fields.map(|ticks| 10 * ticks.parse::<u64>().unwrap()).sum())
}

/// Waits until the files in a folder have been seen to change so many times, or the process is over; gives how often they
/// were.
///
/// What a kill leaves behind differs only from one change to the next, so that changes are the measure of when to kill. How
/// many are seen depends on the system: no test counts on a number.
pub fn wait_for_changes(child: &mut Child, folder: &Path, changes: u64) -> u64 {
    let (start, mut before, mut seen) = (Instant::now(), files(folder), 0);
    while seen < changes && !is_over(child) {
        let now = files(folder);
        seen += u64::from(now != before);
        before = now;
        if start.elapsed() > HANG {
            child.kill().unwrap();
            panic!("waited {HANG:?} for change {changes} in {}", folder.display());
        }
        yield_now();
    }
    seen
}

/// Everything in a folder with its size and time, also that in folders within.
fn files(folder: &Path) -> Vec<(PathBuf, u64, Option<SystemTime>)> {
    let (mut folders, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(about) = entry.metadata() else { continue }; // it is gone already
            if about.is_dir() {
                folders.push(entry.path());
            }
            found.push((entry.path(), about.len(), about.modified().ok()));
        }
    }
    found
}
