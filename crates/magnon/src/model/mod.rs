//! The models, one file each.
//!
//! A model is a set of [`Parameters`] and a way over them. Every model first makes a matrix that all
//! nodes share ([`Model::begin`]) and then the logits of some rows ([`Model::logits`]), so that the
//! trainer asks for no more rows than it needs.

mod config;
mod mgc;
mod mlp;
mod two_layer;

pub use config::{Gate, ModelConfig, ModelError, ModelKind};
pub use mgc::mgc;
pub use mlp::mlp;
pub use two_layer::TwoLayer;

use crate::nn::{Engine, ParameterId, Parameters, Pass, Var};

/// Whether a pass is for learning or for using what was learnt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Dropout is on; the key makes its draws.
    Train([u32; 4]),
    /// Dropout is off.
    Evaluate,
}

/// Which rows a pass is about: those of a fixed map, or a block on the tape.
pub enum Rows<'a, E: Engine> {
    /// The rows of a map.
    Map(&'a E::Map),
    /// A block of input rows.
    Block(Var),
    /// A block of rows that the first weights have been applied to.
    Projected(Var),
}

/// A trained or trainable model.
pub trait Model<E: Engine> {
    /// The trained matrices.
    fn parameters(&self) -> &Parameters<E>;
    /// The first weights: the one matrix that is multiplied with features.
    fn first_weight(&self) -> ParameterId;
    /// The trained matrices, for changing.
    fn parameters_mut(&mut self) -> &mut Parameters<E>;
    /// What all rows share: the first weights, or X·W where the input is factored as H·X.
    fn begin<'a>(&self, pass: &mut Pass<'_, 'a, E>, source: Option<&'a E::Map>) -> Var;
    /// One row of logits, a class each, for every row.
    fn logits<'a>(
        &self,
        pass: &mut Pass<'_, 'a, E>,
        shared: Var,
        rows: Rows<'a, E>,
        mode: Mode,
    ) -> Var;
}
