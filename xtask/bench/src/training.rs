//! Ten runs of the presets against PyTorch, and where the time of our epochs goes.

use crate::Places;
use crate::fitting::Problem;
use crate::table::{Table, time};
use anyhow::{Context, ensure};
use magnon::compute::Engine;
use magnon::data::load;
use magnon::model::ProductOrder;
use magnon::workflow::preset;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

const PRESETS: [&str; 6] = ["cornell", "texas", "washington", "wisconsin", "corar", "pubmed"];
const THREADS: usize = 2;

/// The fastest round of one side.
#[derive(Clone, Default)]
struct Entry {
    /// Seconds of all runs. Ours are those of the whole process, the peers' those of training.
    whole: Option<f64>,
    /// Seconds of training by number of epochs.
    epoch: Option<f64>,
    epochs: u64,
    accuracy: f64,
    answer: Value,
}

/// How much is trained.
struct Amount {
    presets: &'static [&'static str],
    rounds: usize,
    runs: usize,
    /// At most; as many as the preset says otherwise.
    epochs: Option<usize>,
    /// Epochs that the breakdown is taken over.
    breakdown: usize,
}

impl Amount {
    fn epochs_flag(&self) -> impl Iterator<Item = String> {
        self.epochs.into_iter().flat_map(|epochs| ["--epochs".to_owned(), epochs.to_string()])
    }
}

impl Entry {
    /// Keeps the better of what is here and a round more. Whole time and time of an epoch are
    /// each the best of their own; the rest belongs to the fastest whole.
    fn add(&mut self, whole: f64, train: f64, epochs: u64, accuracy: f64, answer: Value) {
        let epoch = train / epochs.max(1) as f64;
        self.epoch = Some(self.epoch.map_or(epoch, |best| best.min(epoch)));
        if self.whole.is_none_or(|best| whole < best) {
            let epoch = self.epoch;
            *self = Self { whole: Some(whole), epoch, epochs, accuracy, answer };
        }
    }

    fn describe(&self) -> String {
        format!("{} epochs, {:.1} %", self.epochs, 100.0 * self.accuracy)
    }

    fn whole(&self) -> f64 {
        self.whole.unwrap_or(f64::NAN)
    }

    fn epoch(&self) -> f64 {
        self.epoch.unwrap_or(f64::NAN)
    }
}

pub fn measure(places: &Places) -> anyhow::Result<()> {
    let data = places.data()?;
    let amount = places.size(
        Amount { presets: &PRESETS, rounds: 2, runs: 10, epochs: None, breakdown: 300 },
        Amount { presets: &PRESETS[..1], rounds: 1, runs: 2, epochs: Some(3), breakdown: 10 },
    );
    let torch = places.has("torch")?;
    let mut table = Table::default();
    if torch {
        against_torch(places, data, &amount, &mut table)?;
    }
    table.note("Where our time goes on one thread:\n".to_owned());
    for name in amount.presets {
        let share = breakdown(data, name, amount.breakdown);
        table.note(share.with_context(|| format!("the breakdown of {name}"))?);
    }
    table.end();
    Ok(())
}

fn against_torch(
    places: &Places,
    data: &Path,
    amount: &Amount,
    table: &mut Table,
) -> anyhow::Result<()> {
    let Amount { runs, rounds, .. } = *amount;
    let mut methods = Vec::new();
    for &name in amount.presets {
        let [mut ours, mut careful, mut authors]: [Entry; 3] = Default::default();
        for round in 0..rounds {
            // Threads spin for a while before they sleep, which is quick on a quiet machine and
            // several times slower beside other work: peers have rounds of both, and the best counts.
            let spin = round % 2 == 0;
            ours_once(places, data, name, amount, &mut ours)?;
            peer_once(places, data, (name, "careful", spin), amount, &mut careful)?;
            peer_once(places, data, (name, "authors", spin), amount, &mut authors)?;
        }
        let named =
            [("careful", "PyTorch, careful", &careful), ("authors", "authors' way", &authors)];
        for (way, title, peer) in named {
            ensure!(
                peer.answer["pass"] == ours.answer["pass"],
                "{name}: {way} takes the {} pass, magnon the {} pass",
                peer.answer["pass"],
                ours.answer["pass"]
            );
            let task = format!("{name}: {runs} runs, {}", ours.describe());
            let theirs = format!("{title}, {}", peer.describe());
            table.pair(&task, &theirs, ours.whole(), peer.whole());
            table.pair(&format!("{name}: an epoch"), title, ours.epoch(), peer.epoch());
        }
        let text = |key: &str| careful.answer[key].as_str().unwrap_or("?").to_owned();
        let spent = |key: &str| careful.answer["seconds"][key].as_f64().unwrap_or(f64::NAN);
        methods.push(format!(
            "{name} ({}; before it, {:.1} s of imports, {:.2} s of reading, {:.2} s of filtering)",
            text("method"),
            spent("import"),
            spent("load"),
            spent("filter")
        ));
        if Some(&name) == amount.presets.last() {
            table.note(format!(
                "Ours is the whole process, {runs} seeds on {THREADS} threads, reading and \
                 filtering included; PyTorch {} is training alone, one seed after the other on at \
                 most {THREADS} threads. An epoch is training alone on both sides, divided by the \
                 epochs of all runs, which differ by chance. The better of {rounds} interleaved \
                 rounds, in one of which PyTorch's threads sleep at once when they wait. The \
                 authors' way puts all nodes through the network twice an epoch, the careful way \
                 only the rows that are needed.",
                text("torch")
            ));
        }
    }
    table.note(format!("What the careful way found to be fastest: {}.", methods.join(", ")));
    Ok(())
}

/// Runs a command and reads the one JSON object that it prints.
fn answer(command: &mut Command) -> anyhow::Result<(f64, Value)> {
    let (seconds, output) = time(|| command.stderr(Stdio::inherit()).output());
    let program = command.get_program().display();
    let output = output.with_context(|| format!("{program}"))?;
    ensure!(output.status.success(), "{program}: {}", output.status);
    Ok((seconds, serde_json::from_slice(&output.stdout).context("not one JSON object")?))
}

fn ours_once(
    places: &Places,
    data: &Path,
    name: &str,
    amount: &Amount,
    entry: &mut Entry,
) -> anyhow::Result<()> {
    let mut command = Command::new(&places.magnon);
    command.arg("train").arg(data.join(name)).args(["--preset", name, "--json", "--quiet"]);
    command.args(["--runs", &amount.runs.to_string(), "--threads", &THREADS.to_string()]);
    command.args(amount.epochs_flag());
    let (whole, answer) = answer(&mut command)?;
    let runs = answer["runs"].as_array().context("no runs")?;
    let epochs = runs.iter().filter_map(|run| run["epochs"].as_u64()).sum();
    let train = answer["seconds"]["train"].as_f64().context("no time of training")?;
    let accuracy = answer["test_accuracy"]["mean"].as_f64().context("no accuracy")?;
    entry.add(whole, train, epochs, accuracy, answer);
    Ok(())
}

fn peer_once(
    places: &Places,
    data: &Path,
    (name, way, spin): (&str, &str, bool),
    amount: &Amount,
    entry: &mut Entry,
) -> anyhow::Result<()> {
    let mut command = Command::new(&places.python);
    command.arg(places.scripts.join("bench_training.py")).arg(name).args(["--way", way]);
    command.arg("--data").arg(data);
    if !spin {
        command.env("OMP_WAIT_POLICY", "PASSIVE");
    }
    command.args(["--runs", &amount.runs.to_string(), "--threads", &THREADS.to_string()]);
    command.args(amount.epochs_flag());
    let (_, answer) = answer(&mut command)?;
    let train = answer["seconds"]["train"].as_f64().context("no time of training")?;
    let epochs = answer["epochs"].as_u64().context("no epochs")?;
    let accuracy = answer["test_accuracy"].as_f64().context("no accuracy")?;
    entry.add(train, train, epochs, accuracy, answer);
    Ok(())
}

/// Where the time of an epoch goes on one thread, as a sentence.
fn breakdown(data: &Path, name: &str, epochs: usize) -> anyhow::Result<String> {
    let config = preset(name)?;
    let dataset = load(&data.join(name), &config.data.load)?;
    let problem = Problem::new(&dataset, config)?;
    let prepared = problem.build()?;
    let fitted = |epochs: usize| -> anyhow::Result<_> {
        let engine = Engine::timed();
        let (seconds, fitted) = time(|| prepared.fit(&engine, epochs, &mut ()));
        Ok((seconds / fitted?.history.len() as f64, engine.breakdown()))
    };
    fitted(epochs.div_ceil(10))?;
    let (epoch, parts) = fitted(epochs)?;
    let [products, elementwise, optimiser] = [parts.products, parts.elementwise, parts.optimiser]
        .map(|part| 1000.0 * part.as_secs_f64() / epochs as f64);
    let rest = 1000.0 * epoch - products - elementwise - optimiser;
    let plan = match prepared.order() {
        Some(ProductOrder::Factored) => "rows of H, X apart",
        _ => "rows of X̄",
    };
    Ok(format!(
        "- {name} ({plan}): {:.3} ms an epoch, of which products {products:.3}, \
         elementwise {elementwise:.3}, optimiser {optimiser:.3}, the rest {rest:.3}.",
        1000.0 * epoch
    ))
}
