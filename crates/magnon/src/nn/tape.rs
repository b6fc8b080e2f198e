//! `Tape`: the record of one pass, and every buffer that it needs.

use super::engine::{Activation, Engine};
use super::parameters::ParameterId;
use super::pass::Var;
use super::{Parameters, Pass, Shape};

/// What was computed, from what.
pub(super) enum Op<'a, E: Engine> {
    Input,
    Parameter(ParameterId),
    Product {
        left: Var,
        right: Var,
    },
    Map {
        map: &'a E::Map,
        x: Var,
    },
    Bias {
        x: Var,
        bias: Var,
    },
    Activate {
        f: Activation,
        x: Var,
    },
    Dropout {
        x: Var,
    },
    Concatenate {
        left: Var,
        right: Var,
    },
    /// The targets are this span of the tape's.
    Likelihood {
        x: Var,
        targets: (usize, usize),
    },
}

/// One matrix of a pass.
pub(super) struct Node<'a, E: Engine> {
    pub op: Op<'a, E>,
    pub shape: Shape,
    /// The numbers; a parameter's are where the parameters are.
    pub value: Option<E::Buffer>,
    /// The mask of a dropout.
    pub mask: Option<E::Buffer>,
    pub gradient: Option<E::Buffer>,
}

/// The record of a pass. Its buffers serve again at the next one.
///
/// ```
/// use magnon::nn::{Activation, Cpu, Parameters, Shape, Tape};
/// let engine = Cpu::<f64>::sequential();
/// let mut parameters = Parameters::new();
/// let w = parameters.add(&engine, "w", Shape::real(2, 3), &[0.5; 6]);
/// let mut tape = Tape::new(&engine);
/// let mut pass = tape.pass(&parameters);
/// let x = pass.input(Shape::real(1, 2), &[1.0, -1.0]);
/// let w = pass.parameter(w);
/// let y = pass.product(x, w);
/// let y = pass.activate(Activation::Tanh, y);
/// let loss = pass.likelihood(y, &[(0, 2)]);
/// assert!((loss.mean - 3f64.ln()).abs() < 1e-12);
/// ```
pub struct Tape<'a, E: Engine> {
    pub(super) engine: &'a E,
    pub(super) nodes: Vec<Node<'a, E>>,
    /// Targets (row, class) of the losses of this pass.
    pub(super) targets: Vec<(u32, u32)>,
    /// Which parameters' gradients hold something, on the way back.
    pub(super) written: Vec<bool>,
    /// Buffers that no node holds.
    free: Vec<E::Buffer>,
}

impl<'a, E: Engine> Tape<'a, E> {
    /// An empty tape.
    pub fn new(engine: &'a E) -> Self {
        Self {
            engine,
            nodes: Vec::new(),
            targets: Vec::new(),
            written: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Begins a pass; what the last one computed is gone.
    pub fn pass<'s>(&'s mut self, parameters: &'s Parameters<E>) -> Pass<'s, 'a, E> {
        let Self { nodes, free, .. } = self;
        for node in nodes.drain(..) {
            free.extend([node.value, node.mask, node.gradient].into_iter().flatten());
        }
        self.targets.clear();
        Pass::new(self, parameters)
    }

    /// A buffer of `len` numbers of any value.
    pub(super) fn take(&mut self, len: usize) -> E::Buffer {
        // The last ones given back are likely to be still in cache.
        match self.free.iter().rposition(|buffer| self.engine.len(buffer) == len) {
            Some(at) => self.free.swap_remove(at),
            None => self.engine.zeros(len),
        }
    }

    pub(super) fn give(&mut self, buffer: E::Buffer) {
        self.free.push(buffer);
    }
}
