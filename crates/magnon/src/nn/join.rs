//! Channels joined into one hidden layer.

use super::engine::{Activation, Done, DrawKey, Engine};
use super::tape::{Op, Span};
use super::trace::{Trace, Var};
use super::{EngineError, Field, Shape};

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

/// One channel of a [`Join`] with max(x, 0) for f, as an engine takes it.
pub struct JoinedChannel<'a, E: Engine> {
    /// X_c.
    pub x: (&'a E::Buffer, Shape),
    /// b_c.
    pub bias: &'a E::Buffer,
    /// The a of all channels, and which of them is meant.
    pub weight: (&'a E::Buffer, usize),
    /// Whether rows are scaled to norm 1.
    pub normalize: bool,
    /// Rate and draws of the dropout.
    pub dropout: Option<(f64, DrawKey)>,
    /// The first of its columns among those of all.
    pub at: usize,
}

/// The way back through a [`JoinedChannel`].
pub struct JoinedGradient<'a, E: Engine> {
    /// All channels joined, and their shape.
    pub y: (&'a E::Buffer, Shape),
    /// The gradient of that.
    pub dy: &'a E::Buffer,
    /// Where the gradient of X_c goes, and whether it is added to what is there.
    pub dx: (&'a mut E::Buffer, bool),
    /// Where the gradient of b_c goes.
    pub bias: &'a mut E::Buffer,
    /// What the gradient of a_c is added to, at its place.
    pub weights: &'a mut E::Buffer,
}

impl<E: Engine> Trace<'_, '_, E> {
    /// Joins real channels, each with its bias, weighted by the real row `weights`. An engine that can does so in one
    /// sweep for each channel, others step by step.
    pub fn join(&mut self, channels: &[(Var, Option<Var>)], weights: Var, join: Join) -> Var {
        let row = self.shape(weights);
        assert_eq!(row, Shape::real(1, channels.len()), "one weight for each channel");
        let join = Join { dropout: join.dropout.filter(|&(rate, _)| rate > 0.0), ..join };
        let whole = channels.iter().all(|&(x, bias)| {
            let shape = self.shape(x);
            let row = bias.map(|bias| self.shape(bias));
            let fits = shape.field() == Field::Real && row == Some(Shape::real(1, shape.cols()));
            fits && self.engine().joins_channels(shape.cols())
        });
        match whole && join.activation == Some(Activation::Relu) {
            true => self.join_whole(channels, weights, join),
            false => self.join_by_steps(channels, weights, join),
        }
    }

    fn join_by_steps(&mut self, channels: &[(Var, Option<Var>)], weights: Var, join: Join) -> Var {
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

    fn join_whole(&mut self, channels: &[(Var, Option<Var>)], weights: Var, join: Join) -> Var {
        let first = self.shape(channels[0].0);
        let start = self.tape.list.len();
        let mut cols = 0;
        for &(x, bias) in channels {
            let shape = self.shape(x);
            assert_eq!(shape.rows(), first.rows(), "{first:?} beside {shape:?}");
            let outer = matches!(self.tape.nodes[x.0].op, Op::Parameter(_) | Op::Input);
            assert!(!outer, "a channel is a product or a sum");
            cols += shape.cols();
            self.tape.list.push(x);
            self.tape.list.extend(bias);
        }
        let (span, shape) = ((start, self.tape.list.len()), first.with_cols(cols));
        self.compute(Op::Join { channels: span, weights, join }, shape, |trace, out| {
            let mut at = 0;
            for k in 0..channels.len() {
                let channel = trace.joined(span, weights, join, (k, at))?;
                at += channel.x.1.cols();
                trace.tape.engine.join_channel(&channel, (out, shape))?;
            }
            Ok(())
        })
    }

    /// The k-th channel of a span, from the column `at` on.
    fn joined(
        &self,
        span: Span,
        weights: Var,
        join: Join,
        (k, at): (usize, usize),
    ) -> Result<JoinedChannel<'_, E>, EngineError> {
        let [x, bias] = [0, 1].map(|which| self.tape.list[span.0 + 2 * k + which]);
        let Join { normalize, dropout, .. } = join;
        Ok(JoinedChannel {
            x: (self.value(x)?, self.shape(x)),
            bias: self.value(bias)?,
            weight: (self.value(weights)?, k),
            normalize,
            dropout,
            at,
        })
    }

    /// Hands on the gradients of channels, biases and weights.
    pub(super) fn join_back(
        &mut self,
        of: Var,
        dy: &E::Buffer,
        span: Span,
        (weights, join): (Var, Join),
        gradients: &mut [E::Buffer],
    ) -> Done {
        let engine = self.tape.engine;
        let (shape, mut at) = (self.shape(of), 0);
        let mut of_weights = self.tape.take(self.shape(weights).len())?;
        engine.clear(&mut of_weights)?;
        for k in 0..(span.1 - span.0) / 2 {
            let [x, bias] = [0, 1].map(|which| self.tape.list[span.0 + 2 * k + which]);
            let (from, found) = (self.shape(x), self.tape.nodes[x.0].gradient.take());
            let add = found.is_some();
            let mut dx = match found {
                Some(gradient) => gradient,
                None => self.tape.take(from.len())?,
            };
            let mut of_bias = self.tape.take(from.cols())?;
            let channel = self.joined(span, weights, join, (k, at))?;
            let back = JoinedGradient {
                y: (self.value(of)?, shape),
                dy,
                dx: (&mut dx, add),
                bias: &mut of_bias,
                weights: &mut of_weights,
            };
            engine.join_channel_gradient(&channel, back)?;
            at += from.cols();
            self.tape.nodes[x.0].gradient = Some(dx);
            let sum = |_: &Self, out: &mut E::Buffer, add| engine.scale(1.0, &of_bias, out, add);
            self.sum_into(bias, gradients, sum)?;
            self.tape.give(of_bias);
        }
        let sum = |_: &Self, out: &mut E::Buffer, add| engine.scale(1.0, &of_weights, out, add);
        self.sum_into(weights, gradients, sum)?;
        self.tape.give(of_weights);
        Ok(())
    }
}
