//! The magnetic operator of a directed graph.
//!
//! With A(u,v) the weight of u → v, A_s its symmetrisation and
//! T_q(u,v) = exp(i·2πq·(A(u,v) − A(v,u))), the operators are built from A_s ⊙ T_q, which is
//! Hermitian. One normalisation divides degrees out and in apart; its file says what follows. [`Pattern`] holds what
//! does not depend on any choice; [`MagneticOperator`] is a pattern with a [`OperatorConfig`], and cheap to make again for another charge.

mod charge;
mod components;
mod config;
mod directed;
mod edge_matrix;
mod magnetic;
mod part;
mod pattern;
mod product;

pub use crate::compute::{Along, Bounds, EdgeMatrix, Neighbourhood, Pattern};
pub use charge::{Charge, ChargeError};
pub use config::{Kind, Normalize, OperatorConfig, Phase, Symmetrize};
pub use magnetic::{MagneticOperator, OperatorError, OperatorRows};
pub use pattern::PatternError;
