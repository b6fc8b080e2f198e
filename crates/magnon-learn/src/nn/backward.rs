//! The way back over a tape.

use super::CustomNode;
use super::tape::{Dropped, Op};
use super::trace::{Loss, Trace, Var};
use magnon_core::compute::{Attention, AttentionGradient, Buffer, Done, Engine, Factor, Map, Side};
use std::sync::Arc;

impl Trace<'_, '_> {
    /// Puts the gradient of `loss` into `gradients`, one buffer per parameter. Matrices that the loss
    /// does not depend on cost nothing.
    pub fn backward(&mut self, loss: Loss, gradients: &mut [Buffer]) -> Done {
        let engine = self.tape.engine;
        self.tape.written.clear();
        self.tape.written.resize(gradients.len(), false);
        for at in (0..=loss.var.0).rev() {
            if at == loss.var.0
                && let Op::NllLoss { x, targets } = self.tape.nodes[at].op
            {
                let shape = self.shape(x);
                self.gradient_of(x, |trace, dx, _| {
                    engine.clear(dx)?;
                    let targets = &trace.tape.targets[targets];
                    engine.nll_loss_gradient((trace.value(loss.var)?, shape), targets, dx)
                })?;
                continue;
            }
            let Some(gradient) = self.tape.nodes[at].gradient.take() else { continue };
            self.step_back(Var(at), &gradient, gradients)?;
            // The gradient of a biased matrix is that of the sum: it moves on as it is.
            match self.tape.nodes[at].op {
                Op::Bias { x, .. } if !matches!(self.tape.nodes[x.0].op, Op::Input) => {
                    self.tape.nodes[x.0].gradient = Some(gradient)
                }
                _ => self.tape.give(gradient),
            }
        }
        for (gradient, written) in gradients.iter_mut().zip(&self.tape.written) {
            clear_unless(engine, *written, gradient)?;
        }
        Ok(())
    }

    /// Hands the gradient of one matrix to those that it was computed from.
    fn step_back(&mut self, of: Var, dy: &Buffer, gradients: &mut [Buffer]) -> Done {
        let engine = self.tape.engine;
        let shape = self.shape(of);
        match self.tape.nodes[of.0].op.clone() {
            Op::Input | Op::NllLoss { .. } => Ok(()),
            // Losses and attention leave the gradients of all their inputs on the tape.
            Op::Parameter(id) => {
                let add = std::mem::replace(&mut self.tape.written[id.0], true);
                engine.scale(1.0, dy, &mut gradients[id.0], add)
            }
            Op::Product { left, right } => {
                let given = || Factor { buffer: dy, shape, adjoint: false };
                let (a, b) = (self.shape(left), self.shape(right));
                self.add_gradient(left, gradients, |trace, out, add| {
                    let right = Factor { buffer: trace.value(right)?, shape: b, adjoint: true };
                    engine.product(given(), right, (out, a), add)
                })?;
                self.add_gradient(right, gradients, |trace, out, add| {
                    let left = Factor { buffer: trace.value(left)?, shape: a, adjoint: true };
                    engine.product(left, given(), (out, b), add)
                })
            }
            Op::Map { map, x } => {
                let from = self.shape(x);
                self.add_gradient(x, gradients, |_, out, add| {
                    engine.map(&map, Side::Adjoint, None, (dy, shape), (out, from), add)
                })
            }
            Op::MaskedMap { map, mask, x } => {
                let from = self.shape(x);
                self.add_gradient(x, gradients, |trace, out, add| {
                    let mask = trace.tape.nodes[mask.0].mask.as_ref();
                    engine.map(&map, Side::Adjoint, mask, (dy, shape), (out, from), add)
                })
            }
            Op::Bias { bias, .. } => self.add_gradient(bias, gradients, |_, out, add| {
                engine.sum_rows((dy, shape), out, add)
            }),
            Op::Activate { f, x } => {
                let from = self.shape(x);
                self.add_gradient(x, gradients, |trace, out, add| {
                    clear_unless(engine, add, out)?;
                    let (x, y) = (trace.value(x)?, trace.value(of)?);
                    engine.activate_gradient(f, from, x, y, dy, out)
                })
            }
            Op::Dropout { x } => self.add_gradient(x, gradients, |trace, out, add| {
                let mask = trace.tape.nodes[of.0].mask.as_ref();
                engine.multiply(mask.ok_or_else(|| trace.failure())?, dy, out, add)
            }),
            Op::Concatenate { parts } => {
                let mut at = 0;
                for k in parts.0..parts.1 {
                    let part = self.tape.list[k];
                    let from = self.shape(part);
                    self.add_gradient(part, gradients, |_, out, add| {
                        clear_unless(engine, add, out)?;
                        engine.add_columns((dy, shape), at, (out, from))
                    })?;
                    at += from.cols();
                }
                Ok(())
            }
            Op::Sum { parts } => {
                for k in parts.0..parts.1 {
                    let (part, factor) = (self.tape.list[k], self.tape.factors[k]);
                    let whole = self.shape(part).rows() == shape.rows();
                    self.add_gradient(part, gradients, |_, out, add| {
                        // The rows that the sum left out have no gradient from it.
                        if !whole {
                            clear_unless(engine, add, out)?;
                        }
                        engine.scale(factor, dy, out, add || !whole)
                    })?;
                }
                Ok(())
            }
            Op::Combine { coefficients, from, parts } => {
                for k in parts.0..parts.1 {
                    let (part, k) = (self.tape.list[k], from + k - parts.0);
                    self.add_gradient(part, gradients, |trace, out, add| {
                        engine.scale_by((trace.value(coefficients)?, k), dy, out, add)
                    })?;
                }
                self.add_gradient(coefficients, gradients, |trace, out, add| {
                    clear_unless(engine, add, out)?;
                    let list = &trace.tape.list[parts.0..parts.1];
                    list.iter().zip(from..).try_for_each(|(&part, k)| {
                        engine.dot(trace.value(part)?, dy, (out, k), true)
                    })
                })
            }
            Op::Maximum { a, b } => {
                for (x, other, strict) in [(a, b, false), (b, a, true)] {
                    self.add_gradient(x, gradients, |trace, out, add| {
                        clear_unless(engine, add, out)?;
                        let (x, other) = (trace.value(x)?, trace.value(other)?);
                        engine.maximum_gradient(x, other, strict, dy, out)
                    })?;
                }
                Ok(())
            }
            Op::GroupDot { x, a } => {
                let (from, groups) = (self.shape(x), shape.cols());
                self.add_gradient(x, gradients, |trace, out, add| {
                    clear_unless(engine, add, out)?;
                    engine.group_dot_gradient(trace.value(a)?, groups, dy, (out, from))
                })?;
                self.add_gradient(a, gradients, |trace, out, add| {
                    clear_unless(engine, add, out)?;
                    engine.group_sum((trace.value(x)?, from), groups, dy, out)
                })
            }
            Op::NormalizeRows { x } => self.add_gradient(x, gradients, |trace, out, add| {
                clear_unless(engine, add, out)?;
                let x = (trace.value(x)?, shape);
                engine.normalize_rows_gradient(x, trace.value(of)?, dy, out)
            }),
            Op::Softmax { x } => self.add_gradient(x, gradients, |trace, out, add| {
                clear_unless(engine, add, out)?;
                engine.softmax_gradient((trace.value(of)?, shape), dy, out)
            }),
            Op::Custom { op, inputs, key } => {
                op.backward(self, &CustomNode { of, key, dy, inputs }, gradients)
            }
            Op::Attend { edges, inputs, heads, slope, dropout } => {
                self.attend_back(of, dy, &edges, inputs, (heads, slope, dropout))
            }
        }
    }

    /// Attention hands on three gradients at once, all of matrices on the tape.
    fn attend_back(
        &mut self,
        of: Var,
        dy: &Buffer,
        edges: &Arc<Map>,
        inputs: [Var; 3],
        (heads, slope, dropout): (usize, f64, Dropped),
    ) -> Done {
        let engine = self.tape.engine;
        let mut found = Vec::with_capacity(3);
        for var in inputs {
            let buffer = match self.tape.nodes[var.0].gradient.take() {
                Some(buffer) => buffer,
                None => {
                    let mut buffer = self.tape.take(self.shape(var).len())?;
                    engine.clear(&mut buffer)?;
                    buffer
                }
            };
            found.push(buffer);
        }
        if let [features, source, target] = &mut found[..] {
            let values = inputs.map(|var| self.value(var));
            let [h, s, t] = values;
            let input = Attention {
                edges: edges.as_ref(),
                features: (h?, self.shape(inputs[0])),
                source: s?,
                target: t?,
                heads,
                rows: self.shape(of).rows(),
                slope,
                dropout,
            };
            let norms = self.tape.nodes[of.0].mask.as_ref().ok_or_else(|| self.failure())?;
            let out = self.value(of)?;
            let back = AttentionGradient { norms, out, dy, features, source, target };
            engine.attend_gradient(&input, back)?;
        }
        for (var, buffer) in inputs.into_iter().zip(found) {
            match &mut self.tape.nodes[var.0].gradient {
                // One matrix may be two of the inputs.
                Some(first) => {
                    engine.scale(1.0, &buffer, first, true)?;
                    self.tape.give(buffer);
                }
                none => *none = Some(buffer),
            }
        }
        Ok(())
    }

    /// Lets `work` write the gradient of a matrix, or add to it where its last argument says that something is there.
    /// It is the parameter's own, or one on the tape. A matrix from outside has none.
    pub fn add_gradient(
        &mut self,
        var: Var,
        gradients: &mut [Buffer],
        work: impl FnOnce(&Self, &mut Buffer, bool) -> Done,
    ) -> Done {
        match self.tape.nodes[var.0].op {
            Op::Input => Ok(()),
            Op::Parameter(id) => {
                let add = std::mem::replace(&mut self.tape.written[id.0], true);
                work(self, &mut gradients[id.0], add)
            }
            _ => self.gradient_of(var, work),
        }
    }

    fn gradient_of(
        &mut self,
        var: Var,
        work: impl FnOnce(&Self, &mut Buffer, bool) -> Done,
    ) -> Done {
        let found = self.tape.nodes[var.0].gradient.take();
        let add = found.is_some();
        let len = self.shape(var).len();
        let mut gradient = match found {
            Some(gradient) => gradient,
            None => self.tape.take(len)?,
        };
        work(self, &mut gradient, add)?;
        self.tape.nodes[var.0].gradient = Some(gradient);
        Ok(())
    }
}

fn clear_unless(engine: &Engine, add: bool, buffer: &mut Buffer) -> Done {
    if add { Ok(()) } else { engine.clear(buffer) }
}
