//! Channels joined into one hidden layer.

use super::tape::{Op, Span};
use super::trace::{Trace, Var};
use magnon_core::compute::{
    Activation, Buffer, Done, DrawKey, EngineError, Field, JoinedChannels, JoinedGradient, Shape,
};

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

impl Trace<'_, '_> {
    /// Joins real channels, each with its bias, weighted by the real row `weights`.
    pub fn join(&mut self, channels: &[(Var, Option<Var>)], weights: Var, join: Join) -> Var {
        let row = self.shape(weights);
        assert_eq!(row, Shape::real(1, channels.len()), "one weight for each channel");
        let mut parts = Vec::with_capacity(channels.len());
        for (c, &(x, bias)) in channels.iter().enumerate() {
            let mut part = bias.map_or(x, |bias| self.bias(x, bias));
            if join.normalize {
                part = self.normalize_rows(part);
            }
            parts.push(self.scale_by(weights, c, part));
        }
        let mut all = if let [only] = parts[..] { only } else { self.concatenate(&parts) };
        if let Some(f) = join.activation {
            all = self.activate(f, all);
        }
        match join.dropout {
            Some((rate, key)) => self.dropout(all, rate, key),
            None => all,
        }
    }

    /// A linear layer on what [`join`](Self::join) with max(x, 0) makes of channels that stand side by side in `x`, a product or
    /// a sum that nothing else uses. The hidden layer is gone over once and not kept, for which the engine must have
    /// [`read_channels`](magnon_core::compute::Engine::read_channels).
    pub fn read_joined(
        &mut self,
        x: Var,
        biases: &[Var],
        weights: Var,
        join: Join,
        readout: [Var; 2],
    ) -> Var {
        let (all, layer, count) = (self.shape(x), self.shape(readout[0]), biases.len());
        assert_eq!(join.activation, Some(Activation::Relu), "channels are read after max(x, 0)");
        assert_eq!(self.shape(weights), Shape::real(1, count), "one weight for each channel");
        assert_eq!((all.field(), layer.field()), (Field::Real, Field::Real), "channels are real");
        assert_eq!(all.cols(), layer.rows(), "a layer {layer:?} on {all:?}");
        for &bias in biases {
            assert_eq!(self.shape(bias).len() * count, all.cols(), "channels have as many columns");
        }
        let op = &self.tape.nodes[x.0].op;
        let outer = matches!(op, Op::Input);
        assert!(!outer && !op.needs_value(), "channels are a product or a sum");
        let join = Join { dropout: join.dropout.filter(|&(rate, _)| rate > 0.0), ..join };
        let start = self.tape.list.len();
        self.tape.list.extend_from_slice(biases);
        let span = (start, self.tape.list.len());
        let op = Op::ReadJoined { x, biases: span, weights, join, readout };
        let mut kept = self.buffer(all.len().div_ceil(SIGNS), |_, _| Ok(()));
        let var = self.compute(op, all.with_cols(layer.cols()), |trace, out| {
            let kept = kept.as_mut().ok_or_else(|| trace.failure())?;
            let joined = trace.joined(span, weights, join, readout[0])?;
            let (x, bias) = ((trace.value(x)?, all), trace.value(readout[1])?);
            trace.tape.engine.read_channels(&joined, x, bias, kept, out)
        });
        self.tape.nodes[var.0].mask = kept;
        var
    }

    /// What channels with these biases are joined by.
    fn joined(
        &self,
        span: Span,
        weights: Var,
        join: Join,
        readout: Var,
    ) -> Result<JoinedChannels<'_>, EngineError> {
        let mut biases = Vec::with_capacity(span.1 - span.0);
        for &bias in &self.tape.list[span.0..span.1] {
            biases.push(self.value(bias)?);
        }
        let Join { normalize, dropout, .. } = join;
        let readout = (self.value(readout)?, self.shape(readout));
        Ok(JoinedChannels { biases, weights: self.value(weights)?, normalize, dropout, readout })
    }

    /// Hands on the gradients of channels, biases, weights and the readout.
    pub(super) fn read_joined_back(
        &mut self,
        (of, dy): (Var, &Buffer),
        (x, span): (Var, Span),
        (weights, join, readout): (Var, Join, [Var; 2]),
        gradients: &mut [Buffer],
    ) -> Done {
        let engine = self.tape.engine;
        let (all, count) = (self.shape(x), span.1 - span.0);
        assert!(self.tape.nodes[x.0].gradient.is_none(), "channels have one use");
        let mut numbers = self.tape.nodes[x.0].value.take().ok_or_else(|| self.failure())?;
        let mut of_biases = self.tape.take(all.cols())?;
        let mut of_weights = self.tape.take(count)?;
        let mut of_readout = self.tape.take(self.shape(readout[0]).len())?;
        let mut of_last = self.tape.take(self.shape(readout[1]).len())?;
        let joined = self.joined(span, weights, join, readout[0])?;
        let kept = self.tape.nodes[of.0].mask.as_ref().ok_or_else(|| self.failure())?;
        let back = JoinedGradient {
            kept,
            dy,
            x: &mut numbers,
            biases: &mut of_biases,
            weights: &mut of_weights,
            readout: [&mut of_readout, &mut of_last],
        };
        engine.read_channels_gradient(&joined, back, all)?;
        self.tape.nodes[x.0].gradient = Some(numbers);
        let cols = all.cols() / count.max(1);
        let mut of_bias = self.tape.take(cols)?;
        for k in 0..count {
            engine.clear(&mut of_bias)?;
            let row = (&mut of_bias, Shape::real(1, cols));
            engine.add_columns((&of_biases, all.with_rows(1)), k * cols, row)?;
            let sum = |_: &Self, out: &mut Buffer, add| engine.scale(1.0, &of_bias, out, add);
            self.sum_into(self.tape.list[span.0 + k], gradients, sum)?;
        }
        let found = [(weights, &of_weights), (readout[0], &of_readout), (readout[1], &of_last)];
        for (var, found) in found {
            let sum = |_: &Self, out: &mut Buffer, add| engine.scale(1.0, found, out, add);
            self.sum_into(var, gradients, sum)?;
        }
        for buffer in [of_bias, of_biases, of_weights, of_readout, of_last] {
            self.tape.give(buffer);
        }
        Ok(())
    }
}
