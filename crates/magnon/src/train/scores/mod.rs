//! How good a classification is, and how sure one can be.

mod metrics;
mod statistics;

pub(crate) use metrics::argmax;
pub use metrics::{ClassScore, Metrics, confusion};
pub use statistics::Summary;
