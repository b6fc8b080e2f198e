//! `JoinedChannels`: channels read as one hidden layer that is not kept.

use super::{DrawKey, Engine, Shape, Storage};

/// The logits H·V + 1·cᵀ of a hidden layer H as of a `Join` of the network with max(x, 0) for f, as an engine takes them. All channels have as
/// many columns, and stand side by side in one matrix.
pub struct JoinedChannels<'a, S: Storage = Engine> {
    /// The b_c.
    pub biases: Vec<&'a S::Buffer>,
    /// The a_c, side by side.
    pub weights: &'a S::Buffer,
    /// Whether rows are scaled to norm 1.
    pub normalize: bool,
    /// Rate and draws of the dropout.
    pub dropout: Option<(f64, DrawKey)>,
    /// V.
    pub readout: (&'a S::Buffer, Shape),
}

/// The way back through [`JoinedChannels`].
pub struct JoinedGradient<'a, S: Storage = Engine> {
    /// Which entries of H are not 0, as they were noted on the way there.
    pub kept: &'a S::Buffer,
    /// The gradient of the logits.
    pub dy: &'a S::Buffer,
    /// The X_c, in whose place their gradients are put.
    pub x: &'a mut S::Buffer,
    /// Where the gradients of all b_c go, side by side.
    pub biases: &'a mut S::Buffer,
    /// Where those of the a_c go.
    pub weights: &'a mut S::Buffer,
    /// Where those of V and c go.
    pub readout: [&'a mut S::Buffer; 2],
}
