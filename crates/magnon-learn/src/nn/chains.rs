//! Several products with chains of fixed maps, side by side.

use super::tape::{Node, Op, Span};
use super::trace::{Trace, Var};
use magnon_core::compute::{Buffer, ChainMaps, Done, Field, Map, Shape};
use std::sync::Arc;

/// M·T₁·…·T_m, a product of sparse real maps: `tail` holds the T_k, and `heads` a matrix M for each part of the nodes that go
/// through the same trace.
pub struct MapChain {
    /// The T_k from the first to the last.
    pub tail: Vec<Arc<Map>>,
    /// One M for each part.
    pub heads: Vec<Arc<Map>>,
}

impl Trace<'_, '_> {
    /// The products of all chains with their real weights, side by side, for one part. What the parts share is computed once,
    /// and all parts at once.
    pub fn map_chains(&mut self, chains: &Arc<[MapChain]>, weights: &[Var], head: usize) -> Var {
        let found =
            self.tape.nodes.iter().position(|node| self.is_chains(node, chains, weights, head));
        if let Some(at) = found {
            return Var(at);
        }
        assert_eq!(chains.len(), weights.len(), "weights for each chain");
        let first = self.shape(weights[0]);
        for (&weight, chain) in weights.iter().zip(chains.iter()) {
            let shape = self.shape(weight);
            assert!(shape.cols() == first.cols() && shape.field() == Field::Real, "{shape:?}");
            assert_eq!(chain.heads.len(), chains[0].heads.len(), "a head for each part");
            let map = |map: &Arc<Map>| self.engine().map_shape(map);
            let rows = chain.tail.iter().rev().map(map).fold(shape.rows(), |rows, map| {
                assert_eq!(map.cols(), rows, "a map {map:?} of {rows} rows");
                map.rows()
            });
            for (head, other) in chain.heads.iter().map(map).zip(chains[0].heads.iter().map(map)) {
                assert_eq!((head.cols(), head.rows()), (rows, other.rows()), "{head:?}");
            }
        }
        let width = first.cols() * weights.len();
        let start = self.tape.list.len();
        self.tape.list.extend_from_slice(weights);
        let span = (start, self.tape.list.len());
        let parts = chains[0].heads.len();
        let shape = |part: usize| {
            Shape::real(self.engine().map_shape(&chains[0].heads[part]).rows(), width)
        };
        let shapes: Vec<Shape> = (0..parts).map(shape).collect();
        let mut values = Vec::with_capacity(parts);
        for shape in &shapes {
            values.extend(self.buffer(shape.len(), |_, _| Ok(())));
        }
        let made = self.chains_there(chains, span, &mut values);
        let mut values =
            made.map_err(|error| self.tape.error.get_or_insert(error)).ok().map(|()| values);
        let mut wanted = Var(0);
        for part in (0..parts).rev() {
            let op = Op::Chains { chains: chains.clone(), weights: span, head: part };
            let value = values.as_mut().and_then(Vec::pop);
            let var = self.push(op, shapes[part], value);
            if part == head {
                wanted = var;
            }
        }
        wanted
    }

    fn is_chains(
        &self,
        node: &Node,
        chains: &Arc<[MapChain]>,
        weights: &[Var],
        head: usize,
    ) -> bool {
        match &node.op {
            Op::Chains { chains: other, weights: span, head: part } => {
                let same = Arc::ptr_eq(other, chains) && *part == head && node.value.is_some();
                same && self.tape.list[span.0..span.1] == *weights
            }
            _ => false,
        }
    }

    fn chains_there(&self, chains: &[MapChain], span: Span, values: &mut [Buffer]) -> Done {
        if let Some(error) = &self.tape.error {
            return Err(error.clone());
        }
        let mut weights = Vec::with_capacity(chains.len());
        for &weight in &self.tape.list[span.0..span.1] {
            weights.push(self.value(weight)?);
        }
        let maps = chains.iter().map(|chain| ChainMaps {
            tail: chain.tail.iter().map(Arc::as_ref).collect(),
            heads: chain.heads.iter().map(Arc::as_ref).collect(),
        });
        let cols = self.shape(self.tape.list[span.0]).cols();
        self.tape.engine.map_chains(maps.collect(), weights, cols, values.iter_mut().collect())
    }

    /// Hands the gradient of one part to the weights.
    pub(super) fn chains_back(
        &mut self,
        dy: &Buffer,
        (chains, span, head): (&[MapChain], Span, usize),
        gradients: &mut [Buffer],
    ) -> Done {
        let engine = self.tape.engine;
        let first = self.tape.list[span.0];
        let mut found = Vec::with_capacity(chains.len());
        for at in span.0..span.1 {
            let weight = self.tape.list[at];
            // The first use of a parameter may write its gradient, later ones add to it.
            found.push(match self.tape.nodes[weight.0].op {
                Op::Parameter(id) if !self.tape.written[id.0] => {
                    self.tape.written[id.0] = true;
                    std::mem::replace(&mut gradients[id.0], self.tape.take(0)?)
                }
                _ => self.tape.take(self.shape(weight).len())?,
            });
        }
        let maps = chains.iter().map(|chain| ChainMaps {
            tail: chain.tail.iter().map(Arc::as_ref).collect(),
            heads: vec![chain.heads[head].as_ref()],
        });
        let (maps, cols) = (maps.collect(), self.shape(first).cols());
        let made = engine.map_chains_gradient(maps, dy, cols, found.iter_mut().collect());
        for (at, buffer) in (span.0..span.1).zip(found) {
            let weight = self.tape.list[at];
            match self.tape.nodes[weight.0].op {
                Op::Parameter(id) if engine.len(&gradients[id.0]) == 0 => {
                    let empty = std::mem::replace(&mut gradients[id.0], buffer);
                    self.tape.give(empty);
                }
                _ => {
                    let sum =
                        |_: &Self, out: &mut Buffer, add| engine.scale(1.0, &buffer, out, add);
                    self.sum_into(weight, gradients, sum)?;
                    self.tape.give(buffer);
                }
            }
        }
        made
    }
}
