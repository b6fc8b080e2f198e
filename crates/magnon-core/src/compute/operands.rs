//! What operations are given besides buffers.

use super::{EngineError, Shape};

/// One factor of a dense product.
pub struct Factor<'a, B> {
    /// The numbers.
    pub buffer: &'a B,
    /// Shape as stored.
    pub shape: Shape,
    /// Whether the conjugate transpose is meant.
    pub adjoint: bool,
}

/// What random draws are a function of: nothing has to be carried along, so a run that is taken up
/// again draws what it would have drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DrawKey {
    /// The seed of the run.
    pub seed: u64,
    /// The epoch.
    pub epoch: u32,
    /// Which batch of the epoch; 0 where all rows go at once.
    pub batch: u32,
    /// Which draw of the model, counted from 0.
    pub site: u32,
}

/// What an operation of an engine gives.
pub type Done = Result<(), EngineError>;

/// Which product a fixed map makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// M x.
    Forward,
    /// Mᴴ x.
    Adjoint,
}
