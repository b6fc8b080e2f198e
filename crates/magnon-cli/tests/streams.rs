//! Standard output and error that are closed, full or a terminal.

#![cfg(target_os = "linux")] // for /dev/full
#![allow(clippy::unwrap_used)] // a helper that fails is a test that fails

mod common;
use common::text;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

/// A pipe that nobody reads.
fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

fn full() -> Stdio {
    File::options().write(true).open("/dev/full").unwrap().into()
}

fn magnon(arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_magnon"));
    command.args(arguments).current_dir(folder);
    command
}

#[test]
fn work_goes_on_without_anyone_to_tell() {
    let folder = tempfile::tempdir().unwrap();
    // Each of these has something to remark.
    let edges = folder.path().join("e.csv");
    std::fs::write(&edges, "source,target\n0,1\n1,0\n1,1\n").unwrap();
    let edges = text(&edges);
    for (arguments, written) in [
        (&["info", &edges][..], None),
        (&["operator", &edges, "--output", "o.npz"], Some("o.npz")),
        (
            &["generate", "erdos-renyi", "--nodes", "50", "--density", "0.01", "-o", "g.csv"],
            Some("g.csv"),
        ),
    ] {
        let heard = magnon(arguments, folder.path()).output().unwrap();
        assert!(heard.status.success() && !heard.stderr.is_empty(), "{arguments:?}");
        for stderr in [closed, full] {
            if let Some(name) = written {
                std::fs::remove_file(folder.path().join(name)).unwrap();
            }
            let output = magnon(arguments, folder.path()).stderr(stderr()).output().unwrap();
            assert!(output.status.success(), "{arguments:?}: {:?}", output.status);
            assert!(!output.stdout.is_empty(), "{arguments:?}");
            assert!(written.is_none_or(|name| folder.path().join(name).exists()), "{arguments:?}");
        }
    }
    let both = magnon(&["info", &edges], folder.path()).stdout(closed()).stderr(closed()).status();
    assert_eq!(both.unwrap().code(), Some(0));
}

#[test]
fn failures_keep_their_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, code) in [
        (&["info", "no/such/place"][..], 1),
        (&["operator", "--charge", "0.7"], 2),
        (&["frobnicate"], 2),
    ] {
        for stderr in [closed, full] {
            let status = magnon(arguments, folder.path()).stderr(stderr()).status().unwrap();
            assert_eq!(status.code(), Some(code), "{arguments:?}");
        }
    }
    let status = magnon(&["info"], folder.path()).stdout(full()).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

/// Names that would clear the screen, in every place that a name can come from.
#[test]
fn names_in_files_do_not_reach_the_terminal() {
    const CLEAR: &str = "\x1b[2J\u{9b}0m\x07";
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, content: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        text(&path)
    };
    let edges = format!("source,{CLEAR}target\n{CLEAR}a,b\nb,{CLEAR}a\nb,c\n");
    let edges = write(&format!("{CLEAR}e.csv"), edges);
    let labels = write("l.csv", format!("{CLEAR}\nx\nx\n"));
    let ragged = write(&format!("{CLEAR}r.csv"), format!("{CLEAR},1\n1\n"));
    let unseen = format!("{CLEAR}unseen.csv");
    for arguments in [
        &["info", &edges, "--labels", &labels][..],
        &["cycles", &edges],
        &["info", &ragged],
        &["info", &unseen],
        &["info", "demo", &unseen],
        &["propagate", &edges, "--output", &unseen],
        &["generate", &unseen],
    ] {
        for json in [&[][..], &["--json"]] {
            let output = magnon(&[arguments, json].concat(), folder.path()).output().unwrap();
            let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            let sent = said.chars().find(|&c| c.is_control() && c != '\n');
            assert_eq!(sent, None, "{arguments:?}: {said:?}");
            let spelt = said.contains("u{9b}0m") || said.contains("u009b0m");
            assert!(spelt, "{arguments:?}: {said}");
        }
    }
}
