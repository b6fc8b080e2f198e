//! Every command on a graph of 50,000 nodes ends soon after an interrupt, and after a termination.
//!
//! `MAGNON_STOPS` says how often, each time at another moment, for a longer test.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{magnon, text};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A stop takes half a second at most; this much more fails on a hang, and not on a busy machine.
const HANG: Duration = Duration::from_secs(20);

/// Commands with flags that keep them busy for a while. `GRAPH` is a sparse random graph, `RUN` a model trained
/// on it, and `OUT` a place for files. `models` has nothing to do, `fetch` needs a network, and `reproduce`
/// needs the paper's data; it stops as `compare` does.
const COMMANDS: [&str; 15] = [
    "info GRAPH",
    "cycles GRAPH --enumerate",
    "operator GRAPH -o OUT.npz",
    "propagate GRAPH --charge 1/3 --order 5000 -o OUT.npy",
    "response GRAPH --charge 1/3",
    "spectrum GRAPH --charge 1/3 --count 50",
    "eigenmap GRAPH --charge 1/3",
    "denoise GRAPH --charge 1/3 -o OUT.npy",
    "train GRAPH --charge 1/3 --out OUT",
    "train GRAPH --model dirgnn",
    "predict RUN --full",
    "report RUN -o OUT.html",
    "compare GRAPH -o OUT",
    "tune GRAPH",
    "generate erdos-renyi --nodes 50000 --density 0.01 -o OUT.csv",
];

const GRAPH: &str = "cyclic:nodes=50000,density=0.0002";

fn start(command: &str, run: &Path, folder: &Path) -> Child {
    let place = |word: &str| match word.split_once('.') {
        _ if word == "GRAPH" => GRAPH.to_owned(),
        _ if word == "RUN" => text(run),
        _ if word == "OUT" => text(&folder.join("out")),
        Some(("OUT", ending)) => text(&folder.join(format!("out.{ending}"))),
        _ => word.to_owned(),
    };
    Command::new(env!("CARGO_BIN_EXE_magnon"))
        .args(command.split_whitespace().map(place))
        .arg("--quiet")
        .env("MAGNON_CACHE", folder.join("cache"))
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Sends a signal by its number, as `kill` does.
fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Stops a command after a while, and gives how long that takes.
fn stop(command: &str, signal: &str, after: Duration, run: &Path) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    let mut child = start(command, run, folder.path());
    sleep(after);
    // A command that is over stays until it is asked for its end, so that no other process gets the signal.
    send(signal, &child);
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > HANG {
            child.kill().unwrap();
            panic!("{command}: still there {HANG:?} after {signal}");
        }
        sleep(Duration::from_millis(5));
    }
    let taken = begun.elapsed();
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    // 0 where it was over before, or told what it knew; none where the signal came before all else.
    let code = output.status.code();
    assert!(matches!(code, None | Some(0 | 130)), "{command}, {signal}: {code:?}, {error}");
    taken
}

#[test]
fn every_command_ends_soon_after_a_signal() {
    let rounds = std::env::var("MAGNON_STOPS").map_or(1, |count| count.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let flags = ["train", GRAPH, "--charge", "1/3", "--epochs", "1", "--no-report", "--quiet"];
    let trained = magnon(&[&flags[..], &["--out", &text(&run)]].concat());
    assert!(trained.status.success(), "{}", String::from_utf8_lossy(&trained.stderr));
    // An early moment and a late one in each round; commands are stopped four at a time.
    let stops = (0..rounds).flat_map(|round| {
        let moment = Duration::from_millis(150 + 613 * round % 3000);
        COMMANDS.iter().flat_map(move |command| {
            let late = moment + Duration::from_millis(700);
            [(command, "-INT", moment), (command, "-TERM", late)]
        })
    });
    let stops = Mutex::new(stops);
    let next = || stops.lock().ok()?.next();
    let slowest = Mutex::new((Duration::ZERO, ""));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((command, signal, moment)) = next() {
                    let taken = stop(command, signal, moment, &run);
                    let mut slowest = slowest.lock().unwrap();
                    *slowest = (*slowest).max((taken, command));
                }
            });
        }
    });
    let (taken, command) = slowest.into_inner().unwrap();
    eprintln!("the slowest stop took {taken:.2?}: {command}");
}
