//! Wrong usage exits with 2, failure with 1; both say what to do, and nothing is left on disk.
#![allow(clippy::unwrap_used, clippy::expect_used)] // tests

mod common;
use common::{failure, text};

#[test]
fn wrong_usage_exits_with_two() {
    for (arguments, word) in [
        (&["operator", "--charge", "0.7"][..], "outside of [0, 1/2]"),
        (&["operator", "--charge", "x"], "not a charge"),
        (&["operator", "--charge", "-0.1"], "-0.1"),
        (&["info", "--split", "60/60/60"], "sum to at most 100"),
        (&["propagate", "--filter", "nothing"], "possible values"),
        (&["generate", "cube"], "not a generator"),
        (&["info", "cyclic:nodes=0"], "nodes is 0"),
        (&["propagate", "--order", "0"], "at least 1"),
        (&["propagate", "--filter", "ppr", "--alpha", "1.5"], "alpha is 1.5"),
        (&["propagate", "--filter", "heat", "--time", "-1"], "time is -1"),
        (&["propagate", "--filter", "polynomial"], "needs coefficients"),
        (&["propagate", "--filter", "markov", "--exact"], "has no exact solution"),
        (&["propagate", "--alpha", "0.5"], "has no alpha"),
        (&["propagate", "--filter", "ppr", "--exact", "--tolerance", "0.1"], "has no tolerance"),
        (&["propagate", "--output", "x.csv"], "must end in .npy"),
        (&["operator", "--output", "x.npy"], "must end in .npz"),
        (&["info", "demo", "--nodes", "5"], "for edge lists"),
        (&["info", ""], "the name of the data is empty"),
        (&["operator", "--kind", "laplacian", "--pass", "high"], "a Laplacian has none"),
        (&["response", "--points", "1"], "--points"),
        (&["response", "--charges", "0,1/4"], "--eigenvalues"),
        (&["response", "--eigenvalues", "--charges", "0,0.7"], "outside of [0, 1/2]"),
        (
            &["response", "--eigenvalues", "--normalize", "none"],
            "--normalize none is not for eigenvalues",
        ),
        (&["spectrum", "--count", "0"], "at least 1"),
        (&["spectrum", "--count", "x"], "--count"),
        (&["spectrum", "--near", "0.5"], "--count"),
        (&["spectrum", "--which", "largest"], "--count"),
        (&["spectrum", "--count", "2", "--near", "1", "--which", "largest"], "--which"),
        (&["spectrum", "--density", "--count", "3"], "--count"),
        (&["spectrum", "--density", "--moments", "1"], "moments is 1"),
        (&["spectrum", "--frustration", "--vectors"], "--vectors"),
        (&["spectrum", "--frustration", "--points", "1"], "charges is 1"),
        (&["spectrum", "--points", "9"], "--points is for density and frustration"),
        (&["spectrum", "--tolerance", "2"], "tolerance is 2"),
        (&["spectrum", "--memory", "-1"], "--memory"),
        (&["spectrum", "--csv", "x.npy"], "must end in .csv"),
        (&["eigenmap", "--pass", "high"], "--pass would have no effect"),
        (&["eigenmap", "--vectors", "a"], "--vectors"),
        (&["denoise", "--mu", "0"], "mu is 0"),
        (&["denoise", "--form", "none"], "possible values"),
        (&["denoise", "--output", "x.csv"], "must end in .npy"),
        (&["generate", "--density", "2"], "density is 2"),
        (&["generate", "--density", "-1"], "density is -1"),
        (&["generate", "--nodes", "1000000", "--density", "0.5"], "lower the density"),
        (&["--threads", "0"], "threads"),
        (&["frobnicate"], "frobnicate"),
    ] {
        let (code, error) = failure(arguments);
        assert_eq!(code, 2, "{arguments:?}: {error}");
        assert!(error.contains(word), "{arguments:?}: {error}");
    }
}

#[test]
fn failures_say_what_is_wrong() {
    for (arguments, word) in [
        (&["info", "no/such/place"][..], "no/such/place"),
        (&["propagate", "--filter", "ppr", "--normalize", "none"], "diverges"),
        (&["propagate", "--filter", "arma", "--coefficients", "1", "--feedback=-2"], "pole"),
        (&["operator", "cycle", "--pass", "auto"], "needs labels"),
        (&["spectrum", "--count", "601"], "has 600"),
        (&["spectrum", "--memory", "0.001"], "--count K"),
        (&["eigenmap", "--vectors", "0,600"], "has 600"),
        (&["denoise", "--form", "filter", "--normalize", "none"], "needs it normalised"),
        (&["denoise", "--signal", "no/such.npy"], "such.npy"),
        (&["info", "--split", "given:7"], "numbered from 0"),
        (&["info", "cycle", "--split", "60/20/20"], "has no labels"),
        (&["info", "--split", "0.1/0/0"], "no training node"),
    ] {
        let (code, error) = failure(arguments);
        assert_eq!(code, 1, "{arguments:?}: {error}");
        assert!(error.contains(word), "{arguments:?}: {error}");
    }
}

#[test]
fn outputs_that_cannot_be_written_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, b"").unwrap();
    for (command, name) in [("propagate", "out.npy"), ("operator", "out.npz")] {
        let under = text(&file.join("no").join(name));
        let (code, error) = failure(&[command, "--output", &under]);
        assert_eq!(code, 1);
        assert!(error.contains("is a file, not a folder"), "{error}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let under = text(&file.join("l.csv"));
    let error = failure(&["spectrum", "cycle:nodes=5", "--csv", &under]).1;
    assert!(error.contains("is a file, not a folder"), "{error}");
    // Folders that are missing are made.
    let new = folder.path().join("a").join("b").join("l.csv");
    assert!(common::magnon(&["spectrum", "cycle:nodes=5", "--csv", &text(&new)]).status.success());
    assert!(new.is_file());
    let (_, error) = failure(&["generate", "--output", "graph.xyz"]);
    assert!(error.contains(".xyz"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let (code, error) = failure(&["propagate", "--output", "/dev/full"]);
    assert_eq!(code, 1);
    assert!(error.contains("/dev/full") && error.contains("space"), "{error}");
}

#[test]
fn bad_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        text(&path)
    };
    let ragged = write("ragged.csv", b"0,1\n1,2\n2\n");
    let (code, error) = failure(&["info", &ragged]);
    let once = "error: ";
    assert!(error.starts_with(once) && error.matches("ragged:").count() == 1, "{error}");
    assert_eq!(code, 1);
    assert!(error.contains("ragged.csv") && error.contains("line 3"), "{error}");
    let graph = write("graph.csv", b"0,1\n1,2\n");
    let features = write("x.csv", b"1,2\nnan,1\n0,1\n");
    let (_, error) = failure(&["propagate", &graph, "--features", &features]);
    assert!(error.contains("x.csv"), "{error}");
    let (code, error) = failure(&["denoise", &graph]);
    assert!(code == 1 && error.contains("no features to denoise"), "{error}");
    let broken = write("s.npy", b"\x93NUMPY\x01\x00");
    let (code, error) = failure(&["denoise", &graph, "--signal", &broken]);
    assert!(code == 1 && error.contains("s.npy"), "{error}");
    let labels = write("y.csv", b"0\n1\n");
    let (_, error) = failure(&["info", &graph, "--labels", &labels]);
    assert!(error.contains("2") && error.contains("3"), "{error}");
    let gaps = write("gaps.csv", b"0,1\n1,3\n");
    let labels = write("z.csv", b"0\n1\n0\n1\n0\n");
    let (_, error) = failure(&["info", &gaps, "--labels", &labels]);
    assert!(error.contains("give the number of nodes 5"), "{error}");
    let info = common::json(&["info", &gaps, "--labels", &labels, "--nodes", "5"]);
    assert_eq!((info["nodes"].as_u64(), info["isolated"].as_u64()), (Some(5), Some(2)));
    let (_, error) = failure(&["info", &gaps, "--nodes", "3"]);
    assert!(error.contains("node 3 is not below"), "{error}");
    let empty = write("empty.csv", b"");
    let (_, error) = failure(&["info", &empty]);
    assert!(error.contains("empty.csv"), "{error}");
}

/// What is no finite number is refused by the flag's name.
#[test]
fn settings_that_are_not_finite_name_their_flag() {
    for (command, flag) in [
        ("train", "--dropout"),
        ("train", "--rate"),
        ("train", "--weight-decay"),
        ("train", "--clip"),
        ("train --model appnp --filter ppr", "--alpha"),
        ("propagate --filter heat", "--time"),
        ("propagate --filter ppr", "--tolerance"),
        ("tune", "--minutes"),
        ("compare", "--tune"),
        ("denoise", "--mu"),
        ("generate noisy", "--noise"),
        ("spectrum --count 2", "--near"),
    ] {
        for value in ["NaN", "inf"] {
            let words: Vec<&str> = command.split(' ').chain([flag, value]).collect();
            let (code, error) = failure(&words);
            assert_eq!(code, 2, "{words:?}: {error}");
            let told = error.contains(flag) && error.contains("must be a finite number");
            assert!(told && !error.contains("null"), "{words:?}: {error}");
        }
    }
}

/// An error says a thing once.
#[test]
fn an_unknown_data_set_is_told_of_once() {
    let (_, error) = failure(&["fetch", "nothing-of-this-name"]);
    assert_eq!(
        error.matches("all names").count() + error.matches("shows all;").count(),
        1,
        "{error}"
    );
    assert_eq!(error.matches("--list").count(), 1, "{error}");
}

/// With `--json`, a failure is an object, too.
#[test]
fn failures_are_told_to_programs() {
    let folder = tempfile::tempdir().unwrap();
    let file = text(&folder.path().join("e.csv"));
    std::fs::write(&file, "source,target\n0\n").unwrap();
    for (arguments, kind) in [
        (&["info", "/none/such"][..], "data"),
        (&["info", &file], "data"),
        (&["train", "demo", "--frobnicate"], "usage"),
        (&["train", "demo", "--dropout", "7"], "usage"),
        (&["report", "/none/such"], "run"),
        (&["spectrum", "cycle:nodes=9", "--csv", "-"], "usage"),
        (&["operator", "--output", "/dev/full"], "usage"),
        (&["spectrum", "cycle:nodes=9", "--csv", "/dev/full"], "data"),
    ] {
        let output = common::magnon(&[arguments, &["--json"]].concat());
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an object");
        assert_eq!(told["kind"], kind, "{arguments:?}: {told}");
        assert_eq!(told["exit"].as_i64(), output.status.code().map(i64::from), "{told}");
        // The same words for people.
        let (_, said) = failure(&[arguments, &["--json"]].concat());
        assert!(said.starts_with("error: "), "{said}");
    }
}

/// Threads that the system has no room for are an error, whether they cannot be started or have no place to work in.
#[cfg(target_os = "linux")]
#[test]
fn threads_without_room_are_an_error() {
    for (kilobytes, threads) in [(307_200, "3"), (307_200, "1024"), (100_000, "1024")] {
        let limited = format!("ulimit -v {kilobytes}; exec \"$0\" \"$@\"");
        let output = std::process::Command::new("sh")
            .args(["-c", &limited, env!("CARGO_BIN_EXE_magnon")])
            .args(["train", "demo", "--epochs", "2", "--threads", threads])
            .output()
            .unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{threads}: {error}");
        assert!(error.contains("fewer"), "{threads}: {error}");
        assert_eq!(error.matches("os error").count(), error.matches("(os error").count().min(1));
    }
}

/// Starts a command that would go on for long, sends it a signal as soon as there is a file in the folder, and gives its
/// exit code and the object that it printed.
#[cfg(unix)]
fn stopped(words: &[&str], folder: &std::path::Path, signal: &str) -> (i32, serde_json::Value) {
    use common::{send, wait_before_end};
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_magnon"))
        .args(words)
        .args(["--quiet", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let wrote = || std::fs::read_dir(folder).unwrap().count() > 0;
    wait_before_end(&mut child, "its first file", wrote);
    send(signal, &child);
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap(), serde_json::from_slice(&output.stdout).expect("an object"))
}

/// The exit code names the signal. A list of cycles that is cut short gets no name, and what was found is told; training
/// has no result, and says that it was stopped.
#[cfg(unix)]
#[test]
fn the_exit_code_tells_which_signal_it_was() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let folder = tempfile::tempdir().unwrap();
        let target = text(&folder.path().join("cycles.csv"));
        let graph = "erdos-renyi:nodes=200,density=0.2";
        // The first file in the folder is the temporary one.
        let words = ["cycles", graph, "--enumerate", "--csv", &target];
        let (exit, told) = stopped(&words, folder.path(), signal);
        assert_eq!((exit, &told["interrupted"]), (code, &true.into()), "{signal}: {told}");
        assert_eq!(told["csv"], serde_json::Value::Null, "{signal}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{signal}");

        let run = text(&folder.path().join("run"));
        let words = ["train", "demo", "--epochs", "1000000", "--patience", "1000000", "-o", &run];
        let (exit, told) = stopped(&words, folder.path(), signal);
        assert_eq!(exit, code, "{signal}");
        assert_eq!((&told["kind"], &told["exit"]), (&"stopped".into(), &code.into()), "{told}");
    }
}

/// A folder may have the name of a generator.
#[test]
fn a_run_in_a_folder_that_is_called_like_a_generator() {
    let folder = tempfile::tempdir().unwrap();
    let run = |words: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_magnon"));
        let ended = command.args(words.split(' ')).current_dir(folder.path()).output().unwrap();
        let error = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(ended.status.success(), "{words}: {error}");
    };
    run("train --epochs 2 --no-report --quiet --out ./demo");
    run("report ./demo --quiet");
    run("predict ./demo --quiet");
    std::fs::create_dir(folder.path().join("cyclic")).unwrap();
    run("train cyclic:nodes=60 --epochs 2 --no-report --quiet --out ./cyclic:nodes=60");
    run("report ./cyclic:nodes=60 --quiet");
}

/// A decoder that panics on damage says nothing of its own.
#[test]
fn damaged_tables_are_one_error() {
    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("e.feather");
    let ends =
        |words: [&str; 2]| -> ArrayRef { std::sync::Arc::new(StringArray::from(words.to_vec())) };
    let columns = [("source", ends(["a", "b"])), ("target", ends(["b", "a"]))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    let mut refused = 0;
    for at in (8..bytes.len()).step_by(8) {
        let mut harmed = bytes.clone();
        harmed[at] ^= 0x80;
        std::fs::write(&path, harmed).unwrap();
        let output = common::magnon(&["info", &text(&path)]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!error.contains("panicked at"), "byte {at}: {error}");
        assert!(output.status.success() || error.starts_with("error: "), "byte {at}: {error}");
        refused += usize::from(!output.status.success());
    }
    assert!(refused > 10, "{refused}");
}

/// Interrupted while it writes, the command leaves nothing behind.
#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing_half_written() {
    use common::{send, wait_before_end};
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("big.npy");
    let mut child = Command::new(env!("CARGO_BIN_EXE_magnon"))
        .args(["propagate", "erdos-renyi:nodes=200000,density=0.000005,columns=64", "--order", "1"])
        .args(["--charge", "1/4", "--output", &text(&target)])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // The first file in the folder is the temporary one.
    let wrote = || std::fs::read_dir(folder.path()).unwrap().count() > 0;
    wait_before_end(&mut child, "its first file", wrote);
    send("-INT", &child);
    let ended = child.wait().unwrap();
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().flatten().collect();
    if ended.success() {
        // It was faster than the signal: the file is whole.
        assert_eq!(std::fs::metadata(&target).unwrap().len(), 128 + 200_000 * 64 * 8);
    } else {
        assert_eq!(ended.code(), Some(130));
        assert!(left.iter().all(|file| file.path() == target), "{left:?}");
    }
}

/// With a gigabyte to live in, what needs more is refused in words, and nothing aborts.
#[cfg(target_os = "linux")]
#[test]
fn sizes_that_cannot_be_had_are_errors() {
    use std::process::Command;
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        text(&path)
    };
    let edges = write("e.csv", b"0,1\n1,2\n");
    // A file as large as it says, of zeros that take no place on disk.
    let header = b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, ";
    let sparse = write("x.npy", header);
    let mut file = std::fs::File::options().append(true).open(&sparse).unwrap();
    let shape = format!("{:1$}\n", "'shape': (3, 100000000), }", 117 - (header.len() - 10));
    std::io::Write::write_all(&mut file, shape.as_bytes()).unwrap();
    file.set_len(128 + 3 * 100_000_000 * 4).unwrap();
    drop(file);
    for (arguments, word) in [
        (
            &[
                "generate",
                "erdos-renyi",
                "--nodes",
                "1000000000",
                "--density",
                "1e-15",
                "--columns",
                "0",
            ][..],
            "20000012000 bytes",
        ),
        (
            &["generate", "erdos-renyi", "--nodes", "100000", "--density", "0.09"],
            "bytes are needed",
        ),
        (&["generate", "cycle", "--nodes", "500000000", "--columns", "0"], "bytes are needed"),
        (&["generate", "ordered", "--nodes", "9000000", "--columns", "60"], "lower"),
        (&["info", "cyclic:nodes=9000000,blocks=9,density=0,columns=60"], "bytes are needed"),
        (&["info", &edges, "--nodes", "1000000000"], "16000000000 bytes"),
        (&["info", &edges, "--nodes", "50000000"], "a graph of 50000000 nodes"),
        (&["info", &edges, "--features", &sparse], "1200000000 bytes more"),
        (&["denoise", &edges, "--signal", &sparse], "4800000000 bytes more"),
        (&["info", &sparse], "square matrix"),
    ] {
        let limited = "ulimit -v 1150000; exec \"$0\" \"$@\"";
        let output = Command::new("sh")
            .args(["-c", limited, env!("CARGO_BIN_EXE_magnon")])
            .args(arguments)
            .args(["--threads", "1"])
            .output()
            .unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(matches!(output.status.code(), Some(1 | 2)), "{arguments:?}: {error}");
        assert!(error.contains(word), "{arguments:?}: {error}");
    }
}
