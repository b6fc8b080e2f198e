//! The same graph with the directions of its edges drawn by a coin.

use super::DiGraph;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

impl DiGraph {
    /// Turns every one-way edge round with probability ½ and keeps its weight; pairs that run both ways
    /// and self loops stay. The underlying undirected graph is the same, and its direction says nothing.
    pub fn with_random_directions(&self, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut edges: Vec<(u32, u32, f32)> = Vec::with_capacity(self.edges());
        for u in 0..self.nodes() as u32 {
            for (k, &v) in self.targets(u as usize).iter().enumerate() {
                let weight = self.weights(u as usize).map_or(1.0, |weights| weights[k]);
                let one_way = u != v && !self.has_edge(v as usize, u);
                let turned = one_way && rng.random::<bool>();
                edges.push(if turned { (v, u, weight) } else { (u, v, weight) });
            }
        }
        edges.sort_unstable_by_key(|&(u, v, _)| (u, v));
        let mut offsets = vec![0; self.nodes() + 1];
        edges.iter().for_each(|&(u, _, _)| offsets[u as usize + 1] += 1);
        for u in 0..self.nodes() {
            offsets[u + 1] += offsets[u];
        }
        let targets = edges.iter().map(|edge| edge.1).collect();
        let weights = self.is_weighted().then(|| edges.iter().map(|edge| edge.2).collect());
        Self::from_parts(offsets, targets, weights)
    }
}

#[cfg(test)]
mod tests {
    use crate::graph::generate::{GeneratorConfig, GeneratorKind, generate};

    #[test]
    fn only_one_way_edges_turn() {
        let config = GeneratorConfig { kind: GeneratorKind::Cyclic, ..Default::default() };
        let graph = generate(&config, 3).unwrap().graph;
        let turned = graph.with_random_directions(5);
        assert_eq!(turned.symmetrised(), graph.symmetrised());
        assert_eq!(turned.edges(), graph.edges());
        assert_eq!(turned, graph.with_random_directions(5));
        let kept = (0..graph.nodes())
            .flat_map(|u| graph.targets(u).iter().map(move |&v| (u, v)).collect::<Vec<_>>());
        let [mut same, mut all] = [0usize; 2];
        for (u, v) in kept {
            let both = graph.has_edge(v as usize, u as u32);
            assert!(!both || turned.has_edge(u, v));
            same += usize::from(!both && turned.has_edge(u, v));
            all += usize::from(!both);
        }
        // Half of them, within five standard deviations.
        let deviation = (same as f64 - all as f64 / 2.0).abs();
        assert!(deviation < 2.5 * (all as f64).sqrt(), "{same} of {all}");
    }
}
