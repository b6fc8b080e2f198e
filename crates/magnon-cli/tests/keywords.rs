//! The keywords of the Python package, as typed dictionaries: the committed file is what the settings of the library say.
//! `cargo xtask keywords` writes it.

use magnon::settings::{
    ConfigSettings, DataSettings, FilterSettings, Kind, OperatorSettings, Parameter, parameters,
    parameters_of,
};
use std::fs;
use std::path::Path;

const HEAD: &str = r#""""The keywords that functions share. Written by ``cargo xtask keywords`` from the settings of the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from os import PathLike
from typing import Any, Literal, TypedDict, Union

Charge = Union[float, str, Fraction]
Path = Union[str, PathLike[str]]


class Common(TypedDict, total=False):
    """Keywords of every function."""

    seed: int | None
    threads: int | None
"#;

/// Keywords whose type says more than the parameter: arrays in place of files, and what stands for text.
const TYPES: [(&str, &str); 8] = [
    ("features", "Any"),
    ("labels", "Any"),
    ("charge", "Charge"),
    ("channels", "str | Sequence[str]"),
    ("set", "Mapping[str, Any]"),
    ("model", "str"),
    ("preset", "Path"),
    ("dtype", "Literal[\"float32\", \"float16\"] | type"),
];

/// The type of a keyword.
fn kind(one: &Parameter) -> String {
    if let Some((_, known)) = TYPES.iter().find(|(name, _)| *name == one.name) {
        return (*known).to_owned();
    }
    let plain = match one.kind {
        _ if !one.choices.is_empty() => {
            let words: Vec<String> = one.choices.iter().map(|word| format!("\"{word}\"")).collect();
            format!("Literal[{}]", words.join(", "))
        }
        Kind::Truth => "bool".to_owned(),
        Kind::Whole => "int".to_owned(),
        Kind::Number => "float".to_owned(),
        Kind::Path => "Path".to_owned(),
        Kind::Text => "str".to_owned(),
    };
    if one.many { format!("Sequence[{plain}]") } else { plain }
}

/// A line for a keyword.
fn line(one: &Parameter) -> String {
    let name = match one.name.as_str() {
        // What is there by default is taken away by False.
        "no_self_loops" => "self_loops",
        // A word of Python.
        "pass" => "pass_",
        name => name,
    };
    let kind = kind(one);
    match kind.strip_prefix("Literal[").and_then(|rest| rest.strip_suffix(']')) {
        Some(words) if words.len() > 80 => {
            format!("    {name}: Literal[\n        {words}\n    ] | None\n")
        }
        _ if kind == "Any" => format!("    {name}: Any\n"),
        _ => format!("    {name}: {kind} | None\n"),
    }
}

/// A typed dictionary.
fn class(name: &str, base: &str, words: &str, own: &[Parameter]) -> String {
    let lines: String = own.iter().map(line).collect();
    format!("\n\nclass {name}({base}, total=False):\n    \"\"\"{words}\"\"\"\n\n{lines}")
}

/// Parameters but for those of other groups.
fn without(all: Vec<Parameter>, others: &[&[Parameter]]) -> Vec<Parameter> {
    let known = |one: &Parameter| others.iter().any(|group| group.contains(one));
    all.into_iter().filter(|one| !known(one)).collect()
}

fn named(all: Vec<Parameter>, names: &[&str]) -> Vec<Parameter> {
    all.into_iter().filter(|one| names.contains(&one.name.as_str())).collect()
}

fn generated() -> String {
    let data = parameters_of::<DataSettings>();
    let scaled = named(data.clone(), &["feature_norm", "split", "split_seed"]);
    let operator = parameters_of::<OperatorSettings>();
    let filter = parameters_of::<FilterSettings>();
    let model = without(parameters_of::<ConfigSettings>(), &[&operator, &filter]);
    let train = without(parameters("train"), &[&data, &operator, &filter, &model]);
    let dtype =
        Parameter { name: "dtype".to_owned(), choices: Vec::new(), kind: Kind::Text, many: false };
    let propagate = named(parameters("propagate"), &["channels", "device"]);
    [
        HEAD.to_owned(),
        class(
            "SourceSettings",
            "Common",
            "What is read, and how. ``features`` and ``labels`` take arrays, too.",
            &without(data, &[&scaled]),
        ),
        class(
            "DataSettings",
            "SourceSettings",
            "How features are scaled and nodes are split, too.",
            &scaled,
        ),
        class(
            "CompareSettings",
            "DataSettings",
            "Where models are compared, too.",
            &named(parameters("compare"), &["device"]),
        ),
        class("OperatorSettings", "DataSettings", "Which operator is built.", &operator),
        class("FilterSettings", "OperatorSettings", "Which filter is applied.", &filter),
        class(
            "PropagateSettings",
            "FilterSettings",
            "Where a filter is applied, too, or several at once.",
            &[propagate, vec![dtype]].concat(),
        ),
        class("ModelSettings", "FilterSettings", "Which model is trained, and how.", &model),
        class(
            "TrainSettings",
            "ModelSettings",
            "How often it is trained, and where it is kept.",
            &train,
        ),
    ]
    .concat()
}

#[test]
fn the_keywords_of_python_are_those_of_the_settings() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("magnon-py");
    let path = package.join("python").join("magnon").join("_typed.py");
    if std::env::var_os("MAGNON_WRITE_KEYWORDS").is_some() {
        fs::write(&path, generated()).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == generated(),
        "_typed.py is not what the settings say; run cargo xtask keywords"
    );
}
