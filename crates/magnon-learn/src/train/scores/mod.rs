//! How good a classification is, and how sure one can be.

mod interval;
mod metrics;
mod paired;
mod statistics;

pub use interval::{Interval, Spread};
pub use metrics::argmax;
pub use metrics::{ClassScore, Metrics, confusion};
pub use paired::{
    Difference, SplitSizes, difference_over_nodes, difference_over_splits, holm, over_nodes,
    over_splits,
};
pub use statistics::Summary;
