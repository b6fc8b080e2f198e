//! Training gives the same bits whatever the number of threads.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod training_common;

use magnon::cycles::{Candidate, ChargeAdvice};
use magnon::model::ModelKind;
use magnon::nn::{Cpu, Engine, Field, Map, Shape, Side};
use magnon::operator::Charge;
use magnon::run::Vary;
use magnon::train::{ChargeChoice, Experiment, Outcome, TrialResult};
use training_common::{charge, config, dataset, history_bits};

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

fn summary(outcome: &Outcome) -> Vec<Option<u64>> {
    outcome.candidates.iter().map(|c| c.val_loss.map(f64::to_bits)).collect()
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
        let mut recipe = config(ModelKind::Mgc, charge(3));
        recipe.operator.charge = ChargeChoice::Auto;
        recipe.data.split = "60/20/20".parse().unwrap();
        recipe.runs.count = count;
        recipe.runs.vary = Vary::Both;
        recipe.runs.controls = true;
        recipe.train.epochs = 12;
        recipe.train.batch = batch;
        let run = || Experiment::new(&data, &recipe).unwrap().run(Some(&advice), &()).unwrap();
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

/// Products above the size from which on they are shared, in all fields, both ways round, and with
/// a last block of rows that is full, almost full, or a single row.
#[test]
fn shared_products_are_those_of_one_thread() {
    let (parallel, sequential) = (Cpu::<f32>::parallel(), Cpu::<f32>::sequential());
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
                let left = Shape { rows: stored.0, cols: stored.1, field: a };
                let right = Shape { rows: inner, cols, field: b };
                let out = Shape { rows, cols, field: a.join(b) };
                let (x, y) = (numbers(left.len(), 1), numbers(right.len(), 2));
                for add in [false, true] {
                    let run = |engine: &Cpu<f32>| {
                        let mut result = numbers(out.len(), 3);
                        let left = Side { buffer: &x, shape: left, adjoint };
                        let right = Side { buffer: &y, shape: right, adjoint: false };
                        engine.product(left, right, (&mut result, out), add);
                        result.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
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

/// The same for maps, which are what training multiplies with.
#[test]
fn shared_maps_are_those_of_one_thread() {
    let (parallel, sequential) = (Cpu::<f32>::parallel(), Cpu::<f32>::sequential());
    for field in [Field::Real, Field::Complex] {
        let shape = Shape { rows: 700, cols: 1003, field };
        let map = Map::dense(shape, numbers(shape.len(), 4)).unwrap();
        let x = Shape { rows: 1003, cols: 16, field };
        let y = Shape { rows: 700, cols: 16, field };
        let run = |engine: &Cpu<f32>| {
            let (from, mut forward) = (numbers(x.len(), 5), engine.zeros(y.len()));
            engine.map(&map, (&from, x), (&mut forward, y));
            let mut back = engine.zeros(x.len());
            engine.map_adjoint(&map, (&forward, y), (&mut back, x), false);
            [forward, back].map(|all| all.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
        };
        let expected = run(&sequential);
        for threads in [1, 2, 7] {
            assert!(on_threads(threads, || run(&parallel)) == expected, "{field:?} {threads}");
        }
    }
}
