//! Data sets: a graph with features, labels and splits, read from files in many formats.

mod allocate;
mod attach;
mod companions;
mod dataset;
mod detect;
#[doc(hidden)]
pub mod disk;
mod error;
mod feature_file;
mod fingerprint;
pub mod listing;
mod load;
mod made_features;
#[doc(hidden)]
pub mod numpy;
mod packed;
mod pickle;
mod raw_dataset;
mod read;
mod reader;
mod recognise;
mod split;
mod store;
mod synthetic;
mod table;
#[cfg(test)]
pub(crate) mod testing;
mod text;
mod weights;
pub mod write;

pub use attach::{attach_features, attach_labels, read_signal};
pub use dataset::{
    ColumnUse, Dataset, FeatureNorm, FirstEdge, Labels, NodeNames, Reading, Scaling,
};
pub use error::DataError;
pub use feature_file::{FeatureFile, PartScaling};
pub use fingerprint::split_check;
pub use fingerprint::{Fingerprint, fingerprint};
pub use load::set_features;
pub use load::{ExtraIds, LoadConfig, TableColumns, WeightTransform, load};
pub use made_features::{MadeFeatures, MadeKind};
pub use magnon_core::matrix::Features;
pub use packed::{GraphPart, PackConfig, PackReport, PartReport, cut, pack, part_file};
pub use reader::{RawData, Reader, register};
pub use split::{Part, Split, SplitChoice, SplitError};
pub use synthetic::{SyntheticConfig, SyntheticError};
