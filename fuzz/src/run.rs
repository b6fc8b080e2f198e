//! Run folders: opened, read and predicted with. Checksums are made anew, so that changes reach what is behind.

use crate::scratch::Scratch;
use crate::{Seeds, Test, bundle};
use magnon::data::{Dataset, SyntheticConfig};
use magnon::graph::generate::GeneratorConfig;
use magnon::model::{MODELS, ModelConfig};
use magnon::run::{RunFolder, predict};
use magnon::train::RunConfig;
use magnon::workflow::{TrainOptions, train};
use safetensors::SafeTensors;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const MODEL: &str = "model.safetensors";
const PREDICTIONS: &str = "predictions.safetensors";
const TEXTS: [&str; 3] = ["config.json", "history.csv", "metrics.json"];
/// The words of a model's file, each a part of its own.
const WORDS: [&str; 6] = ["model", "operator", "filter", "feature_norm", "width", "classes"];

/// More steps only take longer.
const MOST_STEPS: usize = 200;

/// One short run of each model, and the same with an operator that it was not trained with.
pub fn seeds() -> Seeds {
    let operator = TEXTS.len() + 2 + 1;
    let seeds = MODELS.iter().flat_map(|model| {
        let parts = seed(model.name);
        let mut other = parts.clone();
        other[operator] = br#"{"charge":"1/3"}"#.to_vec();
        [bundle::join(&parts), bundle::join(&other)]
    });
    seeds.collect()
}

fn seed(model: &str) -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let mut config = RunConfig::of(ModelConfig::named(model).expect("a model of the table"));
    config.data.source = "cyclic:nodes=40,columns=4,density=0.1".to_owned();
    config.train.epochs = 2;
    if config.model.has("hidden") {
        config.model.set("hidden", 3.into()).expect("a width");
    }
    let out = folder.path().join("run");
    train(&config, &TrainOptions { out: Some(out.clone()), ..Default::default() }, &())
        .expect("a short run");
    parts(&out)
}

/// The parts of a run folder, as an input has them.
fn parts(run: &Path) -> Vec<Vec<u8>> {
    let read = |name: &str| fs::read(run.join(name)).expect("a file of the run");
    let mut parts = TEXTS.map(read).to_vec();
    let (mut header, numbers) = opened(&read(MODEL));
    let words = header.remove("__metadata__").unwrap_or_default();
    let word = |key: &str| words[key].as_str().unwrap_or_default().as_bytes().to_vec();
    parts.extend([Value::from(header).to_string().into_bytes(), numbers]);
    parts.extend(WORDS.map(word));
    let (mut header, numbers) = opened(&read(PREDICTIONS));
    header.remove("__metadata__");
    parts.extend([Value::from(header).to_string().into_bytes(), numbers]);
    parts
}

/// Header and numbers of a file of tensors.
fn opened(bytes: &[u8]) -> (Map<String, Value>, Vec<u8>) {
    let (length, rest) = bytes.split_first_chunk().expect("a file of tensors");
    let (header, numbers) = rest.split_at(u64::from_le_bytes(*length) as usize);
    (serde_json::from_slice(header).expect("a header"), numbers.to_vec())
}

pub fn test() -> Test {
    let scratch = Scratch::new();
    let data = data();
    Box::new(move |input| {
        let parts = bundle::split(input);
        write(&scratch, &parts);
        look(&scratch, &data);
    })
}

/// A graph like the one that the seeds were trained on.
fn data() -> Dataset {
    let graph = GeneratorConfig { nodes: 40, density: 0.1, ..Default::default() };
    let config = SyntheticConfig { graph, columns: 4, noise: 1.0, seed: 1 };
    config.dataset("ring").expect("a small graph")
}

/// Reads everything there is, and predicts with it.
fn look(scratch: &Scratch, data: &Dataset) {
    let Ok(folder) = RunFolder::open(scratch.path()) else { return };
    let _ = (folder.config(), folder.history(), folder.metrics::<Value>());
    let (Ok(model), Ok(known)) = (folder.model(), folder.predictions()) else { return };
    let steps = |order: Option<usize>| order.is_none_or(|order| order <= MOST_STEPS);
    if !model.filter.as_ref().is_none_or(|filter| steps(filter.effective_order())) {
        return;
    }
    for known in [known.as_ref(), None] {
        if let Ok(prediction) = predict(&model, data, known) {
            assert_eq!(prediction.log_probabilities.rows(), data.graph.nodes());
            (0..data.graph.nodes())
                .for_each(|node| assert!(prediction.class(node) < model.classes.len()));
        }
    }
}

fn write(scratch: &Scratch, parts: &[Option<&[u8]>]) {
    let part = |at: usize| parts.get(at).copied().flatten();
    let mut files: Vec<(&str, Option<Vec<u8>>)> = Vec::new();
    for (at, name) in TEXTS.into_iter().enumerate() {
        files.push((name, part(at).map(<[u8]>::to_vec)));
    }
    let words = WORDS.iter().enumerate().filter_map(|(at, key)| {
        Some((*key, String::from_utf8_lossy(part(TEXTS.len() + 2 + at)?).into_owned()))
    });
    let (model, predictions) = (TEXTS.len(), TEXTS.len() + 2 + WORDS.len());
    files.push((MODEL, tensors("magnon-model", part(model), part(model + 1), words.collect())));
    let (header, numbers) = (part(predictions), part(predictions + 1));
    files.push((PREDICTIONS, tensors("magnon-predictions", header, numbers, Vec::new())));
    for (name, bytes) in &files {
        scratch.put(name, bytes.as_deref());
    }
    let sums = files.iter().filter_map(|(name, bytes)| Some((*name, crc(bytes.as_deref()?))));
    let sums = json!(sums.collect::<BTreeMap<_, _>>());
    let sum = crc(sums.to_string().as_bytes());
    let sealed = serde_json::to_string_pretty(&json!({ "checksum": sum, "content": sums }));
    let sealed = sealed.unwrap_or_default() + "\n";
    scratch.put("checksums.json", Some(sealed.as_bytes()));
}

fn crc(bytes: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(bytes))
}

/// A file of tensors, with the length of its header, its words and a checksum that is right.
fn tensors(
    format: &str,
    header: Option<&[u8]>,
    numbers: Option<&[u8]>,
    words: Vec<(&str, String)>,
) -> Option<Vec<u8>> {
    let (header, numbers) = (header?, numbers?);
    let Ok(Value::Object(header)) = serde_json::from_slice(header) else {
        return Some([&(header.len() as u64).to_le_bytes(), header, numbers].concat());
    };
    let mut words: BTreeMap<&str, String> = words.into_iter().collect();
    words.extend([("format", format.to_owned()), ("version", "2".to_owned())]);
    let bytes = encoded(&header, &words, numbers);
    if let Ok(file) = SafeTensors::deserialize(&bytes) {
        words.insert("checksum", checksum(&words, &file));
    }
    Some(encoded(&header, &words, numbers))
}

fn encoded(header: &Map<String, Value>, words: &BTreeMap<&str, String>, numbers: &[u8]) -> Vec<u8> {
    let mut whole = Map::from_iter([("__metadata__".to_owned(), json!(words))]);
    whole.extend(header.clone());
    let mut text = Value::Object(whole).to_string();
    while !text.len().is_multiple_of(8) {
        text.push(' ');
    }
    [&(text.len() as u64).to_le_bytes(), text.as_bytes(), numbers].concat()
}

fn checksum(words: &BTreeMap<&str, String>, file: &SafeTensors) -> String {
    let mut sum = crc32fast::Hasher::new();
    words.iter().for_each(|(key, word)| sum.update(format!("{key}={word}\n").as_bytes()));
    let views: BTreeMap<_, _> = file.iter().collect();
    for (name, view) in views {
        sum.update(format!("{name}: {:?} {:?}\n", view.dtype(), view.shape()).as_bytes());
        sum.update(view.data());
    }
    format!("{:08x}", sum.finalize())
}
