//! `magnon train` and `magnon predict`: run folders, interrupts, and what they refuse.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{failure, json, magnon, text, wait_before_end};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const SMALL: &str = "cyclic:nodes=90,columns=6,density=0.1";

/// Trains something small and quick into `out`.
fn train(out: &Path, more: &[&str]) -> Value {
    let out = text(out);
    let arguments =
        ["train", SMALL, "--charge", "1/3", "--hidden", "8", "--epochs", "20", "--out", &out];
    json(&[&arguments[..], more].concat())
}

fn files(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn train_leaves_a_run_folder_and_tells_what_was_promised() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let result = json(&["train", "--epochs", "3", "--order", "4", "--out", &text(&out)]);
    for key in "model dataset nodes edges charge charge_candidates pass filter order epochs \
        best_epoch train_accuracy val_accuracy test_accuracy val_loss seconds"
        .split_whitespace()
    {
        assert!(result.get(key).is_some_and(|value| !value.is_null()), "{key}: {result}");
    }
    assert_eq!((&result["model"], &result["nodes"]), (&"mgc".into(), &600.into()));
    assert_eq!((&result["epochs"], &result["order"]), (&3.into(), &4.into()));
    assert!(result["charge_candidates"].as_array().unwrap().len() > 1);
    for phase in ["load", "cycles", "operator", "propagate", "train"] {
        assert!(result["seconds"][phase].is_f64(), "{phase}: {}", result["seconds"]);
    }
    let expected = "checksums.json config.json history.csv metrics.json model.safetensors \
        predictions.safetensors report.html";
    let found = files(&out);
    for name in expected.split_whitespace() {
        assert!(found.contains(name), "{name}: {found:?}");
    }
    assert!(!found.contains("checkpoints"), "{found:?}");
    assert!(!found.iter().any(|name| name.starts_with('.') || name.contains("tmp")), "{found:?}");

    let history = fs::read_to_string(out.join("history.csv")).unwrap();
    let lines: Vec<&str> = history.lines().collect();
    assert_eq!(lines[0], "epoch,rate,train_loss,train_accuracy,val_loss,val_accuracy");
    assert_eq!((lines.len(), &lines[3][..7]), (4, "3,0.01,"));
    let metrics: Value =
        serde_json::from_str(&fs::read_to_string(out.join("metrics.json")).unwrap()).unwrap();
    assert_eq!(metrics["test_accuracy"], result["test_accuracy"]);
    assert!(metrics["parts"]["test"]["confusion"].is_array());
    let config: magnon::train::RunConfig =
        serde_json::from_str(&fs::read_to_string(out.join("config.json")).unwrap()).unwrap();
    assert_eq!((config.train.epochs, config.filter.unwrap().order), (3, Some(4)));
}

#[test]
fn several_runs_are_summed_up() {
    let folder = tempfile::tempdir().unwrap();
    let result = train(
        &folder.path().join("run"),
        &["--runs", "4", "--vary", "both", "--split", "60/20/20"],
    );
    let runs = result["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 4);
    let seeds: BTreeSet<u64> = runs.iter().map(|run| run["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds.len(), 4);
    let accuracy = &result["test_accuracy"];
    let values: Vec<f64> = runs.iter().map(|run| run["test_accuracy"].as_f64().unwrap()).collect();
    let mean = values.iter().sum::<f64>() / 4.0;
    let std = (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 3.0).sqrt();
    let close = |key: &str, expected: f64| {
        let found = accuracy[key].as_f64().unwrap();
        assert!((found - expected).abs() < 1e-9, "{key}: {found} but {expected}");
    };
    close("mean", mean);
    close("std", std);
    // Student's t for 3 degrees of freedom is 3.1824.
    assert!((accuracy["ci95"].as_f64().unwrap() - 3.1824 * std / 2.0).abs() < 1e-4);
    assert_eq!(accuracy["n"], 4);
}

#[test]
fn seeds_and_threads_decide_as_promised() {
    let folder = tempfile::tempdir().unwrap();
    let model = |name: &str, more: &[&str]| {
        let out = folder.path().join(name);
        train(&out, more);
        fs::read(out.join("model.safetensors")).unwrap()
    };
    let one = model("a", &["--threads", "1", "--seed", "5"]);
    assert!(one == model("b", &["--threads", "7", "--seed", "5"]), "the same, byte for byte");
    assert!(one != model("c", &["--threads", "1", "--seed", "6"]));
}

/// The only checkpoint of a run, where there is one.
fn checkpoint(out: &Path) -> Option<Vec<u8>> {
    let mut entries = fs::read_dir(out.join("checkpoints")).ok()?;
    let named = |path: &PathBuf| path.extension().is_some_and(|e| e == "safetensors");
    let path = entries.find_map(|entry| Some(entry.ok()?.path()).filter(named))?;
    fs::read(path).ok()
}

/// A run of many epochs that is under way.
struct Running {
    child: Child,
    out: PathBuf,
}

const MANY: [&str; 12] = [
    "train",
    SMALL,
    "--charge",
    "1/3",
    "--hidden",
    "8",
    "--epochs",
    "8000",
    "--patience",
    "8000",
    "--quiet",
    "--json",
];

impl Running {
    fn start(out: &Path) -> Self {
        Self::start_on(SMALL, out)
    }

    fn start_on(data: &str, out: &Path) -> Self {
        let words = MANY.map(|word| if word == SMALL { data } else { word });
        let child = Command::new(env!("CARGO_BIN_EXE_magnon"))
            .args(words)
            .args(["--checkpoint-every", "5", "--out", &text(out)])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { child, out: out.to_owned() }
    }

    /// Waits until a checkpoint has been written, and then another.
    fn wait(&mut self) {
        let (out, mut first) = (self.out.clone(), None);
        wait_before_end(&mut self.child, "its second checkpoint", || {
            let found = checkpoint(&out);
            let another = first.is_some() && found.is_some() && found != first;
            first = first.take().or(found);
            another
        });
    }
}

/// Model and history of a run that nothing interrupted.
fn uninterrupted(folder: &Path) -> [Vec<u8>; 2] {
    let out = folder.join("whole");
    let output = magnon(&[&MANY[..], &["--out", &text(&out)]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    results(&out)
}

fn results(out: &Path) -> [Vec<u8>; 2] {
    ["history.csv", "model.safetensors"].map(|name| fs::read(out.join(name)).unwrap())
}

/// After an interrupt: nothing is broken, and going on leads where the whole run leads.
fn goes_on(out: &Path, whole: &[Vec<u8>; 2]) {
    assert!(!out.join("metrics.json").exists(), "it was interrupted in time");
    let (code, error) = failure(&["predict", &text(out)]);
    assert_eq!(code, 1);
    assert!(error.contains("--resume"), "{error}");
    let (code, error) = failure(&["train", "--resume", "--out", &text(out), "--rate", "0.5"]);
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("--resume goes on with the configuration"), "{error}");
    let result = json(&["train", "--resume", "--out", &text(out)]);
    assert_eq!(result["epochs"], 8000);
    let found = results(out);
    assert!(found[0] == whole[0], "the same history, byte for byte");
    assert!(found[1] == whole[1], "the same model, byte for byte");
    assert!(!out.join("checkpoints").exists());
    let names = files(out);
    assert!(names.iter().all(|name| name.contains('.') && !name.starts_with('.')), "{names:?}");
    let (code, error) = failure(&["train", "--resume", "--out", &text(out)]);
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("come to its end"), "{error}");
}

#[test]
fn a_killed_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let whole = uninterrupted(folder.path());
    let out = folder.path().join("killed");
    let mut running = Running::start(&out);
    running.wait();
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    goes_on(&out, &whole);
}

/// A run that has begun goes on with the data that it has seen, or not at all.
#[test]
fn a_run_does_not_go_on_with_other_data() {
    let folder = tempfile::tempdir().unwrap();
    let generated = |name: &str, seed: &str| {
        let data = folder.path().join(name);
        let words = ["generate", "cyclic", "--nodes", "90", "--seed", seed, "-o", &text(&data)];
        assert!(magnon(&words).status.success());
        data
    };
    let (data, other) = (generated("data", "0"), generated("other", "1"));
    let out = folder.path().join("run");
    let mut running = Running::start_on(&text(&data), &out);
    running.wait();
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    let resume = ["train", "--resume", "--out", &text(&out)];
    let parts = [
        ("adj.npz", "graph"),
        ("features.npy", "features"),
        ("labels.csv", "labels"),
        ("idx_test.csv", "split"),
    ];
    for (file, part) in parts {
        let (path, from) = (data.join(file), other.join(file));
        let whole = fs::read(&path).unwrap();
        // Labels and split of both are alike.
        let changed = match file {
            "labels.csv" => [&b"1"[..], &whole[1..]].concat(),
            "idx_test.csv" => whole[whole.iter().position(|&b| b == b'\n').unwrap() + 1..].to_vec(),
            _ => fs::read(from).unwrap(),
        };
        assert!(changed != whole);
        fs::write(&path, changed).unwrap();
        let (code, error) = failure(&resume);
        assert_eq!(code, 1, "{error}");
        let says = format!("data have changed since the run was begun ({part})");
        assert!(error.contains(&says) && error.contains("--overwrite"), "{file}: {error}");
        fs::write(&path, whole).unwrap();
    }
    assert_eq!(json(&resume)["epochs"], 8000);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_keeps_its_last_epoch_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let whole = uninterrupted(folder.path());
    let out = folder.path().join("interrupted");
    let mut running = Running::start(&out);
    running.wait();
    common::send("-INT", &running.child);
    let status = running.child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert!(checkpoint(&out).is_some());
    goes_on(&out, &whole);
}

#[test]
fn a_second_process_is_told_that_the_folder_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let mut running = Running::start(&out);
    running.wait();
    let again = ["train", SMALL, "--epochs", "2", "--charge", "0", "--out", &text(&out)];
    let resume = ["train", "--resume", "--out", &text(&out)];
    for arguments in [&again[..], &[&again[..], &["--overwrite"]].concat(), &resume] {
        let (code, error) = failure(arguments);
        assert_eq!(code, 1, "{error}");
        assert!(error.contains("another process is training into it"), "{error}");
    }
    assert!(running.child.try_wait().unwrap().is_none(), "the first one goes on");
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    assert_eq!(json(&[&again[..], &["--overwrite"]].concat())["epochs"], 2);
    assert!(!files(&out).iter().any(|name| name.starts_with('.')));
}

#[test]
fn what_a_kill_leaves_at_the_start_blocks_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (name, more) in [("plain", &[][..]), ("over", &["--overwrite"])] {
        let out = folder.path().join(name);
        fs::create_dir_all(out.join("checkpoints")).unwrap();
        fs::write(out.join("checkpoints/.magnon-AbCdEfGh1234.tmp"), "{").unwrap();
        train(&out, more);
        assert_eq!(files(&out).len(), 7, "{:?}", files(&out));
    }
}

#[test]
fn an_edited_configuration_is_for_a_new_run() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    train(&out, &["--no-report"]);
    let config = out.join("config.json");
    let edited = fs::read_to_string(&config).unwrap().replace("\"epochs\": 20", "\"epochs\": 3");
    fs::write(&config, edited).unwrap();
    let (code, error) = failure(&["predict", &text(&out)]);
    assert_eq!(code, 1);
    assert!(error.contains("config.json: it has changed") && error.contains("new run"), "{error}");
    let new = folder.path().join("new");
    let result = json(&["train", SMALL, "--preset", &text(&config), "--out", &text(&new)]);
    assert_eq!(result["epochs"], 3);
}

#[test]
fn folders_are_not_overwritten_by_accident() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    train(&out, &[]);
    let again = ["train", SMALL, "--epochs", "2", "--charge", "0", "--out", &text(&out)];
    let (code, error) = failure(&again);
    assert_eq!(code, 1);
    assert!(error.contains("--overwrite") && error.contains("run"), "{error}");
    assert_eq!(json(&[&again[..], &["--overwrite"]].concat())["epochs"], 2);

    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("notes.txt"), "mine").unwrap();
    for more in [&[][..], &["--overwrite"]] {
        let arguments = ["train", SMALL, "--epochs", "2", "--out", &text(&other)];
        let (code, error) = failure(&[&arguments[..], more].concat());
        assert_eq!(code, 1, "{error}");
        assert!(error.contains("other files"), "{error}");
    }
    assert_eq!(files(&other).len(), 1);
    for arguments in [
        ["train", "--resume", "--out", &text(&other)],
        ["train", "--resume", "--out", &text(&folder.path().join("nowhere"))],
    ] {
        let (code, error) = failure(&arguments);
        assert_eq!(code, 1, "{error}");
        assert!(error.contains("no run to go on with"), "{error}");
    }
    let (code, error) = failure(&["predict", &text(&other)]);
    assert_eq!(code, 1);
    assert!(error.contains("no run folder"), "{error}");
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    let (code, error) = failure(&["train", SMALL, "--epochs", "2", "--out", &text(&file)]);
    assert_eq!(code, 2);
    assert!(error.contains("it is not a folder"), "{error}");
}

#[test]
fn wrong_usage_of_training_exits_with_two() {
    for (arguments, word) in [
        (&["train", "--preset", "atlantis"][..], "there is no preset 'atlantis'"),
        (&["train", "--epochs", "0"], "epochs is 0"),
        (&["train", "--patience", "0"], "patience is 0"),
        (&["train", "--rate", "-1"], "learning rate is -1"),
        (&["train", "--rate", "nan"], "--rate"),
        (&["train", "--batch", "0"], "batch is 0"),
        (&["train", "--dropout", "1"], "dropout rate is 1"),
        (&["train", "--hidden", "0"], "number of hidden units is 0"),
        (&["train", "--weight-decay", "-1"], "weight decay is -1"),
        (&["train", "--clip", "0"], "gradient clip is 0"),
        (&["train", "--schedule", "zigzag"], "is no schedule"),
        (&["train", "--schedule", "step:0,0.5"], "step is 0"),
        (&["train", "--model", "oracle"], "possible values"),
        (&["train", "--resume"], "--output"),
        (&["train", "--overwrite"], "--output"),
        (&["train", "--resume", "--overwrite", "--out", "x"], "--overwrite"),
        (&["train", "--checkpoint-every", "0"], "at least 1"),
        (&["train", "--filtered", "x.npy"], "one charge"),
        (&["train", ""], "name of the data is empty"),
        (&["train", "--order", "0"], "at least 1"),
        (&["train", "--filter", "ppr", "--alpha", "2"], "alpha is 2"),
        (&["train", "--runs", "0"], "number of runs is 0"),
        // What the model makes no use of is refused, and the nearest word is named.
        (&["train", "--model", "mlp", "--charge", "1/3"], "mlp takes no operator"),
        (&["train", "--model", "mlp", "--filter", "ppr"], "mlp takes no filter"),
        (&["train", "--model", "gcn", "--charge", "1/3"], "gcn takes no other charge"),
        (&["train", "--model", "gcn", "--gate", "tanh"], "gcn has no setting 'gate'"),
        (&["train", "--model", "gat", "--set", "haeds=2"], "no setting 'haeds'"),
        (&["train", "--model", "gat", "--set", "heads=many"], "cannot be \"many\""),
        (&["train", "--model", "gat", "--set", "heads"], "KEY=VALUE"),
        (&["train", "--split-seed", "3"], "--split-seed is for splits that are drawn"),
        (&["predict", "x", "--split", "60/20/20"], "no use of a split"),
        (&["generate", "cycle", "--blocks", "5"], "cycle graph has no blocks"),
        (&["info", "erdos-renyi:blocks=5"], "erdos-renyi graph has no blocks"),
        (&["denoise", "--no-self-loops"], "never adds self loops"),
        (&["response", "--eigenvalues", "--points", "9"], "--points"),
        (&["response", "--eigenvalues", "--pass", "high"], "--pass is not for eigenvalues"),
        (&["predict"], "RUN"),
        (&["predict", "x", "--output", "x.npy"], "must end in .csv"),
    ] {
        let (code, error) = failure(arguments);
        assert!(error.contains(word), "{arguments:?}: {error}");
        assert_eq!(code, 2, "{arguments:?}: {error}");
    }
}

#[test]
fn data_that_cannot_be_trained_on_exit_with_one() {
    let folder = tempfile::tempdir().unwrap();
    let labels = folder.path().join("labels.csv");
    fs::write(&labels, "a\nb\na\n").unwrap();
    let one = folder.path().join("one.csv");
    fs::write(&one, "a\n".repeat(90)).unwrap();
    let broken = folder.path().join("config.json");
    fs::write(&broken, "{\"trane\": {}}").unwrap();
    let out = folder.path().join("run");
    for (arguments, word) in [
        (&["train", SMALL, "--labels", &text(&labels)][..], "3 labels, but the graph has 90 nodes"),
        (&["train", SMALL, "--labels", &text(&one)], "nothing to tell apart"),
        (&["train", SMALL, "--split", "100/0/0"], "no labelled validation node"),
        (&["train", SMALL, "--split", "given:3"], "split"),
        (&["train", "erdos-renyi:nodes=50"], "no labels"),
        (&["train", "/nowhere/at/all"], "/nowhere/at/all"),
        (&["train", SMALL, "--preset", &text(&broken)], "did you mean `train`?"),
        (&["train", SMALL, "--model", "gcn", "--batch", "8"], "gcn takes no batches"),
        (&["train", SMALL, "--charge", "0", "--gate", "exponential"], "this operator is real"),
        (&["train", SMALL, "--charge", "0", "--filtered", "nowhere.npy"], "nowhere.npy"),
    ] {
        let (code, error) = failure(&[arguments, &["--out", &text(&out)]].concat());
        assert!(error.contains(word), "{arguments:?}: {error}");
        assert_eq!(code, 1, "{arguments:?}: {error}");
        assert!(!out.exists(), "{arguments:?} left a folder behind");
    }
}

/// Nodes without features are told apart by their degrees, and that is said.
#[test]
fn graphs_without_features_are_trained_on_degrees() {
    let output =
        magnon(&["train", "cyclic:nodes=60,columns=0", "--epochs", "2", "--charge", "1/3"]);
    let remarks = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{remarks}");
    assert!(remarks.contains("logarithms of in-degree and out-degree"), "{remarks}");
    assert!(remarks.contains("nothing was kept"), "{remarks}");
}

/// A data set in text, with odd names of nodes and classes: `x.content` and `x.cites`.
fn written(folder: &Path, columns: usize) -> PathBuf {
    let data = folder.join("odd");
    fs::create_dir_all(&data).unwrap();
    let names = ["red,hot", "say\"hi\"", "plain"];
    let (mut content, mut cites) = (String::new(), String::new());
    for i in 0..120 {
        let class = i / 4 % 3;
        let bits =
            (0..columns).map(|j| if (i * 5 + j) % 7 < 2 || j == class { "1\t" } else { "0\t" });
        content += &format!("n{i}\t{}{}\n", bits.collect::<String>(), names[class]);
        cites += &format!("n{}\tn{i}\n", (i + 1) % 120);
    }
    fs::write(data.join("odd.content"), content).unwrap();
    fs::write(data.join("odd.cites"), cites).unwrap();
    data
}

fn trained_on(data: &Path, out: &Path) {
    let (data, out) = (text(data), text(out));
    json(&[
        "train", &data, "--split", "60/20/20", "--charge", "1/4", "--order", "4", "--epochs", "15",
        "--pass", "low", "--out", &out,
    ]);
}

/// The cells of a line of csv.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut inside) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if inside && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' => inside = !inside,
            ',' if !inside => cells.push(std::mem::take(&mut cell)),
            _ => cell.push(letter),
        }
    }
    cells.push(cell);
    cells
}

fn predicted(arguments: &[&str]) -> Vec<Vec<String>> {
    let output = magnon(&[&["predict"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(cells).collect()
}

#[test]
fn predictions_are_csv_with_odd_names_in_quotes() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (written(folder.path(), 8), folder.path().join("run"));
    trained_on(&data, &out);
    let table = predicted(&[&text(&out)]);
    assert_eq!(table.len(), 121);
    let mut header = table[0].clone();
    assert_eq!(header[..5], ["node", "label", "part", "predicted", "confidence"]);
    let classes: Vec<String> =
        header.drain(5..).map(|c| c.strip_prefix("probability_").unwrap().to_owned()).collect();
    let expected = BTreeSet::from(["red,hot", "say\"hi\"", "plain"].map(str::to_owned));
    assert_eq!(classes.iter().cloned().collect::<BTreeSet<_>>(), expected);
    assert_eq!(table[1][0], "n0");
    for row in &table[1..] {
        let values: Vec<f64> = row[5..].iter().map(|cell| cell.parse().unwrap()).collect();
        assert!((values.iter().sum::<f64>() - 1.0).abs() < 1e-5, "{row:?}");
        let best = (0..3).max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap();
        assert_eq!(row[3], classes[best]);
        assert_eq!(row[4].parse::<f64>().unwrap(), values[best]);
        assert!(expected.contains(&row[1]), "{row:?}");
    }
    // Every node was in one part of the split.
    let parts = ["train", "val", "test"].map(|part| table.iter().filter(|r| r[2] == part).count());
    assert!(
        parts.iter().all(|&count| count > 0) && parts.iter().sum::<usize>() == 120,
        "{parts:?}"
    );
    // The same into a file, computed anew, and from the words of the accuracy.
    let file = folder.path().join("p.csv");
    let result = json(&["predict", &text(&out), "--full", "--output", &text(&file)]);
    assert_eq!((&result["computed"], &result["labelled"]), (&120.into(), &120.into()));
    let full: Vec<Vec<String>> = fs::read_to_string(&file).unwrap().lines().map(cells).collect();
    assert_eq!(full[0], table[0]);
    for (a, b) in full[1..].iter().zip(&table[1..]) {
        assert_eq!(a[..4], b[..4]);
        for (a, b) in a[4..].iter().zip(&b[4..]) {
            assert!((a.parse::<f64>().unwrap() - b.parse::<f64>().unwrap()).abs() < 1e-5);
        }
    }
    assert_eq!(json(&["predict", &text(&out)])["computed"], 0);
}

#[test]
fn predictions_follow_a_changed_graph() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (written(folder.path(), 8), folder.path().join("run"));
    trained_on(&data, &out);
    let before = predicted(&[&text(&out)]);
    let cites = data.join("odd.cites");
    let mut lines = fs::read_to_string(&cites).unwrap();
    lines += "n10\tn14\n";
    fs::write(&cites, lines).unwrap();
    for arguments in [&[&text(&out)[..]][..], &[&text(&out), &text(&data)]] {
        let result = json(&[&["predict"], arguments].concat());
        let computed = result["computed"].as_u64().unwrap();
        assert!((2..60).contains(&computed), "{computed}");
        let part = predicted(arguments);
        let full = predicted(&[arguments, &["--full"]].concat());
        for (a, b) in part[1..].iter().zip(&full[1..]) {
            assert_eq!(a[..4], b[..4]);
            for (a, b) in a[4..].iter().zip(&b[4..]) {
                assert!((a.parse::<f64>().unwrap() - b.parse::<f64>().unwrap()).abs() < 1e-5);
            }
        }
        assert_ne!(part[11], before[11], "the end of the new edge");
        assert_eq!(part[71], before[71], "far from it");
    }
}

#[test]
fn predictions_refuse_what_the_model_does_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (written(folder.path(), 8), folder.path().join("run"));
    trained_on(&data, &out);
    let refuse = |arguments: &[&str], word: &str| {
        let (code, error) = failure(&[&["predict"], arguments].concat());
        assert_eq!(code, 1, "{error}");
        assert!(error.contains(word), "{word}: {error}");
    };
    let wide = written(&folder.path().join("wide"), 9);
    refuse(&[&text(&out), &text(&wide)], "8 feature columns");
    let content = data.join("odd.content");
    let lines = fs::read_to_string(&content).unwrap();
    fs::write(&content, lines.replacen("plain", "unheard-of", 1)).unwrap();
    refuse(&[&text(&out)], "the class unheard-of");
    fs::write(&content, lines).unwrap();

    let copy = |name: &str| {
        let to = folder.path().join(name);
        fs::create_dir(&to).unwrap();
        for file in files(&out) {
            fs::copy(out.join(&file), to.join(&file)).unwrap();
        }
        to
    };
    let unfinished = copy("unfinished");
    fs::remove_file(unfinished.join("model.safetensors")).unwrap();
    fs::create_dir(unfinished.join("checkpoints")).unwrap();
    fs::rename(unfinished.join("config.json"), unfinished.join("checkpoints/config.json")).unwrap();
    refuse(&[&text(&unfinished)], "magnon train --resume");
    for name in ["model.safetensors", "predictions.safetensors"] {
        let old = copy(&format!("old-{name}"));
        let path = old.join(name);
        let mut bytes = fs::read(&path).unwrap();
        let word = b"\"version\":\"2\"";
        let at = bytes.windows(word.len()).position(|window| window == word).unwrap();
        bytes[at + word.len() - 2] = b'7';
        fs::write(&path, bytes).unwrap();
        refuse(&[&text(&old)], "format version 7");
        refuse(&[&text(&old)], name);
        fs::write(&path, "rubbish").unwrap();
        refuse(&[&text(&old)], name);
    }
    let broken = copy("broken");
    fs::write(broken.join("config.json"), "{}x").unwrap();
    refuse(&[&text(&broken)], "config.json");
}

/// K, q, learning rate, L2 and dropout of the paper's table; WebKB features are scaled by rows.
#[test]
fn presets_are_the_papers() {
    let table = [
        ("corar", 65, "0", 0.1, 0.001, 0.5, "none"),
        ("citeseerr", 30, "0", 0.1, 0.001, 0.5, "none"),
        ("pubmed", 8, "0", 0.1, 0.001, 0.3, "none"),
        ("cornell", 8, "1/5", 0.01, 1e-4, 0.2, "row"),
        ("texas", 8, "1/4", 0.01, 1e-4, 0.4, "row"),
        ("washington", 8, "1/5", 0.01, 1e-4, 0.4, "row"),
        ("wisconsin", 16, "1/3", 0.01, 1e-4, 0.1, "row"),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (name, order, charge, rate, decay, dropout, norm) in table {
        let out = folder.path().join(name);
        let arguments = ["train", SMALL, "--preset", name, "--epochs", "1", "--out", &text(&out)];
        json(&arguments);
        let config = fs::read_to_string(out.join("config.json")).unwrap();
        let config: Value = serde_json::from_str(&config).unwrap();
        assert_eq!(config["filter"]["kind"], "linear-rank");
        assert_eq!(config["filter"]["order"], order, "{name}");
        assert_eq!(config["operator"]["charge"], charge, "{name}");
        assert_eq!(config["train"]["optimiser"]["rate"], rate, "{name}");
        assert_eq!(config["train"]["optimiser"]["weight_decay"], decay, "{name}");
        assert_eq!(config["train"]["optimiser"]["decay"], "l2", "{name}");
        assert_eq!(config["train"]["patience"], 50, "{name}");
        assert_eq!(config["model"]["dropout"], dropout, "{name}");
        assert_eq!(config["model"]["hidden"], 64, "{name}");
        assert_eq!(config["model"]["gate"], "tanh", "{name}");
        assert_eq!(config["data"]["load"]["feature_norm"], norm, "{name}");
        // A flag beside it comes first, and all else stays.
        assert_eq!(config["train"]["epochs"], 1, "{name}");
    }
}

/// The page can be made at any time from what the folder holds.
#[test]
fn the_page_of_a_run_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let out = text(&folder.path().join("run"));
    for flags in [&["--controls", "--runs", "2"][..], &["--model", "gcn", "--overwrite"]] {
        json(&[&["train", "demo:nodes=120", "--epochs", "20", "--out", &out][..], flags].concat());
        let page = folder.path().join("run").join("report.html");
        let first = std::fs::read_to_string(&page).unwrap();
        std::fs::remove_file(&page).unwrap();
        json(&["report", &out]);
        let again = std::fs::read_to_string(&page).unwrap();
        // All but the command that made it.
        let body = |page: &str| page.split("How this was made").next().map(str::to_owned);
        assert_eq!(body(&again), body(&first));
        assert!(again.contains("magnon report"));
    }
    let (code, error) = failure(&["report", &text(folder.path())]);
    assert_eq!((code, error.contains("no run folder")), (1, true), "{error}");
}
