//! A plain network on raw features: the control that tells what the graph adds.

use super::two_layer::{Layers, TwoLayer};
use super::{ModelConfig, ModelError};
use crate::nn::{Activation, Engine, Field};

/// softmax(relu(XW⁰ + b⁰)W¹ + b¹).
pub fn mlp<E: Engine>(
    engine: &E,
    config: &ModelConfig,
    inputs: usize,
    classes: usize,
    seed: u64,
) -> Result<TwoLayer<E>, ModelError> {
    config.check()?;
    let ModelConfig { hidden, dropout, init, .. } = *config;
    let (field, activation) = (Field::Real, Activation::Relu);
    let layers = Layers { inputs, hidden, classes, field, activation, dropout, init };
    Ok(TwoLayer::new(engine, layers, seed))
}
