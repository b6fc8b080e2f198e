//! Which cycle lengths exist in generated graphs of up to ten million edges: how cost grows with size.

use crate::Places;
use crate::table::{Table, Times, time};
use magnon::cycles::{LengthsConfig, cycle_lengths, flux};
use magnon::graph::{DiGraph, GraphBuilder, strong_components};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::atomic::AtomicBool;

/// How edges are drawn, one after the other, and how many edges a node gets.
struct Shape {
    name: &'static str,
    edges_a_node: f64,
    edge: fn(&mut ChaCha8Rng, u32, u32) -> (u32, u32),
}

const SHAPES: [Shape; 5] = [
    Shape {
        name: "uniform random",
        edges_a_node: 6.25,
        edge: |rng, n, _| (any(rng, n), any(rng, n)),
    },
    Shape {
        name: "heavy-tailed, degrees of d^(-3/2)",
        edges_a_node: 6.25,
        edge: |rng, n, _| (first(rng, n), first(rng, n)),
    },
    // Every edge leads to the next of ten layers, around: the period is 10.
    Shape {
        name: "ring of ten layers",
        edges_a_node: 6.25,
        edge: |rng, n, _| {
            let (u, layer) = (any(rng, n), n / 10);
            (u, (u / layer + 1) % 10 * layer + any(rng, layer))
        },
    },
    // One cycle through all nodes, and a chord at every fourth: short cycles are few, if any.
    Shape {
        name: "one giant component",
        edges_a_node: 1.25,
        edge: |rng, n, i| if i < n { (i, (i + 1) % n) } else { (any(rng, n), any(rng, n)) },
    },
    // 0 → 1 → x → y → 0 for many x and y: no triangle, and two nodes with a third of all edges each.
    Shape {
        name: "two hubs",
        edges_a_node: 1.5,
        edge: |_, n, i| match (i % 3, i / 3, n / 2 - 1) {
            (0, k, half) => (1, 2 + k % half),
            (1, k, half) => (2 + k % half, 2 + half + k % half),
            (_, k, half) => {
                if k == 0 {
                    (0, 1)
                } else {
                    (2 + half + k % half, 0)
                }
            }
        },
    },
];

fn any(rng: &mut ChaCha8Rng, n: u32) -> u32 {
    rng.random_range(0..n)
}

/// A node, the first ones much more often.
fn first(rng: &mut ChaCha8Rng, n: u32) -> u32 {
    (f64::from(n) * rng.random::<f64>().powi(3)) as u32
}

fn graph(shape: &Shape, edges: u32) -> anyhow::Result<DiGraph> {
    let nodes = (f64::from(edges) / shape.edges_a_node) as u32 / 10 * 10;
    let mut rng = ChaCha8Rng::seed_from_u64(u64::from(edges));
    let edges: Vec<_> = (0..edges).map(|i| (shape.edge)(&mut rng, nodes, i)).collect();
    Ok(GraphBuilder::new(nodes as usize).edges(edges).build()?.graph)
}

pub fn measure(places: &Places) -> anyhow::Result<()> {
    let mut table = Table::default();
    let rounds = places.size(3, 1);
    let sizes: &[u32] = places.size(&[100_000, 1_000_000, 10_000_000], &[1_000]);
    let stop = AtomicBool::new(false);
    let config = LengthsConfig::default();
    for shape in &SHAPES {
        let (mut costs, mut passes) = (Vec::new(), Vec::new());
        for &size in sizes {
            let graph = graph(shape, size)?;
            let (mut times, mut answers) = (Times::default(), Vec::new());
            for _ in 0..rounds {
                let (seconds, report) = time(|| {
                    flux(&graph, magnon::operator::Phase::default(), &stop);
                    cycle_lengths(&graph, &config, &stop)
                });
                times.push(seconds);
                answers = report.lengths;
            }
            let said = |exists| answers.iter().filter(|answer| answer.exists == exists).count();
            let (yes, no, open) = (said(Some(true)), said(Some(false)), said(None));
            let (nodes, edges) = (graph.nodes(), graph.edges());
            table.alone(
                &format!(
                    "{}, {nodes} nodes, {edges} edges: {yes} exist, {no} do not, {open} undecided",
                    shape.name
                ),
                &times,
            );
            let (linear, _) = time(|| strong_components(&graph));
            passes.push(format!("{:.1}", times.median() / linear));
            let edges = edges as f64;
            costs.push(format!("{:.1}", 1e9 * times.median() / (edges * edges.log2())));
        }
        let name = shape.name;
        table.note(format!(
            "{name}: {} ns for each edge × log₂ edges, {} times as long as strong components alone.",
            costs.join(", "),
            passes.join(", ")
        ));
    }
    table.note(format!(
        "Lengths up to {} and flux of generated graphs in memory, one thread, medians of {rounds} rounds.",
        config.max_length
    ));
    table.end();
    Ok(())
}
