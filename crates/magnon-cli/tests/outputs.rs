//! Where output goes: devices, pipes and links stay what they are, and what others have put beside it is left alone.
#![cfg(target_os = "linux")] // pipes and devices by name
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests

mod common;

use common::{failure, magnon, send, text, wait_before_end};
use std::fs;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Edges and features in a folder, and a folder of somebody's documents.
struct Place {
    folder: tempfile::TempDir,
}

const THESIS: &[u8] = b"five years of work";

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        fs::write(place.path("e.csv"), "0,1\n1,2\n2,0\n").unwrap();
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }          \n";
        let start = [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..]].concat();
        let numbers: Vec<u8> = (0..12).flat_map(|k| (k as f32).to_le_bytes()).collect();
        let file = [&start[..], header.as_bytes(), &numbers].concat();
        fs::write(place.path("x.npy"), file).unwrap();
        fs::create_dir(place.path("docs")).unwrap();
        fs::write(place.path("docs/thesis.tex"), THESIS).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The words of a command; `@` is the folder.
    fn words(&self, words: &str) -> Vec<String> {
        let root = text(self.folder.path());
        words.split_whitespace().map(|word| word.replace('@', &root)).collect()
    }

    fn run(&self, words: &str) -> Output {
        let words = self.words(words);
        magnon(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn refused(&self, words: &str) -> (i32, String) {
        let words = self.words(words);
        failure(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn succeed(&self, words: &str) -> Output {
        let output = self.run(words);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words}: {errors}");
        output
    }

    fn pipe(&self, name: &str) {
        assert!(Command::new("mkfifo").arg(self.path(name)).status().unwrap().success());
    }

    fn thesis_is_there(&self) {
        assert_eq!(fs::read(self.path("docs/thesis.tex")).unwrap(), THESIS);
    }
}

const PACK: &str = "pack @/e.csv -o @/g.magnon --quiet";
/// With room for one column at a time.
const FILTER: &str =
    "propagate @/e.csv --features @/x.npy --charge 1/4 --memory 750 -o @/f.npy --quiet";

#[test]
fn folders_of_others_in_the_place_of_work_folders_are_left_alone() {
    for (command, folder) in [(PACK, "g.magnon.packing"), (FILTER, "f.npy.blocks")] {
        let place = Place::new();
        symlink(place.path("docs"), place.path(folder)).unwrap();
        let (code, error) = place.refused(command);
        assert_eq!(code, 1, "{error}");
        assert!(error.contains(folder) && error.contains("move it away"), "{error}");
        place.thesis_is_there();
        fs::remove_file(place.path(folder)).unwrap();
        // Names that we use ourselves are no mark.
        fs::create_dir(place.path(folder)).unwrap();
        for name in ["state.json", "bucket-0", "bucket-", "block-0", "key"] {
            fs::write(place.path(folder).join(name), THESIS).unwrap();
        }
        place.refused(command);
        assert_eq!(fs::read_dir(place.path(folder)).unwrap().count(), 5);
        fs::remove_dir_all(place.path(folder)).unwrap();
        place.succeed(command);
        assert!(!place.path(folder).exists());
    }
}

/// Commands that write one file, and how it ends.
const WRITERS: [(&str, &str); 4] = [
    ("propagate @/e.csv --features @/x.npy --charge 0 --quiet -o", "npy"),
    ("spectrum cycle:nodes=5 --quiet --csv", "csv"),
    ("spectrum cycle:nodes=5 --quiet --plot", "svg"),
    ("compare demo:nodes=60 --models mlp --splits 1 --quiet --html", "html"),
];

#[test]
fn a_link_stays_and_what_it_leads_to_is_replaced() {
    for (command, ending) in WRITERS {
        let place = Place::new();
        let (link, file) = (place.path(&format!("l.{ending}")), place.path("docs/there"));
        fs::write(&file, "old").unwrap();
        symlink("docs/there", &link).unwrap();
        place.succeed(&format!("{command} @/l.{ending}"));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{command}");
        assert!(fs::read(&file).unwrap() != b"old", "{command}");
        place.thesis_is_there();
    }
}

#[test]
fn devices_and_pipes_are_written_to() {
    for (command, ending) in WRITERS {
        let place = Place::new();
        let name = format!("p.{ending}");
        place.pipe(&name);
        let path = place.path(&name);
        let reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            fs::File::open(path).unwrap().read_to_end(&mut bytes).unwrap();
            bytes
        });
        place.succeed(&format!("{command} @/{name}"));
        assert!(fs::symlink_metadata(place.path(&name)).unwrap().file_type().is_fifo());
        assert!(!reader.join().unwrap().is_empty(), "{command}");
        if ending != "svg" {
            place.succeed(&format!("{command} /dev/null"));
        }
    }
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

/// Whatever a path is, a command that cannot write there says so before its work.
#[test]
fn what_cannot_be_written_is_refused_before_the_work() {
    let place = Place::new();
    for pipe in ["g.magnon", "q.1.magnon", "f.npz"] {
        place.pipe(pipe);
    }
    fs::create_dir(place.path("r.1.magnon")).unwrap();
    // The data do not exist: whoever reads them first fails with other words.
    for (words, says) in [
        ("pack @/none -o @/g.magnon", "device or a pipe"),
        ("pack @/none -o @/q.magnon --parts 2", "device or a pipe"),
        ("pack @/none -o @/r.magnon --parts 2", "folder"),
        ("pack @/none -o @/s.magnon --parts 0", "--parts"),
        ("propagate @/none --channels x -o @/f.npz", "device or a pipe"),
        ("spectrum @/none --plot -", "must end in"),
        ("spectrum @/none --plot /dev/stdout", "must end in"),
        ("spectrum @/none --csv - --json", "standard output"),
        ("train @/none -o @/e.csv", "not a folder"),
        ("train @/none -o /dev/null", "not a folder"),
    ] {
        let (code, error) = place.refused(words);
        assert_eq!(code, 2, "{words}: {error}");
        assert!(error.contains(says), "{words}: {error}");
        assert!(!error.contains("/none"), "{words}: {error}");
    }
    assert!(!place.path("r.magnon").exists());
}

#[test]
fn a_link_to_the_standard_output_is_the_standard_output() {
    let place = Place::new();
    symlink("/dev/stdout", place.path("out.csv")).unwrap();
    let (code, error) = place.refused("spectrum cycle:nodes=5 --csv @/out.csv --json");
    assert_eq!(code, 2, "{error}");
    let found = place.succeed("spectrum cycle:nodes=5 --csv @/out.csv --quiet").stdout;
    assert_eq!(found, place.succeed("spectrum cycle:nodes=5 --csv - --quiet").stdout);
}

/// A journal is begun in a file of its own, and nowhere else.
#[test]
fn journals_leave_the_files_of_others_alone() {
    let compare = "compare demo:nodes=60 --models mlp --splits 1 --quiet -o @/k";
    let place = Place::new();
    place.succeed(compare);
    let named = |path: &Path| path.extension().is_some_and(|ending| ending == "jsonl");
    let mut entries = fs::read_dir(place.path("k")).unwrap().map(|entry| entry.unwrap().path());
    let journal = entries.find(|path| named(path)).unwrap();
    // A text without an end of line, and one with it.
    for content in [THESIS, b"dear diary\n"] {
        fs::write(&journal, content).unwrap();
        let (code, error) = place.refused(compare);
        assert_eq!(code, 1, "{error}");
        assert_eq!(fs::read(&journal).unwrap(), content);
    }
    for target in ["docs/thesis.tex", "docs/new"] {
        fs::remove_file(&journal).unwrap();
        symlink(place.path(target), &journal).unwrap();
        let (_, error) = place.refused(compare);
        assert!(error.contains("move it away"), "{error}");
    }
    place.thesis_is_there();
    assert!(!place.path("docs/new").exists());
    // What a kill has left of the first line is gone over.
    fs::remove_file(&journal).unwrap();
    place.succeed(compare);
    let whole = fs::read(&journal).unwrap();
    fs::write(&journal, &whole[..10]).unwrap();
    place.succeed(compare);
    assert!(fs::read(&journal).unwrap().starts_with(&whole[..40]));
}

/// Of a folder of outputs, links in the place of our files are replaced: the folder was named, and not what they lead to.
#[test]
fn folders_of_outputs_do_not_follow_links() {
    let place = Place::new();
    place.succeed("train demo:nodes=60 --epochs 3 --charge 0 --no-report --quiet -o @/run");
    let compare = "compare demo:nodes=60 --models mlp --splits 1 --quiet -o @/k";
    for (words, file) in [
        (compare, "k/comparison.json"),
        (compare, "k/comparison.html"),
        ("generate cyclic --nodes 30 -o @/made --quiet", "made/labels.csv"),
        ("report @/run --quiet", "run/report.html"),
    ] {
        fs::create_dir_all(place.path(file).parent().unwrap()).unwrap();
        let _ = fs::remove_file(place.path(file));
        symlink("../docs/thesis.tex", place.path(file)).unwrap();
        place.succeed(words);
        place.thesis_is_there();
        assert!(fs::symlink_metadata(place.path(file)).unwrap().is_file(), "{file}");
    }
}

#[test]
fn run_folders_do_not_follow_links() {
    let train =
        "train demo:nodes=60 --epochs 3 --charge 0 --no-report --quiet --overwrite -o @/run";
    let place = Place::new();
    place.succeed(train);
    // Somebody's checkpoints.
    let theirs = place.path("docs/a.safetensors");
    fs::copy(place.path("run/model.safetensors"), &theirs).unwrap();
    symlink(place.path("docs"), place.path("run/checkpoints")).unwrap();
    let (_, error) = place.refused(train);
    assert!(error.contains("checkpoints: it is a link"), "{error}");
    assert!(theirs.exists());
    fs::remove_file(place.path("run/checkpoints")).unwrap();

    let lock = place.path("run/.magnon.lock");
    symlink(place.path("docs/new"), &lock).unwrap();
    let (_, error) = place.refused(train);
    assert!(error.contains("not a regular file"), "{error}");
    assert!(!place.path("docs/new").exists());
    fs::remove_file(&lock).unwrap();
    place.pipe("run/.magnon.lock");
    assert!(place.refused(train).1.contains("not a regular file"));
    fs::remove_file(&lock).unwrap();

    // Files of the run are replaced, and links in their place are no others.
    fs::remove_file(place.path("run/history.csv")).unwrap();
    symlink(place.path("docs/thesis.tex"), place.path("run/history.csv")).unwrap();
    place.succeed(train);
    place.thesis_is_there();
    assert!(fs::symlink_metadata(place.path("run/history.csv")).unwrap().is_file());

    // A report that cannot be replaced leaves the old run whole.
    fs::create_dir(place.path("run/report.html")).unwrap();
    place.refused(train);
    assert!(place.path("run/metrics.json").exists());
}

/// An interrupt leaves nothing in the folder for temporary files.
#[test]
fn filtering_into_a_pipe_leaves_nothing_when_it_is_stopped() {
    let place = Place::new();
    place.pipe("f.npy");
    fs::create_dir(place.path("tmp")).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_magnon"))
        .args(place.words(FILTER))
        .env("TMPDIR", place.path("tmp"))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let count = || fs::read_dir(place.path("tmp")).unwrap().count();
    // It waits for a reader, with its blocks done.
    wait_before_end(&mut child, "a folder of its own", || count() > 0);
    send("-INT", &child);
    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{told}");
    assert_eq!(count(), 0, "{told}");
    assert!(!told.contains("goes on") && !told.contains("go on"), "{told}");
}
