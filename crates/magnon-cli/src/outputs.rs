//! The files that a command is asked for, checked before any work is done for them.

use crate::args::Common;
use crate::report::usage;
use clap::builder::{PathBufValueParser, TypedValueParser};
use magnon::data::write::{check_output, is_stdout, is_stream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The path of the standard output.
const STDOUT: &str = "/dev/stdout";

/// What is written to a file.
pub struct Form {
    /// How the file's name may end; any way where there are none.
    endings: &'static [&'static str],
    /// Whether it is written in order, so that a pipe takes it.
    in_order: bool,
    /// Whether the ending tells the format, so that a name without one, such as a pipe's, is refused.
    by_ending: bool,
}

const fn in_order(endings: &'static [&'static str]) -> Form {
    Form { endings, in_order: true, by_ending: false }
}

pub const CSV: Form = in_order(&["csv", "txt"]);
pub const NPY: Form = in_order(&["npy"]);
pub const NPZ: Form = Form { in_order: false, ..in_order(&["npz"]) };
pub const HTML: Form = in_order(&["html", "htm"]);
pub const JSON: Form = in_order(&["json"]);
pub const MARKDOWN: Form = in_order(&["md", "markdown", "txt"]);
pub const PACKED: Form = Form { in_order: false, ..in_order(&["magnon"]) };
pub const PICTURE: Form = Form { by_ending: true, ..in_order(&["svg", "png", "html", "htm"]) };

/// The parser of a flag that names an output file: `-` is the standard output.
pub fn output() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new()
        .map(|path| if path == Path::new("-") { PathBuf::from(STDOUT) } else { path })
}

/// Set where an output file goes to the standard output: messages go to standard error then.
static STDOUT_TAKEN: AtomicBool = AtomicBool::new(false);

/// Whether an output file goes to the standard output.
pub fn is_stdout_taken() -> bool {
    STDOUT_TAKEN.load(Relaxed)
}

/// Checks all output files of a command: each flag, the path that it was given and what is written there.
pub fn check(common: &Common, files: &[(&str, Option<&Path>, Form)]) -> anyhow::Result<()> {
    let mut taken: Option<&str> = None;
    for (flag, path, form) in files {
        let Some(path) = path else { continue };
        check_file(flag, path, form)?;
        if is_stdout(path) {
            if common.json {
                return Err(usage(format!(
                    "{flag} - and --json both write to standard output; give {flag} a file"
                )));
            }
            if let Some(other) = taken.replace(flag) {
                return Err(usage(format!(
                    "{other} - and {flag} - both write to standard output; give one of them a file"
                )));
            }
        }
    }
    STDOUT_TAKEN.store(taken.is_some(), Relaxed);
    Ok(())
}

fn check_file(flag: &str, path: &Path, form: &Form) -> anyhow::Result<()> {
    // Devices and pipes have no ending to keep to, but a picture's tells its format.
    let stream = is_stream(path);
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let known = form.endings.iter().any(|known| ending.eq_ignore_ascii_case(known));
    if !known && (!stream || form.by_ending) {
        let endings: Vec<String> = form.endings.iter().map(|ending| format!(".{ending}")).collect();
        return Err(usage(format!(
            "{flag} {}: the name must end in {}",
            path.display(),
            endings.join(" or ")
        )));
    }
    if stream && !form.in_order {
        return Err(usage(format!(
            "{flag} {}: a .{ending} file is not written in order, so a device or a pipe cannot take it; \
             name a file",
            path.display(),
            ending = form.endings.first().unwrap_or(&"")
        )));
    }
    if path.is_dir() {
        return Err(usage(format!("{flag} {}: it is a folder; name a file", path.display())));
    }
    check_output(path, form.in_order)?;
    if stream { Ok(()) } else { check_parent(path) }
}

/// Refuses a path that is to be a folder and is a file, a device or a pipe.
pub fn check_folder(flag: &str, path: Option<&Path>) -> anyhow::Result<()> {
    let Some(path) = path else { return Ok(()) };
    // A link that leads nowhere is there, too: no folder can be made of its name.
    let there = std::fs::symlink_metadata(path).is_ok();
    if is_stdout(path) || path == Path::new("-") || (there && !path.is_dir()) {
        return Err(usage(format!("{flag} {}: it is not a folder; name a folder", path.display())));
    }
    check_parent(path)
}

/// Refuses a file for which no folder can be made. Missing folders are made when the file is written.
fn check_parent(path: &Path) -> anyhow::Result<()> {
    let above = path.ancestors().skip(1).find(|folder| folder.exists());
    match above {
        Some(folder) if !folder.is_dir() => {
            anyhow::bail!("{}: {} is a file, not a folder", path.display(), folder.display())
        }
        _ => Ok(()),
    }
}
