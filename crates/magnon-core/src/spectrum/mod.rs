//! Spectra: eigenvalues, densities, eigenmaps and what they say about charge and filters.
//!
//! | question | function |
//! |---|---|
//! | all eigenvalues, or a few, with or without vectors | [`spectrum()`] |
//! | how eigenvalues are spread, on a graph of any size | [`density()`] |
//! | which charge frustrates the graph least | [`frustration()`] |
//! | L_q and the renormalised adjacency on one axis | [`frequency_response()`] |
//! | nodes as points in the complex plane | [`eigenmap()`] |
//!
//! All are real numbers of a Hermitian operator. A random-walk operator D⁻¹A is similar to its
//! symmetric twin D^{-1/2}AD^{-1/2}, which is solved in its place: the eigenvalues are the same, and
//! an eigenvector u of the twin becomes D^{-1/2}u.
//!
//! An operator is block diagonal over the weakly connected components of its graph. Each component
//! is solved by itself, so every eigenvector lives on one of them, and a graph of many small ones
//! costs little; copies of one are solved once.

mod component_pairs;
mod config;
mod davidson;
mod dense;
mod density;
mod eigenmap;
mod error;
mod few_eigenpairs;
mod frustration;
mod pairs;
mod response;
mod search_space;
mod small;
mod solve;
mod target;
#[cfg(test)]
mod tests;
mod tiles;

pub use config::{Select, SpectrumConfig};
pub use density::{Density, DensityConfig, density};
pub use eigenmap::{Eigenmap, EigenmapConfig, eigenmap};
pub use error::SpectrumError;
pub use frustration::{Frustration, FrustrationConfig, FrustrationPoint, frustration};
pub use response::{FrequencyResponse, ResponseCurve, frequency_response};
pub use solve::{Method, Spectrum, spectrum};
