//! Every model of the table: gradients, views, configurations, threads, and what it predicts.

use crate::training_common::{charge, history_bits, sparse};
use magnon::compute::{Buffer, DrawKey, Engine};
use magnon::data::{Dataset, Features, Scaling, SyntheticConfig};
use magnon::graph::{DiGraph, GraphBuilder};
use magnon::matrix::Matrix;
use magnon::model::{
    ChargeChoice, Direction, Inputs, MODELS, Mode, ModelConfig, Network, ProductOrder, Purpose,
    Reach, View,
};
use magnon::nn::{Loss, NamedNumbers, Parameters, Tape, Trace};
use magnon::operator::{Charge, OperatorConfig, Pattern};
use magnon::progress::{Epoch, Progress};
use magnon::run::{PredictionCache, SavedModel, predict};
use magnon::train::{Checkpoints, Experiment, Outcome, RunConfig, TrainError};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A model with some settings, and the charge of its operator where it has one.
struct Case {
    config: RunConfig,
    name: String,
}

impl Case {
    fn new(name: &str, charge: Charge, settings: &[(&str, Value)]) -> Self {
        // Little of everything; a model takes what it has.
        let small = [("hidden", 5), ("order", 2), ("heads", 2), ("top_k", 4)];
        let mut model = ModelConfig::named(name).unwrap();
        for (key, value) in small {
            if model.has(key) {
                model.set(key, value.into()).unwrap();
            }
        }
        let mut words = name.to_owned();
        for (key, value) in settings {
            model.set(key, value.clone()).unwrap();
            words += &format!(" {key}={value}");
        }
        let mut config = RunConfig::of(model);
        if let Some(operator) = &mut config.operator {
            operator.charge = ChargeChoice::Fixed(charge);
            words += &format!(" q={charge}");
        }
        if let Some(filter) = config.filter.as_mut().filter(|filter| !filter.exact) {
            filter.order = Some(2);
        }
        config.train.epochs = 5;
        config.data.split = "60/20/20".parse().unwrap();
        config.check().unwrap();
        Self { config, name: words }
    }

    fn operator(&self) -> Option<OperatorConfig> {
        let choice = self.config.operator?;
        let ChargeChoice::Fixed(charge) = choice.charge else { panic!("a fixed charge") };
        Some(choice.config(charge, choice.pass == magnon::model::PassChoice::High))
    }
}

/// Every model of the table, as it is and with the settings that make another network of it. Models
/// that keep direction by a charge are there with one and without.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for info in MODELS {
        let charge_open = info.operator.is_some_and(|need| need.open.contains(&"charge"));
        let charges = if charge_open { vec![Charge::ZERO, charge(3)] } else { vec![Charge::ZERO] };
        let variants: &[(&str, Value)] = match info.name {
            "mgc" => &[("gate", "exponential".into())],
            "gat" => &[("output_heads", 3.into())],
            "digcn" => &[("inception", true.into())],
            "dirgnn" => &[
                ("jumping_knowledge", "max".into()),
                ("jumping_knowledge", "none".into()),
                ("normalize_rows", true.into()),
            ],
            "fabernet" => &[("complex", true.into())],
            "fsgnn" => &[("normalize_rows", false.into())],
            "bank" => &[
                ("channels", "x,out.in,power(order=2,charge=1/3,normalize=directed)".into()),
                ("channels", "linear-rank(order=3,charge=1/5),rows-in.out,heat(order=2)".into()),
                ("normalize_rows", false.into()),
                ("activation", "gated_tanh".into()),
                ("layers", 2.into()),
            ],
            "gcn" => &[("layers", 1.into()), ("layers", 3.into())],
            _ => &[],
        };
        for charge in charges {
            cases.push(Case::new(info.name, charge, &[]));
        }
        for variant in variants {
            let charge = if charge_open { charge(3) } else { Charge::ZERO };
            cases.push(Case::new(info.name, charge, std::slice::from_ref(variant)));
        }
    }
    cases
}

/// Eight nodes with edges both ways and one way, and a node that only points.
fn graph(weighted: bool) -> DiGraph {
    let edges = [(0, 1), (1, 0), (1, 2), (2, 3), (3, 1), (4, 3), (4, 5), (5, 4), (6, 5), (7, 0)];
    let weight = |i: usize| if weighted { 0.5 + (i % 4) as f32 / 3.0 } else { 1.0 };
    let edges = edges.into_iter().enumerate().map(|(i, (u, v))| (u, v, weight(i)));
    let graph = GraphBuilder::new(8).weighted_edges(edges).build().unwrap().graph;
    assert_eq!(graph.is_weighted(), weighted);
    graph
}

/// Numbers that look random.
fn features(rows: usize, cols: usize) -> Matrix<f32> {
    let draw = |i: usize| ((i * i * 31 + i * 7919 + 13) % 1009) as f32 / 504.5 - 1.0;
    Matrix::from_vec(rows, cols, (0..rows * cols).map(draw).collect()).unwrap()
}

/// Three columns, dense and sparse, and many columns with few entries, which stay unfiltered.
fn all_features() -> [Features; 3] {
    let few = Features::Dense(features(8, 3));
    let wide = crate::training_common::thinned(&Features::Dense(features(8, 40)), 11);
    [few.clone(), Features::Sparse(sparse(&few)), Features::Sparse(sparse(&wide))]
}

/// Calls `look` with every case's network in double precision, on a small graph with and without
/// weights, with dense and sparse features.
fn on_small_graphs(purpose: Purpose, look: impl Fn(&Case, &Engine, &dyn Network, &str)) {
    let engine = Engine::double().sequential();
    for weighted in [false, true] {
        let graph = graph(weighted);
        let pattern = Arc::new(Pattern::new(&graph).unwrap());
        for (number, features) in all_features().iter().enumerate() {
            for case in cases() {
                let operator = case.operator();
                let inputs = Inputs {
                    graph: &graph,
                    pattern: &pattern,
                    features,
                    classes: 3,
                    operator: operator.as_ref(),
                    filter: case.config.filter.as_ref(),
                    filtered: None,
                    shared: None,
                    field: None,
                    purpose,
                    progress: &(),
                };
                let network = case.config.model.build(&engine, &inputs).unwrap();
                let words = format!("{}, weighted {weighted}, features {number}", case.name);
                look(&case, &engine, network.as_ref(), &words);
            }
        }
    }
}

const TRAIN: Purpose = Purpose::Train { train: 5, val: 2, batches: false };
const KEY: DrawKey = DrawKey { seed: 3, epoch: 5, batch: 0, site: 0 };
const TARGETS: [(u32, u32); 5] = [(0, 2), (1, 0), (2, 1), (3, 0), (4, 2)];

/// Weights as they are drawn, moved away from 0, where a wrong gradient may hide.
fn drawn(engine: &Engine, network: &dyn Network, seed: u64) -> Parameters {
    let mut parameters = network.layout().draw(engine, seed).unwrap();
    for (k, value) in parameters.values_mut().iter_mut().enumerate() {
        let mut numbers = engine.download_double(value).unwrap();
        for (i, x) in numbers.iter_mut().enumerate() {
            *x += 0.2 * ((3 * i + 5 * k) as f64 + 0.5).sin();
        }
        engine.upload_double(&numbers, value).unwrap();
    }
    parameters
}

/// The numbers of a buffer in double precision.
fn double(buffer: &mut Buffer) -> &mut Vec<f64> {
    let Buffer::Double(numbers) = buffer else { panic!("a buffer of double precision") };
    numbers
}

/// The loss of the training nodes with dropout, whose draws are fixed.
fn loss(tape: &mut Tape, parameters: &Parameters, view: &dyn View) -> Loss {
    let mut trace = tape.trace(parameters);
    let shared = view.begin(&mut trace);
    let logits = view.logits(&mut trace, shared, Mode::Train(KEY));
    trace.nll_loss(logits, &TARGETS).unwrap()
}

/// The gradient of every parameter against central differences in double precision.
#[test]
fn gradients_are_those_of_differences() {
    let (factored, found_any) = (Cell::new(0), RefCell::new(BTreeMap::<String, bool>::new()));
    on_small_graphs(TRAIN, |case, engine, network, words| {
        let order = network.order() == Some(ProductOrder::Factored);
        factored.set(factored.get() + u32::from(order));
        let view = network.view(engine, &[5, 0, 3, 6, 1]).unwrap();
        let mut parameters = drawn(engine, network, 1);
        let mut tape = Tape::new(engine);
        let mut gradients = parameters.zeros(engine).unwrap();
        let found = loss(&mut tape, &parameters, view.as_ref());
        let mut trace = Trace::resume(&mut tape, &parameters);
        trace.backward(found, &mut gradients).unwrap();
        let names: Vec<String> = network.layout().iter().map(|(name, _)| name.to_owned()).collect();
        for (p, gradient) in gradients.iter().enumerate() {
            let mut largest = 0.0f64;
            for (i, found) in engine.download_double(gradient).unwrap().into_iter().enumerate() {
                let step = 1e-6;
                let mut at = |by: f64| {
                    double(&mut parameters.values_mut()[p])[i] += by;
                    let value = loss(&mut tape, &parameters, view.as_ref()).mean;
                    double(&mut parameters.values_mut()[p])[i] -= by;
                    value
                };
                let expected = (at(step) - at(-step)) / (2.0 * step);
                assert!(
                    (found - expected).abs() < 1e-7 + 1e-5 * expected.abs(),
                    "{words}: {}[{i}] is {found}, but {expected} by differences",
                    names[p]
                );
                largest = largest.max(expected.abs());
            }
            let place = format!("{}: {}", case.name, names[p]);
            *found_any.borrow_mut().entry(place).or_default() |= largest > 1e-6;
        }
    });
    assert!(factored.get() > 0, "both orders of the product are looked at");
    // Units may be dead in one place, but no parameter is without a gradient everywhere.
    for (place, found) in found_any.into_inner() {
        assert!(found, "nothing depends on {place}");
    }
}

/// Logits without dropout.
fn logits(engine: &Engine, parameters: &Parameters, view: &dyn View) -> Vec<f64> {
    let mut tape = Tape::new(engine);
    let mut trace = tape.trace(parameters);
    let shared = view.begin(&mut trace);
    let logits = view.logits(&mut trace, shared, Mode::Evaluate);
    engine.download_double(trace.value(logits).unwrap()).unwrap()
}

/// What a view of some nodes gives is what the view of all gives for them, and what `predict` does.
#[test]
fn views_of_some_nodes_are_rows_of_all() {
    for purpose in [TRAIN, Purpose::Predict] {
        on_small_graphs(purpose, |_, engine, network, words| {
            let parameters = drawn(engine, network, 2);
            let view = |nodes: &[u32]| {
                let view = network.view(engine, nodes).unwrap();
                logits(engine, &parameters, view.as_ref())
            };
            let all = view(&[0, 1, 2, 3, 4, 5, 6, 7]);
            assert_eq!(all.len(), 8 * 3, "{words}");
            let close = |a: &[f64], b: &[f64], within: f64| {
                assert_eq!(a.len(), b.len(), "{words}");
                for (a, b) in a.iter().zip(b) {
                    assert!((a - b).abs() < within * (1.0 + b.abs()), "{words}: {a} but {b}");
                }
            };
            for nodes in [&[5][..], &[6, 0, 3], &[7, 6, 5, 4, 3, 2, 1, 0], &[2, 3, 1]] {
                let rows: Vec<f64> =
                    nodes.iter().flat_map(|&u| &all[u as usize * 3..][..3]).copied().collect();
                close(&view(nodes), &rows, 1e-12);
                // Predictions are log-probabilities in single precision.
                let predicted = network.predict(engine, &parameters, Some(nodes)).unwrap();
                close(
                    &log_softmax(&rows),
                    &predicted.as_slice().iter().map(|&x| x.into()).collect::<Vec<f64>>(),
                    1e-5,
                );
            }
            let predicted = network.predict(engine, &parameters, None).unwrap();
            close(
                &log_softmax(&all),
                &predicted.as_slice().iter().map(|&x| x.into()).collect::<Vec<f64>>(),
                1e-5,
            );
        });
    }
}

fn log_softmax(logits: &[f64]) -> Vec<f64> {
    let row = |row: &[f64]| {
        let total: f64 = row.iter().map(|x| x.exp()).sum();
        row.iter().map(|x| x - total.ln()).collect::<Vec<_>>()
    };
    logits.chunks(3).flat_map(row).collect()
}

#[test]
fn configurations_are_read_back_as_they_were() {
    for case in cases() {
        let text = serde_json::to_string_pretty(&case.config).unwrap();
        assert_eq!(RunConfig::from_json(&text).unwrap(), case.config, "{}", case.name);
        let model = &case.config.model;
        let text = serde_json::to_string(model).unwrap();
        assert_eq!(serde_json::from_str::<ModelConfig>(&text).unwrap(), *model, "{}", case.name);
    }
    for info in MODELS {
        // What is left out is as the model has it by default.
        let defaults = RunConfig::of(ModelConfig::named(info.name).unwrap());
        let text = format!("{{\"model\": {{\"name\": \"{}\"}}}}", info.name);
        assert_eq!(RunConfig::from_json(&text).unwrap(), defaults);
        assert_eq!(
            (defaults.operator.is_some(), defaults.filter.is_some()),
            (info.operator.is_some(), info.filter.is_some())
        );
        defaults.check().unwrap();
    }
}

#[test]
fn unknown_settings_are_refused_with_the_nearest_one() {
    for info in MODELS {
        let model = ModelConfig::named(info.name).unwrap();
        assert!(!model.settings().is_empty(), "{}", info.name);
        for (key, value) in model.settings() {
            let wrong = &key[..key.len() - 1];
            let text =
                format!("{{\"model\": {{\"name\": \"{}\", \"{wrong}\": {value}}}}}", info.name);
            let error = RunConfig::from_json(&text).unwrap_err();
            let hint = format!("did you mean `{key}`?");
            assert!(error.contains(wrong) && error.contains(&hint), "{}: {error}", info.name);
            let mut changed = model.clone();
            let error = changed.set(wrong, value.clone()).unwrap_err().to_string();
            assert!(error.contains(info.name) && error.contains(&key), "{error}");
            // A value of no sense, and one of another kind, change nothing.
            for bad in [Value::from(-1.0e9), Value::Object(Default::default())] {
                assert!(changed.set(&key, bad).is_err(), "{} {key}", info.name);
            }
            assert_eq!(changed, model);
            changed.set(&key, value).unwrap();
        }
        let wrong = format!("{}x", info.name);
        let text = format!("{{\"model\": {{\"name\": \"{wrong}\"}}}}");
        let error = RunConfig::from_json(&text).unwrap_err();
        assert!(error.contains(&wrong) && error.contains("did you mean"), "{error}");
    }
    let error = RunConfig::from_json("{\"modle\": {}}").unwrap_err();
    assert!(error.contains("did you mean `model`?"), "{error}");
    // What a model has no use for is refused, not forgotten.
    let mut config = RunConfig::of(ModelConfig::named("gcn").unwrap());
    config.filter = RunConfig::default().filter;
    let error = config.check().unwrap_err().to_string();
    assert!(error.contains("gcn takes no filter"), "{error}");
    let mut config = RunConfig::of(ModelConfig::named("gcn").unwrap());
    config.operator.as_mut().unwrap().charge = ChargeChoice::Fixed(charge(3));
    let error = config.check().unwrap_err().to_string();
    assert!(error.contains("gcn takes no other charge"), "{error}");
}

/// The tables in the documentation of the configurations give the defaults.
#[test]
fn defaults_are_those_of_the_documentation() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../magnon-learn/src/model");
    for info in MODELS {
        let file = info.name.split('-').next().unwrap();
        let source = std::fs::read_to_string(folder.join(format!("{file}.rs"))).unwrap();
        for (key, value) in ModelConfig::named(info.name).unwrap().settings() {
            if info.name.starts_with("gdc") && ["restart", "time"].contains(&key.as_str()) {
                continue; // its line is made by a macro
            }
            let row = format!("/// | `{key}` | ");
            let row = source.lines().find_map(|line| line.trim().strip_prefix(&row));
            let row = row.unwrap_or_else(|| panic!("{} does not document {key}", info.name));
            let written = row.split('|').next().unwrap().trim().trim_matches('`');
            let same = match &value {
                Value::Number(number) => written.parse().ok() == number.as_f64(),
                Value::String(word) => written == word,
                Value::Bool(set) => written == if *set { "true" } else { "false" },
                other => panic!("{}: {key} is {other}", info.name),
            };
            assert!(same, "{}: {key} is {value}, not {written}", info.name);
        }
    }
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// Everything that a run came to, as bits.
fn all(outcome: &Outcome) -> (Vec<Vec<u32>>, Vec<[u64; 6]>, Vec<u32>) {
    let bits = |numbers: &[f32]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let run = &outcome.runs[0];
    (
        run.weights.iter().map(|(.., numbers)| bits(numbers)).collect(),
        history_bits(&run.history),
        bits(run.log_probabilities.as_slice()),
    )
}

/// Wide enough layers on enough nodes for products to be shared.
#[test]
fn training_does_not_depend_on_threads() {
    let data = crate::training_common::dataset(500, 6, 5);
    for mut case in cases() {
        let model = &mut case.config.model;
        if model.has("hidden") {
            let heads = if model.has("heads") { 2 } else { 1 };
            model.set("hidden", (64 / heads).into()).unwrap();
        }
        case.config.train.epochs = 2;
        let run = || Experiment::new(&data, &case.config).unwrap().run(None, &()).unwrap();
        let (one, three) = (on_threads(1, run), on_threads(3, run));
        assert!(all(&one) == all(&three), "{}", case.name);
        // What is told of the memory, too.
        assert_eq!(one.runs[0].bytes, three.runs[0].bytes, "{}", case.name);
    }
}

/// Stops every trial once it has made so many epochs.
struct StopAt(usize, AtomicUsize);

impl Progress for StopAt {
    fn epoch(&self, record: &Epoch) {
        self.1.store(record.epoch, Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.1.load(Relaxed) >= self.0
    }
}

#[test]
fn interrupted_runs_go_on_bit_for_bit() {
    let data = crate::training_common::dataset(90, 5, 5);
    for case in cases() {
        let folder = tempfile::tempdir().unwrap();
        let run = |resume: Option<bool>, progress: &dyn Progress| {
            let mut experiment = Experiment::new(&data, &case.config).unwrap();
            if let Some(resume) = resume {
                let folder = folder.path().to_owned();
                experiment =
                    experiment.with_checkpoints(Checkpoints { folder, every: 100, resume });
            }
            experiment.run(None, progress)
        };
        let whole = run(None, &()).unwrap();
        let stopped = run(Some(false), &StopAt(2, AtomicUsize::new(0)));
        assert!(matches!(stopped, Err(TrainError::Stopped(2))), "{}", case.name);
        let resumed = run(Some(true), &()).unwrap();
        assert_eq!(whole.runs[0].history.len(), 5);
        assert!(all(&whole) == all(&resumed), "{}", case.name);
    }
}

const LINE: usize = 160;
type Edge = (u32, u32, f32);

/// Edges along a line of nodes, so that far is far.
fn line(weighted: bool) -> Vec<Edge> {
    let edge = |u: u32| {
        let weight = if weighted { 0.5 + (u % 5) as f32 / 4.0 } else { 1.0 };
        if u.is_multiple_of(3) { (u + 1, u, weight) } else { (u, u + 1, weight) }
    };
    (0..LINE as u32 - 1)
        .map(edge)
        .chain((0..LINE as u32 - 9).step_by(9).map(|u| (u + 2, u, 1.0)))
        .collect()
}

fn on_line(nodes: usize, edges: &[Edge], features: Matrix<f32>) -> Dataset {
    let graph = GraphBuilder::new(nodes).weighted_edges(edges.iter().copied());
    Dataset {
        name: "line".to_owned(),
        report: Default::default(),
        graph: graph.build().unwrap().graph,
        features: Some(Features::Dense(features)),
        scaling: Scaling::None,
        labels: None,
        splits: Vec::new(),
        node_names: None,
        reading: Default::default(),
        remarks: Vec::new(),
    }
}

/// The model with weights as they are drawn for the data, and how far it sees.
fn saved(case: &Case, data: &Dataset) -> (SavedModel, Reach) {
    let (engine, operator) = (Engine::cpu().sequential(), case.operator());
    let features = data.features.as_ref().unwrap();
    let inputs = Inputs {
        graph: &data.graph,
        pattern: &Arc::new(Pattern::new(&data.graph).unwrap()),
        features,
        classes: 3,
        operator: operator.as_ref(),
        filter: case.config.filter.as_ref(),
        filtered: None,
        shared: None,
        field: None,
        purpose: Purpose::Predict,
        progress: &(),
    };
    let network = case.config.model.build(&engine, &inputs).unwrap();
    let drawn = drawn(&engine, network.as_ref(), 4);
    let weights = drawn.iter();
    let weights = weights
        .map(|(name, shape, value)| (name.to_owned(), shape, engine.numbers(value).unwrap()));
    let saved = SavedModel {
        model: case.config.model.clone(),
        filter: case.config.filter.clone(),
        scaling: Scaling::None,
        width: features.cols(),
        classes: ["a", "b", "c"].map(str::to_owned).to_vec(),
        weights: weights.collect(),
        operator,
    };
    (saved, network.reach())
}

/// With what was predicted before, a model that sees a few steps computes few rows, and gives what it
/// gives without; one that sees everything computes everything.
#[test]
fn predictions_on_a_changed_graph_are_those_of_all_rows() {
    for weighted in [false, true] {
        let (edges, x) = (line(weighted), features(LINE, 4));
        let before = on_line(LINE, &edges, x.clone());
        let mut more = edges.clone();
        more.push((80, 84, if weighted { 1.75 } else { 1.0 }));
        let mut turned = edges.clone();
        let (u, v, weight) = turned[70];
        turned[70] = (v, u, weight);
        let mut numbers = x.as_slice().to_vec();
        numbers[90 * 4 + 1] += 3.0;
        let moved = Matrix::from_vec(LINE, 4, numbers).unwrap();
        let mut grown = edges.clone();
        grown.extend([(LINE as u32, 20, 1.0), (22, LINE as u32, 1.0)]);
        let changes = [
            ("nothing", before.clone()),
            ("an edge more", on_line(LINE, &more, x.clone())),
            ("an edge turned", on_line(LINE, &turned, x.clone())),
            ("an edge less", on_line(LINE, &edges[1..], x.clone())),
            ("another feature", on_line(LINE, &edges, moved)),
            ("a node more", on_line(LINE + 1, &grown, features(LINE + 1, 4))),
        ];
        for case in cases() {
            let (model, reach) = saved(&case, &before);
            // Through a file, as it comes from a run.
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("model.safetensors");
            model.write(&path).unwrap();
            let model = SavedModel::read(&path).unwrap();
            let first = predict(&model, &before, None).unwrap();
            assert_eq!(first.computed, LINE);
            let old = before.features.as_ref().unwrap();
            let cache = PredictionCache::new(&before.graph, old, first.log_probabilities);
            for (change, after) in &changes {
                let words = format!("{}, weighted {weighted}, {change}", case.name);
                let part = predict(&model, after, Some(&cache));
                let by_node = |(name, shape, _): &NamedNumbers| {
                    name.ends_with("weight") && shape.rows() == LINE
                };
                if after.graph.nodes() > LINE && model.weights.iter().any(by_node) {
                    let error = part.unwrap_err().to_string();
                    assert!(error.contains("weight has 160"), "{error}");
                    continue;
                }
                let (part, full) = (part.unwrap(), predict(&model, after, None).unwrap());
                match reach {
                    Reach::Everything => assert_eq!(part.computed, after.graph.nodes(), "{words}"),
                    Reach::Hops(_) if *change == "nothing" => {
                        assert_eq!(part.computed, 0, "{words}")
                    }
                    Reach::Hops(hops) => {
                        assert!(hops <= 4, "{words}");
                        assert!(
                            (1..LINE / 3).contains(&part.computed),
                            "{words}: {}",
                            part.computed
                        );
                    }
                }
                assert_eq!(full.computed, after.graph.nodes());
                let rows = part.log_probabilities.as_slice().iter();
                for (i, (a, b)) in rows.zip(full.log_probabilities.as_slice()).enumerate() {
                    assert!((a - b).abs() < 1e-5 * (1.0 + b.abs()), "{words}, {i}: {a} but {b}");
                }
            }
        }
    }
}

/// Without its directions the demonstration graph is one random graph, and features barely tell the
/// classes: who reads the direction of edges does well, and who does not cannot.
#[test]
fn the_demonstration_graph_needs_directions() {
    let data = SyntheticConfig::demo().dataset("demo").unwrap();
    for info in MODELS {
        let mut config = RunConfig::of(ModelConfig::named(info.name).unwrap());
        let settings: [(&str, Value); 3] =
            [("hidden", 32.into()), ("heads", 2.into()), ("channels", "x,out,in,out.in".into())];
        for (key, value) in settings {
            if config.model.has(key) {
                config.model.set(key, value).unwrap();
            }
        }
        config.train.epochs = if info.name == "gat" { 30 } else { 100 };
        let directed =
            ["mgc", "magnet", "dirgnn", "fabernet", "linkx", "bank"].contains(&info.name);
        if directed && let Some(operator) = &mut config.operator {
            operator.charge = ChargeChoice::Fixed(charge(3));
        }
        let outcome = Experiment::new(&data, &config).unwrap().run(None, &()).unwrap();
        let accuracy = outcome.runs[0].metrics[2].accuracy;
        let remark = format!("{} has the test accuracy {accuracy}", info.name);
        match info.name {
            _ if directed => assert!(accuracy >= 0.75, "{remark}"),
            "digcn" => assert!(accuracy >= 0.55, "{remark}"),
            _ => {
                assert_ne!(info.direction, Direction::InAndOut);
                assert!(accuracy < 0.62, "{remark}");
            }
        }
    }
}
