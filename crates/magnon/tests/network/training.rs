//! The training loop: going on from a checkpoint, early stopping, batches, and what it refuses.

use crate::training_common::{Ready, Setup, bits, charge, config, dataset, history_bits, kinds};
use magnon::compute::Engine;
use magnon::data::{Dataset, Features, Labels, Split};
use magnon::matrix::Matrix;
use magnon::model::{MappedRows, Mode};
use magnon::nn::{AdamConfig, Parameters, Schedule, Tape};
use magnon::operator::Charge;
use magnon::progress::{Epoch, Progress};
use magnon::train::{
    Checkpoints, EpochRecord, Experiment, Fitted, State, Targets, TrainConfig, TrainError, Vary,
    Watch, fit,
};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Keeps the state after one epoch.
struct Keep {
    at: usize,
    state: Option<State>,
}

impl Watch for Keep {
    fn epoch(&mut self, _: &EpochRecord, _: &EpochRecord) {}

    fn wants(&self, epoch: usize) -> bool {
        epoch == self.at
    }

    fn checkpoint(&mut self, state: State) -> Result<(), TrainError> {
        self.state = Some(state);
        Ok(())
    }
}

#[test]
fn a_run_goes_on_from_any_state_bit_for_bit() {
    let engine = Engine::cpu().sequential();
    let schedule = Schedule::Step { every: 4, factor: 0.7 };
    let optimiser = AdamConfig { schedule, clip: Some(0.5), ..Default::default() };
    for (kind, charge) in kinds() {
        let setup = Setup::new(kind, charge);
        let ready = setup.ready(0.4);
        for batch in [None, Some(16)] {
            let config =
                TrainConfig { epochs: 24, batch, optimiser, seed: 7, ..Default::default() };
            let run = |state: Option<State>, watch: &mut dyn Watch| {
                // Other first weights: all that counts must come from the state.
                let mut weights = ready.draw(if state.is_some() { 99 } else { 7 });
                let (feed, targets) = (ready.feed(batch), setup.both());
                let fitted =
                    fit(&engine, &mut weights, &feed, targets, &config, state, watch).unwrap();
                (bits(&weights), history_bits(&fitted.history), fitted.best)
            };
            let whole = run(None, &mut ());
            assert_eq!(whole.1.len(), 24);
            for at in [1, 10, 23] {
                let mut keep = Keep { at, state: None };
                run(None, &mut keep);
                let state = keep.state.expect("a state was kept");
                assert_eq!((state.epoch, state.history.len()), (at, at));
                let resumed = run(Some(state), &mut ());
                assert_eq!(resumed, whole, "{kind} {charge} {batch:?} from epoch {at}");
            }
        }
    }
}

/// Stops every trial once it has made so many epochs.
struct StopAt {
    epochs: usize,
    made: AtomicUsize,
}

impl Progress for StopAt {
    fn epoch(&self, record: &Epoch) {
        self.made.store(record.epoch, Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.made.load(Relaxed) >= self.epochs
    }
}

/// Through a file, as the command does it.
#[test]
fn an_interrupted_experiment_goes_on_from_its_folder() {
    let data = dataset(150, 9, 3);
    for (kind, charge) in kinds() {
        for batch in [None, Some(25)] {
            let mut config = config(kind, charge);
            config.train.batch = batch;
            let folder = tempfile::tempdir().unwrap();
            let run = |resume: Option<bool>, progress: &dyn Progress| {
                let mut experiment = Experiment::new(&data, &config).unwrap();
                if let Some(resume) = resume {
                    let folder = folder.path().to_owned();
                    experiment =
                        experiment.with_checkpoints(Checkpoints { folder, every: 5, resume });
                }
                experiment.run(None, progress)
            };
            let whole = run(None, &()).unwrap();
            let stop = StopAt { epochs: 12, made: AtomicUsize::new(0) };
            let stopped = run(Some(false), &stop);
            assert!(matches!(stopped, Err(TrainError::Stopped(12))), "{stopped:?}");
            let resumed = run(Some(true), &()).unwrap();
            let (a, b) = (&whole.runs[0], &resumed.runs[0]);
            assert_eq!(a.weights, b.weights);
            assert_eq!(history_bits(&a.history), history_bits(&b.history));
            assert_eq!(a.log_probabilities, b.log_probabilities);
            assert_eq!(a.history.len(), 30);
        }
    }
}

/// Validation loss of some weights, without dropout.
fn val_loss(setup: &Setup, ready: &Ready, weights: &Parameters) -> f64 {
    let engine = Engine::cpu().sequential();
    let mut tape = Tape::new(&engine);
    let mut trace = tape.trace(weights);
    let view = &ready.views[1];
    let shared = view.begin(&mut trace);
    let logits = view.logits(&mut trace, shared, Mode::Evaluate);
    trace.nll_loss(logits, &setup.targets[1].pairs).unwrap().mean
}

fn train(setup: &Setup, ready: &Ready, config: &TrainConfig, weights: &mut Parameters) -> Fitted {
    let (engine, feed) = (Engine::cpu().sequential(), ready.feed(config.batch));
    fit(&engine, weights, &feed, setup.both(), config, None, &mut ()).unwrap()
}

#[test]
fn it_stops_when_patience_is_spent_and_keeps_the_best_weights() {
    let setup = Setup::new("mgc", charge(3));
    let ready = setup.ready(0.5);
    let optimiser = AdamConfig { rate: 0.1, ..Default::default() };
    for patience in [1, 5, 20] {
        let config = TrainConfig { patience, optimiser, ..Default::default() };
        let mut weights = ready.draw(0);
        let fitted = train(&setup, &ready, &config, &mut weights);
        assert_eq!(fitted.history.len(), fitted.best.epoch + patience);
        assert!(fitted.history.len() < config.epochs, "it stopped by itself");
        let least = fitted.history.iter().map(|r| r.val_loss).fold(f64::INFINITY, f64::min);
        assert_eq!(fitted.best.val_loss, least);
        let first = fitted.history.iter().find(|r| r.val_loss == least).unwrap();
        assert_eq!(first.epoch, fitted.best.epoch, "the first of equals");
        // The figure is that of the weights returned, with dropout off.
        assert_eq!(val_loss(&setup, &ready, &weights), fitted.best.val_loss);
    }
}

#[test]
fn one_epoch_is_one_step() {
    let engine = Engine::cpu().sequential();
    let setup = Setup::new("mlp", Charge::ZERO);
    let ready = setup.ready(0.0);
    let config = TrainConfig { epochs: 1, ..Default::default() };
    let mut weights = ready.draw(0);
    let before = weights.download(&engine).unwrap();
    let fitted = train(&setup, &ready, &config, &mut weights);
    assert_eq!((fitted.history.len(), fitted.best.epoch), (1, 1));
    assert_eq!(val_loss(&setup, &ready, &weights), fitted.best.val_loss);
    // Adam's first step moves every weight by the rate at most, and some by it.
    let after = weights.download(&engine).unwrap();
    let moved = before.iter().flatten().zip(after.iter().flatten()).map(|(a, b)| (a - b).abs());
    let largest = moved.fold(0.0, f32::max);
    assert!((largest - 0.01).abs() < 1e-4, "{largest}");
}

#[test]
fn a_batch_of_all_rows_is_the_full_batch() {
    for (kind, charge) in kinds() {
        let setup = Setup::new(kind, charge);
        let ready = setup.ready(0.0);
        let config = TrainConfig { epochs: 15, ..Default::default() };
        let expected = train(&setup, &ready, &config, &mut ready.draw(1));
        for size in [setup.targets[0].len(), 10_000] {
            let config = TrainConfig { batch: Some(size), ..config };
            let fitted = train(&setup, &ready, &config, &mut ready.draw(1));
            for (a, b) in expected.history.iter().zip(&fitted.history) {
                assert!((a.train_loss - b.train_loss).abs() < 1e-4, "{a:?} {b:?}");
                assert!((a.val_loss - b.val_loss).abs() < 1e-4, "{a:?} {b:?}");
            }
        }
    }
}

/// With batches, an epoch sees every training row once: the first losses at a rate of almost 0 are
/// those of the first weights, whatever the batch.
#[test]
fn batches_cover_all_rows() {
    let setup = Setup::new("mgc", charge(3));
    let ready = setup.ready(0.0);
    let optimiser = AdamConfig { rate: 1e-12, weight_decay: 0.0, ..Default::default() };
    let config = TrainConfig { epochs: 2, optimiser, ..Default::default() };
    let full = train(&setup, &ready, &config, &mut ready.draw(1));
    for size in [1, 7, 64] {
        let config = TrainConfig { batch: Some(size), ..config };
        let fitted = train(&setup, &ready, &config, &mut ready.draw(1));
        let (a, b) = (&full.history[0], &fitted.history[0]);
        assert!((a.train_loss - b.train_loss).abs() < 1e-6, "{size}: {a:?} {b:?}");
        assert_eq!(a.train_accuracy, b.train_accuracy);
        assert_eq!(a.val_accuracy, b.val_accuracy);
    }
}

fn scaled(mut data: Dataset, by: f32) -> Dataset {
    let Some(Features::Dense(x)) = &mut data.features else { panic!("dense features") };
    x.as_mut_slice().iter_mut().for_each(|x| *x *= by);
    data
}

#[test]
fn losses_that_are_no_numbers_are_errors() {
    // Near the end of single precision; at 10³⁰ losses are absurd, but numbers still.
    let huge = scaled(dataset(150, 9, 3), 1e38);
    let plain = dataset(150, 9, 3);
    for (data, rate, kind) in [(&huge, 0.01, "mlp"), (&plain, 1e38, "mlp"), (&plain, 1e38, "mgc")] {
        for batch in [None, Some(30)] {
            let mut config = config(kind, charge(3));
            config.train.optimiser.rate = rate;
            config.train.batch = batch;
            let result = Experiment::new(data, &config).unwrap().run(None, &());
            let Err(error) = result else { panic!("{kind} at rate {rate} should fail") };
            let text = error.to_string();
            assert!(matches!(error, TrainError::NotFinite { .. }), "{text}");
            assert!(text.contains("learning rate"), "{text}");
        }
    }
}

fn labelled(classes: Vec<Option<u32>>, names: &[&str]) -> Labels {
    Labels { classes, names: names.iter().map(|&name| name.to_owned()).collect() }
}

#[test]
fn data_that_cannot_be_learnt_from_are_refused() {
    let config = config("mgc", charge(3));
    let data = dataset(60, 4, 1);
    let refuse = |change: &dyn Fn(&mut Dataset), word: &str| {
        let mut data = data.clone();
        change(&mut data);
        let error = Experiment::new(&data, &config).err().expect(word).to_string();
        assert!(error.contains(word), "{error}");
    };
    refuse(&|data| data.features = None, "no features");
    refuse(&|data| data.labels = None, "no labels");
    refuse(&|data| data.labels = Some(labelled(vec![Some(0); 60], &["a"])), "nothing to tell");
    refuse(&|data| data.splits.clear(), "split");
    refuse(&|data| data.splits[0].train.clear(), "no labelled training node");
    refuse(&|data| data.splits[0].val.clear(), "no labelled validation node");
    refuse(&|data| data.splits[0].test.clear(), "no labelled test node");
    // A part whose nodes are all without a label is as good as empty.
    refuse(
        &|data| {
            let Dataset { labels: Some(labels), splits, .. } = data else { return };
            splits[0].val.iter().for_each(|&u| labels.classes[u as usize] = None);
        },
        "no labelled validation node",
    );
    let (engine, config) = (Engine::cpu().sequential(), TrainConfig::default());
    let setup = Setup::new("mgc", charge(3));
    let (ready, none) = (setup.ready(0.0), Targets::default());
    let (feed, targets) = (ready.feed(None), [&none, &setup.targets[1]]);
    let result = fit(&engine, &mut ready.draw(0), &feed, targets, &config, None, &mut ());
    assert!(matches!(result, Err(TrainError::EmptyPart { part: "training" })));
}

/// Nodes without a label take no part, though the graph goes through them.
#[test]
fn nodes_without_a_label_are_left_out() {
    let mut data = dataset(90, 5, 2);
    let config = config("mgc", charge(3));
    let gone: Vec<u32> = data.splits[0].train.iter().step_by(4).copied().collect();
    let mut without = data.clone();
    without.splits[0].train.retain(|u| !gone.contains(u));
    let labels = data.labels.as_mut().unwrap();
    gone.iter().for_each(|&u| labels.classes[u as usize] = None);
    let run = |data: &Dataset| Experiment::new(data, &config).unwrap().run(None, &()).unwrap();
    let (a, b) = (run(&data), run(&without));
    assert_eq!(a.runs[0].weights, b.runs[0].weights);
    assert_eq!(a.runs[0].metrics[0].confusion, b.runs[0].metrics[0].confusion);
}

#[test]
fn a_class_that_training_never_sees_is_said_and_does_no_harm() {
    let mut data = dataset(90, 5, 2);
    let Dataset { labels: Some(labels), splits, .. } = &mut data else { panic!("labels") };
    let Split { train, test, .. } = &mut splits[0];
    let (kept, moved) = train.iter().partition(|&&u| labels.classes[u as usize] != Some(2));
    *train = kept;
    test.extend::<Vec<u32>>(moved);
    labels.names[2] = "rare".to_owned();
    let config = config("mgc", charge(3));
    let experiment = Experiment::new(&data, &config).unwrap();
    assert_eq!(experiment.unseen_classes(), ["rare"]);
    let outcome = experiment.run(None, &()).unwrap();
    assert_eq!(outcome.runs[0].metrics[0].classes[2].support, 0);
    assert!(outcome.runs[0].metrics[2].classes[2].support > 0);
}

/// Class 3 of Texas has one node. The split that comes with the data trains on it; one that draws 40 %
/// of each class does not.
#[test]
fn a_class_of_one_node_may_be_missing_from_training() {
    let Some(folder) = crate::real_data::real_data() else { return };
    let data = magnon::data::load(&folder.join("texas"), &Default::default()).unwrap();
    for (split, unseen) in [("given", &[][..]), ("40/30/30", &["3"])] {
        let mut config = config("mgc", charge(4));
        config.data.split = split.parse().unwrap();
        config.train.epochs = 5;
        let experiment = Experiment::new(&data, &config).unwrap();
        assert_eq!(experiment.unseen_classes(), unseen);
        let outcome = experiment.run(None, &()).unwrap();
        assert_eq!(outcome.runs[0].history.len(), 5);
        let rows = &outcome.runs[0].log_probabilities;
        assert_eq!((rows.rows(), rows.cols()), (187, 5));
    }
}

/// A state that does not fit is refused, and one that contradicts itself does no harm.
#[test]
fn strange_states_are_refused() {
    let engine = Engine::cpu().sequential();
    let setup = Setup::new("mlp", Charge::ZERO);
    let ready = setup.ready(0.0);
    let config = TrainConfig { epochs: 6, ..Default::default() };
    let go = |state: Option<State>, watch: &mut dyn Watch| {
        let (feed, targets) = (ready.feed(None), setup.both());
        fit(&engine, &mut ready.draw(0), &feed, targets, &config, state, watch)
    };
    let mut keep = Keep { at: 3, state: None };
    go(None, &mut keep).unwrap();
    let good = keep.state.unwrap();
    let refuse = |change: &dyn Fn(&mut State)| {
        let mut state = good.clone();
        change(&mut state);
        let result = go(Some(state), &mut ());
        assert!(matches!(result, Err(TrainError::Mismatch { .. })), "{result:?}");
    };
    refuse(&|state| state.weights.clear());
    refuse(&|state| state.weights[1].push(0.0));
    refuse(&|state| state.first[0].truncate(3));
    refuse(&|state| state.second.truncate(1));
    refuse(&|state| state.best.as_mut().unwrap().weights[0].clear());
    refuse(&|state| state.best = None);
    refuse(&|state| state.best.as_mut().unwrap().record.epoch = 100);
    refuse(&|state| state.epoch = usize::MAX);
    refuse(&|state| state.steps = u64::MAX);
    refuse(&|state| state.history.truncate(1));
    refuse(&|state| state.weights[0][0] = f32::NAN);
    refuse(&|state| state.second[0][0] = f32::INFINITY);
    refuse(&|state| state.second[0][0] = -1.0);
}

#[test]
fn configs_out_of_range_are_refused() {
    let check = |change: &dyn Fn(&mut TrainConfig), word: &str| {
        let mut config = TrainConfig::default();
        change(&mut config);
        let error = config.check().expect_err(word).to_string();
        assert!(error.contains(word), "{error}");
    };
    check(&|c| c.epochs = 0, "epochs");
    check(&|c| c.patience = 0, "patience");
    check(&|c| c.batch = Some(0), "batch");
    check(&|c| c.optimiser.rate = f64::NAN, "learning rate");
    check(&|c| c.optimiser.rate = 0.0, "learning rate");
    check(&|c| c.optimiser.weight_decay = -1.0, "weight decay");
    check(&|c| c.optimiser.clip = Some(0.0), "gradient clip");
    check(&|c| c.optimiser.schedule = Schedule::Step { every: 0, factor: 0.5 }, "step");
    check(&|c| c.optimiser.schedule = Schedule::Cosine { epochs: 9, least: 2.0 }, "least");
}

/// The largest seed is a seed like any other.
#[test]
fn seeds_may_be_as_large_as_they_like() {
    let data = dataset(60, 4, 1);
    let mut config = config("mgc", charge(3));
    config.train.seed = u64::MAX;
    config.train.epochs = 2;
    config.runs.count = 3;
    for vary in [Vary::Seeds, Vary::Both] {
        config.runs.vary = vary;
        config.data.split = "60/20/20".parse().unwrap();
        let outcome = Experiment::new(&data, &config).unwrap().run(None, &()).unwrap();
        assert_eq!(outcome.runs.len(), 3);
    }
}

#[test]
fn filtered_features_of_other_sizes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    magnon::data::write::write_npy(&path, &Matrix::<f32>::zeros(59, 4)).unwrap();
    let data = dataset(60, 4, 1);
    let config = config("mgc", charge(3));
    let experiment = Experiment::new(&data, &config).unwrap();
    let rows = MappedRows::open(&path).unwrap();
    let error = experiment.with_filtered(Charge::ZERO, rows).err().unwrap().to_string();
    assert!(error.contains("59") && error.contains("60"), "{error}");
}
