//! Weak and strong components.

use super::DiGraph;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A partition of the nodes into components.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Components {
    /// The component of each node, numbered from 0.
    pub of: Vec<u32>,
    /// The number of nodes in each component.
    pub sizes: Vec<usize>,
}

impl Components {
    /// Number of components.
    pub fn count(&self) -> usize {
        self.sizes.len()
    }

    /// Nodes in the largest component.
    pub fn largest(&self) -> usize {
        self.sizes.iter().copied().max().unwrap_or(0)
    }
}

/// Components of the underlying undirected graph, numbered by their smallest node.
pub fn weak_components(graph: &DiGraph) -> Components {
    // Union-find with path halving; the smaller root wins, so that roots are smallest nodes.
    let mut parent: Vec<u32> = (0..graph.nodes() as u32).collect();
    let find = |parent: &mut Vec<u32>, mut x: u32| {
        while parent[x as usize] != x {
            let up = parent[parent[x as usize] as usize];
            parent[x as usize] = up;
            x = up;
        }
        x
    };
    for (u, v) in graph.iter() {
        let (a, b) = (find(&mut parent, u), find(&mut parent, v));
        parent[a.max(b) as usize] = a.min(b);
    }
    let mut of = vec![0u32; graph.nodes()];
    let mut sizes = Vec::new();
    for node in 0..graph.nodes() as u32 {
        let root = find(&mut parent, node);
        if root == node {
            of[node as usize] = sizes.len() as u32;
            sizes.push(0);
        }
        of[node as usize] = of[root as usize];
        sizes[of[node as usize] as usize] += 1;
    }
    Components { of, sizes }
}

/// Strongly connected components by Tarjan's algorithm, without recursion.
///
/// Components are numbered in reverse topological order: no edge leads from a component to one
/// with a larger number.
pub fn strong_components(graph: &DiGraph) -> Components {
    strong_components_from(graph, 0, &AtomicBool::new(false)).unwrap_or_default()
}

/// The same of what is left without the nodes before `first`, which are in no component (`u32::MAX`);
/// `None` when `stop` is set on the way.
pub(crate) fn strong_components_from(
    graph: &DiGraph,
    first: u32,
    stop: &AtomicBool,
) -> Option<Components> {
    const UNSEEN: u32 = u32::MAX;
    let n = graph.nodes();
    let mut of = vec![UNSEEN; n];
    let mut sizes = Vec::new();
    let mut index = vec![UNSEEN; n];
    let mut low = vec![0u32; n];
    let mut stack = Vec::new(); // nodes whose component is still open
    let mut path: Vec<(u32, usize)> = Vec::new(); // node, next edge to look at
    let mut clock = 0;
    for start in first..n as u32 {
        if index[start as usize] != UNSEEN {
            continue;
        }
        path.push((start, 0));
        while let Some((node, edge)) = path.pop() {
            let u = node as usize;
            if stop.load(Relaxed) {
                return None;
            }
            if edge == 0 {
                index[u] = clock;
                low[u] = clock;
                clock += 1;
                stack.push(node);
            }
            let targets = graph.targets(u);
            let mut next = edge;
            let mut descend = None;
            while next < targets.len() {
                let v = targets[next] as usize;
                next += 1;
                if v < first as usize {
                    continue;
                }
                if index[v] == UNSEEN {
                    descend = Some(v as u32);
                    break;
                }
                if of[v] == UNSEEN {
                    low[u] = low[u].min(index[v]);
                }
            }
            if let Some(child) = descend {
                path.push((node, next));
                path.push((child, 0));
                continue;
            }
            if low[u] == index[u] {
                let mut size = 0;
                while let Some(member) = stack.pop() {
                    of[member as usize] = sizes.len() as u32;
                    size += 1;
                    if member == node {
                        break;
                    }
                }
                sizes.push(size);
            }
            if let Some(&(parent, _)) = path.last() {
                let p = parent as usize;
                low[p] = low[p].min(low[u]);
            }
        }
    }
    Some(Components { of, sizes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    fn graph(nodes: usize, edges: &[(u32, u32)]) -> DiGraph {
        GraphBuilder::new(nodes).edges(edges.iter().copied()).build().unwrap().graph
    }

    #[test]
    fn two_cycles_and_a_bridge() {
        let g = graph(7, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3)]);
        let strong = strong_components(&g);
        assert_eq!(strong.count(), 4);
        assert_eq!(strong.largest(), 3);
        assert_eq!(strong.of[0], strong.of[2]);
        assert!(strong.of[0] > strong.of[3]); // reverse topological numbering
        let weak = weak_components(&g);
        assert_eq!(weak.of, [0, 0, 0, 0, 0, 1, 2]);
        assert_eq!(weak.sizes, [5, 1, 1]);
    }

    #[test]
    fn long_paths_need_no_deep_stack() {
        let n = 200_000u32;
        let g = graph(n as usize, &(0..n - 1).map(|u| (u, u + 1)).collect::<Vec<_>>());
        assert_eq!(strong_components(&g).count(), n as usize);
        assert_eq!(weak_components(&g).count(), 1);
    }
}
