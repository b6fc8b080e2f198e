//! Spectral filters h(S): coefficients, response and action of one object.
//!
//! | filter | h(λ) | parameters |
//! |---|---|---|
//! | LinearRank | Σ_{k<K} 2(K−k)/(K(K+1)) λ^k | order K |
//! | Markov diffusion | (1/K) Σ_{k=1}^{K} λ^k | order K |
//! | power | λ^K | order K |
//! | personalised PageRank | (1−α) / (1 − αλ) | α |
//! | heat kernel | e^{−t(1−λ)} | time t |
//! | polynomial | Σ θ_k λ^k | θ |
//! | Chebyshev | Σ c_k T_k(λ̃) | c |
//! | Bernstein | Σ θ_k B_{k,K}(λ̃) | θ |
//! | ARMA | Σ ζ_f λ^f / (1 + Σ η_b λ^b) | ζ, η |
//!
//! λ̃ is λ mapped from the interval that holds the spectrum, its domain. PageRank and heat kernel are
//! defined by the adjacency; of a Laplacian they are taken at 1 − λ, so that they damp what a
//! Laplacian calls high frequencies there too.

mod arma;
mod bernstein;
mod blocks;
mod chebyshev;
mod config;
pub(crate) mod conjugate_gradient;
mod device;
mod error;
mod form;
mod heat;
mod input;
mod linear_rank;
mod markov;
mod page_rank;
mod polynomial;
mod power;
mod propagate;
mod recurrence;
mod response;
mod table;

pub use blocks::{bytes_for, columns_within};
pub use config::FilterConfig;
pub use device::{Propagator, propagate_on};
pub use error::FilterError;
pub use form::{Accuracy, Filter};
pub use propagate::{Exchange, Propagated, propagate, propagate_block, propagate_part};
pub use response::Response;
pub use table::{FILTERS, FilterEntry, FilterKind};
