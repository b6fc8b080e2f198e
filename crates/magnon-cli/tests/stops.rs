//! Every command on a graph of 50,000 nodes ends soon after an interrupt, and after a termination.
//!
//! `MAGNON_STOPS` says how often, each time at another moment, for a longer test.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{magnon, text};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A stop takes half a second at most; this much more fails on a hang, and not on a busy machine.
const HANG: Duration = Duration::from_secs(20);

/// Commands with flags that keep them busy for a while. `GRAPH` is a sparse random graph, `RUN` a model trained
/// on it, `PAPER` a folder in which that graph stands for one of the paper's, and `OUT` a place for files. `fetch`
/// asks a proxy that never answers; `models` has nothing to do.
const COMMANDS: [&str; 18] = [
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
    "pack PAPER/edges.csv -o OUT.magnon --memory 16M",
    "reproduce accuracy --data PAPER --only cornell -o OUT",
    "fetch cora_ml",
];

const GRAPH: &str = "cyclic:nodes=50000,density=0.0002";

/// What all commands share.
struct Stage {
    folder: tempfile::TempDir,
    /// A server that takes connections and never says a word.
    silent: TcpListener,
}

impl Stage {
    fn set() -> Self {
        let stage = Self {
            folder: tempfile::tempdir().unwrap(),
            silent: TcpListener::bind("127.0.0.1:0").unwrap(),
        };
        let flags = "--charge 1/3 --epochs 1 --no-report --quiet --out";
        let sizes = "cyclic --nodes 50000 --density 0.0002 --quiet -o";
        stage.run(&format!("train {GRAPH} {flags}"), "run");
        stage.run(&format!("generate {sizes}"), "paper/cornell");
        stage.run(&format!("generate {sizes}"), "paper/edges.csv");
        stage
    }

    fn path(&self, name: &str) -> String {
        text(&self.folder.path().join(name))
    }

    fn run(&self, words: &str, output: &str) {
        let output = self.path(output);
        let words: Vec<&str> = words.split_whitespace().chain([output.as_str()]).collect();
        let ended = magnon(&words);
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }

    fn proxy(&self) -> String {
        format!("http://{}", self.silent.local_addr().unwrap())
    }
}

fn start(command: &str, stage: &Stage, folder: &Path) -> Child {
    let place = |word: &str| match word.split_once('.') {
        _ if word == "GRAPH" => GRAPH.to_owned(),
        _ if word == "RUN" => stage.path("run"),
        _ if word.starts_with("PAPER") => word.replace("PAPER", &stage.path("paper")),
        _ if word == "OUT" => text(&folder.join("out")),
        Some(("OUT", ending)) => text(&folder.join(format!("out.{ending}"))),
        _ => word.to_owned(),
    };
    Command::new(env!("CARGO_BIN_EXE_magnon"))
        .args(command.split_whitespace().map(place))
        .arg("--quiet")
        .env("MAGNON_CACHE", folder.join("cache"))
        .env("HTTPS_PROXY", stage.proxy())
        .env_remove("https_proxy")
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
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
fn stop(command: &str, signal: &str, after: Duration, stage: &Stage) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    let mut child = start(command, stage, folder.path());
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
    let stopped = if signal == "-TERM" { 143 } else { 130 };
    assert!(
        code.is_none_or(|code| code == 0 || code == stopped),
        "{command}, {signal}: {code:?}, {error}"
    );
    taken
}

#[test]
fn every_command_ends_soon_after_a_signal() {
    let rounds = std::env::var("MAGNON_STOPS").map_or(1, |count| count.parse().unwrap());
    let stage = Stage::set();
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
                    let taken = stop(command, signal, moment, &stage);
                    let mut slowest = slowest.lock().unwrap();
                    *slowest = (*slowest).max((taken, command));
                }
            });
        }
    });
    let (taken, command) = slowest.into_inner().unwrap();
    eprintln!("the slowest stop took {taken:.2?}: {command}");
}
