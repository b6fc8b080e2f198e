//! Several products with chains of fixed maps, side by side.

use crate::nn::{CustomNode, CustomOp, Trace, Var};
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

/// The products of all chains with their real weights, side by side. What the parts of the nodes share is computed once,
/// and all parts at once.
pub struct MapChains {
    /// The operation of each part.
    parts: Vec<Arc<dyn CustomOp>>,
    chains: Arc<[MapChain]>,
}

/// The rows of one part.
struct Part {
    chains: Arc<[MapChain]>,
    head: usize,
}

impl MapChains {
    /// All parts of some chains.
    pub fn new(chains: Vec<MapChain>) -> Self {
        let chains: Arc<[MapChain]> = chains.into();
        let count = chains.first().map_or(0, |chain| chain.heads.len());
        let part = |head| Arc::new(Part { chains: chains.clone(), head }) as Arc<dyn CustomOp>;
        Self { parts: (0..count).map(part).collect(), chains }
    }

    /// The rows of one part.
    pub fn apply(&self, trace: &mut Trace, weights: &[Var], part: usize) -> Var {
        if let Some(known) = trace.find_custom(&self.parts[part], weights) {
            return known;
        }
        self.check(trace, weights);
        let cols = trace.shape(weights[0]).cols();
        let engine = trace.engine();
        let shape =
            |head: &Arc<Map>| Shape::real(engine.map_shape(head).rows(), cols * self.chains.len());
        let parts = self.parts.iter().cloned().zip(self.chains[0].heads.iter().map(shape));
        trace.custom_together(parts, weights, |trace, values| {
            let mut numbers = Vec::with_capacity(weights.len());
            for &weight in weights {
                numbers.push(trace.value(weight)?);
            }
            let maps = self.chains.iter().map(|chain| ChainMaps {
                tail: chain.tail.iter().map(Arc::as_ref).collect(),
                heads: chain.heads.iter().map(Arc::as_ref).collect(),
            });
            trace.engine().map_chains(maps.collect(), numbers, cols, values)
        });
        trace.last(self.parts.len() - 1 - part)
    }

    /// All shapes fit.
    fn check(&self, trace: &Trace, weights: &[Var]) {
        let chains = &self.chains;
        assert_eq!(chains.len(), weights.len(), "weights for each chain");
        let first = trace.shape(weights[0]);
        for (&weight, chain) in weights.iter().zip(chains.iter()) {
            let shape = trace.shape(weight);
            assert!(shape.cols() == first.cols() && shape.field() == Field::Real, "{shape:?}");
            assert_eq!(chain.heads.len(), chains[0].heads.len(), "a head for each part");
            let map = |map: &Arc<Map>| trace.engine().map_shape(map);
            let rows = chain.tail.iter().rev().map(map).fold(shape.rows(), |rows, map| {
                assert_eq!(map.cols(), rows, "a map {map:?} of {rows} rows");
                map.rows()
            });
            for (head, other) in chain.heads.iter().map(map).zip(chains[0].heads.iter().map(map)) {
                assert_eq!((head.cols(), head.rows()), (rows, other.rows()), "{head:?}");
            }
        }
    }
}

impl CustomOp for Part {
    fn backward(&self, trace: &mut Trace, node: &CustomNode, gradients: &mut [Buffer]) -> Done {
        let weights = trace.inputs(node).to_vec();
        let mut found = Vec::with_capacity(weights.len());
        for &weight in &weights {
            found.push(trace.open_gradient(weight, gradients)?);
        }
        let maps = self.chains.iter().map(|chain| ChainMaps {
            tail: chain.tail.iter().map(Arc::as_ref).collect(),
            heads: vec![chain.heads[self.head].as_ref()],
        });
        let (maps, cols) = (maps.collect(), trace.shape(weights[0]).cols());
        let outs = found.iter_mut().collect();
        let made = trace.engine().map_chains_gradient(maps, node.dy, cols, outs);
        for (weight, buffer) in weights.into_iter().zip(found) {
            trace.close_gradient(weight, buffer, gradients)?;
        }
        made
    }
}
