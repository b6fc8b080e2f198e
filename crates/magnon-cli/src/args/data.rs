//! Flags that say what is read, and how.

use crate::report::usage;
use clap::Args;
use magnon::data::{ExtraIds, FeatureNorm, MadeFeatures, SplitChoice, WeightTransform};
use magnon::graph::{Duplicates, SelfLoops};
use magnon::train::DataConfig;
use magnon::workflow::settled_source;
use std::path::PathBuf;

#[derive(Args)]
pub struct DataArgs {
    /// Folder, file, name of `magnon fetch --list`, or generator (demo, cycle, cyclic, ordered, noisy, feed-forward, erdos-renyi,
    /// each with optional values as in cyclic:nodes=500,blocks=5)
    pub data: Option<String>,
    #[command(flatten)]
    pub flags: DataFlags,
}

#[derive(Args)]
#[command(next_help_heading = "Data")]
pub struct DataFlags {
    /// Node features from this table (.csv, .tsv, .parquet, .feather, joined by its id column) or array
    /// (.npy, .npz, .safetensors, .pkl, one row per node), in place of those of DATA; or degree, identity, eigen:K
    /// (K eigenvectors of the magnetic Laplacian) or none (ones), made from the graph in their place; or
    /// +degree, +identity or +eigen:K, added to those of DATA
    #[arg(long, value_name = "FILE|[+]MADE")]
    pub features: Option<PathBuf>,
    /// Node labels from this table or array, in place of those of DATA
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,
    /// Number of nodes of an edge list with ids 0 to N - 1 [default: the ids that appear]
    #[arg(long, value_name = "N")]
    pub nodes: Option<usize>,
    /// Column of the edges' sources, by its header or number [default: by header, or the first]
    #[arg(long, value_name = "COLUMN", requires = "target")]
    pub source: Option<String>,
    /// Column of the edges' targets [default: by header, or the second]
    #[arg(long, value_name = "COLUMN", requires = "source")]
    pub target: Option<String>,
    /// Column of the edges' weights [default: by header, or the third of three]
    #[arg(long, value_name = "COLUMN", conflicts_with = "unweighted")]
    pub weight: Option<String>,
    /// Leave out the weights of edges
    #[arg(long)]
    pub unweighted: bool,
    /// What is done to the weights of edges [default: none]
    #[arg(long, value_enum)]
    pub weight_transform: Option<WeightTransform>,
    /// Whether the first line of an edge list names its columns [default: found out]
    #[arg(long, value_name = "yes|no", value_parser = yes_or_no)]
    pub header: Option<bool>,
    /// Column of the nodes' ids in tables of features and labels, or none for rows in the order of the
    /// nodes [default: by header]
    #[arg(long, value_name = "COLUMN")]
    pub id_column: Option<String>,
    /// Column of the labels [default: by header, or the only one beside the ids]
    #[arg(long, value_name = "COLUMN")]
    pub label_column: Option<String>,
    /// Further words that mark a node without a label, beside -1, ?, None, NA, nan and nothing
    #[arg(long, value_name = "WORD,…", value_delimiter = ',')]
    pub missing: Vec<String>,
    /// What becomes of ids of a table that no edge has [default: auto]
    #[arg(long, value_enum)]
    pub extra_ids: Option<ExtraIds>,
    /// Turn every edge round
    #[arg(long)]
    pub reverse: bool,
    /// What becomes of edges that are there twice [default: sum]
    #[arg(long, value_enum)]
    pub duplicates: Option<Duplicates>,
    /// Keep edges from a node to itself, which are dropped by default
    #[arg(long)]
    pub keep_self_loops: bool,
    /// How features are scaled: row divides each row by its sum, standard gives each column mean 0 and
    /// standard deviation 1, auto takes standard for dense columns of unlike scale and row for
    /// non-negative counts [default: auto]
    #[arg(long, value_enum)]
    pub feature_norm: Option<FeatureNorm>,
    /// The split of the nodes: given, given:K, or percentages drawn per class such as 60/20/20, or nodes such as
    /// 20x/500: 20 of each class to train on, 500 to validate, the others to test
    /// [default: given]
    #[arg(long, value_name = "SPLIT")]
    pub split: Option<SplitChoice>,
    /// Seed of a random split [default: the common seed]
    #[arg(long, value_name = "S")]
    pub split_seed: Option<u64>,
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("say yes or no".to_owned()),
    }
}

impl DataArgs {
    /// Puts the flags that were given in place of what a configuration has. The name of a public data set stays a name.
    pub fn apply(&self, config: &mut DataConfig) -> anyhow::Result<()> {
        let flags = &self.flags;
        if let Some(data) = &self.data {
            config.source = settled_source(data);
        }
        let load = &mut config.load;
        load.reverse |= flags.reverse;
        load.duplicates = flags.duplicates.unwrap_or(load.duplicates);
        load.feature_norm = flags.feature_norm.unwrap_or(load.feature_norm);
        load.nodes = flags.nodes.or(load.nodes);
        load.unweighted |= flags.unweighted;
        load.weight_transform = flags.weight_transform.unwrap_or(load.weight_transform);
        load.header = flags.header.or(load.header);
        load.extra_ids = flags.extra_ids.unwrap_or(load.extra_ids);
        if !flags.missing.is_empty() {
            load.missing.clone_from(&flags.missing);
        }
        let columns = &mut load.columns;
        for (given, place) in [
            (&flags.source, &mut columns.source),
            (&flags.target, &mut columns.target),
            (&flags.weight, &mut columns.weight),
            (&flags.id_column, &mut columns.id),
            (&flags.label_column, &mut columns.label),
        ] {
            *place = given.clone().or(place.take());
        }
        if flags.keep_self_loops {
            load.self_loops = SelfLoops::Keep;
        }
        let made = flags.features.as_ref().filter(|path| !path.exists());
        let made = match made.and_then(|path| path.to_str()) {
            Some(text) if text.starts_with("eigen:") || text.starts_with('+') => {
                Some(text.parse::<MadeFeatures>().map_err(usage)?)
            }
            text => text.and_then(|text| text.parse().ok()),
        };
        if let Some(made) = made {
            config.made = Some(made);
            // What is added stands beside the features that a preset names.
            config.features = config.features.take().filter(|_| made.added);
        } else if flags.features.is_some() {
            (config.made, config.features) = (None, flags.features.clone());
        }
        config.labels = flags.labels.clone().or(config.labels.take());
        config.split = flags.split.unwrap_or(config.split);
        config.split_seed = flags.split_seed.or(config.split_seed);
        if flags.split_seed.is_some() && matches!(config.split, SplitChoice::Given(_)) {
            return Err(usage(
                "--split-seed is for splits that are drawn; ask for one with --split 60/20/20",
            ));
        }
        Ok(())
    }
}
