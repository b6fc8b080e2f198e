//! The paper's hyper-parameters, one file per data set, built into the command.

use crate::report::usage;
use anyhow::Context;
use magnon::train::RunConfig;
use std::path::Path;

const PRESETS: [(&str, &str); 7] = [
    ("citeseerr", include_str!("../../../presets/citeseerr.json")),
    ("corar", include_str!("../../../presets/corar.json")),
    ("cornell", include_str!("../../../presets/cornell.json")),
    ("pubmed", include_str!("../../../presets/pubmed.json")),
    ("texas", include_str!("../../../presets/texas.json")),
    ("washington", include_str!("../../../presets/washington.json")),
    ("wisconsin", include_str!("../../../presets/wisconsin.json")),
];

/// The configuration of a preset, or of a file such as the `config.json` of a run.
pub fn preset(name: &str) -> anyhow::Result<RunConfig> {
    if let Some((_, text)) = PRESETS.iter().find(|(known, _)| *known == name) {
        return parsed(text).with_context(|| format!("the preset {name}"));
    }
    let path = Path::new(name);
    if !path.is_file() {
        let names = PRESETS.map(|(name, _)| name).join(", ");
        return Err(usage(format!("there is no preset '{name}'; those are {names}, or a file")));
    }
    read(path)
}

/// Reads a configuration from a file.
pub fn read(path: &Path) -> anyhow::Result<RunConfig> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("{}: cannot read", path.display()))?;
    parsed(&text).with_context(|| format!("{}: not a configuration", path.display()))
}

fn parsed(text: &str) -> anyhow::Result<RunConfig> {
    RunConfig::from_json(text).map_err(anyhow::Error::msg)
}
