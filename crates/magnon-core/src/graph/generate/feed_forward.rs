//! Layered acyclic graphs: every edge runs to a later layer.

use super::GeneratorConfig;
use super::pairs::sample;
use rand::Rng;
use std::ops::Range;

/// Edges from each layer to every later one; `density` to the next layer, and half of that for
/// each layer further on, so that short cuts exist (they are what gives a DAG its flux).
pub fn edges<R: Rng>(
    config: &GeneratorConfig,
    spans: &[Range<usize>],
    rng: &mut R,
    edges: &mut Vec<(u32, u32)>,
) {
    for (a, from) in spans.iter().enumerate() {
        let mut density = config.density;
        for to in &spans[a + 1..] {
            sample(from.clone(), to.clone(), density, rng, |u, v, _| {
                edges.push((u as u32, v as u32));
            });
            density *= 0.5;
        }
    }
}
