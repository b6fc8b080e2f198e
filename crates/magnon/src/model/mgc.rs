//! MGC, the paper's model.

use super::two_layer::{Layers, TwoLayer};
use super::{ModelConfig, ModelError};
use crate::nn::{Activation, Engine, Field};

/// softmax(ς(X̄W⁰ + b⁰)W¹ + b¹) with X̄ = h(S)X.
///
/// Where the operator is complex, so are W⁰ and b⁰, and ς(z) = tanh(Re z)·tanh(Im z). Where it is
/// real (q = 0, or q = ½ with unit weights) the whole network is, with tanh for ς.
pub fn mgc<E: Engine>(
    engine: &E,
    config: &ModelConfig,
    field: Field,
    inputs: usize,
    classes: usize,
    seed: u64,
) -> Result<TwoLayer<E>, ModelError> {
    config.check()?;
    let activation = match field {
        Field::Real => Activation::Tanh,
        Field::Complex => config.gate.activation(),
    };
    let ModelConfig { hidden, dropout, init, .. } = *config;
    let layers = Layers { inputs, hidden, classes, field, activation, dropout, init };
    Ok(TwoLayer::new(engine, layers, seed))
}
