//! The way back over a tape.

use super::engine::{Engine, Side};
use super::pass::{Loss, Pass, Var};
use super::tape::Op;

impl<'a, E: Engine> Pass<'_, 'a, E> {
    /// Puts the gradient of `loss` into `gradients`, one buffer a parameter. Matrices that the loss
    /// does not depend on cost nothing.
    pub fn backward(&mut self, loss: Loss, gradients: &mut [E::Buffer]) {
        let engine = self.tape.engine;
        self.tape.written.clear();
        self.tape.written.resize(gradients.len(), false);
        for at in (0..=loss.var.0).rev() {
            if at == loss.var.0
                && let Op::Likelihood { x, targets } = self.tape.nodes[at].op
            {
                let shape = self.shape(x);
                self.gradient_of(x, |pass, dx, _| {
                    engine.clear(dx);
                    let targets = &pass.tape.targets[targets.0..targets.1];
                    engine.likelihood_gradient((pass.value(loss.var), shape), targets, dx);
                });
                continue;
            }
            let Some(gradient) = self.tape.nodes[at].gradient.take() else { continue };
            self.step_back(Var(at), &gradient, gradients);
            // The gradient of a biased matrix is that of the sum: it moves on as it is.
            match self.tape.nodes[at].op {
                Op::Bias { x, .. } if !matches!(self.tape.nodes[x.0].op, Op::Input) => {
                    self.tape.nodes[x.0].gradient = Some(gradient)
                }
                _ => self.tape.give(gradient),
            }
        }
        for (gradient, written) in gradients.iter_mut().zip(&self.tape.written) {
            clear_unless(engine, *written, gradient);
        }
    }

    /// Hands the gradient of one matrix to those that it was computed from.
    fn step_back(&mut self, of: Var, dy: &E::Buffer, gradients: &mut [E::Buffer]) {
        let engine = self.tape.engine;
        let shape = self.shape(of);
        match self.tape.nodes[of.0].op {
            Op::Input | Op::Likelihood { .. } => (),
            Op::Parameter(_) => (), // its gradient is where the gradients are
            Op::Product { left, right } => {
                let given = || Side { buffer: dy, shape, adjoint: false };
                let (a, b) = (self.shape(left), self.shape(right));
                self.sum_into(left, gradients, |pass, out, add| {
                    let right = Side { buffer: pass.value(right), shape: b, adjoint: true };
                    engine.product(given(), right, (out, a), add);
                });
                self.sum_into(right, gradients, |pass, out, add| {
                    let left = Side { buffer: pass.value(left), shape: a, adjoint: true };
                    engine.product(left, given(), (out, b), add);
                });
            }
            Op::Map { map, x } => {
                let from = self.shape(x);
                self.sum_into(x, gradients, |_, out, add| {
                    engine.map_adjoint(map, (dy, shape), (out, from), add);
                });
            }
            Op::Bias { bias, .. } => {
                self.sum_into(bias, gradients, |_, out, add| {
                    engine.sum_rows((dy, shape), out, add);
                });
            }
            Op::Activate { f, x } => {
                let from = self.shape(x);
                self.sum_into(x, gradients, |pass, out, add| {
                    clear_unless(engine, add, out);
                    engine.activate_gradient(f, from, pass.value(x), pass.value(of), dy, out);
                });
            }
            Op::Dropout { x } => {
                let mask = self.tape.nodes[of.0].mask.take();
                if let Some(mask) = &mask {
                    self.sum_into(x, gradients, |_, out, add| match add {
                        true => engine.multiply_add(mask, dy, out),
                        false => engine.multiply(mask, dy, out),
                    });
                }
                self.tape.nodes[of.0].mask = mask;
            }
            Op::Concatenate { left, right } => {
                let (a, b) = (self.shape(left), self.shape(right));
                self.sum_into(left, gradients, |_, out, add| {
                    clear_unless(engine, add, out);
                    engine.add_columns((dy, shape), 0, (out, a));
                });
                self.sum_into(right, gradients, |_, out, add| {
                    clear_unless(engine, add, out);
                    engine.add_columns((dy, shape), a.cols, (out, b));
                });
            }
        }
    }

    /// Lets `work` put something into the gradient of a matrix, or add to it where something is
    /// there: a parameter's own, or one on the tape. A matrix from outside has none.
    fn sum_into(
        &mut self,
        var: Var,
        gradients: &mut [E::Buffer],
        work: impl FnOnce(&Self, &mut E::Buffer, bool),
    ) {
        match self.tape.nodes[var.0].op {
            Op::Input => (),
            Op::Parameter(id) => {
                let add = std::mem::replace(&mut self.tape.written[id.0], true);
                work(self, &mut gradients[id.0], add);
            }
            _ => self.gradient_of(var, work),
        }
    }

    fn gradient_of(&mut self, var: Var, work: impl FnOnce(&Self, &mut E::Buffer, bool)) {
        let found = self.tape.nodes[var.0].gradient.take();
        let add = found.is_some();
        let len = self.shape(var).len();
        let mut gradient = found.unwrap_or_else(|| self.tape.take(len));
        work(self, &mut gradient, add);
        self.tape.nodes[var.0].gradient = Some(gradient);
    }
}

fn clear_unless<E: Engine>(engine: &E, add: bool, buffer: &mut E::Buffer) {
    if !add {
        engine.clear(buffer);
    }
}
