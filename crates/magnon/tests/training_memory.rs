//! What training asks for: counted, not estimated.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod counting;
mod training_common;

use counting::{NOW, PEAK, calls};
use magnon::data::Features;
use magnon::filter::Filter;
use magnon::matrix::Matrix;
use magnon::model::{ModelConfig, ModelKind, TwoLayer, mgc};
use magnon::nn::{Cpu, Field};
use magnon::operator::{Charge, MagneticOperator, OperatorConfig};
use magnon::train::{Feed, Inputs, Plan, Targets, TrainConfig, fit, memory};
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use training_common::{Setup, charge, dataset, kinds, sparse};

/// Requests for memory in a training run of so many epochs.
fn requests(setup: &Setup, feed: &Feed, batch: Option<usize>, epochs: usize) -> usize {
    let engine = Cpu::sequential();
    let mut model = setup.model(&engine, 0.5, 0);
    let recipe = TrainConfig { epochs, patience: 1 << 20, batch, ..Default::default() };
    let before = calls();
    let fitted = fit(&engine, &mut model, feed, setup.both(), &recipe, None, &mut ()).unwrap();
    let after = calls();
    assert_eq!(fitted.history.len(), epochs);
    after - before
}

/// The peak is the process's own, so the tests take turns.
static TURN: Mutex<()> = Mutex::new(());

/// Twice as many epochs need not one request more.
#[test]
fn no_step_asks_for_memory_after_the_first() {
    let _turn = TURN.lock();
    for (kind, charge) in kinds() {
        let setup = Setup::new(kind, charge);
        let inputs = setup.inputs();
        for batch in [None, Some(16)] {
            let feed = match batch {
                None => Feed::Full(&inputs),
                Some(size) => Feed::Batches { rows: &setup.filtered, size },
            };
            requests(&setup, &feed, batch, 3); // whatever is made once and for all
            let short = requests(&setup, &feed, batch, 20);
            let long = requests(&setup, &feed, batch, 40);
            assert_eq!(long, short, "{kind:?} {charge} {batch:?}");
        }
    }
}

fn model(field: Field, inputs: usize, dropout: f64) -> TwoLayer<Cpu<f32>> {
    let config = ModelConfig { hidden: 32, dropout, ..Default::default() };
    mgc(&Cpu::sequential(), &config, field, inputs, 3, 0).unwrap()
}

#[test]
fn peak_is_that_of_the_formula() {
    let _turn = TURN.lock();
    let setup = Setup::new(ModelKind::Mgc, charge(3));
    requests(&setup, &Feed::Full(&setup.inputs()), None, 1); // the thread's own blocks for products
    let engine = Cpu::sequential();
    let data = dataset(2000, 120, 1);
    let features = data.features.as_ref().unwrap();
    let x = sparse(features);
    let labels = data.labels.as_ref().unwrap();
    let split = &data.splits[0];
    let [train, val] = [&split.train, &split.val].map(|nodes| Targets::of(nodes, labels));
    for (charge, plan) in [
        (charge(3), Plan::Rows),
        (Charge::ZERO, Plan::Rows),
        (charge(3), Plan::Factored),
        (Charge::ZERO, Plan::Factored),
    ] {
        let recipe = OperatorConfig { charge, ..Default::default() };
        let operator = MagneticOperator::new(&data.graph, &recipe).unwrap();
        let filter = Filter::linear_rank(2).unwrap();
        let inputs = match plan {
            Plan::Factored => {
                Inputs::factored(&operator, &filter, &x, &train.nodes, &val.nodes).unwrap()
            }
            Plan::Rows => {
                let filtered =
                    magnon::filter::propagate(&operator, &filter, features, &|_, _| ()).unwrap();
                Inputs::rows(&filtered, &train.nodes, &val.nodes)
            }
        };
        for dropout in [0.0, 0.5] {
            for batch in [None, Some(256)] {
                if batch.is_some() && plan == Plan::Factored {
                    continue;
                }
                let mut model = model(inputs.field, inputs.width, dropout);
                let recipe = TrainConfig { epochs: 5, batch, ..Default::default() };
                let mapped = Features::Dense(Matrix::zeros(2000, 120));
                let feed = match batch {
                    None => Feed::Full(&inputs),
                    Some(size) => Feed::Batches { rows: &mapped, size },
                };
                let targets = [&train, &val];
                let expected = memory(&model, &feed, targets, &recipe);
                let before = NOW.load(Relaxed);
                PEAK.store(before, Relaxed);
                fit(&engine, &mut model, &feed, targets, &recipe, None, &mut ()).unwrap();
                let used = PEAK.load(Relaxed) - before;
                let ratio = used as f64 / expected as f64;
                let case = format!("{charge} {plan:?} {batch:?}: {used} bytes, not {expected}");
                // The formula is that of a model with dropout.
                let least = if dropout > 0.0 { 0.97 } else { 0.6 };
                assert!((least..1.03).contains(&ratio), "{case}");
                // It is the step's buffers that are weighed, not the weights alone.
                assert!(used > 6 * 4 * 120 * 32, "{case}");
            }
        }
    }
}
