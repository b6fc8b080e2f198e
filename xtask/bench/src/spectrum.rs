//! Eigenvalues: all of a graph of thousands of nodes, a few and the density of a large one.

use crate::Places;
use crate::product::{self, write_operator};
use crate::table::{Table, Times, time};
use crate::worker::Worker;
use anyhow::ensure;
use magnon::data::{LoadConfig, load};
use magnon::graph::{DiGraph, GraphBuilder};
use magnon::operator::{Charge, Kind, MagneticOperator, OperatorConfig};
use magnon::spectrum::{
    DensityConfig, Select, Spectrum, SpectrumConfig, SpectrumError, density, spectrum,
};
use serde_json::{Value, json};
use std::path::Path;

const COUNT: usize = 20;
/// Seconds after which scipy's Lanczos is stopped.
const LIMIT: u64 = 1200;
/// Its tolerance, relative to the eigenvalue; what residual it gives is measured.
const TOLERANCE: f64 = 1e-4;
const LARGE: &str = "large/cnr-2000.graph-txt.gz";

/// Two tables: the second waits for scipy for minutes.
pub fn measure(places: &Places) -> anyhow::Result<()> {
    let folder = places.data()?;
    let mut peers = Worker::start(places)?;
    let mut table = Table::default();
    all(places, &folder.join(places.size("corar", "cornell")), &mut peers, &mut table)?;
    table.end();
    let mut table = Table::default();
    // Lanczos finds one of eigenvalues that repeat, as those of most small graphs do.
    let graph = match places.tiny {
        true => product::graph(places)?,
        false => load(&folder.join(LARGE), &LoadConfig::default())?.graph,
    };
    few(places, &graph, &mut peers, &mut table)?;
    table.end();
    peers.quit()
}

/// The normalised Laplacian without self loops at the charge 1/4.
pub fn laplacian(graph: &DiGraph) -> anyhow::Result<MagneticOperator> {
    let charge = Charge::fraction(1, 4)?;
    let (self_loops, kind) = (false, Kind::Laplacian);
    let config = OperatorConfig { charge, self_loops, kind, ..Default::default() };
    Ok(MagneticOperator::new(graph, &config)?)
}

pub fn find(
    operator: &MagneticOperator,
    config: &SpectrumConfig,
) -> Result<(f64, Spectrum), SpectrumError> {
    let (seconds, found) = time(|| spectrum(operator, config, &()));
    Ok((seconds, found?))
}

pub fn numbers(answer: &Value) -> Vec<f64> {
    answer.as_array().map(|list| list.iter().flat_map(Value::as_f64).collect()).unwrap_or_default()
}

/// Largest difference of two lists of eigenvalues.
fn difference(ours: &[f64], theirs: &[f64]) -> f64 {
    if ours.len() != theirs.len() {
        return f64::INFINITY;
    }
    ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn all(places: &Places, data: &Path, peers: &mut Worker, table: &mut Table) -> anyhow::Result<()> {
    let shipped = load(data, &LoadConfig::default())?.graph;
    // The graph is shipped symmetric; one direction of every pair makes it a directed one.
    let edges = shipped.iter().filter(|(u, v)| u < v);
    let graph = GraphBuilder::new(shipped.nodes()).edges(edges).build()?.graph;
    let operator = laplacian(&graph)?;
    write_operator(&places.work.join("laplacian.npz"), &operator)?;
    let path = places.work.join("laplacian.npz");
    let versions = peers.ask(&json!({ "task": "load_spectrum", "path": path }))?;
    let two = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
    let plain = SpectrumConfig::default();
    let vectors = SpectrumConfig { vectors: true, ..plain.clone() };
    let rounds = places.size(3, 1);
    let mut times: [Times; 4] = Default::default();
    let [ours, eigvalsh, ours_vectors, eigh] = &mut times;
    for _ in 0..rounds {
        let (seconds, found) = two.install(|| find(&operator, &plain))?;
        ours.push(seconds);
        let answer = peers.ask(&json!({ "task": "scipy_eigvalsh" }))?;
        eigvalsh.push(answer["seconds"].as_f64().unwrap_or(f64::NAN));
        let off = difference(&found.eigenvalues, &numbers(&answer["eigenvalues"]));
        ensure!(off < 1e-10, "eigenvalues differ from scipy's by {off:e}");
        ours_vectors.push(two.install(|| find(&operator, &vectors))?.0);
        eigh.push(peers.seconds(&json!({ "task": "scipy_eigh" }))?);
    }
    let name = |what: &str| format!("{what} of {} nodes, 2 threads", graph.nodes());
    table.row(&name("all eigenvalues"), "scipy eigvalsh, 2 threads", ours, eigvalsh);
    table.row(&name("all eigenvectors"), "scipy eigh, 2 threads", ours_vectors, eigh);
    table.note(format!(
        "{} with one direction of every pair, {} edges, normalised Laplacian at q = 1/4, dense and \
         complex. Medians of {rounds} interleaved rounds. Peer: scipy {}.",
        data.file_name().unwrap_or_default().display(),
        graph.edges(),
        versions["scipy"].as_str().unwrap_or("?"),
    ));
    Ok(())
}

fn few(
    places: &Places,
    graph: &DiGraph,
    peers: &mut Worker,
    table: &mut Table,
) -> anyhow::Result<()> {
    let operator = laplacian(graph)?;
    let path = places.work.join("laplacian.npz");
    write_operator(&path, &operator)?;
    let two = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
    let mut dense = Times::default();
    for _ in 0..places.size(3, 1) {
        let (seconds, found) =
            time(|| two.install(|| density(&operator, &DensityConfig::default(), &())));
        found?;
        dense.push(seconds);
    }
    table.alone("density of cnr-2000, 200 moments, 16 probes, 2 threads", &dense);

    let request = json!({
        "task": "scipy_eigsh", "path": path, "count": COUNT, "tolerance": TOLERANCE, "limit": LIMIT,
    });
    let answer = peers.ask(&request)?;
    let finished = answer["finished"] == true;
    let mut theirs = Times::default();
    theirs.push(answer["seconds"].as_f64().unwrap_or(f64::NAN));
    // Ours must be at least as close; its tolerance counts from the largest eigenvalue possible, 2.
    let residual = if finished { answer["residual"].as_f64().unwrap_or(1e-8) } else { 1e-7 };
    let config = SpectrumConfig {
        select: Select::Smallest(COUNT),
        vectors: true,
        tolerance: residual / 2.0,
        ..Default::default()
    };
    let (seconds, found) = two.install(|| find(&operator, &config))?;
    let mut ours = Times::default();
    ours.push(seconds);
    let worst = found.residuals.iter().flatten().copied().fold(0.0, f64::max);
    if finished {
        let mut exact = numbers(&answer["eigenvalues"]);
        exact.sort_by(f64::total_cmp);
        let off = difference(&found.eigenvalues, &exact);
        ensure!(off < 1e-6, "eigenvalues differ from scipy's by {off:e}");
    }
    let task = format!("{COUNT} smallest eigenpairs of cnr-2000, 2 threads");
    table.row(&task, "scipy eigsh (SA)", &ours, &theirs);
    let end = match finished {
        true => format!("its largest residual {residual:.1e}"),
        false => format!("stopped after {LIMIT} s without an end"),
    };
    table.note(format!(
        "cnr-2000, {} nodes, {} stored entries, normalised Laplacian at q = 1/4. scipy eigsh, which = SA, \
         tol = {TOLERANCE:.0e}, one round: {end}; ours {worst:.1e}.",
        operator.nodes(),
        operator.stored(),
    ));
    Ok(())
}
