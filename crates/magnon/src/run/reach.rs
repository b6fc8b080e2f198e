//! Which rows a change of the graph can reach.

use super::Known;
use crate::data::Features;
use crate::graph::DiGraph;
use crate::operator::Pattern;

/// The rows to compute again, and the nodes that are needed for it.
#[derive(Debug, PartialEq)]
pub struct Reach {
    /// Nodes whose prediction may have changed, ascending.
    pub affected: Vec<u32>,
    /// Those and all nodes within K steps of them, ascending.
    pub ball: Vec<u32>,
}

/// Follows the changes since `known` through a filter of order K.
///
/// An edge that came or went changes the rows of its two ends and, as their degrees are divided out,
/// the entries of their neighbours' rows. Row i of h(S)X depends on the rows of S within K − 1 steps
/// of i and on the rows of X within K.
pub fn reach(
    known: &Known,
    graph: &DiGraph,
    pattern: &Pattern,
    features: &Features,
    order: usize,
) -> Reach {
    let n = graph.nodes();
    // Steps that are still open from each node; a changed row goes K − 1 steps, features K.
    let mut changed = vec![false; n];
    for u in 0..n {
        let (old, old_weights) = known.edges(u);
        let (new, new_weights) = (graph.targets(u), graph.weights(u));
        if u < known.nodes() && old == new && old_weights == new_weights {
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
    let rows = grow(pattern, ends, 1);
    let mut affected = grow(pattern, rows, order.saturating_sub(1));
    let features = (0..n as u32).filter(|&u| !known.has_features(features, u as usize)).collect();
    affected.extend(grow(pattern, features, order));
    affected.sort_unstable();
    affected.dedup();
    let ball = grow(pattern, affected.clone(), order);
    Reach { affected, ball }
}

/// All nodes within so many steps, ascending.
fn grow(pattern: &Pattern, mut nodes: Vec<u32>, steps: usize) -> Vec<u32> {
    let mut seen = vec![false; pattern.nodes()];
    nodes.iter().for_each(|&u| seen[u as usize] = true);
    let mut start = 0;
    for _ in 0..steps {
        let end = nodes.len();
        if start == end {
            break;
        }
        for at in start..end {
            for (v, ..) in pattern.row(nodes[at] as usize) {
                if !std::mem::replace(&mut seen[v], true) {
                    nodes.push(v as u32);
                }
            }
        }
        start = end;
    }
    nodes.sort_unstable();
    nodes
}
