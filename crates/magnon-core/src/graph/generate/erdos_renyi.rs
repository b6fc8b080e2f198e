//! The directed Erdős–Rényi graph G(n, p): every ordered pair with probability p.

use super::GeneratorConfig;
use super::pairs::sample;
use rand::Rng;

/// Its edges.
pub fn edges<R: Rng>(config: &GeneratorConfig, rng: &mut R, edges: &mut Vec<(u32, u32)>) {
    sample(0..config.nodes, 0..config.nodes, config.density, rng, |u, v, _| {
        if u != v {
            edges.push((u as u32, v as u32));
        }
    });
}
