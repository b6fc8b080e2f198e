//! The product and the propagation on a large random graph.

use crate::Places;
use crate::table::{Table, Times, time};
use crate::worker::Worker;
use anyhow::{Context, ensure};
use magnon::data::Features;
use magnon::data::write::{Compressed, write_graph, write_npy, write_scipy_npz};
use magnon::filter::{Filter, propagate};
use magnon::graph::{DiGraph, GraphBuilder};
use magnon::matrix::Matrix;
use magnon::operator::{Charge, MagneticOperator, OperatorConfig, OperatorRows};
use num_complex::Complex32;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use std::path::Path;
use std::process::Command;

pub const COLUMNS: usize = 64;
const ORDER: usize = 8;

/// Number of nodes of the random graph.
pub fn nodes(places: &Places) -> usize {
    places.size(200_000, 500)
}

/// A random graph with ten edges per node, which is about twice as many stored entries.
pub fn graph(places: &Places) -> anyhow::Result<DiGraph> {
    let nodes = nodes(places);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut node = || rng.random_range(0..nodes as u32);
    let edges: Vec<_> = (0..10 * nodes).map(|_| (node(), node())).collect();
    Ok(GraphBuilder::new(nodes).edges(edges).build()?.graph)
}

/// Random real features.
pub fn features(places: &Places) -> Matrix<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut x = Matrix::zeros(nodes(places), COLUMNS);
    x.as_mut_slice().iter_mut().for_each(|x| *x = rng.random::<f32>() - 0.5);
    x
}

/// Writes graph and features as files.
pub fn write_inputs(places: &Places) -> anyhow::Result<()> {
    write_graph(&places.work.join("adj.npz"), &graph(places)?)?;
    write_npy(&places.work.join("features.npy"), &features(places))?;
    Ok(())
}

pub fn measure(places: &Places) -> anyhow::Result<()> {
    let mut peers = Worker::start(places)?;
    let rounds = places.size(7, 1);
    let graph = graph(places)?;
    let charge = Charge::fraction(1, 5)?;
    let operator = MagneticOperator::new(&graph, &OperatorConfig { charge, ..Default::default() })?;
    let real = features(places);
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut x = Matrix::<Complex32>::zeros(graph.nodes(), COLUMNS);
    for (x, re) in x.as_mut_slice().iter_mut().zip(real.as_slice()) {
        *x = Complex32::new(*re, rng.random::<f32>() - 0.5);
    }
    write_operator(&places.work.join("op.npz"), &operator)?;
    write_npy(&places.work.join("x.npy"), &x)?;
    write_inputs(places)?;
    let real = Features::Dense(real);

    let request = json!({ "task": "load_product", "path": places.work, "threads": 2 });
    let loaded = peers.ask(&request)?;
    let filter = Filter::linear_rank(ORDER)?;
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let (one, two) = (pool(1)?, pool(2)?);
    let apply = || operator.apply(&x);
    let filtered = || propagate(&operator, &filter, &real, &());

    let mut times: [Times; 10] = Default::default();
    let [
        ours1,
        ours2,
        scipy,
        torch_plain,
        torch_best,
        loop1,
        loop2,
        scipy_loop,
        whole,
        scipy_whole,
    ] = &mut times;
    one.install(apply);
    let torch = places.has("torch")?;
    for _ in 0..rounds {
        ours1.push(time(|| one.install(apply)).0);
        scipy.push(peers.seconds(&json!({ "task": "scipy_product" }))?);
        ours2.push(time(|| two.install(apply)).0);
        if torch {
            let plain = json!({ "task": "torch_product", "threads": 2, "method": "complex CSR" });
            torch_plain.push(peers.seconds(&plain)?);
            torch_best.push(peers.seconds(&json!({ "task": "torch_product", "threads": 2 }))?);
        }
    }
    for _ in 0..places.size(3, 1) {
        let (seconds, result) = time(|| one.install(filtered));
        result?;
        loop1.push(seconds);
        scipy_loop.push(peers.seconds(&json!({ "task": "scipy_propagate", "order": ORDER }))?);
        let (seconds, result) = time(|| two.install(filtered));
        result?;
        loop2.push(seconds);
        whole.push(command(places)?);
        let request =
            json!({ "task": "scipy_whole", "path": places.work, "order": ORDER, "charge": 0.2 });
        scipy_whole.push(peers.seconds(&request)?);
    }

    let mut table = Table::default();
    let best = loaded["torch_method"].as_str().unwrap_or("none").to_owned();
    table.row("S·X, 1 thread", "scipy CSR, complex64", ours1, scipy);
    table.row("S·X, 2 threads", "scipy CSR, complex64 (it has one thread)", ours2, scipy);
    table.row("S·X, 2 threads", "PyTorch CSR, complex64, 2 threads", ours2, torch_plain);
    let fastest = format!("PyTorch's fastest way ({best}), 2 threads");
    table.row("S·X, 2 threads", &fastest, ours2, torch_best);
    table.row("S·X, 2 threads", "magnon, 1 thread", ours2, ours1);
    table.row("LinearRank K = 8, 1 thread", "scipy loop", loop1, scipy_loop);
    table.row("LinearRank K = 8, 2 threads", "scipy loop", loop2, scipy_loop);
    table.row(
        "`magnon propagate`, files to file",
        "numpy and scipy, files to file",
        whole,
        scipy_whole,
    );
    let stored = operator.pattern().stored();
    table.note(format!(
        "Random graph, {} nodes, {stored} stored entries, {COLUMNS} columns, q = 1/5. Medians of \
         {rounds} interleaved rounds (3 for the last three rows). Peers: torch {}, numpy {}, scipy {}.",
        graph.nodes(),
        loaded["torch"].as_str().unwrap_or("none"),
        loaded["numpy"].as_str().unwrap_or("?"),
        loaded["scipy"].as_str().unwrap_or("?"),
    ));
    table.end();
    peers.quit()
}

/// The operator as scipy would hold it.
pub fn write_operator(path: &Path, operator: &MagneticOperator) -> anyhow::Result<()> {
    let OperatorRows { offsets, columns, values } = operator.rows();
    let shape = [operator.nodes(); 2];
    let (offsets, columns, values) = (&offsets[..], &columns[..], &values[..]);
    Ok(write_scipy_npz(path, Compressed { shape, offsets, columns, values })?)
}

/// Seconds of the whole command, reading and writing included.
fn command(places: &Places) -> anyhow::Result<f64> {
    let mut command = propagate_command(places);
    let (seconds, status) = time(|| command.status());
    ensure!(status.context("magnon propagate")?.success(), "magnon propagate failed");
    Ok(seconds)
}

/// `magnon propagate` on the files of [`write_inputs`].
pub fn propagate_command(places: &Places) -> Command {
    let mut command = Command::new(&places.magnon);
    command.arg("propagate").arg(places.work.join("adj.npz"));
    command.arg("--features").arg(places.work.join("features.npy"));
    command.args(["--charge", "1/5", "--order", "8", "--quiet", "--json"]);
    command.arg("--output").arg(places.work.join("out.npy"));
    command.stdout(std::process::Stdio::null());
    command
}
