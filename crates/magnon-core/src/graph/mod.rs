//! Directed graphs: storage, construction, measures and generators.

mod builder;
mod components;
mod digraph;
mod flip;
pub mod generate;
mod homophily;
mod measures;
pub(crate) mod merged;
mod rows;

pub use builder::{BuildReport, Built, Duplicates, GraphBuilder, GraphError, SelfLoops};
pub(crate) use components::strong_components_from;
pub use components::{Components, strong_components, weak_components};
pub use digraph::DiGraph;
pub use homophily::{Homophily, homophily};
pub use measures::log_degrees;
pub use measures::{DegreeStats, Measures, measure, try_measure};
pub use merged::Merged;
