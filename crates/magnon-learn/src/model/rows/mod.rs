//! Networks that classify a node by one row of numbers: its features, as they are or filtered.
//!
//! The graph is used once, before training; a step then needs the rows of its training nodes and no
//! others, and rows may come in batches or from a file that is mapped and not loaded.

mod check;
mod network;
mod order;
mod project;
mod source;

pub(super) use network::{Head, RowInput, RowNetwork, filter_reach};
pub use order::ProductOrder;
pub(super) use order::{dense_rows, feature_rows, filter_rows};
pub use source::{MappedRows, RowSource};
