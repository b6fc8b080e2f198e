//! `CustomOp`: an operation that a model brings along.

use super::tape::{Op, Span};
use super::trace::{Trace, Var};
use magnon_core::compute::{Buffer, Done, DrawKey, EngineError, Shape};
use std::sync::Arc;

/// An operation with its own way forward and back. A model that computes several steps at once enters them here, and
/// neither the tape nor another model knows of them.
///
/// [`Trace::custom`] computes the result and records the operation.
pub trait CustomOp: Send + Sync {
    /// Adds the gradients of the inputs, given that of the result; see [`Trace::add_gradient`].
    fn backward(&self, trace: &mut Trace, node: &CustomNode, gradients: &mut [Buffer]) -> Done;
}

/// The result of a custom operation, on the way back.
pub struct CustomNode<'g> {
    /// The result.
    pub of: Var,
    /// The key of its draws, where it makes some.
    pub key: Option<DrawKey>,
    /// The gradient of the result.
    pub dy: &'g Buffer,
    pub(super) inputs: Span,
}

impl Trace<'_, '_> {
    /// Computes and records a custom operation. `forward` fills the result, and `kept` numbers that the way back looks
    /// at with [`kept`](Self::kept).
    pub fn custom(
        &mut self,
        op: Arc<dyn CustomOp>,
        inputs: &[Var],
        shape: Shape,
        (key, kept): (Option<DrawKey>, usize),
        forward: impl FnOnce(&Self, &mut Buffer, &mut Buffer) -> Done,
    ) -> Var {
        let inputs = self.list(inputs);
        let mut kept = self.buffer(kept, |_, _| Ok(()));
        let var = self.compute(Op::Custom { op, inputs, key }, shape, |trace, out| {
            forward(trace, kept.as_mut().ok_or_else(|| trace.failure())?, out)
        });
        self.tape.nodes[var.0].mask = kept;
        var
    }

    /// Computes and records several operations at once, which have the same inputs and a result each.
    pub(crate) fn custom_together(
        &mut self,
        parts: impl IntoIterator<Item = (Arc<dyn CustomOp>, Shape)>,
        inputs: &[Var],
        forward: impl FnOnce(&Self, Vec<&mut Buffer>) -> Done,
    ) {
        let inputs = self.list(inputs);
        let (ops, shapes): (Vec<_>, Vec<Shape>) = parts.into_iter().unzip();
        let mut values = Vec::with_capacity(shapes.len());
        for shape in &shapes {
            values.extend(self.buffer(shape.len(), |_, _| Ok(())));
        }
        let made = match &self.tape.error {
            Some(error) => Err(error.clone()),
            None => forward(self, values.iter_mut().collect()),
        };
        if let Err(error) = made {
            self.tape.error.get_or_insert(error);
            values.clear();
        }
        let mut values = values.into_iter();
        for (op, shape) in ops.into_iter().zip(shapes) {
            self.push(Op::Custom { op, inputs, key: None }, shape, values.next());
        }
    }

    /// A matrix that was recorded, counted from the last one.
    pub(crate) fn last(&self, back: usize) -> Var {
        Var(self.tape.nodes.len() - 1 - back)
    }

    /// The result of an operation on the same inputs, where the trace has it already.
    pub(crate) fn find_custom(&self, op: &Arc<dyn CustomOp>, inputs: &[Var]) -> Option<Var> {
        let at = self.tape.nodes.iter().position(|node| match &node.op {
            Op::Custom { op: other, inputs: span, .. } => {
                let same = std::ptr::addr_eq(Arc::as_ptr(other), Arc::as_ptr(op));
                same && node.value.is_some() && self.tape.list[span.0..span.1] == *inputs
            }
            _ => false,
        });
        at.map(Var)
    }

    /// The inputs of a custom operation.
    pub fn inputs(&self, node: &CustomNode) -> &[Var] {
        &self.tape.list[node.inputs.0..node.inputs.1]
    }

    /// What the way forward has kept beside the result.
    pub fn kept(&self, of: Var) -> Result<&Buffer, EngineError> {
        self.tape.nodes[of.0].mask.as_ref().ok_or_else(|| self.failure())
    }

    /// A buffer of the tape with numbers of any value.
    pub(crate) fn take(&mut self, len: usize) -> Result<Buffer, EngineError> {
        self.tape.take(len)
    }

    /// Gives a buffer back to the tape.
    pub(crate) fn give(&mut self, buffer: Buffer) {
        self.tape.give(buffer);
    }

    /// Takes the numbers of a matrix that nothing else looks at again.
    pub(crate) fn take_value(&mut self, x: Var) -> Result<Buffer, EngineError> {
        self.tape.nodes[x.0].value.take().ok_or_else(|| self.failure())
    }

    /// Makes a buffer the gradient of a matrix that has one use.
    pub(crate) fn set_gradient(&mut self, x: Var, gradient: Buffer) {
        assert!(self.tape.nodes[x.0].gradient.is_none(), "the matrix has one use");
        self.tape.nodes[x.0].gradient = Some(gradient);
    }

    /// Whether a matrix is a product or a sum that nothing else uses, so that its numbers may be taken.
    pub(crate) fn may_be_taken(&self, x: Var) -> bool {
        let op = &self.tape.nodes[x.0].op;
        !matches!(op, Op::Input) && !op.needs_value()
    }

    /// A buffer to write a gradient into: that of a parameter itself, where nothing was added to it yet.
    /// [`close_gradient`](Self::close_gradient) puts it in its place.
    pub(crate) fn open_gradient(
        &mut self,
        of: Var,
        gradients: &mut [Buffer],
    ) -> Result<Buffer, EngineError> {
        match self.tape.nodes[of.0].op {
            Op::Parameter(id) if !self.tape.written[id.0] => {
                self.tape.written[id.0] = true;
                Ok(std::mem::replace(&mut gradients[id.0], self.tape.take(0)?))
            }
            _ => self.tape.take(self.shape(of).len()),
        }
    }

    /// Puts what was written into the buffer of [`open_gradient`](Self::open_gradient) in its place.
    pub(crate) fn close_gradient(
        &mut self,
        of: Var,
        buffer: Buffer,
        gradients: &mut [Buffer],
    ) -> Done {
        let engine = self.engine();
        match self.tape.nodes[of.0].op {
            Op::Parameter(id) if engine.len(&gradients[id.0]) == 0 => {
                let empty = std::mem::replace(&mut gradients[id.0], buffer);
                self.tape.give(empty);
                Ok(())
            }
            _ => {
                let sum = |_: &Self, out: &mut Buffer, add| engine.scale(1.0, &buffer, out, add);
                self.add_gradient(of, gradients, sum)?;
                self.tape.give(buffer);
                Ok(())
            }
        }
    }
}
