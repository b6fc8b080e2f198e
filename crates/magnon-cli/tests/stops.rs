//! Every command on a graph of 50,000 nodes ends soon after an interrupt, and after a termination.
//!
//! `MAGNON_STOPS` says how often, each time at another moment, for a longer test.
#![cfg(target_os = "linux")] // for the processor time of another process
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{is_over, magnon, processor_time, send, text, wait_until};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Commands with flags that keep them busy for a while. `GRAPH` is a sparse random graph, `RUN` a model trained
/// on it, `PAPER` a folder in which that graph stands for one of the paper's, and `OUT` a place for files. `fetch`
/// asks a proxy that never answers.
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
}

impl Stage {
    fn set() -> Self {
        let stage = Self { folder: tempfile::tempdir().unwrap() };
        let flags = "--charge 1/3 --epochs 1 --no-report --quiet --out";
        let sizes =
            |density| format!("generate cyclic --nodes 50000 --density {density} --quiet -o");
        stage.run(&format!("train {GRAPH} {flags}"), "run");
        stage.run(&sizes(0.0002), "paper/cornell");
        // Packing is fast.
        stage.run(&sizes(0.001), "paper/edges.csv");
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
}

fn start(command: &str, stage: &Stage, folder: &Path, proxy: &TcpListener) -> Child {
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
        .env("HTTPS_PROXY", format!("http://{}", proxy.local_addr().unwrap()))
        .env_remove("https_proxy")
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Stops a command once it has had so much processor time, or waits for the network; gives how long the stop takes.
///
/// What must hold afterwards holds at any moment, also where the command was over before.
fn stop(command: &str, signal: &str, work: Duration, stage: &Stage) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    // It takes connections, and never says a word.
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    proxy.set_nonblocking(true).unwrap();
    let mut asked = None;
    let mut child = start(command, stage, folder.path(), &proxy);
    wait_until(&mut child, &format!("{work:?} of {command}"), |child| {
        asked = asked.take().or_else(|| proxy.accept().ok());
        asked.is_some() || processor_time(child.id()) >= work || is_over(child)
    });
    // Where its end was asked for, another process may have its number.
    if !is_over(&mut child) {
        send(signal, &child);
    }
    let begun = Instant::now();
    wait_until(&mut child, &format!("the end of {command} after {signal}"), is_over);
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
        let early = Duration::from_millis(50 + 613 * round % 3000);
        COMMANDS.iter().flat_map(move |command| {
            let late = early + Duration::from_millis(700);
            [(command, "-INT", early), (command, "-TERM", late)]
        })
    });
    let stops = Mutex::new(stops);
    let next = || stops.lock().ok()?.next();
    let slowest = Mutex::new((Duration::ZERO, ""));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((command, signal, work)) = next() {
                    let taken = stop(command, signal, work, &stage);
                    let mut slowest = slowest.lock().unwrap();
                    *slowest = (*slowest).max((taken, command));
                }
            });
        }
    });
    let (taken, command) = slowest.into_inner().unwrap();
    eprintln!("the slowest stop took {taken:.2?}: {command}");
}
