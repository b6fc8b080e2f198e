//! One step of training against references from outside: plain formulas in double precision.

use crate::training_common::{charge, dataset, model, sparse, thinned};
use magnon::compute::{Buffer, DrawKey, Engine, MapSource, Shape};
use magnon::data::Features;
use magnon::filter::{Filter, FilterConfig, Propagated, propagate};
use magnon::graph::{DiGraph, GraphBuilder};
use magnon::matrix::Matrix;
use magnon::model::{Inputs, MappedRows, Mode, PassChoice, ProductOrder, Purpose, RowSource};
use magnon::nn::{Adam, AdamConfig, Decay, Parameters, Schedule, Tape};
use magnon::operator::{Charge, Kind, MagneticOperator, Normalize, OperatorConfig, Pattern};
use magnon::train::{Experiment, Targets};
use num_complex::Complex64;
use std::sync::Arc;

type Dense = Vec<Vec<Complex64>>;

/// Six nodes with one-way and two-way edges, a triangle among them.
fn small() -> DiGraph {
    let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 2), (3, 4), (5, 4), (5, 0)];
    GraphBuilder::new(6).edges(edges).build().unwrap().graph
}

/// Ã_q = D̃^{-1/2} (max(A, Aᵀ) + I) D̃^{-1/2} ⊙ exp(i2πq(A − Aᵀ)), from the paper's formulas alone.
fn by_the_paper(graph: &DiGraph, q: f64) -> Dense {
    let n = graph.nodes();
    let a = |u: usize, v: usize| f64::from(u8::from(graph.has_edge(u, v as u32)));
    let s = |u: usize, v: usize| if u == v { 1.0 } else { a(u, v).max(a(v, u)) };
    let degree: Vec<f64> = (0..n).map(|u| (0..n).map(|v| s(u, v)).sum()).collect();
    let entry = |u: usize, v: usize| {
        let phase = std::f64::consts::TAU * q * (a(u, v) - a(v, u));
        Complex64::from_polar(s(u, v) / (degree[u] * degree[v]).sqrt(), phase)
    };
    (0..n).map(|u| (0..n).map(|v| entry(u, v)).collect()).collect()
}

fn times(a: &Dense, b: &Dense) -> Dense {
    let entry = |row: &Vec<Complex64>, j: usize| -> Complex64 {
        row.iter().zip(b).map(|(x, other)| x * other[j]).sum()
    };
    a.iter().map(|row| (0..b[0].len()).map(|j| entry(row, j)).collect()).collect()
}

/// LinearRank of order 3: (3 + 2P + P²)/6.
fn linear_rank_3(p: &Dense, x: &Dense) -> Dense {
    let (one, two) = (times(p, x), times(p, &times(p, x)));
    let sum = |i: usize, j: usize| (3.0 * x[i][j] + 2.0 * one[i][j] + two[i][j]) / 6.0;
    (0..x.len()).map(|i| (0..x[0].len()).map(|j| sum(i, j)).collect()).collect()
}

/// Mean of −log softmax(ς(X̄W⁰ + b⁰)W¹ + b¹) over (row, class), written out.
fn loss_by_hand(x: &Dense, p: &[Vec<f64>], hidden: usize, targets: &[(u32, u32)]) -> f64 {
    let classes = p[3].len();
    let z = |values: &[f64], at: usize| Complex64::new(values[2 * at], values[2 * at + 1]);
    let mut sum = 0.0;
    for &(row, class) in targets {
        let h: Vec<f64> = (0..hidden)
            .map(|j| {
                let products = x[row as usize].iter().enumerate();
                let y: Complex64 = products.map(|(i, x)| x * z(&p[0], i * hidden + j)).sum();
                let y = y + z(&p[1], j);
                y.re.tanh() * y.im.tanh()
            })
            .collect();
        let logit = |c: usize| -> f64 {
            p[3][c] + h.iter().enumerate().map(|(j, h)| h * p[2][j * classes + c]).sum::<f64>()
        };
        let total: f64 = (0..classes).map(|c| logit(c).exp()).sum();
        sum += total.ln() - logit(class as usize);
    }
    sum / targets.len() as f64
}

/// The loss of MGC and its whole gradient, against the paper's formulas and central differences of
/// them. X̄ is made by a filter map on the tape, so that operator, filter and network are all in double
/// precision.
#[test]
fn the_gradient_of_mgc_is_that_of_the_papers_formula() {
    let (graph, q, hidden) = (small(), charge(3), 4);
    let operator_config = OperatorConfig { charge: q, ..Default::default() };
    let operator = MagneticOperator::new(&graph, &operator_config).unwrap();
    // Numbers that single precision has, in which they go to the engine.
    let x: Vec<f64> = (0..18).map(|i| ((i * 37 + 11) % 23) as f64 / 16.0 - 0.75).collect();
    let complex: Dense =
        x.chunks(3).map(|row| row.iter().map(|&x| Complex64::from(x)).collect()).collect();
    let filtered = linear_rank_3(&by_the_paper(&graph, q.value()), &complex);
    let targets = [(0, 1), (2, 0), (3, 2), (5, 1)];

    let engine = Engine::double().sequential();
    let config = model("mgc", &[("hidden", hidden.into()), ("dropout", 0.0.into())]);
    let features = Features::Dense(Matrix::zeros(6, 3));
    let filter = FilterConfig { order: Some(3), ..Default::default() };
    let inputs = Inputs {
        graph: &graph,
        pattern: operator.pattern(),
        features: &features,
        classes: 3,
        operator: Some(&operator_config),
        filter: Some(&filter),
        filtered: None,
        shared: None,
        field: None,
        purpose: Purpose::Train { train: 4, val: 1, batches: false },
        progress: &(),
    };
    let network = config.build(&engine, &inputs).unwrap();
    let mut parameters = network.layout().draw(&engine, 5).unwrap();
    // Biases start at 0, where a wrong gradient may hide.
    for (k, value) in parameters.values_mut().iter_mut().enumerate() {
        let mut numbers = engine.download_double(value).unwrap();
        numbers.iter_mut().enumerate().for_each(|(i, x)| *x += 0.1 * ((i + k) as f64).sin());
        engine.upload_double(&numbers, value).unwrap();
    }
    let filter = MapSource::filter(&operator, &Filter::linear_rank(3).unwrap());
    let filter = Arc::new(engine.prepare(filter).unwrap());
    let mut tape = Tape::new(&engine);
    let mut trace = tape.trace(&parameters);
    let single: Vec<f32> = x.iter().map(|&x| x as f32).collect();
    let rows = trace.input(Shape::real(6, 3), &single);
    let rows = trace.map(&filter, rows);
    let (shape, found) = (trace.shape(rows), trace.value(rows).unwrap());
    for (a, b) in engine.download_double(found).unwrap().chunks(2).zip(filtered.iter().flatten()) {
        assert!((Complex64::new(a[0], a[1]) - b).norm() < 1e-14, "{a:?} {b}");
    }
    // Rows of X̄ are kept in single precision.
    let numbers = engine.numbers(found).unwrap();
    let kept = numbers.chunks(2).map(|z| Complex64::new(z[0].into(), z[1].into()));
    let filtered: Dense = kept.collect::<Vec<_>>().chunks(3).map(<[_]>::to_vec).collect();
    let rows = Arc::new(engine.prepare(MapSource::Dense { shape, numbers }).unwrap());
    let view = network.view(&engine, &[0, 1, 2, 3, 4, 5]).unwrap().with_maps(vec![rows]).unwrap();
    let mut trace = tape.trace(&parameters);
    let logits = view.logits(&mut trace, None, Mode::Evaluate);
    let loss = trace.nll_loss(logits, &targets).unwrap();
    let mut gradients = parameters.zeros(&engine).unwrap();
    trace.backward(loss, &mut gradients).unwrap();

    let numbers = |values: &[Buffer]| -> Vec<Vec<f64>> {
        values.iter().map(|value| engine.download_double(value).unwrap()).collect()
    };
    let (parameters, gradients) = (numbers(parameters.values()), numbers(&gradients));
    let expected = loss_by_hand(&filtered, &parameters, hidden, &targets);
    assert!((loss.mean - expected).abs() < 1e-12, "{} but {expected}", loss.mean);
    for (p, gradient) in gradients.iter().enumerate() {
        for (i, &found) in gradient.iter().enumerate() {
            let at = |by: f64| {
                let mut moved = parameters.clone();
                moved[p][i] += by;
                loss_by_hand(&filtered, &moved, hidden, &targets)
            };
            let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((found - expected).abs() < 1e-9, "parameter {p}, {i}: {found}, {expected}");
        }
    }
}

/// Adam as Kingma and Ba write it, with torch's conventions for the rest.
struct Reference {
    w: Vec<f64>,
    m: Vec<f64>,
    v: Vec<f64>,
}

impl Reference {
    fn step(&mut self, gradient: &[f64], t: i32, rate: f64, config: &AdamConfig) {
        let norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        let clip = config.clip.map_or(1.0, |most| if norm > most { most / norm } else { 1.0 });
        for (i, g) in gradient.iter().enumerate() {
            let mut g = clip * g;
            match config.decay {
                Decay::L2 => g += config.weight_decay * self.w[i],
                Decay::Decoupled => self.w[i] -= rate * config.weight_decay * self.w[i],
            }
            self.m[i] = 0.9 * self.m[i] + 0.1 * g;
            self.v[i] = 0.999 * self.v[i] + 0.001 * g * g;
            let m = self.m[i] / (1.0 - 0.9f64.powi(t));
            let v = self.v[i] / (1.0 - 0.999f64.powi(t));
            self.w[i] -= rate * m / (v.sqrt() + 1e-8);
        }
    }
}

#[test]
fn adam_is_that_of_the_books() {
    let engine = Engine::double();
    let schedules = [
        (Schedule::Constant, (|_| 1.0) as fn(i32) -> f64),
        (Schedule::Step { every: 6, factor: 0.5 }, |epoch| 0.5f64.powi(epoch / 6)),
        (Schedule::Cosine { epochs: 15, least: 0.2 }, |epoch| {
            let share = f64::from(epoch.min(15)) / 15.0;
            0.2 + 0.8 * (0.5 + 0.5 * (std::f64::consts::PI * share).cos())
        }),
    ];
    for decay in [Decay::L2, Decay::Decoupled] {
        for clip in [None, Some(0.8)] {
            for (schedule, factor) in schedules {
                let config = AdamConfig { rate: 0.05, weight_decay: 0.1, decay, clip, schedule };
                // Numbers that single precision has, in which they go to the engine.
                let start = [0.75f32, -1.25, 0.0, 2.5, -0.375];
                let mut parameters = Parameters::new();
                // The norm that is clipped is that of all parameters together.
                parameters.add(&engine, "a", Shape::complex(1, 1), &start[..2]).unwrap();
                parameters.add(&engine, "b", Shape::real(3, 1), &start[2..]).unwrap();
                let mut adam = Adam::new(&engine, config, &parameters).unwrap();
                let zeros = || vec![0.0; 5];
                let mut reference =
                    Reference { w: start.map(f64::from).to_vec(), m: zeros(), v: zeros() };
                for t in 1..=20 {
                    let gradient: Vec<f64> =
                        (0..5).map(|i| (f64::from(i * t) * 1.7 + 0.4).sin()).collect();
                    let parts =
                        [&gradient[..2], &gradient[2..]].map(|part| Buffer::Double(part.to_vec()));
                    adam.step(&engine, t as usize - 1, &mut parameters, &parts).unwrap();
                    reference.step(&gradient, t, 0.05 * factor(t - 1), &config);
                    let values = parameters.values().iter();
                    let found: Vec<f64> =
                        values.flat_map(|value| engine.download_double(value).unwrap()).collect();
                    for (a, b) in found.iter().zip(&reference.w) {
                        assert!((a - b).abs() < 1e-12, "{config:?}, step {t}: {a} but {b}");
                    }
                }
            }
        }
    }
}

/// Logits of the validation rows, and the gradient of the loss of the training rows, in the order
/// that the model takes for so many columns.
fn look(
    inputs: &Inputs,
    order: ProductOrder,
    [train, val]: [&[u32]; 2],
    targets: &[(u32, u32)],
) -> (Vec<f32>, Vec<Vec<f32>>) {
    let engine = Engine::cpu().sequential();
    let config = model("mgc", &[("hidden", 8.into()), ("dropout", 0.0.into())]);
    let network = config.build(&engine, inputs).unwrap();
    assert_eq!(network.order(), Some(order));
    let views = [train, val].map(|nodes| network.view(&engine, nodes).unwrap());
    let parameters = network.layout().draw(&engine, 3).unwrap();
    let mut tape = Tape::new(&engine);
    let mut trace = tape.trace(&parameters);
    let shared = views[0].begin(&mut trace);
    let val = views[1].logits(&mut trace, shared, Mode::Evaluate);
    let train = views[0].logits(&mut trace, shared, Mode::Train(DrawKey::default()));
    let loss = trace.nll_loss(train, targets).unwrap();
    let logits = engine.numbers(trace.value(val).unwrap()).unwrap();
    let mut gradients = parameters.zeros(&engine).unwrap();
    trace.backward(loss, &mut gradients).unwrap();
    let gradients = gradients.iter().map(|gradient| engine.numbers(gradient).unwrap());
    (logits, gradients.collect())
}

/// (h(S)X)·W and H·(X·W).
#[test]
fn both_orders_compute_the_same() {
    // More columns than nodes, so that sparse features stay as they are.
    let data = dataset(80, 200, 6);
    // A node without neighbours, and weights.
    let edges: Vec<(u32, u32, f32)> = data
        .graph
        .iter()
        .filter(|&(u, v)| u != 7 && v != 7)
        .enumerate()
        .map(|(i, (u, v))| (u, v, 0.5 + (i % 4) as f32 / 4.0))
        .collect();
    let unweighted = edges.iter().map(|&(u, v, _)| (u, v));
    let unweighted = GraphBuilder::new(80).edges(unweighted).build().unwrap().graph;
    let weighted = GraphBuilder::new(80).weighted_edges(edges).build().unwrap().graph;
    let dense = thinned(data.features.as_ref().unwrap(), 19);
    let packed = Features::Sparse(sparse(&dense));
    let classes = data.labels.as_ref().unwrap();
    let split = &data.splits[0];
    let targets = Targets::of(&split.train, classes).pairs;
    let filter = FilterConfig { order: Some(5), ..Default::default() };
    for graph in [&unweighted, &weighted] {
        let pattern = Arc::new(Pattern::new(graph).unwrap());
        for normalize in [Normalize::Symmetric, Normalize::RandomWalk] {
            for kind in [Kind::Adjacency, Kind::NegatedAdjacency, Kind::Laplacian] {
                for (q, self_loops) in [(Charge::ZERO, true), (charge(5), true), (charge(4), false)]
                {
                    let config = OperatorConfig {
                        charge: q,
                        normalize,
                        kind,
                        self_loops,
                        ..Default::default()
                    };
                    let on = |features| {
                        let inputs = Inputs {
                            graph,
                            pattern: &pattern,
                            features,
                            classes: 3,
                            operator: Some(&config),
                            filter: Some(&filter),
                            filtered: None,
                            shared: None,
                            field: None,
                            purpose: Purpose::Train {
                                train: split.train.len(),
                                val: split.val.len(),
                                batches: false,
                            },
                            progress: &(),
                        };
                        let order = match features {
                            Features::Dense(_) => ProductOrder::Rows,
                            Features::Sparse(_) => ProductOrder::Factored,
                        };
                        look(&inputs, order, [&split.train, &split.val], &targets)
                    };
                    let ((a, da), (b, db)) = (on(&dense), on(&packed));
                    let close = |a: &[f32], b: &[f32]| {
                        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5 * (1.0 + a.abs()))
                    };
                    assert!(close(&a, &b), "logits, {config:?}");
                    for (a, b) in da.iter().zip(&db) {
                        assert!(close(a, b), "gradients, {config:?}");
                    }
                    let size = da.iter().flatten().fold(0f32, |most, x| most.max(x.abs()));
                    assert!(size > 1e-3, "the gradient is not nothing");
                }
            }
        }
    }
}

/// The same numbers in a file: mapped, they are those in memory bit for bit.
#[test]
fn mapped_rows_are_those_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let data = dataset(80, 12, 6);
    for q in [Charge::ZERO, charge(3)] {
        let config = OperatorConfig { charge: q, ..Default::default() };
        let operator = MagneticOperator::new(&data.graph, &config).unwrap();
        let features = data.features.as_ref().unwrap();
        let filter = Filter::linear_rank(4).unwrap();
        let filtered = propagate(&operator, &filter, features, &()).unwrap();
        let path = folder.path().join("x.npy");
        match &filtered {
            Propagated::Real(x) => magnon::data::write::write_npy(&path, x).unwrap(),
            Propagated::Complex(x) => magnon::data::write::write_npy(&path, x).unwrap(),
        }
        let mapped = MappedRows::open(&path).unwrap();
        assert_eq!(mapped.shape(), filtered.shape());
        let width = mapped.shape().width();
        // In order, back, and anywhere.
        for node in (0..80).chain((0..80).rev()).chain((0..80).map(|k| k * 37 % 80)) {
            let (mut a, mut b) = (vec![0.0; width], vec![1.0; width]);
            mapped.copy(node, &mut a);
            filtered.copy(node, &mut b);
            assert!(a.iter().zip(&b).all(|(a, b)| a.to_bits() == b.to_bits()), "node {node}");
        }
        // And so are the models that are trained on them.
        for batch in [None, Some(20)] {
            let mut config = crate::training_common::config("mgc", q);
            config.operator.as_mut().unwrap().pass = PassChoice::Low;
            config.train.batch = batch;
            let experiment = || Experiment::new(&data, &config).unwrap();
            let memory = experiment().run(None, &()).unwrap();
            let file = experiment().with_filtered(q, MappedRows::open(&path).unwrap()).unwrap();
            let file = file.run(None, &()).unwrap();
            assert_eq!(memory.runs[0].weights, file.runs[0].weights);
            assert_eq!(memory.runs[0].log_probabilities, file.runs[0].log_probabilities);
        }
    }
}

/// Any number of a file is held against the features that a model is trained on.
#[test]
fn filtered_features_that_are_others_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let data = dataset(80, 12, 6);
    let q = charge(3);
    let mut config = crate::training_common::config("mgc", q);
    config.operator.as_mut().unwrap().pass = PassChoice::Low;
    let operator = OperatorConfig { charge: q, ..Default::default() };
    let operator = MagneticOperator::new(&data.graph, &operator).unwrap();
    let filter = Filter::linear_rank(4).unwrap();
    let features = data.features.as_ref().unwrap();
    let Propagated::Complex(filtered) = propagate(&operator, &filter, features, &()).unwrap()
    else {
        panic!("with a charge the numbers are complex");
    };
    let run = |dataset| {
        let experiment = Experiment::new(dataset, &config).unwrap();
        let experiment = experiment.with_filtered(q, MappedRows::open(&path).unwrap()).unwrap();
        experiment.run(None, &()).map(drop).map_err(|error| error.to_string())
    };
    magnon::data::write::write_npy(&path, &filtered).unwrap();
    run(&data).unwrap();
    // One number of the features in their last column, and single bits of the file.
    let mut other = dataset(80, 12, 6);
    let Some(Features::Dense(x)) = &mut other.features else { panic!("dense") };
    *x.as_mut_slice().last_mut().unwrap() += 1.0;
    let error = run(&other).unwrap_err();
    assert!(error.contains("same features"), "{error}");
    let whole = std::fs::read(&path).unwrap();
    for (number, bit) in [(5, 31), (200, 30), (1919, 23), (777, 22)] {
        let mut bytes = whole.clone();
        bytes[128 + 4 * number + bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&path, bytes).unwrap();
        let error = run(&data).unwrap_err();
        assert!(error.contains("other numbers"), "{number}, {bit}: {error}");
    }
}

/// A .npy file with the header given.
fn npy(descr: &str, order: &str, shape: &str, payload: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((118u16).to_le_bytes());
    bytes.extend(format!("{text:<117}\n").bytes());
    bytes.extend(payload);
    bytes
}

#[test]
fn hostile_npy_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let payload = [0u8; 96];
    let good = npy("<f4", "False", "(6, 4)", &payload);
    std::fs::write(&path, &good).unwrap();
    assert!(MappedRows::open(&path).is_ok());
    let refuse = |bytes: &[u8], word: &str| {
        std::fs::write(&path, bytes).unwrap();
        let error = MappedRows::open(&path).err().expect(word).to_string();
        assert!(error.contains("x.npy"), "{error}");
        assert!(error.contains(word), "{word}: {error}");
    };
    refuse(b"", "");
    refuse(&good[..good.len() - 1], "");
    refuse(&npy("<f4", "True", "(6, 4)", &payload), "C order");
    refuse(&npy("<f8", "False", "(6, 2)", &payload), "float32 or complex64");
    refuse(&npy(">f4", "False", "(6, 4)", &payload), "float32 or complex64");
    refuse(&npy("<i4", "False", "(6, 4)", &payload), "float32 or complex64");
    refuse(&npy("|O", "False", "(6, 4)", &payload), "");
    refuse(&npy("<f4", "False", "(24,)", &payload), "dimensions");
    refuse(&npy("<f4", "False", "(2, 3, 4)", &payload), "dimensions");
    refuse(&npy("<f4", "False", "(7, 4)", &payload), "");
    refuse(&npy("<c8", "False", "(6, 4)", &payload), "");
    refuse(&npy("<f4", "False", "(9223372036854775807, 4)", &payload), "");
    refuse(&npy("<f4", "False", "(4611686018427387904, 4)", &payload), "");
    // Every shorter file, and no panic on any damaged byte of the header.
    for length in 0..good.len() {
        refuse(&good[..length], "");
    }
    for at in 0..128 {
        for flip in [0x01, 0x20, 0x80] {
            let mut bytes = good.clone();
            bytes[at] ^= flip;
            std::fs::write(&path, bytes).unwrap();
            if let Err(error) = MappedRows::open(&path) {
                assert!(error.to_string().contains("x.npy"));
            }
        }
    }
    let missing = folder.path().join("nowhere.npy");
    let error = MappedRows::open(&missing).err().unwrap().to_string();
    assert!(error.contains("nowhere.npy"), "{error}");
}

/// A file that is cut short while it is in use: an error that names it, not the end of the process.
#[test]
fn a_file_cut_short_is_an_error() {
    use magnon::train::Experiment;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let data = dataset(80, 12, 6);
    let operator = MagneticOperator::new(&data.graph, &OperatorConfig::default()).unwrap();
    let filter = Filter::linear_rank(4).unwrap();
    let features = data.features.as_ref().unwrap();
    let Propagated::Real(filtered) = propagate(&operator, &filter, features, &()).unwrap() else {
        panic!("without a charge the numbers are real");
    };
    for kept in [0, 128, 128 + 12 * 4 * 40 + 3] {
        magnon::data::write::write_npy(&path, &filtered).unwrap();
        let rows = MappedRows::open(&path).unwrap();
        let mut row = vec![0.0; 12];
        rows.copy(79, &mut row);
        assert_eq!(row, filtered.row(79));
        assert!(rows.check().is_ok());
        std::fs::File::options().write(true).open(&path).unwrap().set_len(kept).unwrap();
        rows.copy(79, &mut row);
        assert!(row.iter().all(|x| x.is_nan()), "{row:?}");
        let error = rows.check().unwrap_err().to_string();
        assert!(error.contains("x.npy") && error.contains("row 79"), "{error}");
        for batch in [None, Some(20)] {
            let mut config = crate::training_common::config("mgc", Charge::ZERO);
            config.operator.as_mut().unwrap().pass = PassChoice::Low;
            config.train.batch = batch;
            magnon::data::write::write_npy(&path, &filtered).unwrap();
            let rows = MappedRows::open(&path).unwrap();
            std::fs::File::options().write(true).open(&path).unwrap().set_len(kept).unwrap();
            let experiment = Experiment::new(&data, &config).unwrap();
            let experiment = experiment.with_filtered(Charge::ZERO, rows).unwrap();
            let error = experiment.run(None, &()).err().unwrap().to_string();
            assert!(error.contains("x.npy has a row"), "{error}");
        }
    }
}
