//! DiGCN: a GCN on a Laplacian of the directed graph made by PageRank.

use super::error::{check_count, check_dropout, check_width};
use super::gcn::GcnConfig;
use super::gdc::{matrices, pattern_of};
use super::graph::{GraphModel, GraphNetwork, GraphView};
use super::network::BuildSeconds;
use super::tunable::{Tunable, Values, numbers};
use super::{
    Architecture, Direction, Inputs, Mode, ModelError, ModelInfo, Network, Reach, TrainingDefaults,
};
use crate::nn::{Init, Linear, Trace, Var};
use magnon_core::compute::{Activation, Engine, MapSource};
use magnon_core::graph::DiGraph;
use magnon_core::matrix::SparseMatrix;
use magnon_core::operator::{Neighbourhood, Pattern};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// H^{l+1} = relu(M·H^l·W^l + b^l) with M = ½(Π^{1/2}PΠ^{-1/2} + Π^{-1/2}PᵀΠ^{1/2}), where
/// P = D̃^{-1}(A + I) walks along the edges and Π has its PageRank on the diagonal.
///
/// The PageRank is that of the paper's auxiliary node: a walk leaves for it with probability α and
/// comes back anywhere. It is found by power iteration; M has the entries of A + Aᵀ + I and is never
/// dense. With `inception`, each layer adds H^lW' and a product with the second-order proximity: nodes
/// that share both a successor and a predecessor.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `alpha` | 0.1 | probability to leave for the auxiliary node | (0, 1) |
/// | `inception` | false | whether layers see second-order proximity too | |
/// | `hidden` | 64 | width of the hidden layers | 1 to 65536 |
/// | `layers` | 2 | number of layers | 1 to 64 |
/// | `dropout` | 0.5 | share of each layer's input left out in training | [0, 1) |
/// | `init` | `glorot` | how weights are drawn | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DigcnConfig {
    /// Probability to leave for the auxiliary node.
    pub alpha: f64,
    /// Whether layers see second-order proximity too.
    pub inception: bool,
    /// Width of the hidden layers.
    pub hidden: usize,
    /// Number of layers.
    pub layers: usize,
    /// Share of each layer's input left out in training.
    pub dropout: f64,
    /// How weights are drawn.
    pub init: Init,
}

impl Default for DigcnConfig {
    fn default() -> Self {
        let GcnConfig { layers, dropout, init, .. } = GcnConfig::default();
        Self { alpha: 0.1, inception: false, hidden: 64, layers, dropout, init }
    }
}

impl Architecture for DigcnConfig {
    const INFO: ModelInfo = ModelInfo {
        name: "digcn",
        title: "DiGCN",
        summary: "a GCN on a Laplacian of the directed graph made by PageRank",
        source: "Tong et al., Digraph Inception Convolutional Networks, 2020",
        direction: Direction::InAndOut,
        operator: None,
        filter: None,
        training: TrainingDefaults { rate: 0.01, weight_decay: 5e-4, ..TrainingDefaults::MGC },
        tunable: &[
            Tunable::HIDDEN,
            numbers("alpha", &[0.05, 0.1, 0.2, 0.5]),
            Tunable { key: "inception", values: Values::Flag },
            Tunable::DROPOUT,
        ],
    };

    fn check(&self) -> Result<(), ModelError> {
        check_width("number of hidden units", self.hidden)?;
        check_count("number of layers", self.layers, 64, "from 1 to 64")?;
        check_dropout(self.dropout)?;
        match self.alpha > 0.0 && self.alpha < 1.0 {
            true => Ok(()),
            false => Err(ModelError::OutOfRange {
                name: "probability to leave",
                value: self.alpha,
                range: "above 0 and below 1",
            }),
        }
    }

    fn build<'a>(
        &self,
        _: &Engine,
        inputs: &Inputs<'a>,
    ) -> Result<Box<dyn Network + 'a>, ModelError> {
        let start = Instant::now();
        let walk = walk(inputs.graph);
        let first = laplacian(&walk, &page_rank(&walk, self.alpha));
        let second = self.inception.then(|| proximity(&walk));
        let seconds = BuildSeconds { operator: start.elapsed().as_secs_f64(), propagate: 0.0 };
        let gcn = GcnConfig {
            hidden: self.hidden,
            layers: self.layers,
            dropout: self.dropout,
            init: self.init,
        };
        let (mut layout, layers) = gcn.layers(inputs);
        let mut beside = |layer: &Linear, name: String| -> Linear {
            layout.linear(&name, layer.shape, self.init)
        };
        let inception = match second {
            None => Vec::new(),
            Some(_) => layers
                .iter()
                .enumerate()
                .map(|(l, layer)| {
                    ["own", "second"].map(|name| beside(layer, format!("layers.{l}.{name}")))
                })
                .collect(),
        };
        let mut patterns = vec![pattern_of(&first)?];
        let pattern = match &second {
            None => patterns[0].clone(),
            Some(second) => {
                patterns.push(pattern_of(second)?);
                pattern_of(&union(&first, second))?
            }
        };
        let model = Digcn { patterns, layers, inception, dropout: self.dropout };
        Ok(Box::new(GraphNetwork::on(pattern, layout, model, inputs).taking(seconds)))
    }
}

/// P = D̃^{-1}(A + I).
fn walk(graph: &DiGraph) -> SparseMatrix {
    let n = graph.nodes();
    let rows = (0..n).flat_map(|u| {
        let weights = graph.weights(u);
        let weight = move |k: usize| weights.map_or(1.0, |weights| weights[k].abs());
        let targets = graph.targets(u);
        let degree: f32 = 1.0 + (0..targets.len()).map(weight).sum::<f32>();
        let edges = targets.iter().enumerate().map(move |(k, &v)| (u, v, weight(k) / degree));
        edges.chain(std::iter::once((u, u as u32, 1.0 / degree)))
    });
    let Ok(walk) = SparseMatrix::from_triplets(n, n, rows) else {
        unreachable!("every edge is within the graph")
    };
    walk
}

/// The stationary distribution of the walk with the auxiliary node, its own share left out.
fn page_rank(walk: &SparseMatrix, alpha: f64) -> Vec<f64> {
    let n = walk.rows();
    let share = 1.0 / (n + 1) as f64;
    let (mut now, mut away) = (vec![share; n], share);
    for _ in 0..10_000 {
        // From everywhere to the auxiliary node with α, from there to anywhere alike.
        let mut next = vec![away / n as f64; n];
        for (u, &mass) in now.iter().enumerate() {
            let (columns, values) = walk.row(u);
            for (&v, &p) in columns.iter().zip(values) {
                next[v as usize] += (1.0 - alpha) * mass * f64::from(p);
            }
        }
        let left = alpha * now.iter().sum::<f64>();
        let total = left + next.iter().sum::<f64>();
        let moved: f64 = now.iter().zip(&next).map(|(a, b)| (a - b / total).abs()).sum();
        next.iter_mut().for_each(|x| *x /= total);
        (now, away) = (next, left / total);
        if moved < 1e-12 {
            break;
        }
    }
    let total: f64 = now.iter().sum();
    now.iter().map(|x| x / total.max(f64::MIN_POSITIVE)).collect()
}

/// ½(Π^{1/2}PΠ^{-1/2} + Π^{-1/2}PᵀΠ^{1/2}).
fn laplacian(walk: &SparseMatrix, rank: &[f64]) -> SparseMatrix {
    let n = walk.rows();
    let entries = (0..n).flat_map(|u| {
        let (columns, values) = walk.row(u);
        columns.iter().zip(values).flat_map(move |(&v, &p)| {
            let value = (0.5 * f64::from(p) * (rank[u] / rank[v as usize]).sqrt()) as f32;
            [(u, v, value), (v as usize, u as u32, value)]
        })
    });
    let Ok(matrix) = SparseMatrix::from_triplets(n, n, entries) else {
        unreachable!("every entry is within the graph")
    };
    matrix
}

/// ½(PᵀP + PPᵀ) where both have an entry, divided by the square roots of its row sums.
fn proximity(walk: &SparseMatrix) -> SparseMatrix {
    let n = walk.rows();
    let back = transpose(walk);
    let product = |u: usize, first: &SparseMatrix, second: &SparseMatrix| {
        let mut row: HashMap<u32, f32> = HashMap::new();
        let (columns, values) = first.row(u);
        for (&w, &p) in columns.iter().zip(values) {
            let (columns, values) = second.row(w as usize);
            for (&v, &r) in columns.iter().zip(values) {
                *row.entry(v).or_default() += p * r;
            }
        }
        row
    };
    let mut entries: Vec<(usize, u32, f32)> = Vec::new();
    for u in 0..n {
        // Row u of PPᵀ goes along an edge and back, of PᵀP against one and forward.
        let (out, into) = (product(u, walk, &back), product(u, &back, walk));
        let start = entries.len();
        for (&v, &a) in &out {
            if let Some(&b) = into.get(&v) {
                entries.push((u, v, 0.5 * (a + b)));
            }
        }
        entries[start..].sort_unstable_by_key(|entry| entry.1);
    }
    let mut sums = vec![0.0f64; n];
    entries.iter().for_each(|&(u, _, x)| sums[u] += f64::from(x));
    let factor = |u: usize| if sums[u] > 0.0 { sums[u].sqrt().recip() } else { 0.0 };
    let scaled = entries
        .iter()
        .map(|&(u, v, x)| (u, v, (factor(u) * f64::from(x) * factor(v as usize)) as f32));
    let Ok(matrix) = SparseMatrix::from_triplets(n, n, scaled) else {
        unreachable!("every entry is within the graph")
    };
    matrix
}

fn transpose(matrix: &SparseMatrix) -> SparseMatrix {
    let entries = (0..matrix.rows()).flat_map(|u| {
        let (columns, values) = matrix.row(u);
        columns.iter().zip(values).map(move |(&v, &x)| (v as usize, u as u32, x))
    });
    let Ok(turned) = SparseMatrix::from_triplets(matrix.cols(), matrix.rows(), entries) else {
        unreachable!("every entry is within the matrix")
    };
    turned
}

/// A matrix with the entries of both.
fn union(a: &SparseMatrix, b: &SparseMatrix) -> SparseMatrix {
    let entries = [a, b].into_iter().flat_map(|matrix| {
        (0..matrix.rows()).flat_map(move |u| {
            let (columns, values) = matrix.row(u);
            columns.iter().zip(values).map(move |(&v, &x)| (u, v, x))
        })
    });
    let Ok(both) = SparseMatrix::from_triplets(a.rows(), a.cols(), entries) else {
        unreachable!("every entry is within the matrix")
    };
    both
}

struct Digcn {
    patterns: Vec<Arc<Pattern>>,
    layers: Vec<Linear>,
    /// H·W' and the weights of the second-order proximity, where the layers have them.
    inception: Vec<[Linear; 2]>,
    dropout: f64,
}

impl GraphModel for Digcn {
    fn steps(&self) -> Option<usize> {
        Some(self.layers.len())
    }

    /// PageRank moves with every edge.
    fn reach(&self) -> Reach {
        Reach::Everything
    }

    fn maps(&self, seen: &Arc<Neighbourhood>) -> Vec<MapSource> {
        matrices(&self.patterns, seen)
    }

    fn logits(&self, trace: &mut Trace, view: &GraphView, mode: Mode) -> Var {
        let features = mode.masked(trace, &view.features, self.dropout, 0);
        let mut hidden: Option<Var> = None;
        for (l, layer) in self.layers.iter().enumerate() {
            let input = hidden.map(|hidden| {
                let hidden = trace.activate(Activation::Relu, hidden);
                mode.dropout(trace, hidden, self.dropout, l as u32)
            });
            let times = |trace: &mut Trace, layer: &Linear| {
                let weight = trace.parameter(layer.weight);
                match input {
                    None => features.times(trace, weight),
                    Some(input) => trace.product(input, weight),
                }
            };
            let rows = view.size(self.layers.len() - 1 - l);
            let product = times(trace, layer);
            let spread = trace.map_head(&view.maps[0], product, rows);
            let mut sum = layer.add_bias(trace, spread);
            if let Some([own, second]) = self.inception.get(l) {
                let plain = times(trace, own);
                let plain = trace.head(plain, rows);
                let plain = own.add_bias(trace, plain);
                let near = times(trace, second);
                let near = trace.map_head(&view.maps[1], near, rows);
                let near = second.add_bias(trace, near);
                sum = trace.sum(&[(1.0, sum), (1.0, plain), (1.0, near)]);
            }
            hidden = Some(sum);
        }
        let Some(logits) = hidden else { unreachable!("there is at least one layer") };
        logits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use magnon_core::graph::GraphBuilder;

    /// On a directed ring all nodes are alike, so Π drops out: M = ½(P + Pᵀ).
    #[test]
    fn a_ring_has_a_uniform_rank() {
        let ring = (0..5u32).map(|u| (u, (u + 1) % 5));
        let graph = GraphBuilder::new(5).edges(ring).build().unwrap().graph;
        let walk = walk(&graph);
        let rank = page_rank(&walk, 0.1);
        assert!(rank.iter().all(|x| (x - 0.2).abs() < 1e-9), "{rank:?}");
        let matrix = laplacian(&walk, &rank);
        assert_eq!(matrix.row(0).0, [0, 1, 4]);
        for (found, expected) in matrix.row(0).1.iter().zip([0.5, 0.25, 0.25]) {
            assert!((found - expected).abs() < 1e-6);
        }
    }
}
