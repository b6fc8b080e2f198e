//! `Targets`: the labelled nodes of one part of a split.

use magnon_data::Labels;

/// The labelled nodes of one part of the split.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Targets {
    /// The nodes.
    pub nodes: Vec<u32>,
    /// Row among the nodes, and class.
    pub pairs: Vec<(u32, u32)>,
}

impl Targets {
    /// Those of `nodes` that have a label.
    pub fn of(nodes: &[u32], labels: &Labels) -> Self {
        let class = |&node: &u32| Some((node, labels.classes.get(node as usize).copied()??));
        let (nodes, classes): (Vec<u32>, Vec<u32>) = nodes.iter().filter_map(class).unzip();
        let pairs = (0..).zip(classes).collect();
        Self { nodes, pairs }
    }

    /// The same, with rows among all nodes of the graph.
    pub(crate) fn among_all(self) -> Self {
        let Self { nodes, pairs } = self;
        let pairs = nodes.iter().zip(pairs).map(|(&node, (_, class))| (node, class)).collect();
        Self { nodes, pairs }
    }

    /// Number of targets.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}
