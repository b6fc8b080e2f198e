//! The search for settings: what it finds, and that it is the same however it is run.
#![allow(clippy::unwrap_used, clippy::expect_used)] // tests

use magnon::Error;
use magnon::data::{Dataset, Split};
use magnon::model::{MODELS, ModelConfig};
use magnon::train::{DataConfig, RunConfig};
use magnon::workflow::tune::{
    Search, TuneConfig, TuneParts, TuneRecord, Tuning, tune, tune_part, tune_parts,
};
use magnon::workflow::{Journal, Progress, read_dataset};
use serde_json::Value;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

fn data(source: &str) -> Dataset {
    read_dataset(&DataConfig { source: source.to_owned(), ..Default::default() }, 0).unwrap()
}

fn base(model: &str, epochs: usize) -> RunConfig {
    let mut config = RunConfig::of(ModelConfig::named(model).unwrap());
    config.train.epochs = epochs;
    config
}

fn search(data: &Dataset, base: &RunConfig, config: &TuneConfig) -> Tuning {
    tune(data, base, &data.splits[..1], config, None, &()).unwrap()
}

/// Everything but times.
fn figures(tuning: &Tuning) -> Value {
    let mut value = serde_json::to_value(tuning).unwrap();
    assert!(value.as_object_mut().unwrap().remove("seconds").unwrap()["tune"].is_f64());
    for row in value["trials"].as_array_mut().unwrap() {
        row.as_object_mut().unwrap().remove("seconds").unwrap();
    }
    value
}

#[test]
fn the_best_is_no_worse_than_what_was_given() {
    let data = data("demo");
    let config = TuneConfig { trials: 28, ..Default::default() };
    let found = search(&data, &base("mgc", 300), &config);
    let (first, best) = (&found.trials[0], &found.trials[found.best]);
    assert!(best.val_accuracy > first.val_accuracy, "{best:?}");
    assert!(best.finished && best.val_accuracy.unwrap() > 0.85, "{best:?}");
    // Of 27 drawn ones, about a ninth came to the end.
    let finished = found.trials.iter().filter(|trial| trial.finished).count();
    assert!((4..=8).contains(&finished), "{finished}");
    // What the configuration says is what was found.
    let written = serde_json::to_value(&found.config).unwrap();
    for dimension in &found.space {
        let value = written.pointer(&dimension.path).unwrap();
        assert_eq!(*value, best.settings[&dimension.name], "{}", dimension.name);
    }
    found.config.check().unwrap();
    assert_eq!(found.importance.len(), found.space.len());
    assert!(found.importance.iter().all(|of| (0.0..=1.0).contains(&of.share)));
}

/// Test labels that change must not change the search.
#[test]
fn test_nodes_are_not_looked_at() {
    let mut data = data("demo:nodes=120");
    let config = TuneConfig { trials: 10, ..Default::default() };
    let before = figures(&search(&data, &base("mgc", 20), &config));
    let test = data.splits[0].test.clone();
    let classes = &mut data.labels.as_mut().unwrap().classes;
    test.iter().for_each(|&u| classes[u as usize] = classes[u as usize].map(|c| (c + 1) % 3));
    assert_eq!(figures(&search(&data, &base("mgc", 20), &config)), before);
}

#[test]
fn threads_and_interrupts_change_nothing() {
    struct StopAfter(usize, AtomicUsize, AtomicBool);
    impl Progress for StopAfter {
        fn step(&self, _: usize, _: usize, _: &str) {
            if self.1.fetch_add(1, Relaxed) + 1 >= self.0 {
                self.2.store(true, Relaxed);
            }
        }
        fn stop_flag(&self) -> &AtomicBool {
            &self.2
        }
    }
    let data = data("demo:nodes=120");
    let base = base("mgc", 30);
    let config = TuneConfig { trials: 20, runs: 2, ..Default::default() };
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| figures(&search(&data, &base, &config)))
    };
    let one = on(1);
    assert_eq!(on(2), one);
    assert_eq!(on(7), one);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trials.jsonl");
    let mut stops = 0;
    let found = loop {
        let mut journal = Journal::<TuneRecord>::open(&path, &data).unwrap();
        let more = journal.len() + 6;
        let progress = StopAfter(more, AtomicUsize::new(0), AtomicBool::new(false));
        let splits: &[Split] = &data.splits[..1];
        match tune(&data, &base, splits, &config, Some(&mut journal), &progress) {
            Ok(found) => break found,
            Err(Error::Stopped) => stops += 1,
            Err(error) => panic!("{error}"),
        }
        assert!(stops < 100);
    };
    assert!(stops > 1, "{stops}");
    assert_eq!(figures(&found), one);
}

/// Trainings of a rung that are run apart, each knowing of the rungs before alone, are the search.
#[test]
fn parts_make_the_whole() {
    let data = data("demo:nodes=120");
    let base = base("mgc", 20);
    let splits: &[Split] = &data.splits[..1];
    for (search_by, trials) in [(Search::Halving, 30), (Search::Random, 5), (Search::Random, 1)] {
        let config = TuneConfig { trials, search: search_by, ..Default::default() };
        let folder = tempfile::tempdir().unwrap();
        let (path, own) = (folder.path().join("all.jsonl"), folder.path().join("own.jsonl"));
        let stand = |path: &std::path::Path| -> TuneParts {
            let mut journal = Journal::<TuneRecord>::open(path, &data).unwrap();
            tune_parts(&data, &base, splits, &config, &mut journal, 0.0, &()).unwrap()
        };
        let train = |path: &std::path::Path, part: &str| {
            let mut journal = Journal::<TuneRecord>::open(path, &data).unwrap();
            tune_part(&data, &base, splits, &config, &mut journal, part, &())
        };
        let mut trained = 0;
        loop {
            let stands = stand(&path);
            assert_eq!(stands.done, trained);
            if stands.open.is_empty() {
                assert_eq!(stands.trials, trials);
                break;
            }
            let before = std::fs::read(&path).unwrap();
            for part in stands.open.iter().rev() {
                std::fs::write(&own, &before).unwrap();
                train(&own, &part.key).unwrap();
                assert!(train(&own, &part.key).unwrap_err().is_argument(), "it is done");
                let lines = std::fs::read(&own).unwrap();
                let mut all = std::fs::read(&path).unwrap();
                assert!(lines.len() > before.len());
                all.extend_from_slice(&lines[before.len()..]);
                std::fs::write(&path, all).unwrap();
                trained += 1;
            }
        }
        let mut journal = Journal::<TuneRecord>::open(&path, &data).unwrap();
        let known = journal.len();
        let found = tune(&data, &base, splits, &config, Some(&mut journal), &()).unwrap();
        assert_eq!((journal.len(), known), (trained, trained), "nothing was left to run");
        assert_eq!(figures(&found), figures(&search(&data, &base, &config)));
    }
}

#[test]
fn every_model_can_be_tuned() {
    let data = data("demo:nodes=90");
    for info in MODELS {
        let config = TuneConfig { trials: 4, search: Search::Random, ..Default::default() };
        let found = search(&data, &base(info.name, 4), &config);
        assert_eq!(found.trials.len(), 4, "{}", info.name);
        let failed = found.trials.iter().find_map(|trial| trial.error.clone());
        assert_eq!(failed, None, "{}", info.name);
        for tunable in info.tunable {
            // Every value that may be drawn is one that the model takes.
            for value in tunable.values.list() {
                let mut model = ModelConfig::named(info.name).unwrap();
                model.set(tunable.key, value).unwrap();
            }
        }
    }
}
