//! The order of modules: one may use those that stand before it, and none that comes after. Between crates the compiler sees
//! to that; inside a crate, this does.

use std::fs;
use std::path::{Path, PathBuf};

/// Each crate's modules in their order. A crate may use those above it in this list.
const LAYERS: [(&str, &[&str]); 4] = [
    (
        "magnon-core",
        &[
            "memory",
            "progress",
            "compressed",
            "matrix",
            "compute",
            "graph",
            "operator",
            "cycles",
            "filter",
            "spectrum",
            "denoise",
        ],
    ),
    ("magnon-learn", &["strict", "nn", "tensors", "model", "train", "run"]),
    ("magnon-report", &["error", "figure", "page"]),
    ("magnon", &["error", "workflow", "settings"]),
];

/// Uses that go against the order, each as file, line and words.
fn against(source: &Path, modules: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (place, module) in modules.iter().enumerate() {
        let mut files = vec![source.join(format!("{module}.rs")), source.join(module)];
        while let Some(path) = files.pop() {
            if path.is_dir() {
                files.extend(listed(&path));
            } else if let Ok(text) = fs::read_to_string(&path) {
                for (line, words) in uses(&path, &text) {
                    let later = |other: &&&str| words.contains(&format!("crate::{other}"));
                    if let Some(other) = modules[place + 1..].iter().find(later) {
                        found.push(format!("{}:{line}: {module} uses {other}", path.display()));
                    }
                }
            }
        }
    }
    found
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
}

/// The lines of a file that are neither comments nor tests, which may use what they need.
fn uses<'t>(path: &Path, text: &'t str) -> impl Iterator<Item = (usize, &'t str)> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_test = name.ends_with("tests.rs");
    let code =
        text.lines().enumerate().take_while(move |(_, line)| !is_test && *line != "mod tests {");
    code.filter(|(_, line)| !line.trim_start().starts_with("//")).map(|(k, line)| (k + 1, line))
}

#[test]
fn modules_use_those_before_them() {
    let mut found = Vec::new();
    for (name, modules) in LAYERS {
        let source = crate::root().join("crates").join(name).join("src");
        // A module that is not in the list would be looked at by nobody.
        for path in listed(&source) {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            assert!(stem == "lib" || modules.contains(&stem), "{}: no place", path.display());
        }
        found.extend(against(&source, modules));
    }
    assert!(found.is_empty(), "against the order:\n{}", found.join("\n"));
}

#[test]
fn uses_against_the_order_are_found() {
    let folder = std::env::temp_dir().join(format!("magnon-layers-{}", std::process::id()));
    fs::create_dir_all(folder.join("a")).unwrap();
    fs::write(folder.join("a").join("x.rs"), "// crate::b\nuse crate::b::Y;\n").unwrap();
    fs::write(folder.join("b.rs"), "use crate::a::X;\nmod tests {\nuse crate::c;\n}\n").unwrap();
    let found = against(&folder, &["a", "b", "c"]);
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].ends_with("x.rs:2: a uses b"), "{found:?}");
}
