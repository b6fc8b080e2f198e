//! Strong components as graphs of their own.

use crate::graph::{DiGraph, strong_components};
use std::sync::{Arc, OnceLock};

/// A strong component of at least two nodes, renumbered in ascending order.
#[derive(Clone, Debug)]
pub(super) struct Component {
    /// What each node is called in the whole graph, ascending.
    pub names: Vec<u32>,
    /// The component, without self loops.
    pub graph: DiGraph,
    back: OnceLock<Arc<DiGraph>>,
}

impl Component {
    /// The components of `graph` that have cycles, by their smallest node.
    pub fn all(graph: &DiGraph) -> Vec<Self> {
        Self::split(graph, |node| node)
    }

    /// The components of what is left without the smallest node.
    pub fn without_first(&self) -> Vec<Self> {
        let rest: Vec<u32> = (1..self.names.len() as u32).collect();
        Self::split(&self.graph.induced(&rest), |node| self.names[node as usize + 1])
    }

    fn split(graph: &DiGraph, name: impl Fn(u32) -> u32) -> Vec<Self> {
        let strong = strong_components(graph);
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); strong.count()];
        for (node, &component) in strong.of.iter().enumerate() {
            if strong.sizes[component as usize] > 1 {
                members[component as usize].push(node as u32);
            }
        }
        members.retain(|nodes| !nodes.is_empty());
        members.sort_by_key(|nodes| nodes[0]);
        let component = |nodes: Vec<u32>| Self {
            graph: graph.induced(&nodes),
            names: nodes.into_iter().map(&name).collect(),
            back: OnceLock::new(),
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
