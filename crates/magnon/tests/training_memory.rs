//! What training asks for: counted, not estimated.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod counting;
mod training_common;

use counting::{CALLS, NOW, PEAK};
use magnon::data::Features;
use magnon::filter::Filter;
use magnon::matrix::Matrix;
use magnon::model::{ModelConfig, ModelKind, TwoLayer, mgc, mlp};
use magnon::nn::{Cpu, Field};
use magnon::operator::{Charge, MagneticOperator, OperatorConfig};
use magnon::train::{Feed, Inputs, Memory, Plan, Targets, TrainConfig, fit};
use std::sync::atomic::Ordering::Relaxed;
use training_common::{Setup, charge, dataset, kinds, sparse};

/// Requests for memory in a training run of so many epochs.
fn requests(setup: &Setup, feed: &Feed, batch: Option<usize>, epochs: usize) -> usize {
    let engine = Cpu::sequential();
    let mut model = setup.model(&engine, 0.5, 0);
    let recipe = TrainConfig { epochs, patience: 1 << 20, batch, ..Default::default() };
    let before = CALLS.load(Relaxed);
    let fitted = fit(&engine, &mut model, feed, setup.both(), &recipe, None, &mut ()).unwrap();
    let after = CALLS.load(Relaxed);
    assert_eq!(fitted.history.len(), epochs);
    after - before
}

/// Twice as many epochs need not one request more. The counters are the process's own, so that all
/// is in one test.
#[test]
fn training_is_frugal() {
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
    peak_is_that_of_the_formula();
}

fn model(kind: ModelKind, field: Field, inputs: usize, dropout: f64) -> TwoLayer<Cpu<f32>> {
    let config = ModelConfig { hidden: 32, dropout, ..Default::default() };
    match kind {
        ModelKind::Mgc => mgc(&Cpu::sequential(), &config, field, inputs, 3, 0).unwrap(),
        ModelKind::Mlp => mlp(&Cpu::sequential(), &config, inputs, 3, 0).unwrap(),
    }
}

fn peak_is_that_of_the_formula() {
    let engine = Cpu::sequential();
    let data = dataset(3000, 120, 1);
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
                let mut model = model(ModelKind::Mgc, inputs.field, inputs.width, dropout);
                let recipe = TrainConfig { epochs: 5, batch, ..Default::default() };
                let mapped = Features::Dense(Matrix::zeros(3000, 120));
                let feed = match batch {
                    None => Feed::Full(&inputs),
                    Some(size) => Feed::Batches { rows: &mapped, size },
                };
                let expected = Memory {
                    model: &model,
                    dropout: dropout > 0.0,
                    batch,
                    factored: (plan == Plan::Factored).then_some(3000),
                    rows: [train.len(), val.len()],
                    field: if batch.is_some() { Field::Real } else { inputs.field },
                    epochs: recipe.epochs,
                };
                let expected = expected.bytes();
                let before = NOW.load(Relaxed);
                PEAK.store(before, Relaxed);
                let targets = [&train, &val];
                fit(&engine, &mut model, &feed, targets, &recipe, None, &mut ()).unwrap();
                let used = PEAK.load(Relaxed) - before;
                let ratio = used as f64 / expected as f64;
                println!("{charge} {plan:?} {dropout} {batch:?}: {used} {expected} {ratio}");
            }
        }
    }
}
