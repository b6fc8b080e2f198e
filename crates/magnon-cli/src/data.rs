//! From DATA on the command line to a data set.

use crate::args::{Common, DataArgs};
use crate::report::{Clock, usage};
use magnon::data::{
    Dataset, Split, SplitChoice, SplitError, SyntheticConfig, SyntheticError, attach_features,
    attach_labels, load,
};
use magnon::graph::generate::GeneratorKind;
use std::path::Path;

/// A data set and the split that was asked for.
pub struct Loaded {
    pub dataset: Dataset,
    pub split: Option<Split>,
}

/// Reads or generates DATA.
pub fn read(args: &DataArgs, common: &Common, clock: &mut Clock) -> anyhow::Result<Loaded> {
    clock.phase("load", || {
        let flags = &args.flags;
        let name = args.data.as_deref().unwrap_or("demo");
        if name.is_empty() {
            return Err(usage("DATA is empty; name a folder, a file or a generator"));
        }
        let mut dataset = match generator(name) {
            Some(config) => generated(name, config?, args, common)?,
            None => load(Path::new(name), &flags.load_config())?,
        };
        if let Some(path) = &flags.features {
            attach_features(&mut dataset, path, flags.feature_norm)?;
        }
        if let Some(path) = &flags.labels {
            attach_labels(&mut dataset, path)?;
        }
        let seed = flags.split_seed.unwrap_or(common.seed);
        let chosen = flags.split.choose(&dataset.splits, dataset.labels.as_ref(), seed);
        let split = match (chosen, flags.split) {
            (Ok(split), _) => Some(split),
            // The default asks for a split that the data may do without.
            (Err(SplitError::NoneGiven), SplitChoice::Given(0)) => None,
            (Err(error), _) => return Err(error.into()),
        };
        if !common.quiet {
            dataset.remarks.iter().for_each(|remark| eprintln!("note: {remark}"));
        }
        Ok(Loaded { dataset, split })
    })
}

/// The recipe where `name` is that of a generator and not of a file.
fn generator(name: &str) -> Option<anyhow::Result<SyntheticConfig>> {
    let (kind, _) = name.split_once(':').unwrap_or((name, ""));
    let known = kind == "demo" || kind.parse::<GeneratorKind>().is_ok();
    let fault = |error: SyntheticError| usage(format!("cannot generate '{name}': {error}"));
    (known && !Path::new(name).exists()).then(|| name.parse().map_err(fault))
}

fn generated(
    name: &str,
    config: SyntheticConfig,
    args: &DataArgs,
    common: &Common,
) -> anyhow::Result<Dataset> {
    if args.flags.nodes.is_some() {
        return Err(usage(
            "--nodes is for edge lists; a generator takes it as in cyclic:nodes=500",
        ));
    }
    let config = SyntheticConfig { seed: common.seed, ..config };
    let mut dataset = config.dataset(name)?;
    if args.flags.reverse {
        dataset.graph = dataset.graph.transpose();
    }
    if let Some(features) = &mut dataset.features {
        args.flags.feature_norm.apply(features);
    }
    Ok(dataset)
}
