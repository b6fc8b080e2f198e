//! Channels joined into one hidden layer.

use crate::nn::{CustomNode, CustomOp, Trace, Var};
use magnon_core::compute::{
    Activation, Buffer, Done, DrawKey, EngineError, Field, JoinedChannels, JoinedGradient, Shape,
};
use std::sync::Arc;

/// What becomes of channels X_c with biases b_c and weights a_c: the matrices f(a_c·n(X_c + 1·b_cᵀ)) side by side, some entries
/// dropped.
#[derive(Clone, Copy, Debug)]
pub struct Join {
    /// Whether n scales rows to norm 1; rows of zeros stay.
    pub normalize: bool,
    /// f, where there is one.
    pub activation: Option<Activation>,
    /// The rate and the draws of the dropout, where there is one.
    pub dropout: Option<(f64, DrawKey)>,
}

/// Entries of the hidden layer for which there is a number that signs are kept in.
const SIGNS: usize = 16;

impl Join {
    /// Joins real channels, each with its bias, weighted by the real row `weights`.
    pub fn apply(self, trace: &mut Trace, channels: &[(Var, Option<Var>)], weights: Var) -> Var {
        let row = trace.shape(weights);
        assert_eq!(row, Shape::real(1, channels.len()), "one weight for each channel");
        let mut parts = Vec::with_capacity(channels.len());
        for (c, &(x, bias)) in channels.iter().enumerate() {
            let mut part = bias.map_or(x, |bias| trace.bias(x, bias));
            if self.normalize {
                part = trace.normalize_rows(part);
            }
            parts.push(trace.scale_by(weights, c, part));
        }
        let mut all = if let [only] = parts[..] { only } else { trace.concatenate(&parts) };
        if let Some(f) = self.activation {
            all = trace.activate(f, all);
        }
        match self.dropout {
            Some((rate, key)) => trace.dropout(all, rate, key),
            None => all,
        }
    }

    /// A linear layer on what [`apply`](Self::apply) with max(x, 0) makes of channels that stand side by side in `x`, a product
    /// or a sum that nothing else uses. The hidden layer is gone over once and not kept, for which the engine must have
    /// [`read_channels`](magnon_core::compute::Engine::read_channels).
    pub fn read(
        self,
        trace: &mut Trace,
        x: Var,
        biases: &[Var],
        weights: Var,
        [layer, bias]: [Var; 2],
    ) -> Var {
        let (all, readout, count) = (trace.shape(x), trace.shape(layer), biases.len());
        assert_eq!(self.activation, Some(Activation::Relu), "channels are read after max(x, 0)");
        assert_eq!(trace.shape(weights), Shape::real(1, count), "one weight for each channel");
        assert_eq!((all.field(), readout.field()), (Field::Real, Field::Real), "channels are real");
        assert_eq!(all.cols(), readout.rows(), "a layer {readout:?} on {all:?}");
        for &bias in biases {
            assert_eq!(
                trace.shape(bias).len() * count,
                all.cols(),
                "channels have as many columns"
            );
        }
        assert!(trace.may_be_taken(x), "channels are a product or a sum");
        let dropout = self.dropout.filter(|&(rate, _)| rate > 0.0);
        let op = Readout { normalize: self.normalize, rate: dropout.map_or(0.0, |(rate, _)| rate) };
        let key = dropout.map(|(_, key)| key);
        let inputs = [&[x, weights, layer, bias], biases].concat();
        let kept = all.len().div_ceil(SIGNS);
        let shape = all.with_cols(readout.cols());
        let op = Arc::new(op);
        trace.custom(op.clone(), &inputs, shape, (key, kept), |trace, kept, out| {
            let joined = op.joined(trace, &inputs, key)?;
            let (x, bias) = ((trace.value(x)?, all), trace.value(bias)?);
            trace.engine().read_channels(&joined, x, bias, kept, out)
        })
    }
}

/// The linear layer on joined channels. Its inputs are the channels, their weights, the layer, its bias, and the biases of the
/// channels.
struct Readout {
    normalize: bool,
    /// The rate of the dropout.
    rate: f64,
}

impl Readout {
    fn joined<'t>(
        &self,
        trace: &'t Trace,
        inputs: &[Var],
        key: Option<DrawKey>,
    ) -> Result<JoinedChannels<'t>, EngineError> {
        let [_, weights, layer, _, biases @ ..] = inputs else {
            unreachable!("four and the biases")
        };
        let mut numbers = Vec::with_capacity(biases.len());
        for &bias in biases {
            numbers.push(trace.value(bias)?);
        }
        Ok(JoinedChannels {
            biases: numbers,
            weights: trace.value(*weights)?,
            normalize: self.normalize,
            dropout: key.map(|key| (self.rate, key)),
            readout: (trace.value(*layer)?, trace.shape(*layer)),
        })
    }
}

impl CustomOp for Readout {
    fn backward(&self, trace: &mut Trace, node: &CustomNode, gradients: &mut [Buffer]) -> Done {
        let engine = trace.engine();
        let inputs = trace.inputs(node).to_vec();
        let [x, weights, layer, last, ref biases @ ..] = inputs[..] else {
            unreachable!("four and the biases")
        };
        let (all, count) = (trace.shape(x), biases.len());
        let mut numbers = trace.take_value(x)?;
        let mut of_biases = trace.take(all.cols())?;
        let mut of_weights = trace.take(count)?;
        let mut of_layer = trace.take(trace.shape(layer).len())?;
        let mut of_last = trace.take(trace.shape(last).len())?;
        let joined = self.joined(trace, &inputs, node.key)?;
        let back = JoinedGradient {
            kept: trace.kept(node.of)?,
            dy: node.dy,
            x: &mut numbers,
            biases: &mut of_biases,
            weights: &mut of_weights,
            readout: [&mut of_layer, &mut of_last],
        };
        engine.read_channels_gradient(&joined, back, all)?;
        trace.set_gradient(x, numbers);
        let cols = all.cols() / count.max(1);
        let mut of_bias = trace.take(cols)?;
        for (k, &bias) in biases.iter().enumerate() {
            engine.clear(&mut of_bias)?;
            let row = (&mut of_bias, Shape::real(1, cols));
            engine.add_columns((&of_biases, all.with_rows(1)), k * cols, row)?;
            let sum = |_: &Trace, out: &mut Buffer, add| engine.scale(1.0, &of_bias, out, add);
            trace.add_gradient(bias, gradients, sum)?;
        }
        for (var, found) in [(weights, &of_weights), (layer, &of_layer), (last, &of_last)] {
            let sum = |_: &Trace, out: &mut Buffer, add| engine.scale(1.0, found, out, add);
            trace.add_gradient(var, gradients, sum)?;
        }
        for buffer in [of_bias, of_biases, of_weights, of_layer, of_last] {
            trace.give(buffer);
        }
        Ok(())
    }
}
