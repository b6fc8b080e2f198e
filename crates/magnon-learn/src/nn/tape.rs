//! `Tape`: the record of one trace, and every buffer that it needs.

use super::CustomOp;
use super::parameters::ParameterId;
use super::trace::Var;
use super::{Parameters, Trace};
use magnon_core::compute::{
    Activation, Buffer, DrawKey, Engine, EngineError, Map, Shape, TargetList,
};
use std::sync::Arc;

/// What was computed, from what.
pub(super) enum Op {
    Input,
    Parameter(ParameterId),
    Product {
        left: Var,
        right: Var,
    },
    Map {
        map: Arc<Map>,
        x: Var,
    },
    /// A map whose stored numbers are those of another node's mask.
    MaskedMap {
        map: Arc<Map>,
        mask: Var,
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
    /// Operations on several matrices have them in a span of the tape's list.
    Concatenate {
        parts: Span,
    },
    /// With the factors of the tape's list.
    Sum {
        parts: Span,
    },
    /// With the coefficients from one place on.
    Combine {
        coefficients: Var,
        from: usize,
        parts: Span,
    },
    Maximum {
        a: Var,
        b: Var,
    },
    GroupDot {
        x: Var,
        a: Var,
    },
    NormalizeRows {
        x: Var,
    },
    Softmax {
        x: Var,
    },
    Attend {
        edges: Arc<Map>,
        inputs: [Var; 3],
        heads: usize,
        slope: f64,
        dropout: Dropped,
    },
    /// What a model brings along.
    Custom {
        op: Arc<dyn CustomOp>,
        inputs: Span,
        key: Option<DrawKey>,
    },
    /// The targets are these of the tape's.
    NllLoss {
        x: Var,
        targets: usize,
    },
}

impl Op {
    /// Whether the way back looks at the result.
    pub fn needs_value(&self) -> bool {
        matches!(
            self,
            Self::Activate { .. }
                | Self::Softmax { .. }
                | Self::NormalizeRows { .. }
                | Self::Attend { .. }
                | Self::Parameter(_)
        )
    }
}

/// From, and up to.
pub(super) type Span = (usize, usize);
/// The rate and the draws of a dropout.
pub(super) type Dropped = Option<(f64, DrawKey)>;

// By hand: a derived one would ask for an engine that can be cloned.
impl Clone for Op {
    fn clone(&self) -> Self {
        match self {
            Self::Input => Self::Input,
            Self::Parameter(id) => Self::Parameter(*id),
            Self::Product { left, right } => Self::Product { left: *left, right: *right },
            Self::Map { map, x } => Self::Map { map: map.clone(), x: *x },
            Self::MaskedMap { map, mask, x } => {
                Self::MaskedMap { map: map.clone(), mask: *mask, x: *x }
            }
            Self::Bias { x, bias } => Self::Bias { x: *x, bias: *bias },
            Self::Activate { f, x } => Self::Activate { f: *f, x: *x },
            Self::Dropout { x } => Self::Dropout { x: *x },
            Self::Concatenate { parts } => Self::Concatenate { parts: *parts },
            Self::Sum { parts } => Self::Sum { parts: *parts },
            Self::Combine { coefficients, from, parts } => {
                Self::Combine { coefficients: *coefficients, from: *from, parts: *parts }
            }
            Self::Maximum { a, b } => Self::Maximum { a: *a, b: *b },
            Self::GroupDot { x, a } => Self::GroupDot { x: *x, a: *a },
            Self::NormalizeRows { x } => Self::NormalizeRows { x: *x },
            Self::Softmax { x } => Self::Softmax { x: *x },
            Self::Attend { edges, inputs, heads, slope, dropout } => Self::Attend {
                edges: edges.clone(),
                inputs: *inputs,
                heads: *heads,
                slope: *slope,
                dropout: *dropout,
            },
            Self::Custom { op, inputs, key } => {
                Self::Custom { op: op.clone(), inputs: *inputs, key: *key }
            }
            Self::NllLoss { x, targets } => Self::NllLoss { x: *x, targets: *targets },
        }
    }
}

/// One matrix of a trace.
pub(super) struct Node {
    pub op: Op,
    pub shape: Shape,
    /// The numbers; a parameter's are where the parameters are. Missing after a failure, and where a
    /// bias or the way back took them over.
    pub value: Option<Buffer>,
    /// The mask of a dropout, the norms of an attention, or what a custom operation keeps.
    pub mask: Option<Buffer>,
    pub gradient: Option<Buffer>,
}

/// The record of a trace. Its buffers serve again at the next one.
///
/// ```
/// use magnon_core::compute::{Activation, Engine, Shape};
/// use magnon_learn::nn::{Parameters, Tape};
/// let engine = Engine::double();
/// let mut parameters = Parameters::new();
/// let w = parameters.add(&engine, "w", Shape::real(2, 3), &[0.5; 6])?;
/// let mut tape = Tape::new(&engine);
/// let mut trace = tape.trace(&parameters);
/// let x = trace.input(Shape::real(1, 2), &[1.0, -1.0]);
/// let w = trace.parameter(w);
/// let y = trace.product(x, w);
/// let y = trace.activate(Activation::Tanh, y);
/// let loss = trace.nll_loss(y, &[(0, 2)])?;
/// assert!((loss.mean - 3f64.ln()).abs() < 1e-12);
/// # Ok::<(), magnon_core::compute::EngineError>(())
/// ```
pub struct Tape<'e> {
    pub(super) engine: &'e Engine,
    pub(super) nodes: Vec<Node>,
    /// Matrices of operations that take several.
    pub(super) list: Vec<Var>,
    /// Their factors, where the operation has some.
    pub(super) factors: Vec<f64>,
    /// Targets of the losses of this trace, and more that serve again.
    pub(super) targets: Vec<TargetList>,
    /// Losses of this trace.
    pub(super) losses: usize,
    /// Which parameters' gradients hold something, on the way back.
    pub(super) written: Vec<bool>,
    /// What went wrong first; nothing is computed after it.
    pub(super) error: Option<EngineError>,
    /// Buffers that no node holds.
    free: Vec<Buffer>,
}

impl<'e> Tape<'e> {
    /// An empty tape.
    pub fn new(engine: &'e Engine) -> Self {
        Self {
            engine,
            nodes: Vec::new(),
            list: Vec::new(),
            factors: Vec::new(),
            targets: Vec::new(),
            losses: 0,
            written: Vec::new(),
            error: None,
            free: Vec::new(),
        }
    }

    /// Begins a trace; what the last one computed is gone.
    pub fn trace<'s>(&'s mut self, parameters: &'s Parameters) -> Trace<'s, 'e> {
        let Self { nodes, free, .. } = self;
        for node in nodes.drain(..) {
            free.extend([node.value, node.mask, node.gradient].into_iter().flatten());
        }
        self.losses = 0;
        self.list.clear();
        self.factors.clear();
        self.error = None;
        Trace::resume(self, parameters)
    }

    /// Bytes of all its buffers.
    pub fn bytes(&self) -> usize {
        let held = self.nodes.iter().flat_map(|node| [&node.value, &node.mask, &node.gradient]);
        let all = held.flatten().chain(&self.free);
        all.map(|buffer| self.engine.len(buffer)).sum::<usize>() * self.engine.width()
    }

    /// A buffer of `len` numbers of any value.
    pub(super) fn take(&mut self, len: usize) -> Result<Buffer, EngineError> {
        // The last ones given back are likely to be still in cache.
        match self.free.iter().rposition(|buffer| self.engine.len(buffer) == len) {
            Some(at) => Ok(self.free.swap_remove(at)),
            None => self.engine.zeros(len),
        }
    }

    pub(super) fn give(&mut self, buffer: Buffer) {
        self.free.push(buffer);
    }
}
