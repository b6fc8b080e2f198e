//! Flags that say what is read, and how.

use clap::Args;
use magnon::data::{FeatureNorm, LoadConfig, SplitChoice};
use magnon::graph::{Duplicates, SelfLoops};
use std::path::PathBuf;

#[derive(Args)]
pub struct DataArgs {
    /// Folder, file, or generator (demo, cycle, cyclic, ordered, noisy, feed-forward, erdos-renyi,
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
    /// What becomes of edges that are there twice
    #[arg(long, value_enum, default_value = "sum")]
    pub duplicates: Duplicates,
    /// Keep edges from a node to itself, which are dropped by default
    #[arg(long)]
    pub keep_self_loops: bool,
    /// Divide each row of the features by its sum; auto does so for non-negative counts
    #[arg(long, value_enum, default_value = "auto")]
    pub feature_norm: FeatureNorm,
    /// The split of the nodes: given, given:K, or percentages drawn per class such as 60/20/20
    #[arg(long, value_name = "SPLIT", default_value = "given")]
    pub split: SplitChoice,
    /// Seed of a random split [default: the common seed]
    #[arg(long, value_name = "S")]
    pub split_seed: Option<u64>,
}

impl DataFlags {
    /// The library's configuration.
    pub fn load_config(&self) -> LoadConfig {
        LoadConfig {
            reverse: self.reverse,
            duplicates: self.duplicates,
            self_loops: if self.keep_self_loops { SelfLoops::Keep } else { SelfLoops::Drop },
            feature_norm: self.feature_norm,
            nodes: self.nodes,
        }
    }
}
