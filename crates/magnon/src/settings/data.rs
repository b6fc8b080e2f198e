//! What is read, and how.

use super::{excludes, requires, value};
use crate::Error;
use crate::data::{ExtraIds, FeatureNorm, MadeFeatures, SplitChoice, WeightTransform};
use crate::graph::{Duplicates, SelfLoops};
use crate::train::DataConfig;
use crate::workflow::settled_source;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What is read, and how; what is not given stays as a configuration has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Data"))]
pub struct DataSettings {
    /// Folder, file, name of `magnon fetch --list`, or generator (demo, cycle, cyclic, ordered, noisy, feed-forward, erdos-renyi,
    /// each with optional values as in cyclic:nodes=500,blocks=5)
    #[cfg_attr(feature = "clap", arg(help_heading = clap::builder::Resettable::Reset))]
    pub data: Option<String>,
    /// Node features from this table (.csv, .tsv, .parquet, .feather, joined by its id column) or array
    /// (.npy, .npz, .safetensors, .pkl, one row per node), in place of those of DATA; or degree, identity, eigen:K
    /// (K eigenvectors of the magnetic Laplacian) or none (ones), made from the graph in their place; or
    /// +degree, +identity or +eigen:K, added to those of DATA
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE|[+]MADE"))]
    pub features: Option<PathBuf>,
    /// Node labels from this table or array, in place of those of DATA
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub labels: Option<PathBuf>,
    /// Number of nodes of an edge list with ids 0 to N - 1 [default: the ids that appear]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub nodes: Option<usize>,
    /// Column of the edges' sources, by its header or number [default: by header, or the first]
    #[cfg_attr(feature = "clap", arg(long, value_name = "COLUMN", requires = "target"))]
    #[serde(deserialize_with = "value::text")]
    pub source: Option<String>,
    /// Column of the edges' targets [default: by header, or the second]
    #[cfg_attr(feature = "clap", arg(long, value_name = "COLUMN", requires = "source"))]
    #[serde(deserialize_with = "value::text")]
    pub target: Option<String>,
    /// Column of the edges' weights [default: by header, or the third of three]
    #[cfg_attr(feature = "clap", arg(long, value_name = "COLUMN", conflicts_with = "unweighted"))]
    #[serde(deserialize_with = "value::text")]
    pub weight: Option<String>,
    /// Leave out the weights of edges
    #[cfg_attr(feature = "clap", arg(long))]
    pub unweighted: bool,
    /// What is done to the weights of edges [default: none]
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub weight_transform: Option<WeightTransform>,
    /// Whether the first line of an edge list names its columns [default: found out]
    #[cfg_attr(feature = "clap", arg(long, value_name = "yes|no", value_parser = value::yes_or_no))]
    pub header: Option<bool>,
    /// Column of the nodes' ids in tables of features and labels, or none for rows in the order of the
    /// nodes [default: by header]
    #[cfg_attr(feature = "clap", arg(long, value_name = "COLUMN"))]
    #[serde(deserialize_with = "value::text")]
    pub id_column: Option<String>,
    /// Column of the labels [default: by header, or the only one beside the ids]
    #[cfg_attr(feature = "clap", arg(long, value_name = "COLUMN"))]
    #[serde(deserialize_with = "value::text")]
    pub label_column: Option<String>,
    /// Further words that mark a node without a label, beside -1, ?, None, NA, nan and nothing
    #[cfg_attr(feature = "clap", arg(long, value_name = "WORD,…", value_delimiter = ','))]
    #[serde(deserialize_with = "value::list")]
    pub missing: Vec<String>,
    /// What becomes of ids of a table that no edge has [default: auto]
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub extra_ids: Option<ExtraIds>,
    /// Turn every edge round
    #[cfg_attr(feature = "clap", arg(long))]
    pub reverse: bool,
    /// What becomes of edges that are there twice [default: sum]
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub duplicates: Option<Duplicates>,
    /// Keep edges from a node to itself, which are dropped by default
    #[cfg_attr(feature = "clap", arg(long))]
    pub keep_self_loops: bool,
    /// How features are scaled: row divides each row by its sum, standard gives each column mean 0 and
    /// standard deviation 1, auto takes standard for dense columns of unlike scale and row for
    /// non-negative counts [default: auto]
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub feature_norm: Option<FeatureNorm>,
    /// The split of the nodes: given, given:K, or percentages drawn per class such as 60/20/20, or nodes such as
    /// 20x/500: 20 of each class to train on, 500 to validate, the others to test
    /// [default: given]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SPLIT"))]
    #[serde(deserialize_with = "value::text")]
    pub split: Option<SplitChoice>,
    /// Seed of a random split [default: the common seed]
    #[cfg_attr(feature = "clap", arg(long, value_name = "S"))]
    pub split_seed: Option<u64>,
}

impl DataSettings {
    /// The configuration of what was given.
    pub fn config(&self) -> Result<DataConfig, Error> {
        let mut config = DataConfig::default();
        self.apply(&mut config)?;
        Ok(config)
    }

    /// Puts what was given in place of what a configuration has. The name of a public data set stays a name.
    pub fn apply(&self, config: &mut DataConfig) -> Result<(), Error> {
        requires(("source", self.source.is_some()), ("target", self.target.is_some()))?;
        requires(("target", self.target.is_some()), ("source", self.source.is_some()))?;
        excludes(("weight", self.weight.is_some()), &[("unweighted", self.unweighted)])?;
        if let Some(data) = &self.data {
            config.source = settled_source(data);
        }
        let load = &mut config.load;
        load.reverse |= self.reverse;
        load.duplicates = self.duplicates.unwrap_or(load.duplicates);
        load.feature_norm = self.feature_norm.unwrap_or(load.feature_norm);
        load.nodes = self.nodes.or(load.nodes);
        load.unweighted |= self.unweighted;
        load.weight_transform = self.weight_transform.unwrap_or(load.weight_transform);
        load.header = self.header.or(load.header);
        load.extra_ids = self.extra_ids.unwrap_or(load.extra_ids);
        if !self.missing.is_empty() {
            load.missing.clone_from(&self.missing);
        }
        let columns = &mut load.columns;
        for (given, place) in [
            (&self.source, &mut columns.source),
            (&self.target, &mut columns.target),
            (&self.weight, &mut columns.weight),
            (&self.id_column, &mut columns.id),
            (&self.label_column, &mut columns.label),
        ] {
            *place = given.clone().or(place.take());
        }
        if self.keep_self_loops {
            load.self_loops = SelfLoops::Keep;
        }
        self.apply_features(config)?;
        config.labels = self.labels.clone().or(config.labels.take());
        config.split = self.split.unwrap_or(config.split);
        config.split_seed = self.split_seed.or(config.split_seed);
        if self.split_seed.is_some() && matches!(config.split, SplitChoice::Given(_)) {
            let problem = "is for splits that are drawn; ask for one, such as 60/20/20";
            return Err(Error::parameter("split_seed", problem));
        }
        Ok(())
    }

    fn apply_features(&self, config: &mut DataConfig) -> Result<(), Error> {
        let made = self.features.as_ref().filter(|path| !path.exists());
        let made = match made.and_then(|path| path.to_str()) {
            Some(text) if text.starts_with("eigen:") || text.starts_with('+') => {
                Some(text.parse::<MadeFeatures>().map_err(Error::Argument)?)
            }
            text => text.and_then(|text| text.parse().ok()),
        };
        if let Some(made) = made {
            config.made = Some(made);
            // What is added stands beside the features that a preset names.
            config.features = config.features.take().filter(|_| made.added);
        } else if self.features.is_some() {
            (config.made, config.features) = (None, self.features.clone());
        }
        Ok(())
    }
}
