//! Training gives the same bits whatever the number of threads.

use crate::training_common::{charge, config, dataset, history_bits};
use magnon::compute::{
    Activation, Buffer, DrawKey, Engine, Factor, Field, Map, MapSource, Shape, Side,
};
use magnon::cycles::{Candidate, ChargeAdvice};
use magnon::filter::Filter;
use magnon::matrix::SparseMatrix;
use magnon::model::ChargeChoice;
use magnon::nn::{Parameters, Tape};
use magnon::operator::{Charge, MagneticOperator, OperatorConfig};
use magnon::train::{Experiment, Outcome, TrialResult, Vary};
use std::sync::Arc;

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// Everything that a trial came to, as bits.
fn all(run: &TrialResult) -> (Vec<Vec<u32>>, Vec<[u64; 6]>, Vec<u32>) {
    let bits = |numbers: &[f32]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    (
        run.weights.iter().map(|(.., numbers)| bits(numbers)).collect(),
        history_bits(&run.history),
        bits(run.log_probabilities.as_slice()),
    )
}

fn summary(outcome: &Outcome) -> Vec<u64> {
    outcome.candidates.iter().map(|c| c.val_loss.to_bits()).collect()
}

/// Several runs with candidate charges and controls, sequential engines side by side; and one run,
/// whose engine shares its products.
#[test]
fn experiments_do_not_depend_on_threads() {
    let data = dataset(200, 12, 5);
    let candidate = |charge, length| Candidate { charge, length, gauge_equivalent: false };
    let advice = ChargeAdvice {
        candidates: vec![
            candidate(charge(2), Some(2)),
            candidate(charge(3), Some(3)),
            candidate(Charge::ZERO, None),
        ],
        choice: charge(3),
        reason: String::new(),
    };
    for (count, batch) in [(1, None), (3, None), (3, Some(40))] {
        let mut config = config("mgc", charge(3));
        config.operator.as_mut().unwrap().charge = ChargeChoice::Auto;
        config.data.split = "60/20/20".parse().unwrap();
        config.runs.count = count;
        config.runs.vary = Vary::Both;
        config.runs.controls = true;
        config.train.epochs = 12;
        config.train.batch = batch;
        let run = || Experiment::new(&data, &config).unwrap().run(Some(&advice), &()).unwrap();
        let one = on_threads(1, run);
        assert_eq!((one.runs.len(), one.candidates.len(), one.controls.len()), (count, 3, 2));
        for threads in [2, 7] {
            let many = on_threads(threads, run);
            assert_eq!(many.charge, one.charge);
            assert_eq!(summary(&many), summary(&one));
            let runs = |outcome: &Outcome| {
                let controls = outcome.controls.iter().flat_map(|control| &control.runs);
                outcome.runs.iter().chain(controls).map(all).collect::<Vec<_>>()
            };
            assert!(runs(&many) == runs(&one), "{count} runs on {threads} threads");
        }
    }
}

/// Numbers that look random.
fn numbers(len: usize, salt: usize) -> Vec<f32> {
    (0..len).map(|i| ((i * 7919 + salt * 104_729) % 2003) as f32 / 1001.5 - 1.0).collect()
}

fn bits(engine: &Engine, buffer: &Buffer) -> Vec<u32> {
    engine.numbers(buffer).unwrap().into_iter().map(f32::to_bits).collect()
}

/// Products above the size from which on they are shared, in all fields, both ways round, and with
/// a last block of rows that is full, almost full, or a single row.
#[test]
fn shared_products_are_those_of_one_thread() {
    let (parallel, sequential) = (Engine::cpu(), Engine::cpu().sequential());
    let (real, complex) = (Field::Real, Field::Complex);
    for (rows, inner, cols) in [
        (512, 128, 64),
        (513, 130, 64),
        (257, 300, 64),
        (600, 1433, 7),
        (1433, 700, 64),
        (300, 4000, 5),
    ] {
        assert!(rows * inner * cols >= 1 << 22, "large enough to be shared");
        for (a, b) in [(real, real), (real, complex), (complex, complex), (complex, real)] {
            for adjoint in [false, true] {
                let stored = if adjoint { (inner, rows) } else { (rows, inner) };
                let left = Shape::new(stored.0, stored.1, a);
                let right = Shape::new(inner, cols, b);
                let out = Shape::new(rows, cols, a.join(b));
                let (x, y) = (numbers(left.len(), 1), numbers(right.len(), 2));
                for add in [false, true] {
                    let run = |engine: &Engine| {
                        let mut result = engine.buffer(&numbers(out.len(), 3)).unwrap();
                        let [x, y] = [&x, &y].map(|numbers| engine.buffer(numbers).unwrap());
                        let left = Factor { buffer: &x, shape: left, adjoint };
                        let right = Factor { buffer: &y, shape: right, adjoint: false };
                        engine.product(left, right, (&mut result, out), add).unwrap();
                        bits(engine, &result)
                    };
                    let expected = run(&sequential);
                    for threads in [1, 2, 7] {
                        let found = on_threads(threads, || run(&parallel));
                        let same = found == expected;
                        assert!(same, "{left:?} {right:?} {adjoint} {add}, {threads} threads");
                    }
                }
            }
        }
    }
}

/// A map forwards, then backwards, as bits.
fn both_ways(engine: &Engine, map: &Map, x: Shape, y: Shape) -> [Vec<u32>; 2] {
    let from = engine.buffer(&numbers(x.len(), 5)).unwrap();
    let mut forward = engine.zeros(y.len()).unwrap();
    engine.map(map, Side::Forward, None, (&from, x), (&mut forward, y), false).unwrap();
    let mut back = engine.zeros(x.len()).unwrap();
    engine.map(map, Side::Adjoint, None, (&forward, y), (&mut back, x), false).unwrap();
    [forward, back].map(|all| bits(engine, &all))
}

/// The same for maps, which are what training multiplies with: dense rows, sparse ones, operators and
/// filters.
#[test]
fn shared_maps_are_those_of_one_thread() {
    let (parallel, sequential) = (Engine::cpu(), Engine::cpu().sequential());
    let mut sources = Vec::new();
    for field in [Field::Real, Field::Complex] {
        let shape = Shape::new(700, 1003, field);
        sources.push(MapSource::dense(shape, numbers(shape.len(), 4)).unwrap());
    }
    let nodes = 1003;
    let entry = |i: usize| (i * 31 % nodes, (i * 577 % nodes) as u32, (i % 7) as f32 - 3.5);
    let entries = (0..40_000).map(entry);
    sources.push(MapSource::Sparse(SparseMatrix::from_triplets(nodes, nodes, entries).unwrap()));
    // So many rows that their adjoint is summed in parts.
    let entry = |i: usize| (i * 37 % 5000, (i * 577 % 311) as u32, (i % 7) as f32 - 3.5);
    let entries = (0..20_000).map(entry);
    sources.push(MapSource::Sparse(SparseMatrix::from_triplets(5000, 311, entries).unwrap()));
    let graph = dataset(nodes, 0, 2).graph;
    for charge in [Charge::ZERO, charge(3)] {
        let config = OperatorConfig { charge, ..Default::default() };
        let operator = MagneticOperator::new(&graph, &config).unwrap();
        sources.push(MapSource::operator(&operator));
        sources.push(MapSource::filter(&operator, &Filter::linear_rank(4).unwrap()));
    }
    for (number, source) in sources.into_iter().enumerate() {
        let shape = source.shape();
        let (x, y) = (
            Shape::new(shape.cols(), 64, shape.field()),
            Shape::new(shape.rows(), 64, shape.field()),
        );
        let run = |engine: &Engine| {
            let map = engine.prepare(source.clone()).unwrap();
            both_ways(engine, &map, x, y)
        };
        let expected = run(&sequential);
        for threads in [1, 2, 7] {
            assert!(on_threads(threads, || run(&parallel)) == expected, "map {number} {threads}");
        }
    }
}

/// Work on single entries is shared from some size on: masks, activations and sums of many numbers.
#[test]
fn shared_sweeps_are_those_of_one_thread() {
    let (parallel, sequential) = (Engine::cpu(), Engine::cpu().sequential());
    let run = |engine: &Engine, field: Field| {
        let shape = Shape::new(1501, 101, field);
        let source = MapSource::dense(shape, numbers(shape.len(), 1)).unwrap();
        let map = Arc::new(engine.prepare(source).unwrap());
        let mut parameters = Parameters::new();
        let w = parameters.add(engine, "w", shape, &numbers(shape.len(), 2)).unwrap();
        let v = parameters.add(engine, "v", shape, &numbers(shape.len(), 3)).unwrap();
        let column = Shape::new(101, 2, field);
        let x = parameters.add(engine, "x", column, &numbers(column.len(), 4)).unwrap();
        let mut tape = Tape::new(engine);
        let mut trace = tape.trace(&parameters);
        let [w, v, x] = [w, v, x].map(|id| trace.parameter(id));
        let mut sum = trace.sum(&[(0.5, w), (-1.5, v)]);
        let mut key = DrawKey { seed: 5, epoch: 6, batch: 7, site: 0 };
        let activations = match field {
            Field::Real => [Activation::Tanh, Activation::Relu, Activation::Elu],
            Field::Complex => {
                [Activation::ComplexRelu, Activation::SplitRelu, Activation::SplitRelu]
            }
        };
        for f in activations {
            let active = trace.activate(f, sum);
            let dropped = trace.dropout(active, 0.4, key);
            key.site += 1;
            sum = trace.sum(&[(1.0, dropped), (1.0, sum)]);
        }
        let unit = trace.normalize_rows(sum);
        let mask = trace.mask_map(&map, 0.3, key);
        let features = trace.map_masked(&map, mask, x);
        let both = trace.concatenate(&[unit, features]);
        let both = match field {
            Field::Real => both,
            Field::Complex => trace.activate(Activation::Parts, both),
        };
        let targets: Vec<(u32, u32)> = (0..1501).map(|row| (row, row % 50)).collect();
        let loss = trace.nll_loss(both, &targets).unwrap();
        let mut gradients = parameters.zeros(engine).unwrap();
        trace.backward(loss, &mut gradients).unwrap();
        let gradients = gradients.iter().flat_map(|gradient| bits(engine, gradient));
        (loss.mean.to_bits(), gradients.collect::<Vec<_>>())
    };
    for field in [Field::Real, Field::Complex] {
        let expected = run(&sequential, field);
        for threads in [1, 2, 7] {
            let found = on_threads(threads, || run(&parallel, field));
            assert!(found == expected, "{field:?} {threads}");
        }
    }
}
