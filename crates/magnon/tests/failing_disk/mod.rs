//! Processes whose n-th file operation within a folder goes wrong, by a library that is loaded before libc.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder whose files fail as planned.
pub struct FailingDisk {
    folder: PathBuf,
    /// Where the library and its log lie.
    beside: tempfile::TempDir,
}

/// One operation that goes wrong: its number, and what happens.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    pub at: usize,
    pub kind: &'static str,
}

/// How a process ends that is gone in the middle of an operation.
pub const GONE: i32 = 137;

impl FailingDisk {
    pub fn new(folder: &Path) -> Self {
        let disk = Self { folder: folder.to_owned(), beside: tempfile::tempdir().unwrap() };
        let source =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../magnon/tests/failing_disk/shim.rs");
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let flags = ["--edition", "2024", "--crate-type", "cdylib", "-O", "-o"];
        let built =
            Command::new(rustc).args(flags).arg(disk.library()).arg(source).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        disk
    }

    fn library(&self) -> PathBuf {
        self.beside.path().join("shim.so")
    }

    fn log(&self) -> PathBuf {
        self.beside.path().join("log")
    }

    /// Lets a command run into a fault, or into none.
    pub fn plan(&self, command: &mut Command, fault: Option<Fault>) {
        let _ = std::fs::remove_file(self.log()); // there is none before the first
        let (at, kind) = fault.map_or((-1, "none"), |fault| (fault.at as i64, fault.kind));
        let [log, folder] =
            [self.log(), self.folder.clone()].map(|path| path.display().to_string());
        command.env("MAGNON_FAULT", format!("{at} {kind} {log} {folder}"));
        command.env("LD_PRELOAD", self.library());
    }

    /// Faults for all operations of the last command: every one fails and is the last before a kill; writes also find
    /// the disk full, or take half of their bytes. `MAGNON_FAULTS=all` takes them all, otherwise about `count`, and
    /// those after a rename.
    pub fn faults(&self, count: usize) -> Vec<Fault> {
        let log = std::fs::read(self.log()).unwrap();
        let kinds = |letter| match letter {
            b'w' => &["EIO", "exit", "ENOSPC", "short"][..],
            b'a' | b't' | b'c' => &["EIO", "exit", "ENOSPC"],
            _ => &["EIO", "exit"],
        };
        let all = log
            .iter()
            .enumerate()
            .flat_map(|(at, &letter)| kinds(letter).iter().map(move |&kind| Fault { at, kind }));
        let all: Vec<_> = all.collect();
        let whole = std::env::var("MAGNON_FAULTS").is_ok_and(|word| word == "all");
        let step = if whole { 1 } else { all.len().div_ceil(count) };
        // What comes after a rename finds things half in their place.
        let renamed = |fault: &Fault| fault.at > 0 && log[fault.at - 1] == b'n';
        let taken = all.iter().enumerate().filter(|(i, fault)| i % step == 0 || renamed(fault));
        taken.map(|(_, &fault)| fault).collect()
    }
}
