//! From DATA on the command line to a data set.

use crate::args::{Common, DataArgs};
use crate::report::{Clock, usage};
use magnon::data::{
    Dataset, Split, SplitChoice, SplitError, SyntheticConfig, SyntheticError, attach_features,
    attach_labels, load,
};
use magnon::graph::generate::GeneratorKind;
use magnon::train::DataConfig;
use std::path::Path;

/// A data set and the split that was asked for.
pub struct Loaded {
    pub dataset: Dataset,
    pub split: Option<Split>,
}

/// Reads or generates DATA.
pub fn read(args: &DataArgs, common: &Common, clock: &mut Clock) -> anyhow::Result<Loaded> {
    let mut config = DataConfig::default();
    args.apply(&mut config)?;
    clock.phase("load", || {
        let dataset = read_dataset(&config, common.seed(), common)?;
        let seed = config.split_seed.unwrap_or(common.seed());
        let chosen = config.split.choose(&dataset.splits, dataset.labels.as_ref(), seed);
        let split = match (chosen, config.split) {
            (Ok(split), _) => Some(split),
            // The default asks for a split that the data may do without.
            (Err(SplitError::NoneGiven), SplitChoice::Given(0)) => None,
            (Err(error), _) => return Err(error.into()),
        };
        Ok(Loaded { dataset, split })
    })
}

/// The data set that a configuration describes; generators draw with `seed`.
pub fn read_dataset(config: &DataConfig, seed: u64, common: &Common) -> anyhow::Result<Dataset> {
    let name = config.source.as_str();
    if name.is_empty() {
        return Err(usage("DATA is empty; name a folder, a file or a generator"));
    }
    let mut dataset = match generator(name) {
        Some(synthetic) => generated(name, synthetic?, config, seed)?,
        None => load(Path::new(name), &config.load)?,
    };
    if let Some(path) = &config.features {
        attach_features(&mut dataset, path, config.load.feature_norm)?;
    }
    if let Some(path) = &config.labels {
        attach_labels(&mut dataset, path)?;
    }
    if !common.quiet {
        dataset.remarks.iter().for_each(|remark| remark!("note: {remark}"));
    }
    Ok(dataset)
}

/// The configuration where `name` is that of a generator and not of a file.
pub fn generator(name: &str) -> Option<anyhow::Result<SyntheticConfig>> {
    let (kind, _) = name.split_once(':').unwrap_or((name, ""));
    let known = kind == "demo" || kind.parse::<GeneratorKind>().is_ok();
    let fault = |error: SyntheticError| usage(format!("cannot generate '{name}': {error}"));
    (known && !Path::new(name).exists()).then(|| name.parse().map_err(fault))
}

fn generated(
    name: &str,
    synthetic: SyntheticConfig,
    config: &DataConfig,
    seed: u64,
) -> anyhow::Result<Dataset> {
    if config.load.nodes.is_some() {
        return Err(usage(
            "--nodes is for edge lists; a generator takes it as in cyclic:nodes=500",
        ));
    }
    let synthetic = SyntheticConfig { seed, ..synthetic };
    let mut dataset = synthetic.dataset(name)?;
    if config.load.reverse {
        dataset.graph = dataset.graph.transpose();
    }
    if let Some(features) = &mut dataset.features {
        dataset.scaled = config.load.feature_norm.apply(features);
    }
    Ok(dataset)
}
