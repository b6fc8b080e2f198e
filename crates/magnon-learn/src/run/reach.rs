//! Which rows a change of the graph can reach.

use super::PredictionCache;
use magnon_core::graph::DiGraph;
use magnon_core::matrix::Features;
use magnon_core::operator::Pattern;

/// The rows to compute again, and the nodes that are needed for it.
#[derive(Debug, PartialEq)]
pub struct Reach {
    /// Nodes whose prediction may have changed, ascending.
    pub affected: Vec<u32>,
    /// Those and all nodes within K steps of them, ascending.
    pub ball: Vec<u32>,
}

/// Follows the changes since `cache` through a model that sees K steps.
///
/// An edge that came or went changes the rows of its two ends and, as their degrees are divided out,
/// the entries of their neighbours' rows. The logits of i depend on the rows of S within K − 1
/// steps of i and on the rows of X within K.
pub fn reach(
    cache: &PredictionCache,
    graph: &DiGraph,
    pattern: &Pattern,
    features: &Features,
    order: usize,
) -> Reach {
    let n = graph.nodes();
    // Steps that are still open from each node; a changed row goes K − 1 steps, features K.
    let mut changed = vec![false; n];
    for u in 0..n {
        let (old, old_weights) = cache.edges(u);
        let (new, new_weights) = (graph.targets(u), graph.weights(u));
        if u < cache.nodes() && old == new && old_weights == new_weights {
            continue;
        }
        changed[u] = true;
        let weight = |list: &[u32], weights: Option<&[f32]>, v: u32| {
            let at = list.binary_search(&v).ok()?;
            Some(weights.map_or(1.0, |weights| weights[at]))
        };
        for &v in old.iter().chain(new) {
            if weight(old, old_weights, v) != weight(new, new_weights, v) {
                changed[v as usize] = true;
            }
        }
    }
    let ends: Vec<u32> = (0..n as u32).filter(|&u| changed[u as usize]).collect();
    let rows = pattern.within(&ends, 1);
    let mut affected = pattern.within(&rows, order.saturating_sub(1));
    let other = |u: &u32| !cache.has_features(features, *u as usize);
    let features: Vec<u32> = (0..n as u32).filter(other).collect();
    affected.extend(pattern.within(&features, order));
    affected.sort_unstable();
    affected.dedup();
    let ball = pattern.within(&affected, order);
    Reach { affected, ball }
}
