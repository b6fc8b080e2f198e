//! Strong components as graphs of their own.

use crate::graph::{DiGraph, strong_components_from};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// A strong component of at least two nodes, renumbered in ascending order.
#[derive(Debug)]
pub(super) struct Component {
    /// What each node is called in the whole graph, ascending.
    pub names: Vec<u32>,
    /// The component, without self loops.
    pub graph: DiGraph,
    back: OnceLock<Arc<DiGraph>>,
}

impl Component {
    /// The components of `graph` that have cycles, by their smallest node; `None` when `stop` is
    /// set on the way.
    pub fn all(graph: &DiGraph, stop: &AtomicBool) -> Option<Vec<Arc<Self>>> {
        Self::split(graph, 0, |node| node, stop)
    }

    /// The components of what is left without the smallest node.
    pub fn without_first(&self, stop: &AtomicBool) -> Option<Vec<Arc<Self>>> {
        Self::split(&self.graph, 1, |node| self.names[node as usize], stop)
    }

    fn split(
        graph: &DiGraph,
        first: u32,
        name: impl Fn(u32) -> u32,
        stop: &AtomicBool,
    ) -> Option<Vec<Arc<Self>>> {
        let strong = strong_components_from(graph, first, stop)?;
        // Nodes ascend, so components are met by their smallest.
        let mut places = vec![u32::MAX; strong.count()];
        let mut members: Vec<Vec<u32>> = Vec::new();
        for node in first..graph.nodes() as u32 {
            let component = strong.of[node as usize] as usize;
            let size = strong.sizes[component];
            if size < 2 {
                continue;
            }
            if places[component] == u32::MAX {
                places[component] = members.len() as u32;
                members.push(Vec::with_capacity(size));
            }
            members[places[component] as usize].push(node);
        }
        let mut place = vec![u32::MAX; graph.nodes()];
        let component = |nodes: Vec<u32>| {
            let component = Self {
                graph: graph.induced(&nodes, &mut place),
                names: nodes.into_iter().map(&name).collect(),
                back: OnceLock::new(),
            };
            (!stop.load(Relaxed)).then(|| Arc::new(component))
        };
        members.into_iter().map(component).collect()
    }

    /// The component with its edges turned round, made once.
    pub fn back(&self) -> Arc<DiGraph> {
        self.back.get_or_init(|| Arc::new(self.graph.transpose())).clone()
    }

    /// A path of local nodes by their names.
    pub fn named(&self, path: &[u32]) -> Vec<u32> {
        path.iter().map(|&node| self.names[node as usize]).collect()
    }

    /// Number of nodes.
    pub fn size(&self) -> usize {
        self.names.len()
    }
}
