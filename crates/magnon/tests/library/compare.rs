//! Comparisons of models: what they claim, and that they go on after an interrupt to the same figures.
#![allow(clippy::unwrap_used, clippy::expect_used)] // tests

use magnon::Error;
use magnon::data::Dataset;
use magnon::model::ModelConfig;
use magnon::train::{DataConfig, Experiment, RunConfig, Vary};
use magnon::workflow::compare::{
    CompareConfig, CompareRecord, Comparison, Contestant, Finding, Handed, ModelRow, TuneBudget,
    compare, compare_part, compare_parts,
};
use magnon::workflow::{Progress, read_dataset};

type Journal = magnon::workflow::Journal<CompareRecord>;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

fn data(source: &str) -> Dataset {
    read_dataset(&DataConfig { source: source.to_owned(), ..Default::default() }, 0).unwrap()
}

fn contestant(name: &str) -> Contestant {
    let config = RunConfig::of(ModelConfig::named(name).unwrap());
    Contestant { name: name.to_owned(), config }
}

/// A contestant that is trained for a few epochs.
fn quick(name: &str, epochs: usize) -> Contestant {
    let mut contestant = contestant(name);
    contestant.config.train.epochs = epochs;
    if contestant.config.model.has("hidden") {
        contestant.config.model.set("hidden", 8.into()).unwrap();
    }
    contestant
}

fn config(models: Vec<Contestant>, splits: usize) -> CompareConfig {
    CompareConfig { models, splits, ..Default::default() }
}

fn run(dataset: &Dataset, config: &CompareConfig) -> Comparison {
    compare(dataset, None, config, None, &()).unwrap()
}

/// Everything but times.
fn figures(comparison: &Comparison) -> Value {
    let mut value = serde_json::to_value(comparison).unwrap();
    assert!(value.as_object_mut().unwrap().remove("seconds").unwrap()["compare"].is_f64());
    for row in value["models"].as_array_mut().unwrap() {
        for key in ["seconds", "train_seconds", "filter_seconds"] {
            row.as_object_mut().unwrap().remove(key).expect(key);
        }
    }
    value
}

#[test]
fn on_the_built_in_graph_direction_helps() {
    let found = run(&data("demo"), &config(vec![contestant("mgc"), contestant("sgc")], 5));
    assert_eq!(found.verdict.graph.answer, Finding::Helps, "{}", found.verdict.text);
    assert_eq!(found.verdict.direction.answer, Finding::Helps, "{}", found.verdict.text);
    assert_eq!(found.reference.as_deref(), Some("mgc"));
    assert_eq!(found.models[0].model, "mgc");
    let kinds: Vec<&str> = found.controls.iter().map(|row| row.control).collect();
    assert_eq!(kinds, ["majority", "mlp", "undirected", "coin"]);
    let third = found.models[0].charges.iter().find(|count| count.charge == "1/3");
    assert!(third.is_some_and(|count| count.runs >= 4), "{:?}", found.models[0].charges);
}

#[test]
fn on_a_symmetric_graph_direction_cannot_help() {
    let mut data = data("demo");
    data.graph = data.graph.symmetrised();
    let found = run(&data, &config(vec![quick("mgc", 20), quick("dirgnn", 20)], 3));
    assert_eq!(found.verdict.direction.answer, Finding::Cannot, "{}", found.verdict.text);
    assert!(found.controls.iter().all(|row| row.control != "coin" && row.control != "undirected"));
}

/// Labels that have nothing to do with graph or features: whatever is claimed is a false alarm.
#[test]
fn permuted_labels_raise_few_false_alarms() {
    let mut data = data("demo:nodes=90");
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut alarms = 0;
    for seed in 0..200 {
        let labels = data.labels.as_mut().unwrap();
        labels.classes.shuffle(&mut rng);
        let mut config = config(vec![quick("mgc", 12), quick("sgc", 12)], 4);
        (config.draws, config.seed) = (1, seed);
        let verdict = run(&data, &config).verdict;
        let claimed = [&verdict.graph, &verdict.direction].map(|of| of.answer == Finding::Helps);
        alarms += usize::from(claimed.contains(&true));
    }
    assert!(alarms <= 10, "{alarms} of 200");
}

/// Stops once so many jobs are done.
struct StopAfter {
    jobs: usize,
    seen: AtomicUsize,
    stop: AtomicBool,
}

impl Progress for StopAfter {
    fn step(&self, _: usize, _: usize, _: &str) {
        if self.seen.fetch_add(1, Relaxed) + 1 >= self.jobs {
            self.stop.store(true, Relaxed);
        }
    }
    fn stop_flag(&self) -> &AtomicBool {
        &self.stop
    }
}

#[test]
fn an_interrupt_at_any_point_changes_nothing() {
    let data = data("demo:nodes=120");
    let mut config = config(vec![quick("mgc", 15), quick("gcn", 15), quick("dirgnn", 15)], 3);
    (config.runs, config.draws) = (2, 2);
    let whole = figures(&run(&data, &config));
    let folder = tempfile::tempdir().unwrap();
    // A race on one split makes up to six of them known at once.
    for jobs in [7, 10, 17, 30, 41] {
        let path = folder.path().join(format!("{jobs}.jsonl"));
        let mut stops = 0;
        let found = loop {
            let mut journal = Journal::open(&path, &data).unwrap();
            let before = journal.len();
            let progress =
                StopAfter { jobs, seen: AtomicUsize::new(0), stop: AtomicBool::new(false) };
            match compare(&data, None, &config, Some(&mut journal), &progress) {
                Ok(found) => break found,
                Err(Error::Stopped) => stops += 1,
                Err(error) => panic!("{error}"),
            }
            assert!(stops < 100, "{before} jobs are kept, and nothing is gained");
            // A kill may cut the last line.
            drop(journal);
            let mut text = std::fs::read(&path).unwrap();
            text.extend_from_slice(b"{\"key\":\"cut sh");
            std::fs::write(&path, text).unwrap();
        };
        assert!(stops > 0, "it was stopped after {jobs}");
        assert_eq!(figures(&found), whole, "stopped {stops} times after {jobs} jobs");
        // Once all is known, nothing is trained.
        let mut journal = Journal::open(&path, &data).unwrap();
        let again = compare(&data, None, &config, Some(&mut journal), &()).unwrap();
        assert_eq!(figures(&again), whole);
    }
}

/// Runs the parts of a comparison apart, each knowing of the waves before alone, the last part of a wave first; gives
/// the lines of the journal in the end, and the words of the parts wave by wave.
fn run_apart(
    data: &Dataset,
    config: &CompareConfig,
    path: &std::path::Path,
    seconds: f64,
) -> Vec<Vec<String>> {
    let own = path.with_extension("own");
    let mut handed = Handed { seconds, ..Default::default() };
    let mut waves = Vec::new();
    loop {
        let mut journal = Journal::open(path, data).unwrap();
        let stands = compare_parts(data, None, config, &mut journal, &handed, &()).unwrap();
        drop(journal);
        let tried = handed.tried.len();
        assert_eq!(stands.open.is_empty(), stands.done == stands.steps, "{stands:?}");
        if stands.open.is_empty() {
            return waves;
        }
        let before = std::fs::read(path).unwrap();
        for part in stands.open.iter().rev() {
            std::fs::write(&own, &before).unwrap();
            let mut journal = Journal::open(&own, data).unwrap();
            let known = Handed { tried: handed.tried.clone(), seconds: 0.0 };
            compare_part(data, None, config, &mut journal, (&part.key, &known), &()).unwrap();
            drop(journal);
            let lines = std::fs::read(&own).unwrap();
            let mut all = std::fs::read(path).unwrap();
            all.extend_from_slice(&lines[before.len()..]);
            std::fs::write(path, all).unwrap();
        }
        handed.tried.extend(stands.open.iter().map(|part| part.key.clone()));
        assert_eq!(handed.tried.len(), tried + stands.open.len(), "no part is handed out twice");
        waves.push(stands.open.into_iter().map(|part| part.group).collect());
    }
}

/// Parts that are run apart, in any order, are the comparison.
#[test]
fn parts_make_the_whole() {
    let data = data("cyclic:nodes=60,columns=4,density=0.1");
    let config = CompareConfig { draws: 1, ..config(vec![quick("mgc", 8), quick("gcn", 8)], 2) };
    let whole = figures(&run(&data, &config));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.jsonl");
    let waves = run_apart(&data, &config, &path, 0.0);
    assert_eq!(waves.iter().map(Vec::len).collect::<Vec<_>>(), [8, 2]);
    assert!(waves[1].iter().all(|group| group == "mgc on coins, draw 1"), "{waves:?}");
    let mut journal = Journal::open(&path, &data).unwrap();
    assert_eq!(journal.len(), 10);
    let found = compare(&data, None, &config, Some(&mut journal), &()).unwrap();
    assert_eq!(figures(&found), whole);
    assert_eq!(journal.len(), 10, "nothing was left to run");
}

/// The trials of all searches are parts, too, and those of several models and splits go side by side.
#[test]
fn parts_of_searches_make_the_whole() {
    let data = data("cyclic:nodes=60,columns=4,density=0.1");
    let tune = Some(TuneBudget { trials: 6, minutes: None });
    let models = vec![quick("mgc", 12), quick("gcn", 12)];
    let config = CompareConfig { draws: 1, tune, ..config(models, 2) };
    let whole = figures(&run(&data, &config));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.jsonl");
    let waves = run_apart(&data, &config, &path, 0.0);
    // First the settings as they are: of two models and the network without the graph, on two splits.
    let mut first = waves[0].clone();
    first.dedup();
    assert_eq!(first, ["mgc, to the end", "gcn, to the end", "mlp, to the end"]);
    assert_eq!(waves[0].len(), 6);
    assert_eq!(waves[1].len(), 6 * 5);
    let mut journal = Journal::open(&path, &data).unwrap();
    let lines = journal.len();
    let found = compare(&data, None, &config, Some(&mut journal), &()).unwrap();
    assert_eq!(figures(&found), whole);
    assert_eq!(journal.len(), lines, "nothing was left to run");
}

/// Searches whose time is over end behind what was begun, and models are run all the same.
#[test]
fn time_that_is_over_ends_the_searches() {
    let data = data("cyclic:nodes=60,columns=4,density=0.1");
    let tune = Some(TuneBudget { trials: 30, minutes: Some(1.0) });
    let config = CompareConfig { draws: 1, tune, ..config(vec![quick("gcn", 5)], 1) };
    let folder = tempfile::tempdir().unwrap();
    // The time of two searches, of the model and of the network without the graph.
    let path = folder.path().join("over.jsonl");
    let waves = run_apart(&data, &config, &path, 120.0);
    assert_eq!(waves.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2], "{waves:?}");
    let mut journal = Journal::open(&path, &data).unwrap();
    compare(&data, None, &config, Some(&mut journal), &()).unwrap();
    assert_eq!((journal.len(), journal.runs()), (6, 2), "nothing was searched again");
    let waves = run_apart(&data, &config, &folder.path().join("begun.jsonl"), 119.0);
    assert_eq!(waves[1].len(), 2 * 27, "{waves:?}");
}

/// Parts that fail are handed out once; the comparison tells why.
#[test]
fn parts_that_fail_end() {
    let data = data("cyclic:nodes=60,columns=4,density=0.1");
    let mut wild = quick("mgc", 8);
    wild.config.train.optimiser.rate = 1e30;
    let config = CompareConfig { draws: 1, ..config(vec![wild, quick("magnet", 8)], 2) };
    let whole = figures(&run(&data, &config));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.jsonl");
    let waves = run_apart(&data, &config, &path, 0.0);
    assert_eq!(waves.len(), 2);
    assert!(waves[1].iter().all(|group| group == "magnet on coins, draw 1"), "{waves:?}");
    let mut journal = Journal::open(&path, &data).unwrap();
    let found = compare(&data, None, &config, Some(&mut journal), &()).unwrap();
    assert_eq!(figures(&found), whole);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let data = data("demo:nodes=120");
    let config = config(vec![quick("mgc", 15), quick("gat", 10), quick("fabernet", 10)], 3);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| figures(&run(&data, &config)))
    };
    let one = on(1);
    assert_eq!(on(2), one);
    assert_eq!(on(7), one);
}

/// The same accuracies as an experiment with the same splits and seeds.
#[test]
fn figures_are_those_of_plain_runs() {
    let data = data("demo:nodes=150");
    let found = run(&data, &config(vec![quick("gcn", 25)], 4));
    let mut plain = quick("gcn", 25).config;
    plain.data.split = "60/20/20".parse().unwrap();
    (plain.runs.count, plain.runs.vary) = (4, Vary::Both);
    let outcome = Experiment::new(&data, &plain).unwrap().run(None, &()).unwrap();
    let accuracies: Vec<f64> = outcome.runs.iter().map(|run| run.metrics[2].accuracy).collect();
    let mean = accuracies.iter().sum::<f64>() / 4.0;
    let row = &found.models[0];
    assert!((row.test_accuracy.unwrap().mean - mean).abs() < 1e-12);
    assert_eq!(row.parameters, Some(outcome.runs[0].parameters));
    // The majority class of three equal ones is right on a third of the nodes.
    let majority = found.controls[0].test_accuracy.unwrap().mean;
    assert!((majority - 1.0 / 3.0).abs() < 0.05, "{majority}");
}

/// A model that leaves settings open has the figures of those that validation takes, split by split.
#[test]
fn figures_are_those_of_the_settings_taken() {
    let data = data("cyclic:nodes=150,columns=4");
    let found = run(&data, &config(vec![quick("bank", 25)], 3));
    let mut plain = quick("bank", 25).config;
    plain.data.split = "60/20/20".parse().unwrap();
    (plain.runs.count, plain.runs.vary) = (3, Vary::Both);
    let outcome = Experiment::new(&data, &plain).unwrap().run(None, &()).unwrap();
    assert_eq!(outcome.choices[0].taken_by, 0, "the first is not taken by all of them");
    let mean = outcome.runs.iter().map(|run| run.metrics[2].accuracy).sum::<f64>() / 3.0;
    let row = found.models.iter().find(|row| row.model == "bank").unwrap();
    assert!((row.test_accuracy.unwrap().mean - mean).abs() < 1e-12);
}

#[test]
fn a_model_that_fails_is_a_row_that_says_so() {
    let data = data("demo:nodes=120");
    let mut wild = quick("gcn", 50);
    wild.name = "wild".to_owned();
    wild.config.train.optimiser.rate = 1e30;
    let mut batches = quick("gat", 5);
    batches.config.train.batch = Some(4);
    let found = run(&data, &config(vec![wild, batches, quick("sgc", 5)], 2));
    let row = |name: &str| found.models.iter().find(|row| row.model == name).unwrap();
    let error = row("wild").error.as_ref().unwrap();
    assert!(error.contains("lower the learning rate"), "{error}");
    assert!(row("gat").error.as_ref().unwrap().contains("batches"));
    assert!(row("wild").test_accuracy.is_none() && row("sgc").test_accuracy.is_some());
    assert_eq!(found.models.last().map(|row| row.error.is_some()), Some(true));
    let times = |row: &ModelRow| [row.seconds, row.train_seconds, row.filter_seconds];
    let minus = |row: &ModelRow| times(row).iter().any(|seconds| seconds.is_sign_negative());
    assert!(!found.models.iter().any(minus), "a time of -0 s");

    let mut small = config(vec![quick("sgc", 5)], 2);
    small.memory = Some(1);
    let found = run(&data, &small);
    if cfg!(target_os = "linux") {
        let error = found.models[0].error.as_ref().unwrap();
        assert!(error.contains("memory"), "{error}");
    } else {
        println!("left out: this system does not tell how much memory a process holds");
    }
}

/// Every split tunes on its own validation nodes: labels of test nodes decide nothing.
#[test]
fn tuned_models_are_compared() {
    let data = data("demo:nodes=150");
    let mut config = config(vec![quick("mgc", 40), quick("gcn", 40)], 3);
    config.tune = Some(TuneBudget { trials: 8, minutes: None });
    let found = run(&data, &config);
    assert_eq!(found.tuned, Some(TuneBudget { trials: 8, minutes: None }));
    assert!(found.models.iter().all(|row| row.error.is_none()));
    let plain = run(&data, &CompareConfig { tune: None, ..config.clone() });
    assert_ne!(figures(&plain)["models"], figures(&found)["models"]);

    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(&folder.path().join("jobs.jsonl"), &data).unwrap();
    let again = compare(&data, None, &config, Some(&mut journal), &()).unwrap();
    assert_eq!(figures(&again), figures(&found));
    // Two models, one of them without direction, too, the network without the graph, and coins, on three splits.
    let (lines, runs) = (journal.len(), journal.runs());
    assert_eq!(runs, 3 * (4 + config.draws));
    let known = compare(&data, None, &config, Some(&mut journal), &()).unwrap();
    assert_eq!(figures(&known), figures(&found));
    assert_eq!(journal.len(), lines, "nothing was searched or run again");
}

#[test]
fn one_split_is_judged_by_its_nodes() {
    let mut config = config(vec![contestant("mgc")], 1);
    config.runs = 3;
    let found = run(&data("demo"), &config);
    let row = &found.models[0];
    let accuracy = row.test_accuracy.unwrap();
    // 120 test nodes: no narrower than the binomial interval of the mean.
    let p = accuracy.mean;
    assert!(accuracy.ci95.unwrap() > 1.5 * (p * (1.0 - p) / 120.0).sqrt() / 3f64.sqrt());
    assert_eq!(accuracy.n, 3);
    assert_eq!(found.verdict.direction.answer, Finding::Helps, "{}", found.verdict.text);
}

#[test]
fn a_journal_of_other_data_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep").join("jobs.jsonl");
    let (one, other) = (data("demo:nodes=120"), data("demo:nodes=150"));
    let journal = Journal::open(&path, &one).unwrap();
    let busy = Journal::open(&path, &one).unwrap_err().to_string();
    assert!(busy.contains("another process"), "{busy}");
    drop(journal);
    let error = Journal::open(&path, &other).unwrap_err().to_string();
    assert!(error.contains("other data"), "{error}");
    assert!(Journal::open(&path, &one).unwrap().is_empty());
}

#[test]
fn configurations_that_cannot_be_meant() {
    let data = data("demo:nodes=120");
    let fails = |config: &CompareConfig, words: &str| {
        let error = compare(&data, None, config, None, &()).unwrap_err();
        assert!(matches!(error, Error::Argument(_)), "{error:?}");
        assert!(error.to_string().contains(words), "{error}");
    };
    fails(&config(Vec::new(), 2), "no model");
    fails(&config(vec![contestant("gcn")], 0), "splits");
    fails(&config(vec![contestant("gcn"), contestant("gcn")], 2), "twice");
}
