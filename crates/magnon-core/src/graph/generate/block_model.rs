//! The directed stochastic block model.
//!
//! Two nodes are joined with a probability that depends on their blocks; the direction of the edge
//! then follows the meta-graph with probability `direction`. Inside a block an edge runs both ways
//! with probability `mutual`; otherwise, as between blocks that only noise joins, both directions
//! are equally likely.

use super::pairs::sample;
use super::{GenerateError, GeneratorConfig, GeneratorKind};
use crate::memory;
use rand::{Rng, RngExt};
use std::ops::Range;

/// The nodes of each block; none where the graph has no blocks.
pub fn spans(config: &GeneratorConfig) -> Result<Vec<Range<usize>>, GenerateError> {
    let blocks = if config.has_blocks() { config.blocks } else { 0 };
    // The first node u with block(u) ≥ b is ⌈b·n / blocks⌉.
    let first = |b: usize| (b * config.nodes).div_ceil(config.blocks);
    let bytes = (blocks * size_of::<Range<usize>>()) as f64;
    let spans = memory::try_collect((0..blocks).map(|b| first(b)..first(b + 1)));
    spans.ok_or_else(|| config.out_of_memory(bytes))
}

/// How blocks `a < b` are joined: the probability that an edge runs from `a` to `b`, or `None`.
fn meta(config: &GeneratorConfig, a: usize, b: usize) -> Option<f64> {
    let blocks = config.blocks;
    let forward = config.direction;
    match config.kind {
        GeneratorKind::Ordered => Some(forward),
        // Of two blocks, each follows the other: no direction is left to tell.
        _ if blocks == 2 => Some(0.5),
        _ if b == a + 1 => Some(forward),
        _ if a == 0 && b == blocks - 1 => Some(1.0 - forward),
        GeneratorKind::Noisy => Some(0.5),
        _ => None,
    }
}

/// The edges.
pub fn edges<R: Rng>(
    config: &GeneratorConfig,
    spans: &[Range<usize>],
    rng: &mut R,
    edges: &mut Vec<(u32, u32)>,
) {
    let join = |edges: &mut Vec<_>, u: usize, v: usize, forward: f64, rng: &mut R| {
        let (u, v) = (u as u32, v as u32);
        edges.push(if rng.random::<f64>() < forward { (u, v) } else { (v, u) });
    };
    for (a, from) in spans.iter().enumerate() {
        sample(from.clone(), from.clone(), config.within(), rng, |u, v, rng| {
            if u < v && rng.random::<f64>() < config.mutual {
                edges.extend([(u as u32, v as u32), (v as u32, u as u32)]);
            } else if u < v {
                join(edges, u, v, 0.5, rng);
            }
        });
        for (b, to) in spans.iter().enumerate().skip(a + 1) {
            if let Some(forward) = meta(config, a, b) {
                sample(from.clone(), to.clone(), config.density, rng, |u, v, rng| {
                    join(edges, u, v, forward, rng);
                });
            }
        }
    }
}
