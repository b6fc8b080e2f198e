//! Epochs of models that propagate over the graph, against PyTorch Geometric and plain PyTorch.

use crate::Places;
use crate::fitting::{Prepared, Problem};
use crate::memory::{MIB, peak};
use crate::table::{Table, Times};
use crate::worker::Worker;
use anyhow::{Context, ensure};
use magnon::compute::Engine;
use magnon::data::{Dataset, LoadConfig, load};
use magnon::model::{ChargeChoice, ModelConfig};
use magnon::operator::Charge;
use magnon::train::{EpochRecord, RunConfig, Watch};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Seconds of one side in one round, about.
fn seconds(places: &Places) -> f64 {
    places.size(1.5, 0.0)
}

/// Epochs at the start of a fit that are not counted: the first asks for memory.
const WARM_UP: usize = 2;
/// What building and training may hold at most.
const MOST: f64 = 2048.0 * MIB;

/// A graph with the same features, labels and split on both sides.
struct Graph {
    name: &'static str,
    /// Below the folder of the data.
    path: &'static str,
    /// Edges in place of those of the path, below the folder of the data.
    edges: Option<&'static str>,
}

const PUBMED: Graph = Graph { name: "pubmed", path: "pubmed", edges: None };
/// PubMed's own matrix is symmetric, so that every charge would leave the network real.
const DIRECTED: Graph = Graph {
    name: "pubmed with directions",
    path: "pubmed",
    edges: Some("pubmed/derived/adj_directed.npz"),
};
const SQUIRREL: Graph =
    Graph { name: "squirrel", path: "geom_gcn_squirrel/squirrel_directed.npz", edges: None };

/// A small one, to see that all runs.
const CORNELL: Graph = Graph { name: "cornell", path: "geom_gcn_cornell", edges: None };

const CASES: [(&str, &Graph); 8] = [
    ("gcn", &PUBMED),
    ("appnp", &PUBMED),
    ("chebynet", &PUBMED),
    ("gat", &PUBMED),
    ("magnet", &DIRECTED),
    ("gcn", &SQUIRREL),
    ("magnet", &SQUIRREL),
    ("bank", &SQUIRREL),
];

/// Of a bank, which would choose them.
const CHANNELS: &str = "x,out,in,out.out,out.in,in.out,in.in,rows-out,rows-in";

/// Models whose diffusion must not become dense.
const SPARSE: [&str; 2] = ["gdc-hkpr", "digcn"];

impl Graph {
    fn files(&self, data: &Path) -> (PathBuf, Option<PathBuf>) {
        (data.join(self.path), self.edges.map(|edges| data.join(edges)))
    }

    fn load(&self, data: &Path) -> anyhow::Result<Dataset> {
        let (path, edges) = self.files(data);
        let config = LoadConfig::default();
        let mut dataset = load(&path, &config)?;
        if let Some(edges) = edges {
            let graph = load(&edges, &config)?.graph;
            ensure!(graph.nodes() == dataset.graph.nodes(), "{}: other nodes", edges.display());
            dataset.graph = graph;
        }
        Ok(dataset)
    }
}

/// Measures all models.
pub fn measure(places: &Places) -> anyhow::Result<()> {
    compare(places, None)
}

/// Measures the bank alone.
pub fn measure_bank(places: &Places) -> anyhow::Result<()> {
    compare(places, Some("bank"))
}

/// Measures all models, or one of them alone.
fn compare(places: &Places, only: Option<&str>) -> anyhow::Result<()> {
    let data = places.data()?;
    let rounds = places.size(5, 1);
    let torch_is_there = places.has("torch_geometric_signed_directed")?;
    let mut table = Table::default();
    let (mut methods, mut memory) = (Vec::new(), Vec::new());
    let mut torch = String::new();
    for (model, graph) in CASES.into_iter().filter(|(model, _)| only.is_none_or(|o| o == *model)) {
        let graph = places.size(graph, &CORNELL);
        let dataset = graph.load(data)?;
        let config = config(model)?;
        let settings = settings(&config);
        let problem = Problem::new(&dataset, config)?;
        let mut ours = Ours::new(problem.build()?, seconds(places))?;
        let mut peers = Vec::new();
        for side in ["pyg", "hand"].into_iter().filter(|_| torch_is_there) {
            peers.extend(Peer::start(places, data, (model, graph, side), &settings)?);
        }
        for _ in 0..rounds {
            ours.round()?;
            peers.iter_mut().try_for_each(Peer::round)?;
        }
        let task = format!("{}: {model}", graph.name);
        memory.push(format!("{task} {:.0} MiB", ours.bytes as f64 / MIB));
        if peers.is_empty() {
            table.alone(&task, &ours.times);
        }
        for peer in peers {
            torch = peer.torch.clone();
            let (title, theirs, method) = peer.end()?;
            table.row(&task, &title, &ours.times, &theirs);
            methods.push(format!("{task}, {title}: {method}"));
        }
    }
    table.note(format!(
        "An epoch is the training nodes forward and back, a step of Adam, and the validation nodes \
         forward; both sides have two threads and the same layers, heads, orders and dropout. A \
         time is the median over {rounds} interleaved rounds of the median over the epochs of a \
         round. Peers, with torch {torch}, put all nodes through the network (the bank those of the \
         loss alone), in the fastest of the ways \
         that they were tried in, with threads that spin or sleep while they wait, whichever \
         is faster: {}.",
        methods.join("; ")
    ));
    table.note(format!("Memory of our steps beside the parameters: {}.", memory.join(", ")));
    for model in SPARSE.into_iter().filter(|_| only.is_none()) {
        let mut command = Command::new(&places.magnon);
        let path = places.size("pubmed", CORNELL.path);
        command.arg("train").arg(data.join(path)).args(["--model", model, "--epochs", "2"]);
        command.args(["--quiet", "--json"]).stdout(Stdio::null());
        let bytes = peak(&mut command)?;
        ensure!(bytes < MOST, "{model} on {path}: {:.0} MiB", bytes / MIB);
        table.note(format!(
            "Peak memory of `magnon train {path} --model {model}`: {:.0} MiB.",
            bytes / MIB
        ));
    }
    table.end();
    Ok(())
}

/// The model as it comes, with the charge ¼ where that is left open.
fn config(model: &str) -> anyhow::Result<RunConfig> {
    let mut config = RunConfig::of(ModelConfig::named(model)?);
    if model == "bank" {
        config.model.set("channels", CHANNELS.into())?;
    }
    if let Some(operator) = &mut config.operator
        && operator.charge == ChargeChoice::Auto
    {
        operator.charge = ChargeChoice::Fixed(Charge::fraction(1, 4)?);
    }
    Ok(config)
}

/// What the peers need to know of a configuration.
fn settings(config: &RunConfig) -> Value {
    let mut settings = config.model.settings();
    if let Some(filter) = &config.filter {
        settings.insert("steps".to_owned(), json!(filter.order));
        settings.insert("restart".to_owned(), json!(filter.alpha.map(|alpha| 1.0 - alpha)));
    }
    let optimiser = config.train.optimiser;
    settings.insert("rate".to_owned(), json!(optimiser.rate));
    settings.insert("weight_decay".to_owned(), json!(optimiser.weight_decay));
    settings.remove("init");
    Value::Object(settings)
}

/// Notes when epochs end.
struct Clock {
    last: Instant,
    seconds: Vec<f64>,
}

impl Watch for Clock {
    fn epoch(&mut self, _: &EpochRecord, _: &EpochRecord) {
        self.seconds.push(self.last.elapsed().as_secs_f64());
        self.last = Instant::now();
    }
}

/// Our side.
struct Ours<'p> {
    prepared: Prepared<'p>,
    epochs: usize,
    times: Times,
    bytes: usize,
}

impl<'p> Ours<'p> {
    /// Fits for about so many seconds per round.
    fn new(prepared: Prepared<'p>, seconds: f64) -> anyhow::Result<Self> {
        let mut ours = Self { prepared, epochs: 3 * WARM_UP, times: Times::default(), bytes: 0 };
        let epoch = ours.fit()?;
        ours.epochs = WARM_UP + ((seconds / epoch) as usize).clamp(5, 500);
        Ok(ours)
    }

    /// Median of the epochs after the first.
    fn fit(&mut self) -> anyhow::Result<f64> {
        let mut clock = Clock { last: Instant::now(), seconds: Vec::new() };
        let fitted = self.prepared.fit(&Engine::cpu(), self.epochs, &mut clock)?;
        self.bytes = fitted.bytes;
        let mut times = Times::default();
        clock.seconds.iter().skip(WARM_UP).for_each(|&seconds| times.push(seconds));
        Ok(times.median())
    }

    fn round(&mut self) -> anyhow::Result<()> {
        let median = self.fit()?;
        self.times.push(median);
        Ok(())
    }
}

/// A peer in two processes, whose threads spin and sleep.
struct Peer {
    /// Of one round, about.
    seconds: f64,
    title: String,
    torch: String,
    workers: Vec<(Worker, Times, String)>,
}

impl Peer {
    /// `None` where the script has no such side for the model.
    fn start(
        places: &Places,
        data: &Path,
        (model, graph, side): (&str, &Graph, &str),
        settings: &Value,
    ) -> anyhow::Result<Option<Self>> {
        let script = places.scripts.join("bench_models.py");
        let (path, edges) = graph.files(data);
        let mut peer = Self {
            seconds: seconds(places),
            title: String::new(),
            torch: String::new(),
            workers: Vec::new(),
        };
        for spin in [true, false] {
            let mut worker = Worker::of(&places.python, &script, spin)?;
            let answer = worker.ask(&json!({
                "task": "prepare", "data": path, "edges": edges, "model": model, "side": side,
                "settings": settings, "seconds": seconds(places),
            }))?;
            let Some(title) = answer["title"].as_str() else {
                worker.quit()?;
                return Ok(None);
            };
            peer.title = title.to_owned();
            peer.torch = answer["torch"].as_str().unwrap_or("?").to_owned();
            let method = answer["method"].as_str().context("no method")?;
            let method = format!("{method}, {}", if spin { "spinning" } else { "sleeping" });
            peer.workers.push((worker, Times::default(), method));
        }
        Ok(Some(peer))
    }

    fn round(&mut self) -> anyhow::Result<()> {
        for (worker, times, _) in &mut self.workers {
            times.push(worker.seconds(&json!({ "task": "epochs", "seconds": self.seconds }))?);
        }
        Ok(())
    }

    /// Title, times and method of the faster process.
    fn end(self) -> anyhow::Result<(String, Times, String)> {
        let mut best: Option<(Times, String)> = None;
        for (worker, times, method) in self.workers {
            worker.quit()?;
            if best.as_ref().is_none_or(|(other, _)| times.median() < other.median()) {
                best = Some((times, method));
            }
        }
        let (times, method) = best.context("no process")?;
        Ok((self.title, times, method))
    }
}
