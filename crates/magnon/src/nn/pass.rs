//! `Pass`: operations, computed and recorded.

use super::engine::{Activation, Engine, Side};
use super::tape::{Node, Op, Tape};
use super::{ParameterId, Parameters, Shape};

/// A matrix on the tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Var(pub(super) usize);

/// A loss on the tape.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    pub(super) var: Var,
    /// Mean negative log likelihood of the targets.
    pub mean: f64,
    /// Targets whose class is the likeliest.
    pub right: usize,
}

/// One pass over a model: each operation is computed at once and recorded for
/// [`backward`](Self::backward).
///
/// # Panics
/// All operations panic where shapes do not fit: that is an error of the model, not of its data.
pub struct Pass<'s, 'a, E: Engine> {
    pub(super) tape: &'s mut Tape<'a, E>,
    pub(super) parameters: &'s Parameters<E>,
}

impl<'s, 'a, E: Engine> Pass<'s, 'a, E> {
    /// Takes up the pass that a tape still holds, as to walk back over it.
    pub fn resume(tape: &'s mut Tape<'a, E>, parameters: &'s Parameters<E>) -> Self {
        Self::new(tape, parameters)
    }

    pub(super) fn new(tape: &'s mut Tape<'a, E>, parameters: &'s Parameters<E>) -> Self {
        Self { tape, parameters }
    }

    /// Shape of a matrix.
    pub fn shape(&self, var: Var) -> Shape {
        self.tape.nodes[var.0].shape
    }

    /// The numbers of a matrix.
    pub fn value(&self, var: Var) -> &E::Buffer {
        let node = &self.tape.nodes[var.0];
        match (&node.value, &node.op) {
            (Some(value), _) => value,
            (None, Op::Parameter(id)) => &self.parameters.values[id.0],
            _ => unreachable!("only parameters keep their numbers elsewhere"),
        }
    }

    /// A matrix from outside, without a gradient.
    pub fn input(&mut self, shape: Shape, numbers: &[E::Real]) -> Var {
        let mut value = self.tape.take(shape.len());
        self.tape.engine.upload(numbers, &mut value);
        self.push(Op::Input, shape, Some(value))
    }

    /// A trained matrix.
    pub fn parameter(&mut self, id: ParameterId) -> Var {
        self.push(Op::Parameter(id), self.parameters.shapes[id.0], None)
    }

    /// X·W.
    pub fn product(&mut self, left: Var, right: Var) -> Var {
        let (a, b) = (self.shape(left), self.shape(right));
        assert_eq!(a.cols, b.rows, "a product of {a:?} and {b:?}");
        let shape = Shape { rows: a.rows, cols: b.cols, field: a.field.join(b.field) };
        self.compute(Op::Product { left, right }, shape, |pass, out| {
            let side =
                |var| Side { buffer: pass.value(var), shape: pass.shape(var), adjoint: false };
            pass.tape.engine.product(side(left), side(right), (out, shape), false);
        })
    }

    /// M·X with a fixed map M, such as the rows of X̄ or a filter.
    pub fn map(&mut self, map: &'a E::Map, x: Var) -> Var {
        let (m, from) = (self.tape.engine.map_shape(map), self.shape(x));
        assert_eq!(m.cols, from.rows, "a map {m:?} of {from:?}");
        let shape = Shape { rows: m.rows, cols: from.cols, field: m.field.join(from.field) };
        self.compute(Op::Map { map, x }, shape, |pass, out| {
            pass.tape.engine.map(map, (pass.value(x), from), (out, shape));
        })
    }

    /// X + 1·bᵀ, where X is a product that nothing else uses.
    pub fn bias(&mut self, x: Var, bias: Var) -> Var {
        let (shape, row) = (self.shape(x), self.shape(bias));
        assert_eq!((row.rows, row.width()), (1, shape.width()), "a bias {row:?} on {shape:?}");
        // The sum takes over the buffer of x: a product's own value is not needed on the way back.
        let node = &mut self.tape.nodes[x.0];
        let taken = matches!(node.op, Op::Product { .. } | Op::Map { .. } | Op::Input);
        assert!(taken, "a bias needs a product");
        let Some(mut value) = node.value.take() else { unreachable!("one bias a product") };
        self.tape.engine.add_bias(self.value(bias), (&mut value, shape));
        self.push(Op::Bias { x, bias }, shape, Some(value))
    }

    /// X·W + 1·bᵀ.
    pub fn linear(&mut self, x: Var, weight: Var, bias: Var) -> Var {
        let product = self.product(x, weight);
        self.bias(product, bias)
    }

    /// f(X).
    pub fn activate(&mut self, f: Activation, x: Var) -> Var {
        let from = self.shape(x);
        let shape = f.result(from);
        assert!(shape.is_some(), "{f:?} of {from:?}");
        let shape = shape.unwrap_or(from);
        self.compute(Op::Activate { f, x }, shape, |pass, out| {
            pass.tape.engine.activate(f, from, pass.value(x), out);
        })
    }

    /// Each entry is dropped with probability `rate`, the others are scaled by 1/(1 − rate). The
    /// draws are a function of the key.
    pub fn dropout(&mut self, x: Var, rate: f64, key: [u32; 4]) -> Var {
        if rate == 0.0 {
            return x;
        }
        let shape = self.shape(x);
        let mut mask = self.tape.take(shape.len());
        self.tape.engine.draw_mask(rate, key, shape, &mut mask);
        let var = self.compute(Op::Dropout { x }, shape, |pass, out| {
            pass.tape.engine.multiply(&mask, pass.value(x), out);
        });
        self.tape.nodes[var.0].mask = Some(mask);
        var
    }

    /// The columns of both, side by side.
    pub fn concatenate(&mut self, left: Var, right: Var) -> Var {
        let (a, b) = (self.shape(left), self.shape(right));
        assert_eq!((a.rows, a.field), (b.rows, b.field), "{a:?} beside {b:?}");
        let shape = Shape { cols: a.cols + b.cols, ..a };
        self.compute(Op::Concatenate { left, right }, shape, |pass, out| {
            pass.tape.engine.put_columns((pass.value(left), a), (out, shape), 0);
            pass.tape.engine.put_columns((pass.value(right), b), (out, shape), a.cols);
        })
    }

    /// Log-softmax of each row, as a result: it has no gradient.
    pub fn log_softmax(&mut self, x: Var) -> Var {
        let shape = self.shape(x);
        self.compute(Op::Input, shape, |pass, out| {
            pass.tape.engine.log_softmax((pass.value(x), shape), out);
        })
    }

    /// Log-softmax of each row, and the mean negative log likelihood of `targets` (row, class), where
    /// a row is there once at most.
    pub fn likelihood(&mut self, x: Var, targets: &[(u32, u32)]) -> Loss {
        let shape = self.shape(x);
        assert_eq!(shape.field, super::Field::Real, "likelihood of {shape:?}");
        let start = self.tape.targets.len();
        self.tape.targets.extend_from_slice(targets);
        let span = (start, self.tape.targets.len());
        let var = self.compute(Op::Likelihood { x, targets: span }, shape, |pass, out| {
            pass.tape.engine.log_softmax((pass.value(x), shape), out);
        });
        let (mean, right) = self.tape.engine.likelihood((self.value(var), shape), targets);
        Loss { var, mean, right }
    }

    /// Computes a matrix into a buffer of the tape and records it.
    fn compute(
        &mut self,
        op: Op<'a, E>,
        shape: Shape,
        work: impl FnOnce(&Self, &mut E::Buffer),
    ) -> Var {
        let mut value = self.tape.take(shape.len());
        work(self, &mut value);
        self.push(op, shape, Some(value))
    }

    fn push(&mut self, op: Op<'a, E>, shape: Shape, value: Option<E::Buffer>) -> Var {
        self.tape.nodes.push(Node { op, shape, value, mask: None, gradient: None });
        Var(self.tape.nodes.len() - 1)
    }
}
