//! Flags that say what is read, and how.

use super::Common;
use crate::report::usage;
use clap::Args;
use magnon::data::{FeatureNorm, SplitChoice};
use magnon::graph::{Duplicates, SelfLoops};
use magnon::train::DataConfig;
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
    /// Node features from this file (.npy, .npz, .csv, .pkl), in place of those of DATA
    #[arg(long, value_name = "FILE")]
    pub features: Option<PathBuf>,
    /// Node labels from this file (.csv, .npy), in place of those of DATA
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,
    /// Number of nodes of an edge list with ids 0 to N - 1 [default: the ids that appear]
    #[arg(long, value_name = "N")]
    pub nodes: Option<usize>,
    /// Turn every edge round
    #[arg(long)]
    pub reverse: bool,
    /// What becomes of edges that are there twice [default: sum]
    #[arg(long, value_enum)]
    pub duplicates: Option<Duplicates>,
    /// Keep edges from a node to itself, which are dropped by default
    #[arg(long)]
    pub keep_self_loops: bool,
    /// Divide each row of the features by its sum; auto does so for non-negative counts
    /// [default: auto]
    #[arg(long, value_enum)]
    pub feature_norm: Option<FeatureNorm>,
    /// The split of the nodes: given, given:K, or percentages drawn per class such as 60/20/20
    /// [default: given]
    #[arg(long, value_name = "SPLIT")]
    pub split: Option<SplitChoice>,
    /// Seed of a random split [default: the common seed]
    #[arg(long, value_name = "S")]
    pub split_seed: Option<u64>,
}

impl DataArgs {
    /// Puts the flags that were given in place of what a configuration has.
    pub fn apply(&self, config: &mut DataConfig, common: &Common) -> anyhow::Result<()> {
        let flags = &self.flags;
        if let Some(data) = &self.data {
            config.source = crate::fetched::resolve(data, common.quiet)?;
        }
        let load = &mut config.load;
        load.reverse |= flags.reverse;
        load.duplicates = flags.duplicates.unwrap_or(load.duplicates);
        load.feature_norm = flags.feature_norm.unwrap_or(load.feature_norm);
        load.nodes = flags.nodes.or(load.nodes);
        if flags.keep_self_loops {
            load.self_loops = SelfLoops::Keep;
        }
        config.features = flags.features.clone().or(config.features.take());
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
