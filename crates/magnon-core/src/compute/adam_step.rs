//! `AdamStep`: one step of Adam, as the kernels make it.

use super::{Engine, Storage};

/// The numbers of one Adam step; see Kingma and Ba.
#[derive(Clone, Copy, Debug)]
pub struct AdamStep {
    /// Step length η, the first moment's correction included.
    pub rate: f64,
    /// β₁.
    pub first: f64,
    /// β₂.
    pub second: f64,
    /// 1/√(1 − β₂ᵗ).
    pub second_correction: f64,
    /// ε.
    pub epsilon: f64,
    /// λ of the L2 term λW that is added to the gradient.
    pub l2: f64,
    /// Factor of W before the step: 1 − ηλ for decoupled decay, 1 otherwise.
    pub shrink: f64,
    /// What λ was multiplied with for these weights; a replay multiplies those of its lanes with it.
    pub decays: f64,
}

impl AdamStep {
    /// The step of a parameter that takes such a share of the decay.
    pub fn for_share(self, decays: f64) -> Self {
        // Products with 1 change nothing, and with 0 spare the parameter.
        let shrink = if decays == 1.0 { self.shrink } else { 1.0 - decays * (1.0 - self.shrink) };
        Self { l2: decays * self.l2, shrink, decays, ..self }
    }
}

/// What a step of the optimiser reads and writes, parameter by parameter.
pub struct AdamBuffers<'a, S: Storage = Engine> {
    /// What gradients are multiplied with.
    pub clip: Option<&'a S::Buffer>,
    /// The gradients.
    pub gradients: &'a [S::Buffer],
    /// The weights.
    pub weights: &'a mut [S::Buffer],
    /// First moments.
    pub first: &'a mut [S::Buffer],
    /// Second moments.
    pub second: &'a mut [S::Buffer],
}
