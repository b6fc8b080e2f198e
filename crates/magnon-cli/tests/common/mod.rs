//! Running the binary.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)] // each test file uses a part

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

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
