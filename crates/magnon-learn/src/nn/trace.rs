//! `Trace`: operations, computed and recorded.

use super::tape::{Node, Op, Span, Tape};
use super::{ParameterId, Parameters};
use magnon_core::compute::{
    Activation, Attention, Buffer, Done, DrawKey, Engine, EngineError, Factor, Field, Map, Shape,
    Side, TargetList,
};
use std::sync::Arc;

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

/// The way of some inputs through a model: each operation is computed at once and recorded for
/// [`backward`](Self::backward).
///
/// Where an engine fails, the operations that follow do nothing, and the loss and the way back return
/// what went wrong first.
///
/// # Panics
/// All operations panic where shapes do not fit: that is an error of the model, not of its data.
pub struct Trace<'s, 'e> {
    pub(super) tape: &'s mut Tape<'e>,
    pub(super) parameters: &'s Parameters,
}

impl<'s, 'e> Trace<'s, 'e> {
    /// Takes up the trace that a tape still holds, as to walk back over it.
    pub fn resume(tape: &'s mut Tape<'e>, parameters: &'s Parameters) -> Self {
        Self { tape, parameters }
    }

    /// Where matrices live and operations are done.
    pub fn engine(&self) -> &'e Engine {
        self.tape.engine
    }

    /// Shape of a matrix.
    pub fn shape(&self, var: Var) -> Shape {
        self.tape.nodes[var.0].shape
    }

    /// The numbers of a matrix, or what kept them from being computed.
    pub fn value(&self, var: Var) -> Result<&Buffer, EngineError> {
        let node = &self.tape.nodes[var.0];
        match (&node.value, &node.op) {
            (Some(value), _) => Ok(value),
            (None, Op::Parameter(id)) => Ok(&self.parameters.values[id.0]),
            _ => Err(self.failure()),
        }
    }

    /// What went wrong first.
    pub(super) fn failure(&self) -> EngineError {
        let taken =
            || EngineError::Unsupported("a matrix was taken over by what uses it".to_owned());
        self.tape.error.clone().unwrap_or_else(taken)
    }

    /// A matrix from outside, without a gradient.
    pub fn input(&mut self, shape: Shape, numbers: &[f32]) -> Var {
        assert_eq!(numbers.len(), shape.len(), "the numbers do not fill {shape:?}");
        self.compute(Op::Input, shape, |trace, out| trace.tape.engine.upload(numbers, out))
    }

    /// A trained matrix.
    pub fn parameter(&mut self, id: ParameterId) -> Var {
        let same = |node: &Node| matches!(node.op, Op::Parameter(other) if other == id);
        if let Some(at) = self.tape.nodes.iter().position(same) {
            return Var(at);
        }
        self.push(Op::Parameter(id), self.parameters.shapes[id.0], None)
    }

    /// X·W.
    pub fn product(&mut self, left: Var, right: Var) -> Var {
        let (a, b) = (self.shape(left), self.shape(right));
        assert_eq!(a.cols(), b.rows(), "a product of {a:?} and {b:?}");
        let shape = Shape::new(a.rows(), b.cols(), a.field().join(b.field()));
        self.compute(Op::Product { left, right }, shape, |trace, out| {
            let left = Factor { buffer: trace.value(left)?, shape: a, adjoint: false };
            let right = Factor { buffer: trace.value(right)?, shape: b, adjoint: false };
            trace.tape.engine.product(left, right, (out, shape), false)
        })
    }

    /// M·X with a fixed map M, such as the rows of X̄ or a filter.
    pub fn map(&mut self, map: &Arc<Map>, x: Var) -> Var {
        let rows = self.tape.engine.map_shape(map).rows();
        self.map_head(map, x, rows)
    }

    /// The first `rows` rows of M·X, where X has the first rows that M takes and zeros for the rest.
    pub fn map_head(&mut self, map: &Arc<Map>, x: Var, rows: usize) -> Var {
        let (m, from) = (self.tape.engine.map_shape(map), self.shape(x));
        assert!(m.cols() >= from.rows() && m.rows() >= rows, "a map {m:?} of {from:?} to {rows}");
        let shape = Shape::new(rows, from.cols(), m.field().join(from.field()));
        self.compute(Op::Map { map: map.clone(), x }, shape, |trace, out| {
            let x = (trace.value(x)?, from);
            trace.tape.engine.map(map, Side::Forward, None, x, (out, shape), false)
        })
    }

    /// The same, made once in a trace whoever asks for it: what views of different nodes have in common. A bias would
    /// take it away from the others. An engine with lanes lets such views go their ways at once, and makes it for each.
    pub fn map_once(&mut self, map: &Arc<Map>, x: Var, rows: usize) -> Var {
        let same = |node: &Node| match &node.op {
            Op::Map { map: other, x: of } => {
                Arc::ptr_eq(other, map)
                    && *of == x
                    && node.shape.rows() == rows
                    && node.value.is_some()
            }
            _ => false,
        };
        let found = match self.engine().has_lanes() {
            true => None,
            false => self.tape.nodes.iter().position(same),
        };
        match found {
            Some(at) => Var(at),
            None => self.map_head(map, x, rows),
        }
    }

    /// The numbers that a dense or sparse M stores, each dropped with probability `rate` and the
    /// others scaled by 1/(1 − rate): dropout of fixed features, for [`map_masked`](Self::map_masked).
    pub fn mask_map(&mut self, map: &Arc<Map>, rate: f64, key: DrawKey) -> Var {
        let stored = Shape::real(1, self.tape.engine.map_stored(map));
        let mask = self.buffer(stored.len(), |trace, mask| {
            trace.tape.engine.draw_mask(rate, key, stored, mask)?;
            trace.tape.engine.mask_map(map, mask)
        });
        let var = self.push(Op::Input, stored, None);
        self.tape.nodes[var.0].mask = mask;
        var
    }

    /// M·X with the numbers of a [`mask_map`](Self::mask_map) in place of those that M stores.
    pub fn map_masked(&mut self, map: &Arc<Map>, mask: Var, x: Var) -> Var {
        let (m, from) = (self.tape.engine.map_shape(map), self.shape(x));
        assert_eq!(m.cols(), from.rows(), "a map {m:?} of {from:?}");
        let shape = Shape::new(m.rows(), from.cols(), m.field().join(from.field()));
        self.compute(Op::MaskedMap { map: map.clone(), mask, x }, shape, |trace, out| {
            let values = trace.tape.nodes[mask.0].mask.as_ref().ok_or_else(|| trace.failure())?;
            let x = (trace.value(x)?, from);
            trace.tape.engine.map(map, Side::Forward, Some(values), x, (out, shape), false)
        })
    }

    /// X + 1·bᵀ, where X is a product or a sum that nothing else uses.
    pub fn bias(&mut self, x: Var, bias: Var) -> Var {
        let (shape, row) = (self.shape(x), self.shape(bias));
        assert_eq!((row.rows(), row.width()), (1, shape.width()), "a bias {row:?} on {shape:?}");
        // The sum takes over the buffer of x, whose own value is not needed on the way back.
        let node = &mut self.tape.nodes[x.0];
        let needed = node.op.needs_value();
        assert!(!needed, "a bias needs a product or a sum");
        let mut value = node.value.take();
        if let Some(sum) = &mut value
            && let Err(error) =
                self.value(bias).and_then(|bias| self.tape.engine.add_bias(bias, (sum, shape)))
        {
            self.tape.error.get_or_insert(error);
        }
        self.push(Op::Bias { x, bias }, shape, value)
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
        self.compute(Op::Activate { f, x }, shape, |trace, out| {
            trace.tape.engine.activate(f, from, trace.value(x)?, out)
        })
    }

    /// Each entry is dropped with probability `rate`, the others are scaled by 1/(1 − rate). The
    /// draws are a function of the key.
    pub fn dropout(&mut self, x: Var, rate: f64, key: DrawKey) -> Var {
        if rate == 0.0 {
            return x;
        }
        let shape = self.shape(x);
        let mask = self
            .buffer(shape.len(), |trace, mask| trace.tape.engine.draw_mask(rate, key, shape, mask));
        let var = self.compute(Op::Dropout { x }, shape, |trace, out| {
            let mask = mask.as_ref().ok_or_else(|| trace.failure())?;
            trace.tape.engine.multiply(mask, trace.value(x)?, out, false)
        });
        self.tape.nodes[var.0].mask = mask;
        var
    }

    /// The columns of all, side by side.
    pub fn concatenate(&mut self, parts: &[Var]) -> Var {
        let first = self.shape(parts[0]);
        let mut cols = 0;
        for &part in parts {
            let shape = self.shape(part);
            let alike = (shape.rows(), shape.field()) == (first.rows(), first.field());
            assert!(alike, "{first:?} beside {shape:?}");
            cols += shape.cols();
        }
        let (shape, parts) = (first.with_cols(cols), self.list(parts));
        self.compute(Op::Concatenate { parts }, shape, |trace, out| {
            let mut at = 0;
            for &part in &trace.tape.list[parts.0..parts.1] {
                let from = trace.shape(part);
                trace.tape.engine.put_columns((trace.value(part)?, from), (out, shape), at)?;
                at += from.cols();
            }
            Ok(())
        })
    }

    /// Σ f_i·X_i over the first `rows` rows of each, with fixed factors.
    pub fn sum_head(&mut self, rows: usize, terms: &[(f64, Var)]) -> Var {
        let first = self.shape(terms[0].1);
        for &(_, x) in terms {
            let shape = self.shape(x);
            let alike = (shape.cols(), shape.field()) == (first.cols(), first.field());
            assert!(alike && shape.rows() >= rows, "{rows} rows of {first:?} and of {shape:?}");
        }
        let start = self.tape.list.len();
        self.tape.list.extend(terms.iter().map(|&(_, x)| x));
        self.tape.factors.resize(start, 0.0);
        self.tape.factors.extend(terms.iter().map(|&(factor, _)| factor));
        let parts = (start, self.tape.list.len());
        self.compute(Op::Sum { parts }, first.with_rows(rows), |trace, out| {
            for k in parts.0..parts.1 {
                let (factor, x) = (trace.tape.factors[k], trace.value(trace.tape.list[k])?);
                trace.tape.engine.scale(factor, x, out, k > parts.0)?;
            }
            Ok(())
        })
    }

    /// Σ f_i·X_i with fixed factors.
    pub fn sum(&mut self, terms: &[(f64, Var)]) -> Var {
        let rows = self.shape(terms[0].1).rows();
        self.sum_head(rows, terms)
    }

    /// The first rows.
    pub fn head(&mut self, x: Var, rows: usize) -> Var {
        if rows == self.shape(x).rows() { x } else { self.sum_head(rows, &[(1.0, x)]) }
    }

    /// Σ_k c_k·X_k, where `coefficients` is a real row with a number for each.
    pub fn combine(&mut self, coefficients: Var, parts: &[Var]) -> Var {
        let row = self.shape(coefficients);
        assert_eq!(row, Shape::real(1, parts.len()), "one coefficient for each part");
        self.combine_from(coefficients, 0, parts)
    }

    /// c_k·X, where `coefficients` is a real row.
    pub fn scale_by(&mut self, coefficients: Var, k: usize, x: Var) -> Var {
        let row = self.shape(coefficients);
        assert!(row.field() == Field::Real && k < row.len(), "coefficient {k} of {row:?}");
        self.combine_from(coefficients, k, &[x])
    }

    fn combine_from(&mut self, coefficients: Var, from: usize, parts: &[Var]) -> Var {
        let shape = self.alike(parts);
        let parts = self.list(parts);
        self.compute(Op::Combine { coefficients, from, parts }, shape, |trace, out| {
            let c = trace.value(coefficients)?;
            for (k, &part) in trace.tape.list[parts.0..parts.1].iter().enumerate() {
                trace.tape.engine.scale_by((c, from + k), trace.value(part)?, out, k > 0)?;
            }
            Ok(())
        })
    }

    /// The larger of two real matrices, entry by entry.
    pub fn maximum(&mut self, a: Var, b: Var) -> Var {
        let shape = self.alike(&[a, b]);
        assert_eq!(shape.field(), Field::Real, "complex numbers have no order");
        self.compute(Op::Maximum { a, b }, shape, |trace, out| {
            trace.tape.engine.maximum(trace.value(a)?, trace.value(b)?, out)
        })
    }

    /// The columns of X fall into `groups` of equal width: the sum of X ⊙ a over each, where `a` is a
    /// real row.
    pub fn group_dot(&mut self, x: Var, a: Var, groups: usize) -> Var {
        let (shape, row) = (self.shape(x), self.shape(a));
        assert_eq!(row, Shape::real(1, shape.cols()), "a row for {shape:?}");
        assert!(shape.field() == Field::Real && shape.cols().is_multiple_of(groups));
        self.compute(Op::GroupDot { x, a }, shape.with_cols(groups), |trace, out| {
            let x = (trace.value(x)?, shape);
            trace.tape.engine.group_dot(x, trace.value(a)?, groups, out)
        })
    }

    /// Every row divided by its Euclidean norm; rows of zeros stay.
    pub fn normalize_rows(&mut self, x: Var) -> Var {
        let shape = self.shape(x);
        self.compute(Op::NormalizeRows { x }, shape, |trace, out| {
            trace.tape.engine.normalize_rows((trace.value(x)?, shape), out)
        })
    }

    /// Softmax of every row of a real matrix.
    pub fn softmax(&mut self, x: Var) -> Var {
        let shape = self.shape(x);
        assert_eq!(shape.field(), Field::Real, "softmax of {shape:?}");
        self.compute(Op::Softmax { x }, shape, |trace, out| {
            trace.tape.engine.softmax((trace.value(x)?, shape), out)
        })
    }

    /// Sums of the neighbours' `features` with weights from the scores of both ends, on the first
    /// `rows` rows; see [`Attention`].
    pub fn attend(
        &mut self,
        edges: &Arc<Map>,
        [features, source, target]: [Var; 3],
        rows: usize,
        slope: f64,
        dropout: Option<(f64, DrawKey)>,
    ) -> Var {
        let (h, s, t) = (self.shape(features), self.shape(source), self.shape(target));
        let heads = s.cols();
        let fits = h.field() == Field::Real && s.rows() == h.rows() && t.rows() == h.rows();
        assert!(fits && t.cols() == heads && h.cols().is_multiple_of(heads.max(1)), "{h:?} {s:?}");
        let shape = h.with_rows(rows);
        let dropout = dropout.filter(|&(rate, _)| rate > 0.0);
        let mut norms = self.buffer(2 * rows * heads, |_, _| Ok(()));
        let inputs = [features, source, target];
        let op = Op::Attend { edges: edges.clone(), inputs, heads, slope, dropout };
        let var = self.compute(op, shape, |trace, out| {
            let norms = norms.as_mut().ok_or_else(|| trace.failure())?;
            let [features, source, target] = inputs.map(|var| trace.value(var));
            let (source, target) = (source?, target?);
            let features = (features?, h);
            let input = Attention {
                edges: edges.as_ref(),
                features,
                source,
                target,
                heads,
                rows,
                slope,
                dropout,
            };
            trace.tape.engine.attend(&input, out, norms)
        });
        self.tape.nodes[var.0].mask = norms;
        var
    }

    /// Log-softmax of each row, as a result: it has no gradient.
    pub fn log_softmax(&mut self, x: Var) -> Var {
        let shape = self.shape(x);
        self.compute(Op::Input, shape, |trace, out| {
            trace.tape.engine.log_softmax((trace.value(x)?, shape), out)
        })
    }

    /// Log-softmax of each row, and the mean negative log likelihood of `targets` (row, class), where
    /// a row is there once at most.
    pub fn nll_loss(&mut self, x: Var, targets: &[(u32, u32)]) -> Result<Loss, EngineError> {
        self.nll_loss_of_lanes(x, &[targets])
    }

    /// The same with targets for each lane of the engine; the loss is that of the first.
    pub fn nll_loss_of_lanes(
        &mut self,
        x: Var,
        targets: &[&[(u32, u32)]],
    ) -> Result<Loss, EngineError> {
        let shape = self.shape(x);
        assert_eq!(shape.field(), Field::Real, "likelihood of {shape:?}");
        let at = self.tape.losses;
        self.tape.losses += 1;
        if self.tape.targets.len() == at {
            self.tape.targets.push(TargetList::default());
        }
        self.tape.engine.targets(targets, &mut self.tape.targets[at])?;
        let var = self.compute(Op::NllLoss { x, targets: at }, shape, |trace, out| {
            trace.tape.engine.log_softmax((trace.value(x)?, shape), out)
        });
        let targets = &self.tape.targets[at];
        let (mean, right) = self.tape.engine.nll_loss((self.value(var)?, shape), targets)?;
        Ok(Loss { var, mean, right })
    }

    /// The one shape of all.
    fn alike(&self, parts: &[Var]) -> Shape {
        let shape = self.shape(parts[0]);
        let same = parts.iter().all(|&part| self.shape(part) == shape);
        assert!(same, "matrices of other shapes than {shape:?}");
        shape
    }

    pub(super) fn list(&mut self, parts: &[Var]) -> Span {
        let start = self.tape.list.len();
        self.tape.list.extend_from_slice(parts);
        (start, self.tape.list.len())
    }

    /// Computes a matrix into a buffer of the tape and records it.
    pub(super) fn compute(
        &mut self,
        op: Op,
        shape: Shape,
        work: impl FnOnce(&Self, &mut Buffer) -> Done,
    ) -> Var {
        let value = self.buffer(shape.len(), work);
        self.push(op, shape, value)
    }

    /// A buffer of the tape with something in it; `None` after a failure.
    pub(super) fn buffer(
        &mut self,
        len: usize,
        work: impl FnOnce(&Self, &mut Buffer) -> Done,
    ) -> Option<Buffer> {
        if self.tape.error.is_some() {
            return None;
        }
        let made = self.tape.take(len).and_then(|mut value| {
            work(self, &mut value)?;
            Ok(value)
        });
        made.map_err(|error| self.tape.error.get_or_insert(error)).ok()
    }

    pub(super) fn push(&mut self, op: Op, shape: Shape, value: Option<Buffer>) -> Var {
        self.tape.nodes.push(Node { op, shape, value, mask: None, gradient: None });
        Var(self.tape.nodes.len() - 1)
    }
}
