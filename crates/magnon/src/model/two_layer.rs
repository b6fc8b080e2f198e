//! Two linear layers with an activation and dropout between them.

use super::{Mode, Model, Rows};
use crate::nn::{
    Activation, Engine, Field, Init, ParameterId, Parameters, Pass, Shape, Var, initialise,
    initialise_bias,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// σ(X̄W⁰ + b⁰)W¹ + b¹, with a real second layer.
pub struct TwoLayer<E: Engine> {
    parameters: Parameters<E>,
    first: (ParameterId, ParameterId),
    second: (ParameterId, ParameterId),
    activation: Activation,
    dropout: f64,
}

/// Widths of the layers, and what the first one is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layers {
    pub inputs: usize,
    pub hidden: usize,
    pub classes: usize,
    pub field: Field,
    pub activation: Activation,
    pub dropout: f64,
    pub init: Init,
}

impl<E: Engine> TwoLayer<E> {
    /// Draws the weights with `seed`.
    pub(super) fn new(engine: &E, layers: Layers, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let Layers { inputs, hidden, classes, field, activation, dropout, init } = layers;
        let mut parameters = Parameters::new();
        let mut layer = |number: usize, shape: Shape| {
            let weights = initialise::<E::Real>(init, shape, &mut rng);
            let bias = Shape { rows: 1, ..shape };
            let biases = initialise_bias::<E::Real>(init, shape.rows, bias, &mut rng);
            (
                parameters.add(engine, &format!("layers.{number}.weight"), shape, &weights),
                parameters.add(engine, &format!("layers.{number}.bias"), bias, &biases),
            )
        };
        let first = layer(0, Shape { rows: inputs, cols: hidden, field });
        let second = layer(1, Shape::real(hidden, classes));
        Self { parameters, first, second, activation, dropout }
    }
}

impl<E: Engine> Model<E> for TwoLayer<E> {
    fn parameters(&self) -> &Parameters<E> {
        &self.parameters
    }

    fn first_weight(&self) -> ParameterId {
        self.first.0
    }

    fn parameters_mut(&mut self) -> &mut Parameters<E> {
        &mut self.parameters
    }

    fn begin<'a>(&self, pass: &mut Pass<'_, 'a, E>, source: Option<&'a E::Map>) -> Var {
        let weight = pass.parameter(self.first.0);
        match source {
            Some(features) => pass.map(features, weight),
            None => weight,
        }
    }

    fn logits<'a>(
        &self,
        pass: &mut Pass<'_, 'a, E>,
        shared: Var,
        rows: Rows<'a, E>,
        mode: Mode,
    ) -> Var {
        let product = match rows {
            Rows::Map(map) => pass.map(map, shared),
            Rows::Block(block) => pass.product(block, shared),
            Rows::Projected(block) => block,
        };
        let bias = pass.parameter(self.first.1);
        let sum = pass.bias(product, bias);
        let mut hidden = pass.activate(self.activation, sum);
        if let Mode::Train(key) = mode {
            hidden = pass.dropout(hidden, self.dropout, key);
        }
        let weight = pass.parameter(self.second.0);
        let bias = pass.parameter(self.second.1);
        pass.linear(hidden, weight, bias)
    }
}
