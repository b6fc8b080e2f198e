//! The magnetic operator of a directed graph.
//!
//! With A(u,v) the weight of u → v, A_s its symmetrisation and
//! T_q(u,v) = exp(i·2πq·(A(u,v) − A(v,u))), the operators are built from A_s ⊙ T_q, which is
//! Hermitian. One normalisation divides degrees out and in apart; its file says what follows. [`Pattern`] holds what
//! does not depend on any choice; [`MagneticOperator`] is a pattern with a [`OperatorConfig`], and cheap to make again for another charge.

mod charge;
pub(crate) mod coefficients;
mod config;
mod directed;
pub(crate) mod edge_list;
mod edge_matrix;
pub(crate) mod input;
pub(crate) mod instructions;
pub(crate) mod kernel;
pub(crate) mod line;
mod magnetic;
mod neighbourhood;
pub(crate) mod output;
mod part;
mod parts;
pub(crate) mod pattern;
mod product;
pub(crate) mod stepper;

pub use charge::{Charge, ChargeError};
pub use config::{Kind, Normalize, OperatorConfig, Phase, Symmetrize};
pub(crate) use edge_matrix::EdgeValues;
pub use edge_matrix::{Along, EdgeMatrix};
#[cfg(feature = "cuda")]
pub(crate) use magnetic::CoefficientStore;
pub(crate) use magnetic::Scaling;
pub use magnetic::{Bounds, MagneticOperator, OperatorError, OperatorRows};
pub use neighbourhood::Neighbourhood;
pub use pattern::{Pattern, PatternError};
