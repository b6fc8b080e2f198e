//! The way back over a tape.

use super::engine::{Engine, Side};
use super::pass::{Loss, Pass, Var};
use super::tape::Op;

impl<'a, E: Engine> Pass<'_, 'a, E> {
    /// Adds the gradient of `loss` to `gradients`, one buffer a parameter. Matrices that the loss
    /// does not depend on cost nothing.
    pub fn backward(&mut self, loss: Loss, gradients: &mut [E::Buffer]) {
        let engine = self.tape.engine;
        for at in (0..=loss.var.0).rev() {
            if at == loss.var.0
                && let Op::Likelihood { x, targets } = self.tape.nodes[at].op
            {
                let shape = self.shape(x);
                self.gradient_of(x, |pass, dx| {
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
    }

    /// Hands the gradient of one matrix to those that it was computed from.
    fn step_back(&mut self, of: Var, dy: &E::Buffer, gradients: &mut [E::Buffer]) {
        let engine = self.tape.engine;
        let shape = self.shape(of);
        match self.tape.nodes[of.0].op {
            Op::Input | Op::Likelihood { .. } => (),
            Op::Parameter(id) => engine.add(dy, &mut gradients[id.0]),
            Op::Product { left, right } => {
                let given = || Side { buffer: dy, shape, adjoint: false };
                let (a, b) = (self.shape(left), self.shape(right));
                self.sum_into(left, gradients, |pass, out| {
                    let right = Side { buffer: pass.value(right), shape: b, adjoint: true };
                    engine.product(given(), right, (out, a), true);
                });
                self.sum_into(right, gradients, |pass, out| {
                    let left = Side { buffer: pass.value(left), shape: a, adjoint: true };
                    engine.product(left, given(), (out, b), true);
                });
            }
            Op::Map { map, x } => {
                let from = self.shape(x);
                self.sum_into(x, gradients, |_, out| {
                    engine.map_adjoint(map, (dy, shape), (out, from));
                });
            }
            Op::Bias { bias, .. } => {
                self.sum_into(bias, gradients, |_, out| engine.sum_rows((dy, shape), out));
            }
            Op::Activate { f, x } => {
                let from = self.shape(x);
                self.sum_into(x, gradients, |pass, out| {
                    engine.activate_gradient(f, from, pass.value(x), pass.value(of), dy, out);
                });
            }
            Op::Dropout { x } => {
                let mask = self.tape.nodes[of.0].mask.take();
                if let Some(mask) = &mask {
                    self.sum_into(x, gradients, |_, out| engine.multiply_add(mask, dy, out));
                }
                self.tape.nodes[of.0].mask = mask;
            }
            Op::Concatenate { left, right } => {
                let (a, b) = (self.shape(left), self.shape(right));
                self.sum_into(left, gradients, |_, out| {
                    engine.add_columns((dy, shape), 0, (out, a));
                });
                self.sum_into(right, gradients, |_, out| {
                    engine.add_columns((dy, shape), a.cols, (out, b));
                });
            }
        }
    }

    /// Lets `work` add to the gradient of a matrix: a parameter's own, or one on the tape. A
    /// matrix from outside has none.
    fn sum_into(
        &mut self,
        var: Var,
        gradients: &mut [E::Buffer],
        work: impl FnOnce(&Self, &mut E::Buffer),
    ) {
        match self.tape.nodes[var.0].op {
            Op::Input => (),
            Op::Parameter(id) => work(self, &mut gradients[id.0]),
            _ => self.gradient_of(var, work),
        }
    }

    fn gradient_of(&mut self, var: Var, work: impl FnOnce(&Self, &mut E::Buffer)) {
        let mut gradient = self.tape.nodes[var.0].gradient.take().unwrap_or_else(|| {
            let len = self.shape(var).len();
            let mut fresh = self.tape.take(len);
            self.tape.engine.clear(&mut fresh);
            fresh
        });
        work(self, &mut gradient);
        self.tape.nodes[var.0].gradient = Some(gradient);
    }
}
