//! `compare`, `tune`, `reproduce` and `fetch`: what they print and write.
#![allow(clippy::unwrap_used, clippy::expect_used)] // tests

mod common;

use common::{failure, json, text};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// Runs with a cache of its own.
fn magnon(cache: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_magnon"));
    command.args(arguments).env("MAGNON_CACHE", cache).env_remove("MAGNON_DATA").output().unwrap()
}

fn run(cache: &Path, arguments: &[&str]) -> String {
    let output = magnon(cache, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn compare_prints_writes_and_forgets() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let file = |name: &str| text(&folder.path().join(name));
    let (csv, markdown, html) = (file("t.csv"), file("t.md"), file("t.html"));
    let common =
        ["compare", "demo:nodes=150", "--models", "mgc,sgc", "--splits", "3", "--draws", "1"];
    let files = ["--csv", &csv, "--markdown", &markdown, "--html", &html, "--json"];
    let found: Value = serde_json::from_str(&run(&cache, &[&common[..], &files].concat())).unwrap();
    for row in found["models"].as_array().unwrap() {
        for key in ["model", "test_accuracy", "error", "seconds", "parameters", "difference"] {
            assert!(row.get(key).is_some(), "{key}: {row}");
        }
        for key in ["mean", "std", "ci95", "n"] {
            assert!(row["test_accuracy"][key].is_number(), "{key}: {row}");
        }
    }
    let difference =
        found["models"].as_array().unwrap().iter().find(|row| !row["difference"].is_null());
    for key in ["mean", "ci95", "p"] {
        assert!(difference.unwrap()["difference"][key].is_number(), "{key}");
    }
    assert!(found["verdict"]["text"].as_str().unwrap().contains("irection"));
    assert!(found["seconds"]["compare"].is_number());

    let table = std::fs::read_to_string(&csv).unwrap();
    assert!(table.starts_with("row,model,control,test_accuracy,"), "{table}");
    assert_eq!(table.lines().count(), 1 + 2 + 4, "{table}");
    assert!(std::fs::read_to_string(&markdown).unwrap().contains("| mgc"));
    assert!(std::fs::read_to_string(&html).unwrap().contains("</html>"));
    // Nothing stays in the cache of a comparison that came to its end.
    assert_eq!(std::fs::read_dir(&cache).unwrap().count(), 0);

    let plain = run(&cache, &[&common[..], &["--quiet"]].concat());
    assert!(plain.contains("test accuracy") && plain.contains("mgc without direction"), "{plain}");
    let own = file("kept");
    let kept = [&common[..], &["--quiet", "-o", &own]].concat();
    let first = run(&cache, &kept);
    let again = run(&cache, &kept);
    let body = |text: &str| text.lines().take(9).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(body(&again), body(&first), "all is known the second time");
    for name in ["comparison.csv", "comparison.md", "comparison.html", "comparison.json"] {
        assert!(Path::new(&own).join(name).is_file(), "{name}");
    }
}

#[test]
fn compare_says_what_is_wrong() {
    for (arguments, code, words) in [
        (&["compare", "demo", "--models", "mgcc"][..], 2, "mgc"),
        (&["compare", "demo", "--models", "gcn,gcn"], 2, "twice"),
        (&["compare", "demo", "--splits", "0"], 2, "splits"),
        (&["compare", "demo", "--memory", "much"], 2, "8G"),
        (&["compare", "demo", "--csv", "Cargo.toml/t.csv"], 1, "is a file, not a folder"),
        (&["compare", "no-such-data"], 1, "no-such-data"),
        (&["compare", "erdos-renyi:nodes=50,columns=0"], 1, "has no"),
        (&["tune", "erdos-renyi:nodes=50,columns=0"], 1, "has no"),
    ] {
        let (found, text) = failure(arguments);
        assert_eq!(found, code, "{arguments:?}: {text}");
        assert!(text.contains(words), "{arguments:?}: {text}");
    }
}

/// A split without a part is refused before anything is trained, and models that all fail are a failure, with each reason
/// said once.
#[test]
fn comparisons_that_cannot_be_are_failures() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let write = |name: &str, lines: &dyn Fn(usize) -> String| {
        let text: String = (0..40).map(lines).collect();
        std::fs::write(folder.path().join(name), text).unwrap();
    };
    for (parts, missing) in [
        (["train", "val"], "test"),
        (["train", "test"], "validation"),
        (["val", "test"], "training"),
    ] {
        write("edges.csv", &|k| format!("n{k},n{}\n", (7 * k + 1) % 40));
        let rows = |k: usize| match k {
            0 => "id,x,label,split\nn0,1,a,none\n".to_owned(),
            _ => format!("n{k},{},{},{}\n", k % 5, ["a", "b"][k % 2], parts[k / 2 % 2]),
        };
        write("nodes.csv", &rows);
        let data = text(folder.path());
        let output =
            magnon(&cache, &["compare", &data, "--models", "mlp", "--splits", "1", "--quiet"]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(output.stdout.is_empty());
        assert!(error.contains(&format!("no labelled {missing} nodes")), "{error}");
        assert!(error.contains("--split 60/20/20"), "{error}");
    }
    if !cfg!(target_os = "linux") {
        println!("left out: this system does not tell how much memory a process holds");
        return;
    }
    let failing = ["compare", "demo:nodes=90", "--models", "mlp,gcn", "--memory", "1K"];
    let output = magnon(&cache, &[&failing[..], &["--splits", "1", "--quiet"]].concat());
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("mlp, gcn: ") || error.contains("gcn, mlp: "), "{error}");
    assert_eq!(error.matches("needs more than").count(), 1, "{error}");
}

/// A cache that cannot be written to, as in a container whose home is read-only.
#[test]
fn work_goes_on_without_a_cache() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    // Not even root makes a folder in a file.
    let cache = file.join("cache");
    for command in [
        &["compare", "demo:nodes=90", "--models", "mlp", "--splits", "2"][..],
        &["tune", "demo:nodes=90", "--model", "mlp", "--trials", "2", "--epochs", "5"],
    ] {
        let output = magnon(&cache, command);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {told}");
        assert!(!output.stdout.is_empty());
        assert!(told.contains("MAGNON_CACHE") && told.contains(&text(&cache)), "{told}");
    }
    // A folder that was asked for is another matter.
    let output = [&["compare", "demo:nodes=90", "--models", "mlp", "--splits", "2", "-o"][..]];
    let (code, error) = failure(&[&output.concat()[..], &[&text(&cache)]].concat());
    assert_eq!(code, 1, "{error}");
}

/// The journal of a comparison is believed as far as its checksums go.
#[test]
fn damaged_lines_of_a_journal_are_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let (cache, own) = (folder.path().join("cache"), folder.path().join("kept"));
    let words = ["compare", "demo:nodes=90", "--models", "mlp", "--splits", "9"];
    let kept = text(&own);
    let words = [&words[..], &["--quiet", "--json", "-o", &kept]].concat();
    let accuracies = || {
        let found: Value = serde_json::from_str(&run(&cache, &words)).unwrap();
        found["models"][0]["test_accuracies"].clone()
    };
    let whole = accuracies();
    let mut entries = std::fs::read_dir(&own).unwrap().map(|entry| entry.unwrap().path());
    let journal = entries.find(|path| path.extension().is_some_and(|e| e == "jsonl")).unwrap();
    let lines = std::fs::read_to_string(&journal).unwrap();
    let at = lines.find("\"right\":\"").expect("hits are kept") + 9;
    let all = lines[at..].find('"').unwrap();
    let forged = format!("{}{}{}", &lines[..at], "f".repeat(all), &lines[at + all..]);
    assert!(forged != lines);
    std::fs::write(&journal, forged).unwrap();
    assert_eq!(accuracies(), whole);
    // In the cache, one that cannot be read at all is begun anew.
    std::fs::create_dir_all(&cache).unwrap();
    std::fs::write(cache.join(journal.file_name().unwrap()), b"\0\x01\n \n").unwrap();
    run(&cache, &words[..6]);
    // A fault of the disk when work is kept, not when the journal is opened: the call goes on, and says so.
    if cfg!(target_os = "linux") {
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -f 1; trap '' XFSZ; exec \"$0\" \"$@\""]);
        limited.arg(env!("CARGO_BIN_EXE_magnon")).args(&words[..6]).env("MAGNON_CACHE", &cache);
        let output = limited.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{told}");
        assert!(told.contains("MAGNON_CACHE"), "{told}");
    } else {
        println!("left out: a limit on the size of files needs Linux");
    }
}

#[test]
fn tune_writes_a_preset_that_train_takes() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let file = |name: &str| text(&folder.path().join(name));
    let (best, csv, svg) = (file("best.json"), file("trials.csv"), file("mattered.svg"));
    let flags = ["tune", "demo:nodes=150", "--model", "gcn", "--trials", "6", "--epochs", "30"];
    let files = ["-o", &best, "--csv", &csv, "--plot", &svg, "--json"];
    let found: Value = serde_json::from_str(&run(&cache, &[&flags[..], &files].concat())).unwrap();
    assert_eq!(found["trials"].as_array().unwrap().len(), 6);
    assert_eq!(found["model"], "gcn");
    let table = std::fs::read_to_string(&csv).unwrap();
    assert!(
        table.starts_with("trial,hidden,layers,dropout,rate,weight_decay,val_accuracy"),
        "{table}"
    );
    assert_eq!(table.lines().count(), 7);
    assert!(std::fs::read_to_string(&svg).unwrap().starts_with("<svg"));
    let trained = json(&["train", "demo:nodes=150", "--preset", &best, "--no-report"]);
    assert_eq!(trained["model"], "gcn");
    assert_eq!(std::fs::read_dir(&cache).unwrap().count(), 0);

    let (code, text) = failure(&["tune", "demo", "--trials", "0"]);
    assert_eq!((code, text.contains("trials")), (2, true), "{text}");
    let (code, text) = failure(&["tune", "demo", "--minutes", "-1"]);
    assert_eq!(code, 2, "{text}");
}

/// Data sets of the paper, generated under their names.
#[test]
fn reproduce_fills_the_paper_s_tables() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let data = folder.path().join("data");
    for name in ["texas", "cornell"] {
        let place = text(&data.join(name));
        std::fs::create_dir_all(&data).unwrap();
        run(&cache, &["generate", "cyclic", "--nodes", "90", "--blocks", "3", "-o", &place]);
    }
    let out = text(&folder.path().join("out"));
    let flags = ["reproduce", "all", "--data", &text(&data), "--runs", "2", "-o", &out];
    let found: Value =
        serde_json::from_str(&run(&cache, &[&flags[..], &["--json"]].concat())).unwrap();
    let tables = found["tables"].as_array().unwrap();
    let parts: Vec<&str> = tables.iter().map(|table| table["part"].as_str().unwrap()).collect();
    assert_eq!(parts, ["dataset-statistics", "accuracy", "accuracy", "order", "charge"]);
    let accuracy = &tables[1];
    assert_eq!(accuracy["columns"], serde_json::json!(["Cornell", "Texas"]));
    let rows = accuracy["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 12);
    for row in rows {
        for cell in row["cells"].as_array().unwrap() {
            assert!(cell["ours"]["mean"].is_number(), "{row}");
        }
    }
    // GCN on Cornell, as the paper prints it.
    assert_eq!(rows[1]["cells"][0]["published"], 42.31);
    assert_eq!(found["missing"].as_array().unwrap().len(), 5);
    for name in ["reproduction.md", "reproduction.html", "eigenmap.svg"] {
        assert!(Path::new(&out).join(name).is_file(), "{name}");
    }
    let (code, text) = failure(&["reproduce", "tables"]);
    assert_eq!((code, text.contains("eigenmap")), (2, true), "{text}");
}

#[test]
fn fetch_lists_and_takes_what_was_put_there() {
    let folder = tempfile::tempdir().unwrap();
    let list = run(folder.path(), &["fetch", "--list"]);
    assert!(list.contains("texas") && list.contains("wiki-Vote"), "{list}");
    let output = magnon(folder.path(), &["fetch", "texsa"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("texas") && text.contains("--list"), "{text}");
    let output = magnon(folder.path(), &["fetch"]);
    assert_eq!(output.status.code(), Some(2));
}

/// Wrong flags are refused, and files of the name of a public data set are read, before anything is downloaded.
#[test]
fn nothing_is_downloaded_for_wrong_flags_and_own_files() {
    let folder = tempfile::tempdir().unwrap();
    let call = |words: &str| {
        // A network that nobody is on.
        let output = Command::new(env!("CARGO_BIN_EXE_magnon"))
            .args(words.split(' '))
            .current_dir(folder.path())
            .env("MAGNON_CACHE", folder.path().join("cache"))
            .env("HTTPS_PROXY", "http://127.0.0.1:9")
            .env_remove("NO_PROXY")
            .env_remove("no_proxy")
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!errors.contains("fetching"), "{words}: {errors}");
        (output.status.code(), errors)
    };
    for words in [
        "train cora_ml --checkpoint-every 0",
        "train cora_ml --resume -o none",
        "tune cora_ml --epochs 0",
        "compare cora_ml --split-seed 1",
        "propagate cora_ml --memory 1G -o f.npy",
        "pack cora_ml --features degree -o g.magnon",
        "info cora_ml --features +nothing",
    ] {
        let (code, errors) = call(words);
        assert!(code == Some(2) || errors.contains("none"), "{words}: {code:?}, {errors}");
    }
    for words in ["generate cyclic --nodes 30 -o cora_ml --quiet", "info cora_ml --quiet"] {
        assert_eq!(call(words), (Some(0), String::new()), "{words}");
    }
}
