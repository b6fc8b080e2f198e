//! A few eigenvalues of graphs whose eigenvalues repeat thousands of times.

use crate::Places;
use crate::product::write_operator;
use crate::spectrum::{find, laplacian, numbers};
use crate::table::{Table, Times};
use crate::worker::Worker;
use magnon::graph::{DiGraph, GraphBuilder};
use magnon::spectrum::{Select, SpectrumConfig};
use serde_json::json;

const COUNT: usize = 3;
/// Seconds after which scipy's Lanczos is stopped.
const LIMIT: u64 = 60;
const TOLERANCE: f64 = 1e-8;

fn build(nodes: u32, edges: impl IntoIterator<Item = (u32, u32)>) -> anyhow::Result<DiGraph> {
    Ok(GraphBuilder::new(nodes as usize).edges(edges).build()?.graph)
}

/// A hub and its leaves: 0, 1 many times, 2.
fn star(nodes: u32) -> anyhow::Result<DiGraph> {
    build(nodes, (1..nodes).map(|v| (0, v)))
}

/// Copies of a cycle of `size` nodes with a chord at each.
fn copies(size: u32, nodes: u32) -> anyhow::Result<DiGraph> {
    let step = |u: u32, far: u32| u / size * size + (u % size + far) % size;
    build(
        nodes / size * size,
        (0..nodes / size * size).flat_map(|u| [(u, step(u, 1)), (u, step(u, 7))]),
    )
}

pub fn measure(places: &Places) -> anyhow::Result<()> {
    let mut peers = Worker::start(places)?;
    let rounds = places.size(3, 1);
    let [small, middle, large] = places.size([20_000, 100_000, 1_000_000], [200, 300, 400]);
    let size = places.size(5000, 100);
    let wide = format!("copies of {size} nodes");
    let graphs = [
        ("star", star(small)?),
        ("star", star(middle)?),
        ("star", star(large)?),
        ("complete bipartite graph, 3 against the rest", {
            build(large, (3..large).flat_map(|v| (0..3).map(move |u| (u, v))))?
        }),
        ("copies of 50 nodes", copies(50, large)?),
        (wide.as_str(), copies(size, large)?),
        ("no edges", build(large, [])?),
    ];
    let mut table = Table::default();
    let two = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
    let config = SpectrumConfig {
        select: Select::Smallest(COUNT),
        vectors: true,
        tolerance: TOLERANCE,
        ..Default::default()
    };
    for (name, graph) in &graphs {
        let operator = laplacian(graph)?;
        let path = places.work.join("laplacian.npz");
        write_operator(&path, &operator)?;
        let task =
            format!("{COUNT} smallest eigenpairs, {name}, {} nodes, 2 threads", graph.nodes());
        let (mut ours, mut theirs) = (Times::default(), Times::default());
        let mut found = Vec::new();
        for _ in 0..rounds {
            let (seconds, spectrum) = two.install(|| find(&operator, &config))?;
            ours.push(seconds);
            found = spectrum.eigenvalues;
        }
        let request = json!({
            "task": "scipy_eigsh", "path": path, "count": COUNT, "tolerance": TOLERANCE, "limit": LIMIT,
        });
        match peers.ask(&request) {
            Ok(answer) => {
                theirs.push(answer["seconds"].as_f64().unwrap_or(f64::NAN));
                let mut values = numbers(&answer["eigenvalues"]);
                values.sort_by(f64::total_cmp);
                if answer["finished"] == true {
                    table.pair(&task, "scipy eigsh (SA)", ours.median(), theirs.median());
                    table.note(format!(
                        "{name}, {} nodes: {found:.6?}; scipy {values:.6?}.",
                        graph.nodes()
                    ));
                } else {
                    table.alone(&task, &ours);
                    table.note(format!("{name}: scipy eigsh is stopped after {LIMIT} s."));
                }
            }
            Err(error) => {
                table.alone(&task, &ours);
                table.note(format!("{name}: scipy eigsh fails: {error}."));
            }
        }
    }
    table.note(format!(
        "Normalised Laplacian at q = 1/4. Medians of {rounds} rounds, one of scipy, whose tol is \
         {TOLERANCE:.0e} as ours is."
    ));
    table.end();
    peers.quit()
}
