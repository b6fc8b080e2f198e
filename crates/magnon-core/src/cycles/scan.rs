//! Pairs and triangles, few enough to look at all of them.

use super::allowance::Allowance;
use super::component::Component;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Two nodes joined both ways, if there are any, in one pass; `None` when `stop` is set on the way.
pub(super) fn pair(component: &Component, stop: &AtomicBool) -> Option<Option<[u32; 2]>> {
    let back = component.back();
    for u in 0..component.size() {
        if stop.load(Relaxed) {
            return None;
        }
        let later = |list: &[u32]| list.partition_point(|&v| v as usize <= u);
        let (out, inward) = (component.graph.targets(u), back.targets(u));
        let (out, inward) = (&out[later(out)..], &inward[later(inward)..]);
        if let Some(v) = first_common(out, inward) {
            return Some(Some([u as u32, v]));
        }
    }
    Some(None)
}

/// The first number that two ascending lists share.
fn first_common(a: &[u32], b: &[u32]) -> Option<u32> {
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x == y {
            return Some(*x);
        }
        i += usize::from(x < y);
        j += usize::from(y < x);
    }
    None
}

/// A directed triangle, if there is one; `None` where the allowance ends first.
///
/// For every edge u → v the targets of v are held against the sources of u, from the side that is
/// cheaper: all sources marked and every target looked up, or every source sought among the targets
/// by halving. The sum of the smaller degrees over all edges is at most of the order of e^{3/2}.
pub(super) fn triangle(
    component: &Component,
    allowance: &mut Allowance,
) -> Option<Option<[u32; 3]>> {
    let (graph, back) = (&component.graph, component.back());
    let mut leads_back = vec![u32::MAX; graph.nodes()];
    for u in 0..graph.nodes() as u32 {
        let sources = back.targets(u as usize);
        // Each triangle is met at its smallest node.
        let sources = &sources[sources.partition_point(|&w| w < u)..];
        allowance.pay(sources.len())?;
        sources.iter().for_each(|&w| leads_back[w as usize] = u);
        for &v in graph.targets(u as usize).iter().filter(|&&v| v > u) {
            let targets = graph.targets(v as usize);
            let halvings = targets.len().max(1).ilog2() as usize + 1;
            let third = if sources.len() * halvings < targets.len() {
                allowance.pay(sources.len() * halvings)?;
                sources.iter().find(|w| targets.binary_search(w).is_ok())
            } else {
                allowance.pay(targets.len())?;
                targets.iter().find(|&&w| w > u && leads_back[w as usize] == u)
            };
            if let Some(&w) = third {
                return Some(Some([u, v, w]));
            }
        }
    }
    Some(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    /// Two hubs, joined by an edge, with 1000 nodes between that make 4-cycles alone.
    #[test]
    fn hubs_do_not_make_it_slow() {
        let spokes = (2..1002).flat_map(|w| [(1, w), (w, w + 1000), (w + 1000, 0)]);
        let edges: Vec<_> = spokes.chain([(0, 1)]).collect();
        let graph = GraphBuilder::new(2002).edges(edges).build().unwrap().graph;
        let stop = AtomicBool::new(false);
        let component = &Component::all(&graph, &stop).unwrap()[0];
        let mut allowance = Allowance { left: 20_000, stop: &stop };
        assert_eq!(triangle(component, &mut allowance), Some(None));
        assert_eq!(pair(component, &stop), Some(None));
        let mut nothing = Allowance { left: 10, stop: &stop };
        assert_eq!(triangle(component, &mut nothing), None);
    }
}
