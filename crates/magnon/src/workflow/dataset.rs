//! From the name of data to a data set.

use super::make_features::make_features;
use crate::Error;
use crate::data::{
    Dataset, FeatureNorm, MadeKind, Split, SplitChoice, SplitError, SyntheticConfig,
    attach_features, attach_labels, load,
};
use crate::graph::generate::GeneratorKind;
use crate::train::DataConfig;
use std::path::Path;

/// The data set that a configuration describes: a folder, a file, or a generator such as
/// `cyclic:nodes=500`, which draws with `seed`.
pub fn read_dataset(config: &DataConfig, seed: u64) -> Result<Dataset, Error> {
    let name = config.source.as_str();
    if name.is_empty() {
        let problem = "the name of the data is empty; name a folder, a file or a generator";
        return Err(Error::Argument(problem.to_owned()));
    }
    let mut dataset = match generator(name) {
        Some(synthetic) => generated(name, synthetic?, config, seed)?,
        None => load(Path::new(name), &config.load)?,
    };
    if let Some(path) = &config.features {
        attach_features(&mut dataset, path, &config.load)?;
    }
    if let Some(made) = config.made {
        make_features(&mut dataset, made, config.load.feature_norm)?;
    }
    if let Some(path) = &config.labels {
        attach_labels(&mut dataset, path, &config.load)?;
    }
    Ok(dataset)
}

/// The split that a configuration asks for, drawn with `seed` where it has no seed of its own; `None` where the
/// data has no split and none was asked for.
pub fn choose_split(
    dataset: &Dataset,
    config: &DataConfig,
    seed: u64,
) -> Result<Option<Split>, Error> {
    let seed = config.split_seed.unwrap_or(seed);
    match config.split.choose(&dataset.splits, dataset.labels.as_ref(), seed) {
        Ok(split) => Ok(Some(split)),
        // The default asks for a split that the data may do without.
        Err(SplitError::NoneGiven) if config.split == SplitChoice::Given(0) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// As many splits as a search decides on: the one that a configuration asks for and those after it, drawn with
/// one seed after the other.
pub fn choose_splits(
    dataset: &Dataset,
    config: &DataConfig,
    number: usize,
    seed: u64,
) -> Result<Vec<Split>, Error> {
    if !(1..=1000).contains(&number) {
        return Err(Error::Argument(format!(
            "the number of splits is {number}, but must be from 1 to 1000"
        )));
    }
    let seed = config.split_seed.unwrap_or(seed);
    let one = |k: usize| {
        let (choice, seed) = (config.split.shifted(k), seed.wrapping_add(k as u64));
        choice.choose(&dataset.splits, dataset.labels.as_ref(), seed)
    };
    Ok((0..number).map(one).collect::<Result<_, _>>()?)
}

/// [`read_dataset`] for models, which need features: where the data have none, they are made from the degrees of
/// the nodes, and that is said.
pub fn read_training_data(config: &DataConfig, seed: u64) -> Result<Dataset, Error> {
    let mut dataset = read_dataset(config, seed)?;
    ensure_features(&mut dataset, config.load.feature_norm)?;
    Ok(dataset)
}

/// Makes features from the degrees of the nodes where a data set has none, and says so.
pub fn ensure_features(dataset: &mut Dataset, norm: FeatureNorm) -> Result<(), Error> {
    if dataset.features.is_none() {
        make_features(dataset, MadeKind::Degree.into(), norm)?;
        let remark =
            "the nodes have no features of their own; the features identity take each node for one";
        dataset.remarks.push(remark.to_owned());
    }
    Ok(())
}

/// The generator of this name, where there is one.
pub fn generator(name: &str) -> Option<Result<SyntheticConfig, Error>> {
    let (kind, _) = name.split_once(':').unwrap_or((name, ""));
    let known = kind == "demo" || kind.parse::<GeneratorKind>().is_ok();
    known.then(|| {
        let parsed = name.parse::<SyntheticConfig>();
        parsed.map_err(|error| Error::Argument(format!("cannot generate '{name}': {error}")))
    })
}

/// What a user's name of data stands for. A file or folder that has the name of a generator comes first, and is given
/// its whole path: a configuration that says `demo` means the generator, whatever lies there later.
pub fn settled_source(name: &str) -> String {
    let path = Path::new(name);
    match std::path::absolute(path) {
        Ok(whole) if generator(name).is_some() && path.exists() => {
            whole.to_string_lossy().into_owned()
        }
        _ => name.to_owned(),
    }
}

fn generated(
    name: &str,
    synthetic: SyntheticConfig,
    config: &DataConfig,
    seed: u64,
) -> Result<Dataset, Error> {
    if config.load.nodes.is_some() {
        let problem = "a number of nodes is for edge lists; a generator takes it in its name, as in \
                       cyclic:nodes=500";
        return Err(Error::Argument(problem.to_owned()));
    }
    let mut dataset = SyntheticConfig { seed, ..synthetic }.dataset(name)?;
    if config.load.reverse {
        dataset.graph = dataset.graph.transpose();
    }
    if let Some(features) = &mut dataset.features {
        dataset.scaling = config.load.feature_norm.apply(features);
    }
    Ok(dataset)
}
