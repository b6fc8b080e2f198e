//! The paper's hyper-parameters, one file per data set, built in.

use crate::Error;
use crate::train::RunConfig;
use std::path::Path;

/// Names and texts of the presets.
pub const PRESETS: [(&str, &str); 7] = [
    ("citeseerr", include_str!("../../presets/citeseerr.json")),
    ("corar", include_str!("../../presets/corar.json")),
    ("cornell", include_str!("../../presets/cornell.json")),
    ("pubmed", include_str!("../../presets/pubmed.json")),
    ("texas", include_str!("../../presets/texas.json")),
    ("washington", include_str!("../../presets/washington.json")),
    ("wisconsin", include_str!("../../presets/wisconsin.json")),
];

/// The configuration of a preset, or of a file such as the `config.json` of a run.
pub fn preset(name: &str) -> Result<RunConfig, Error> {
    if let Some((_, text)) = PRESETS.iter().find(|(known, _)| *known == name) {
        return RunConfig::from_json(text)
            .map_err(|problem| Error::Argument(format!("the preset {name}: {problem}")));
    }
    let path = Path::new(name);
    if !path.is_file() {
        let names = PRESETS.map(|(name, _)| name).join(", ");
        let problem = format!("there is no preset '{name}'; those are {names}, or a file");
        return Err(Error::Argument(problem));
    }
    Ok(RunConfig::read(path)?)
}
