//! The engine for NVIDIA cards against torch on the same card.
//!
//! `magnon-bench gpu` measures on the card that is there: the product and the filter on a random graph and
//! on a real one (`gpu-products` alone), a training step of MGC, and many seeds at once (`gpu-steps`).

use crate::Places;
use crate::product::write_operator;
use crate::table::{Table, Times, time};
use crate::worker::Worker;
use anyhow::Context;
use magnon::compute::{Device, Engine, MapSource, Shape, Side};
use magnon::data::{Dataset, Features, SyntheticConfig};
use magnon::filter::Filter;
use magnon::filter::propagate_on;
use magnon::graph::generate::GeneratorConfig;
use magnon::graph::{DiGraph, GraphBuilder};
use magnon::matrix::Matrix;
use magnon::operator::{Charge, MagneticOperator, OperatorConfig};
use magnon::train::{DataConfig, Experiment, RunConfig, TrialResult};
use magnon::workflow::{preset, read_dataset};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::path::Path;

const COLUMNS: usize = 64;
const ORDER: usize = 8;

/// The peers' worker, after a line that says what card and which torch there are.
fn begin(places: &Places) -> anyhow::Result<(Engine, Worker)> {
    let cuda = Engine::cuda(0)?;
    let mut peers = Worker::of(&places.python, &places.scripts.join("bench_gpu.py"), true)?;
    let versions = peers.ask(&json!({ "task": "versions" }))?;
    println!("{}, torch {}\n", cuda.name(), versions["torch"].as_str().unwrap_or("?"));
    Ok((cuda, peers))
}

/// Products and filters.
pub fn measure_products(places: &Places) -> anyhow::Result<()> {
    let (cuda, mut peers) = begin(places)?;
    let mut table = Table::default();
    let (nodes, edges) = places.size((1_000_000, 8_000_000), (1_000, 8_000));
    products(&cuda, places, &mut peers, &mut table, "1 M nodes", &random(nodes, edges)?)?;
    if let Some(data) = &places.data {
        let path = places.size("large/cnr-2000.graph-txt.gz", "cornell");
        let loaded = read(&data.join(path), DataConfig::default())?;
        products(&cuda, places, &mut peers, &mut table, path, &loaded.graph)?;
    }
    table.end();
    peers.quit()
}

/// Training steps, alone and of many seeds at once.
pub fn measure_steps(places: &Places) -> anyhow::Result<()> {
    let (_, mut peers) = begin(places)?;
    let mut table = Table::default();
    if let Some(data) = &places.data {
        for name in ["cornell", "corar", "pubmed"].into_iter().take(places.size(3, 1)) {
            let config = preset(name)?;
            let dataset = read(&data.join(name), config.data.clone())?;
            steps(places, &mut peers, &mut table, name, &dataset, config)?;
        }
    }
    let (nodes, density, columns) = places.size((2277, 0.007, 2325), (60, 0.1, 20));
    let graph = GeneratorConfig { nodes, density, ..Default::default() };
    let wide = SyntheticConfig { graph, columns, noise: 2.0, seed: 1 };
    let name = format!("{columns} columns");
    steps(places, &mut peers, &mut table, &name, &wide.dataset("wide")?, preset("cornell")?)?;
    table.end();
    peers.quit()
}

fn read(path: &Path, config: DataConfig) -> anyhow::Result<Dataset> {
    let source = path.to_string_lossy().into_owned();
    Ok(read_dataset(&DataConfig { source, ..config }, 0)?)
}

fn random(nodes: u32, edges: usize) -> anyhow::Result<DiGraph> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut node = || rng.random_range(0..nodes);
    let edges: Vec<_> = (0..edges).map(|_| (node(), node())).collect();
    Ok(GraphBuilder::new(nodes as usize).edges(edges).build()?.graph)
}

fn products(
    cuda: &Engine,
    places: &Places,
    peers: &mut Worker,
    table: &mut Table,
    name: &str,
    graph: &DiGraph,
) -> anyhow::Result<()> {
    let config = OperatorConfig { charge: Charge::fraction(1, 5)?, ..Default::default() };
    let operator = MagneticOperator::new(graph, &config)?;
    let path = places.work.join("operator.npz");
    write_operator(&path, &operator)?;
    peers.ask(&json!({ "task": "load", "path": path, "columns": COLUMNS }))?;
    let shape = Shape::complex(graph.nodes(), COLUMNS);
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let numbers: Vec<f32> = (0..shape.len()).map(|_| rng.random::<f32>() - 0.5).collect();
    let (mut x, mut y) = (cuda.zeros(shape.len())?, cuda.zeros(shape.len())?);
    cuda.upload(&numbers, &mut x)?;
    let product = cuda.prepare(MapSource::operator(&operator))?;
    let filter = cuda.prepare(MapSource::filter(&operator, &Filter::linear_rank(ORDER)?))?;
    let mut ours = |map, times: usize| -> anyhow::Result<f64> {
        cuda.map(map, Side::Forward, None, (&x, shape), (&mut y, shape), false)?;
        cuda.synchronize()?;
        let (seconds, done) = time(|| -> anyhow::Result<()> {
            for _ in 0..times {
                cuda.map(map, Side::Forward, None, (&x, shape), (&mut y, shape), false)?;
            }
            Ok(cuda.synchronize()?)
        });
        done?;
        Ok(seconds / times as f64)
    };
    let mut times: [Times; 4] = Default::default();
    // Products that one measurement makes.
    let count = places.size(50, ORDER);
    for _ in 0..places.size(5, 1) {
        times[0].push(ours(&product, count)?);
        times[1].push(peers.seconds(&json!({ "task": "product", "times": count }))?);
        times[2].push(ours(&filter, count / ORDER)?);
        let request = json!({ "task": "loop", "times": count / ORDER, "order": ORDER });
        times[3].push(peers.seconds(&request)?);
    }
    let stored = operator.pattern().stored();
    let name = format!("{name}, {stored} entries");
    table.fine(&format!("S·X, {name}"), "cuSPARSE, complex64 CSR", &times[0], &times[1]);
    let task = format!("LinearRank K = {ORDER}, {name}");
    table.fine(&task, "the same loop over cuSPARSE", &times[2], &times[3]);
    // Every entry reads a row of x and its own four bytes, every row writes one of y.
    let bytes = stored * (8 * COLUMNS + 4) + graph.nodes() * 8 * (COLUMNS + 2);
    let rate = bytes as f64 / times[0].median() / 1e12;
    table.note(format!("S·X, {name}: {rate:.2} TB/s if no row of X stayed in a cache."));
    Ok(())
}

/// Runs that train for so many epochs, whatever the validation loss does.
fn trained(
    dataset: &Dataset,
    config: &RunConfig,
    runs: usize,
    epochs: usize,
) -> anyhow::Result<(f64, Vec<TrialResult>)> {
    let mut config = config.clone();
    (config.train.epochs, config.train.patience) = (epochs, epochs);
    config.train.device = Device::Cuda(0);
    config.runs.count = runs;
    let outcome = Experiment::new(dataset, &config)?.run(None, &())?;
    Ok((outcome.seconds.train, outcome.runs))
}

fn steps(
    places: &Places,
    peers: &mut Worker,
    table: &mut Table,
    name: &str,
    dataset: &Dataset,
    config: RunConfig,
) -> anyhow::Result<()> {
    let split = dataset.splits.first().cloned();
    let split = match split {
        Some(split) => split,
        None => {
            let labels = dataset.labels.as_ref();
            magnon::data::SplitChoice::default().choose(&dataset.splits, labels, 0)?
        }
    };
    let features = dataset.features.as_ref().context("no features")?;
    let settings: Value = serde_json::to_value(&config.model)?;
    peers.ask(&json!({
        "task": "load_step",
        "train": split.train.len(), "val": split.val.len(), "columns": features.cols(),
        "hidden": settings["hidden"], "dropout": settings["dropout"],
        "classes": dataset.labels.as_ref().map_or(0, |labels| labels.names.len()),
        "rate": config.train.optimiser.rate, "weight_decay": config.train.optimiser.weight_decay,
    }))?;
    // Epochs that one measurement trains for, and what is taken off for the beginning.
    let (many, few) = places.size((2100, 100), (12, 2));
    let epoch = |runs: usize| -> anyhow::Result<f64> {
        let (long, _) = trained(dataset, &config, runs, many)?;
        let (short, _) = trained(dataset, &config, runs, few)?;
        Ok((long - short) / (many - few) as f64)
    };
    let mut times: [Times; 4] = Default::default();
    for _ in 0..places.size(3, 1) {
        times[0].push(epoch(1)?);
        times[1].push(
            peers.seconds(
                &json!({ "task": "step", "graph": false, "times": places.size(200, 2) }),
            )?,
        );
        times[2].push(
            peers.seconds(
                &json!({ "task": "step", "graph": true, "times": places.size(2000, 2) }),
            )?,
        );
    }
    let seeds = places.size(100, 2);
    times[3].push(epoch(seeds)?);
    let task = format!("MGC epoch, {name}");
    table.fine(&task, "torch, eager", &times[0], &times[1]);
    table.fine(&task, "torch, CUDA graph", &times[0], &times[2]);
    table.fine(&format!("{seeds} seeds at once, {name}"), "one seed", &times[3], &times[0]);
    Ok(())
}

/// A graph that fills a good part of the card: 20 million nodes, 400 million entries, 128 columns.
pub fn measure_large(places: &Places) -> anyhow::Result<()> {
    let nodes: usize = places.size(20_000_000, 1_000);
    let columns = places.size(128, 8);
    let cuda = Engine::cuda(0)?;
    let (seconds, graph) = time(|| random(nodes as u32, 10 * nodes));
    println!("{}: the graph was made in {seconds:.0} s", cuda.name());
    let config = OperatorConfig { charge: Charge::fraction(1, 5)?, ..Default::default() };
    let (seconds, operator) =
        time(|| MagneticOperator::new(&graph?, &config).map_err(anyhow::Error::from));
    let operator = operator?;
    let stored = operator.pattern().stored();
    println!("{stored} entries, operator in {seconds:.0} s");
    let mut x = Matrix::zeros(nodes, columns);
    let numbers = x.as_mut_slice().par_iter_mut().enumerate();
    numbers.for_each(|(i, x)| {
        *x = (i.wrapping_mul(2_654_435_761) >> 8 & 0xffff) as f32 / 65536.0 - 0.5
    });
    let features = Features::Dense(x);
    let filter = Filter::linear_rank(ORDER)?;
    for _ in 0..2 {
        let (seconds, done) = time(|| propagate_on(&cuda, &operator, &filter, &features, &()));
        done?;
        println!("LinearRank K = {ORDER}, {columns} columns, host to host: {seconds:.2} s");
    }
    let map = cuda.prepare(MapSource::filter(&operator, &filter))?;
    let half = columns / 2;
    let shape = Shape::complex(nodes, half);
    let (x, mut y) = (cuda.zeros(shape.len())?, cuda.zeros(shape.len())?);
    cuda.map(&map, Side::Forward, None, (&x, shape), (&mut y, shape), false)?;
    cuda.synchronize()?;
    let (seconds, done) = time(|| -> anyhow::Result<()> {
        cuda.map(&map, Side::Forward, None, (&x, shape), (&mut y, shape), false)?;
        Ok(cuda.synchronize()?)
    });
    done?;
    let bytes = ORDER * (stored * (8 * half + 4) + nodes * 8 * 3 * half);
    let rate = bytes as f64 / seconds / 1e12;
    println!(
        "on the card alone, {half} columns: {seconds:.3} s, {rate:.2} TB/s of rows read and written"
    );
    Ok(())
}
