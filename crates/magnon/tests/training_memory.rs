//! What training asks for: counted, not estimated.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod counting;
mod training_common;

use counting::{NOW, PEAK, calls};
use magnon::compute::Engine;
use magnon::data::Features;
use magnon::model::{MODELS, ModelConfig, ProductOrder};
use magnon::operator::Charge;
use magnon::train::{EpochRecord, State, TrainConfig, TrainError, Watch, fit};
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use training_common::{Ready, Setup, charge, dataset, kinds, model, sparse, thinned};

/// Requests for memory in a training run of so many epochs.
fn requests(setup: &Setup, ready: &Ready, batch: Option<usize>, epochs: usize) -> usize {
    let (engine, feed) = (Engine::cpu().sequential(), ready.feed(batch));
    let mut weights = ready.draw(0);
    let config = TrainConfig { epochs, patience: 1 << 20, batch, ..Default::default() };
    let before = calls();
    let fitted = fit(&engine, &mut weights, &feed, setup.both(), &config, None, &mut ()).unwrap();
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
        let ready = setup.ready(0.5);
        for batch in [None, Some(16)] {
            requests(&setup, &ready, batch, 3); // whatever is made once and for all
            let short = requests(&setup, &ready, batch, 20);
            let long = requests(&setup, &ready, batch, 40);
            assert_eq!(long, short, "{kind} {charge} {batch:?}");
        }
    }
}

/// Keeps the state after some epochs.
struct Keep(Option<State>);

impl Watch for Keep {
    fn epoch(&mut self, _: &EpochRecord, _: &EpochRecord) {}

    fn wants(&self, epoch: usize) -> bool {
        epoch == 3
    }

    fn checkpoint(&mut self, state: State) -> Result<(), TrainError> {
        self.0 = Some(state);
        Ok(())
    }
}

/// A run that goes on from a state has room for all its epochs from the start.
#[test]
fn a_run_that_goes_on_asks_for_no_more() {
    let _turn = TURN.lock();
    let setup = Setup::new("mgc", charge(3));
    let (engine, ready) = (Engine::cpu().sequential(), setup.ready(0.5));
    let run = |epochs, state, watch: &mut dyn Watch| {
        let config = TrainConfig { epochs, patience: 1 << 20, ..Default::default() };
        let (feed, mut weights) = (ready.feed(None), ready.draw(0));
        let before = calls();
        fit(&engine, &mut weights, &feed, setup.both(), &config, state, watch).unwrap();
        calls() - before
    };
    let mut keep = Keep(None);
    run(5, None, &mut keep);
    let state = keep.0.unwrap();
    let short = run(20, Some(state.clone()), &mut ());
    assert_eq!(run(80, Some(state), &mut ()), short);
}

/// 32 hidden units on a filter of order 2.
fn wide(dropout: f64) -> ModelConfig {
    model("mgc", &[("hidden", 32.into()), ("dropout", dropout.into())])
}

/// Products with filtered rows and with the filter's matrix, real and complex, in batches and not.
#[test]
fn peak_is_the_figure_that_training_gives() {
    let _turn = TURN.lock();
    let setup = Setup::new("mgc", charge(3));
    requests(&setup, &setup.ready(0.5), None, 1); // the thread's own blocks for products
    for (charge, order) in [
        (charge(3), ProductOrder::Rows),
        (Charge::ZERO, ProductOrder::Rows),
        (charge(3), ProductOrder::Factored),
        (Charge::ZERO, ProductOrder::Factored),
    ] {
        // Wide sparse features are kept as they are, narrow dense ones are filtered.
        let columns = if order == ProductOrder::Rows { 120 } else { 1500 };
        let mut data = dataset(if order == ProductOrder::Rows { 2000 } else { 600 }, columns, 1);
        if order == ProductOrder::Factored {
            let thin = thinned(data.features.as_ref().unwrap(), 53);
            data.features = Some(Features::Sparse(sparse(&thin)));
        }
        let mut setup = Setup::on(data, "mgc", charge);
        setup.filter.as_mut().unwrap().order = Some(2);
        for dropout in [0.0, 0.5] {
            let ready = setup.ready_with(&wide(dropout));
            assert_eq!(ready.network.order(), Some(order));
            for batch in [None, Some(256)] {
                if batch.is_some() && order == ProductOrder::Factored {
                    continue;
                }
                let engine = Engine::cpu().sequential(); // which keeps the blocks that it has worked in
                let config = TrainConfig { epochs: 5, batch, ..Default::default() };
                let (feed, targets) = (ready.feed(batch), setup.both());
                let mut weights = ready.draw(0);
                let before = NOW.load(Relaxed);
                PEAK.store(before, Relaxed);
                let fitted =
                    fit(&engine, &mut weights, &feed, targets, &config, None, &mut ()).unwrap();
                let used = PEAK.load(Relaxed) - before;
                let ratio = used as f64 / fitted.bytes as f64;
                let case = format!("{charge} {order:?} {batch:?} {dropout}");
                let case = format!("{case}: {used} bytes, not {}", fitted.bytes);
                assert!((0.97..1.03).contains(&ratio), "{case}");
                // It is the step's buffers that are weighed, not the weights alone: at least the
                // hidden rows of a step and their gradient.
                let rows = batch.unwrap_or(setup.targets[0].len());
                assert!(used > 4 * 4 * weights.count() + 2 * 4 * rows * 32, "{case}");
            }
        }
    }
}

/// The same for every model, but for the tape's list of operations.
#[test]
fn peak_of_every_model_is_its_figure() {
    let _turn = TURN.lock();
    let setup = Setup::new("mgc", charge(3));
    requests(&setup, &setup.ready(0.5), None, 1); // the thread's own blocks for products
    for info in MODELS {
        let engine = Engine::cpu().sequential(); // which keeps the blocks that it has worked in
        let setup = Setup::on(dataset(1500, 40, 1), info.name, Charge::ZERO);
        let mut model = ModelConfig::named(info.name).unwrap();
        for (key, value) in [("hidden", 16), ("heads", 2), ("order", 2), ("top_k", 8)] {
            if model.has(key) {
                model.set(key, value.into()).unwrap();
            }
        }
        let ready = setup.ready_with(&model);
        let config = TrainConfig { epochs: 4, ..Default::default() };
        let (feed, targets) = (ready.feed(None), setup.both());
        let mut weights = ready.draw(0);
        let before = NOW.load(Relaxed);
        PEAK.store(before, Relaxed);
        let fitted = fit(&engine, &mut weights, &feed, targets, &config, None, &mut ()).unwrap();
        let used = PEAK.load(Relaxed) - before;
        let most = fitted.bytes + fitted.bytes / 50 + (16 << 10);
        let case = format!("{}: {used} bytes, not {}", info.name, fitted.bytes);
        assert!((fitted.bytes * 97 / 100..most).contains(&used), "{case}");
    }
}
