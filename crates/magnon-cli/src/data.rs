//! From DATA on the command line to a data set.

use crate::args::{Common, DataArgs};
use crate::report::{Clock, usage};
use magnon::data::{
    Dataset, Split, SplitChoice, SplitError, SyntheticConfig, SyntheticError, attach_features,
    attach_labels, load,
};
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
        let mut dataset = match generator(name) {
            Some(config) => generated(name, config?, args, common)?,
            None => load(Path::new(name), &flags.load_config())?,
        };
        if let Some(path) = &flags.features {
            attach_features(&mut dataset, path, flags.norm())?;
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
    const NAMES: [&str; 7] =
        ["demo", "cycle", "cyclic", "ordered", "noisy", "feed-forward", "erdos-renyi"];
    let (kind, _) = name.split_once(':').unwrap_or((name, ""));
    let known = NAMES.contains(&kind) && !Path::new(name).exists();
    let parse = || {
        name.parse()
            .map_err(|error: SyntheticError| usage(format!("cannot generate '{name}': {error}")))
    };
    known.then(parse)
}

fn generated(
    name: &str,
    config: SyntheticConfig,
    args: &DataArgs,
    common: &Common,
) -> anyhow::Result<Dataset> {
    let config = SyntheticConfig { seed: common.seed, ..config };
    let mut dataset = config.dataset(name)?;
    if args.flags.reverse {
        dataset.graph = dataset.graph.transpose();
    }
    if let Some(features) = &mut dataset.features {
        args.flags.norm().apply(features);
    }
    Ok(dataset)
}
