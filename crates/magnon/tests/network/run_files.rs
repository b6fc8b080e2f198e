//! The files of a run: what is written is read back, and what was damaged is refused.

use crate::training_common::{charge, config, dataset, kinds};
use magnon::compute::Shape;
use magnon::data::{Dataset, Fingerprint, Scaling};
use magnon::model::{ChargeChoice, MODELS, MgcConfig, ModelConfig};
use magnon::nn::NamedNumbers;
use magnon::operator::Charge;
use magnon::progress::{Epoch, Progress};
use magnon::run::{FileError, PredictionCache, RunFolder, SavedModel, predict};
use magnon::train::{Checkpoints, Experiment, Outcome, RunConfig, TrainError, TrialResult};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

fn trained(data: &Dataset, config: &RunConfig) -> (SavedModel, Outcome) {
    let outcome = Experiment::new(data, config).unwrap().run(None, &()).unwrap();
    let run = &outcome.runs[0];
    let mut saved = SavedModel {
        model: config.model.clone(),
        operator: outcome.operator(config),
        filter: config.filter.clone(),
        scaling: Scaling::None,
        width: data.features.as_ref().unwrap().cols(),
        classes: data.labels.as_ref().unwrap().names.clone(),
        weights: run.weights.clone(),
    };
    saved.weights.sort_by(|a, b| a.0.cmp(&b.0)); // a file has them by name
    (saved, outcome)
}

fn small(kind: &str, charge: Charge) -> (Dataset, RunConfig) {
    let mut config = config(kind, charge);
    config.train.epochs = 4;
    config.model.set("hidden", 3.into()).unwrap();
    (dataset(40, 4, 8), config)
}

/// A run of a model as it is defined.
fn small_run(name: &str) -> (Dataset, RunConfig) {
    let mut config = RunConfig::of(ModelConfig::named(name).unwrap());
    config.train.epochs = 1;
    if let Some(operator) = &mut config.operator
        && operator.charge == ChargeChoice::Auto
    {
        operator.charge = ChargeChoice::Fixed(charge(3));
    }
    (dataset(40, 4, 8), config)
}

fn known(data: &Dataset, run: &TrialResult) -> PredictionCache {
    let features = data.features.as_ref().unwrap();
    PredictionCache::new(&data.graph, features, run.log_probabilities.clone())
}

#[test]
fn models_are_read_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    for (kind, charge) in kinds() {
        let (mut data, config) = small(kind, charge);
        let names = &mut data.labels.as_mut().unwrap().names;
        *names = ["a, \"b\"", "ü\n", ""].map(str::to_owned).to_vec();
        let (saved, outcome) = trained(&data, &config);
        saved.write(&path).unwrap();
        let read = SavedModel::read(&path).unwrap();
        assert_eq!(read, saved);
        // The model that was read predicts what training predicted.
        let prediction = predict(&read, &data, None).unwrap();
        let expected = outcome.runs[0].log_probabilities.as_slice();
        for (a, b) in prediction.log_probabilities.as_slice().iter().zip(expected) {
            assert!((a - b).abs() < 1e-5, "{a} but {b}");
        }
        let known = known(&data, &outcome.runs[0]);
        known.write(&path).unwrap();
        assert_eq!(PredictionCache::read(&path).unwrap(), known);
    }
}

/// Spoils the settings of an MGC.
fn spoil(saved: &mut SavedModel, how: impl FnOnce(&mut MgcConfig)) {
    let mut config = saved.model.get::<MgcConfig>().unwrap().clone();
    how(&mut config);
    saved.model = config.into();
}

/// Found by fuzzing: real weights met a complex operator, which no training of such a model has.
#[test]
fn operators_that_a_model_is_not_defined_with_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let mut closed = 0;
    for info in MODELS {
        let (data, config) = small_run(info.name);
        let (mut saved, _) = trained(&data, &config);
        let open = info.operator.is_none_or(|need| need.open.contains(&"charge"));
        if let (Some(operator), false) = (&mut saved.operator, open) {
            operator.charge = charge(3);
            saved.write(&path).unwrap();
            let error = SavedModel::read(&path).unwrap_err().to_string();
            assert!(error.contains(info.name) && error.contains("no such charge"), "{error}");
            closed += 1;
        }
    }
    assert!(closed > 3, "{closed}");
}

fn saved_row(name: &str) -> NamedNumbers {
    (name.to_owned(), Shape::real(1, 2), vec![0.0; 2])
}

/// Puts other text of the same length into a file.
fn edit(path: &Path, from: &str, to: &str) {
    assert_eq!(from.len(), to.len());
    let mut bytes = std::fs::read(path).unwrap();
    let at = bytes.windows(from.len()).position(|window| window == from.as_bytes());
    bytes[at.expect(from)..][..to.len()].copy_from_slice(to.as_bytes());
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn damaged_models_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let (mut data, config) = small("mgc", charge(3));
    let (saved, outcome) = trained(&data, &config);
    data.labels = None; // the weights are to speak for themselves
    let refused = |word: &str| {
        let error = SavedModel::read(&path).expect_err(word);
        let text = error.to_string();
        assert!(text.contains("model.safetensors"), "{text}");
        assert!(text.contains(word), "{word}: {text}");
        error
    };
    // What is wrong in itself is refused on reading.
    let refuse = |change: &dyn Fn(&mut SavedModel), word: &str| {
        let mut saved = saved.clone();
        change(&mut saved);
        saved.write(&path).unwrap();
        refused(word);
    };
    let [bias, weight, last] = [0, 1, 3]; // of the first layer, and the weights of the second
    refuse(&|saved| saved.weights[last].2[0] = f32::NAN, "layers.1.weight holds NaN");
    refuse(&|saved| saved.weights[weight].2[1] = f32::INFINITY, "layers.0.weight holds inf");
    refuse(&|saved| spoil(saved, |mgc| mgc.hidden = 0), "hidden units is 0");
    refuse(&|saved| spoil(saved, |mgc| mgc.dropout = 1.5), "dropout");

    // What does not fit together is refused before anything is computed.
    let unfit = |change: &dyn Fn(&mut SavedModel), word: &str| {
        let mut saved = saved.clone();
        change(&mut saved);
        saved.write(&path).unwrap();
        let read = SavedModel::read(&path).unwrap();
        let text = predict(&read, &data, None).expect_err(word).to_string();
        assert!(text.contains(word), "{word}: {text}");
    };
    unfit(&|saved| drop(saved.weights.remove(bias)), "lacks layers.0.bias");
    unfit(&|saved| saved.weights[bias].0.push('2'), "lacks layers.0.bias");
    unfit(&|saved| saved.weights.push(saved_row("more")), "holds more");
    unfit(&|saved| saved.width += 1, "5 feature columns");
    unfit(&|saved| saved.width = usize::MAX, "feature columns");
    unfit(&|saved| drop(saved.classes.pop()), "layers.1.weight has");
    unfit(&|saved| saved.classes.clear(), "layers.1.weight has");
    unfit(
        &|saved| spoil(saved, |mgc| mgc.hidden += 1),
        "layers.0.weight has 4 × 3 complex numbers",
    );
    // As many numbers, in another shape.
    let turned: fn(Shape) -> Shape = |shape| Shape::new(shape.cols(), shape.rows(), shape.field());
    for turn in [turned, Shape::as_real] {
        let change =
            |saved: &mut SavedModel| saved.weights[weight].1 = turn(saved.weights[weight].1);
        unfit(&change, "layers.0.weight has");
    }
    unfit(&|saved| saved.operator = None, "needs an operator");
    unfit(&|saved| saved.filter = None, "needs a filter");
    let other = |name: &str| ModelConfig::named(name).unwrap();
    unfit(&|saved| saved.model = other("mlp"), "layers.0.weight has");
    unfit(&|saved| saved.model = other("linkx"), "lacks edges.weight");

    saved.write(&path).unwrap();
    edit(&path, "\"version\":\"2\"", "\"version\":\"1\"");
    assert!(matches!(refused("version 1"), FileError::Version { .. }));
    saved.write(&path).unwrap();
    edit(&path, "linear-rank", "linear-tank");
    refused("checksum");
    saved.write(&path).unwrap();
    edit(&path, "magnon-model", "magnon-moral");
    refused("not a magnon-model file");
    known(&data, &outcome.runs[0]).write(&path).unwrap();
    refused("not a magnon-model file");
    std::fs::write(&path, "nonsense").unwrap();
    refused("not a safetensors file");
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(refused("cannot read"), FileError::Read { .. }));
}

/// Puts a file in place of another. Some file systems wait for the disk where a file is cut short and
/// written again, and not where it is made anew.
fn replace(path: &Path, bytes: &[u8]) {
    std::fs::remove_file(path).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Every shorter file, or so, and files with one byte changed.
fn damage(good: &[u8], mut look: impl FnMut(&[u8])) {
    let header = 8 + u64::from_le_bytes(good[..8].try_into().unwrap()) as usize;
    for length in (0..good.len()).step_by(7).chain([8, header, header + 1, good.len() - 1]) {
        look(&good[..length]);
    }
    let payload = (header..good.len()).step_by(1 + (good.len() - header) / 60);
    for at in (0..header).chain(payload) {
        for flip in [0x01, 0x10, 0x80] {
            let mut bytes = good.to_vec();
            bytes[at] ^= flip;
            look(&bytes);
        }
    }
    look(&[good, &[0; 9]].concat());
    // A header that claims to be as long as memory.
    for length in [u64::MAX, 1 << 40, good.len() as u64] {
        let mut bytes = good.to_vec();
        bytes[..8].copy_from_slice(&length.to_le_bytes());
        look(&bytes);
    }
}

#[test]
fn no_damage_makes_models_or_predictions_panic() {
    let folder = tempfile::tempdir().unwrap();
    let (data, config) = small("mgc", charge(3));
    let (saved, outcome) = trained(&data, &config);
    let path = folder.path().join("model.safetensors");
    saved.write(&path).unwrap();
    let good = std::fs::read(&path).unwrap();
    let whole = SavedModel::read(&path).unwrap();
    let mut refused = 0;
    damage(&good, |bytes| {
        replace(&path, bytes);
        match SavedModel::read(&path) {
            Ok(read) => assert_eq!(read, whole, "what was damaged is not passed on"),
            Err(error) => {
                refused += 1;
                assert!(error.to_string().contains("model.safetensors"), "{error}");
            }
        }
    });
    assert!(refused > 500, "{refused}");

    let path = folder.path().join("predictions.safetensors");
    let known = known(&data, &outcome.runs[0]);
    known.write(&path).unwrap();
    let good = std::fs::read(&path).unwrap();
    damage(&good, |bytes| {
        replace(&path, bytes);
        match PredictionCache::read(&path) {
            Ok(read) => assert_eq!(read, known, "what was damaged is not passed on"),
            Err(error) => assert!(error.to_string().contains("predictions.safetensors"), "{error}"),
        }
    });
}

/// Stops after some epochs.
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
fn no_damage_to_a_checkpoint_makes_training_panic() {
    let folder = tempfile::tempdir().unwrap();
    let (data, config) = small("mgc", charge(3));
    let run = |progress: &dyn Progress, resume| {
        let folder = folder.path().to_owned();
        let checkpoints = Checkpoints { folder, every: 100, resume };
        Experiment::new(&data, &config).unwrap().with_checkpoints(checkpoints).run(None, progress)
    };
    let stopped = run(&StopAt(2, AtomicUsize::new(0)), false);
    assert!(matches!(stopped, Err(TrainError::Stopped(2))));
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(files.len(), 1, "one trial, one checkpoint, nothing half-written");
    let path = files[0].as_ref().unwrap().path();
    let good = std::fs::read(&path).unwrap();
    let whole = run(&(), true).unwrap();
    let mut refused = 0;
    damage(&good, |bytes| {
        replace(&path, bytes);
        match run(&(), true) {
            Ok(outcome) => assert_eq!(outcome.runs[0].weights, whole.runs[0].weights),
            Err(_) => refused += 1,
        }
    });
    assert!(refused > 500, "{refused}");
    // A checkpoint of another trial, under this one's name.
    let mut another = config.clone();
    another.train.seed = 7;
    let checkpoints = Checkpoints { folder: folder.path().to_owned(), every: 100, resume: false };
    let another = Experiment::new(&data, &another).unwrap().with_checkpoints(checkpoints);
    assert!(another.run(None, &StopAt(2, AtomicUsize::new(0))).is_err());
    let mut files = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path());
    let other = files.find(|file| *file != path).unwrap();
    std::fs::copy(&other, &path).unwrap();
    let error = run(&(), true).unwrap_err().to_string();
    assert!(error.contains("another run"), "{error}");
    std::fs::write(&path, &good).unwrap();
    assert_eq!(run(&(), true).unwrap().runs[0].weights, whole.runs[0].weights);
}

#[test]
fn folders_guard_what_they_hold() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("run");
    let (data, config) = small("mgc", charge(3));
    let (saved, outcome) = trained(&data, &config);
    let begin = |overwrite, resume| {
        RunFolder::begin(&path, &config, &Fingerprint::default(), overwrite, resume)
    };
    let says = |result: Result<RunFolder, FileError>, word: &str| {
        let error = result.expect_err(word).to_string();
        assert!(error.contains("run") && error.contains(word), "{error}");
    };
    says(RunFolder::open(&path), "no run folder");
    drop(begin(false, false).unwrap());
    says(RunFolder::open(&path), "go on with it first");
    says(begin(false, false), "holds a run already");
    drop(begin(false, true).unwrap());
    let folder = begin(true, false).unwrap();
    let known = known(&data, &outcome.runs[0]);
    folder.finish(&config, &saved, &known, &outcome.runs[0].history, &"done").unwrap();
    assert!(!folder.file("checkpoints").exists());
    drop(folder);
    says(begin(false, false), "holds a run already");
    says(begin(false, true), "come to its end");
    let opened = RunFolder::open(&path).unwrap();
    assert_eq!(opened.config().unwrap(), config);
    assert_eq!(opened.model().unwrap(), saved);
    assert_eq!(opened.predictions().unwrap(), Some(known));
    std::fs::remove_file(opened.file("predictions.safetensors")).unwrap();
    assert_eq!(opened.predictions().unwrap(), None);
    let folder = begin(true, false).unwrap();
    assert_eq!(folder.model().unwrap(), saved, "the old run stays until the new one is there");
    folder.abandon();
    drop(folder);
    assert!(opened.model().is_ok() && !opened.file("checkpoints").exists());
    // What is not ours stays, whatever was asked for.
    let theirs = path.join("checkpoints/mine.pt");
    std::fs::create_dir(path.join("checkpoints")).unwrap();
    std::fs::write(&theirs, "x").unwrap();
    says(begin(true, false), "other files than checkpoints (mine.pt)");
    assert!(theirs.exists());

    let other = root.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("thesis.tex"), "x").unwrap();
    for overwrite in [false, true] {
        let error = RunFolder::begin(&other, &config, &Fingerprint::default(), overwrite, false)
            .unwrap_err()
            .to_string();
        assert!(error.contains("other files"), "{error}");
    }
    assert!(other.join("thesis.tex").exists());
}

/// A run that has come to its end, and what it was.
fn finished(path: &Path) -> (RunConfig, SavedModel, PredictionCache) {
    let (data, config) = small("mgc", charge(3));
    let (saved, outcome) = trained(&data, &config);
    let known = known(&data, &outcome.runs[0]);
    let folder = RunFolder::begin(path, &config, &Fingerprint::default(), false, false).unwrap();
    let stray = path.join(".magnon-AbCdEfGh1234.tmp");
    std::fs::write(&stray, "").unwrap();
    folder.finish(&config, &saved, &known, &outcome.runs[0].history, &"done").unwrap();
    assert!(!stray.exists());
    (config, saved, known)
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn leftovers_of_our_own_are_no_hindrance() {
    let root = tempfile::tempdir().unwrap();
    let (_, config) = small("mgc", charge(3));
    let (stray, theirs) = (".magnon-AbCdEfGh1234.tmp", ".tmpAbCdEf");
    for (overwrite, folder) in [(false, "a"), (true, "b")] {
        let path = root.path().join(folder);
        let checkpoints = path.join("checkpoints");
        std::fs::create_dir_all(&checkpoints).unwrap();
        for file in [path.join(stray), path.join(".magnon.lock"), checkpoints.join(stray)] {
            std::fs::write(file, "").unwrap();
        }
        drop(RunFolder::begin(&path, &config, &Fingerprint::default(), overwrite, false).unwrap());
        assert_eq!(names(&path), BTreeSet::from(["checkpoints".to_owned()]));
        assert_eq!(names(&checkpoints), BTreeSet::from(["config.json".to_owned()]));
        // Going on sweeps, too; what only looks like ours stays.
        std::fs::write(path.join(stray), "").unwrap();
        std::fs::write(path.join(theirs), "").unwrap();
        drop(RunFolder::begin(&path, &config, &Fingerprint::default(), false, true).unwrap());
        assert!(!path.join(stray).exists() && path.join(theirs).exists());
    }
    let path = root.path().join("c");
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join(theirs), "").unwrap();
    RunFolder::begin(&path, &config, &Fingerprint::default(), true, false).unwrap_err();
    assert_eq!(names(&path), BTreeSet::from([theirs.to_owned()]));
}

#[test]
fn one_writes_and_others_are_told() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("run");
    let (config, ..) = finished(&path);
    assert!(names(&path).iter().all(|name| !name.starts_with('.')), "{:?}", names(&path));
    let folder = RunFolder::begin(&path, &config, &Fingerprint::default(), true, false).unwrap();
    let before = names(&path);
    for (overwrite, resume) in [(false, false), (true, false), (false, true)] {
        let error = RunFolder::begin(&path, &config, &Fingerprint::default(), overwrite, resume)
            .unwrap_err();
        assert!(matches!(error, FileError::Busy { .. }), "{error}");
        assert!(error.to_string().contains("another process"), "{error}");
    }
    assert_eq!(names(&path), before, "the first one's files are untouched");
    RunFolder::open(&path).unwrap().model().unwrap();
    drop(folder);
    let mut another = config.clone();
    another.train.seed += 1;
    let error = RunFolder::begin(&path, &another, &Fingerprint::default(), false, true)
        .unwrap_err()
        .to_string();
    assert!(error.contains("another configuration"), "{error}");
    drop(RunFolder::begin(&path, &config, &Fingerprint::default(), false, true).unwrap());
}

#[test]
fn of_many_at_once_one_begins() {
    let root = tempfile::tempdir().unwrap();
    let (_, config) = small("mgc", charge(3));
    for round in 0..50 {
        let path = root.path().join(round.to_string());
        let barrier = Barrier::new(4);
        let begin = || {
            barrier.wait();
            let begun = RunFolder::begin(&path, &config, &Fingerprint::default(), true, false);
            barrier.wait();
            begun.is_ok()
        };
        let begun = std::thread::scope(|scope| {
            let threads = [0; 4].map(|_| scope.spawn(begin));
            threads.map(|thread| thread.join().unwrap())
        });
        assert_eq!(begun.iter().filter(|begun| **begun).count(), 1, "{begun:?}");
        assert!(!path.join(".magnon.lock").exists());
    }
}

#[test]
fn a_flipped_bit_in_any_file_is_told_with_its_name() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("run");
    let (config, saved, known) = finished(&path);
    let load = || -> Result<(), FileError> {
        let folder = RunFolder::open(&path)?;
        assert_eq!(folder.config()?, config);
        assert_eq!(folder.model()?, saved);
        assert_eq!(folder.predictions()?.as_ref(), Some(&known));
        Ok(())
    };
    let files = names(&path);
    assert_eq!(files.len(), 6, "{files:?}");
    for name in files {
        let file = path.join(&name);
        let good = std::fs::read(&file).unwrap();
        for at in (0..good.len()).step_by(1 + good.len() / 400) {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << (at % 8);
            replace(&file, &bytes);
            let error = load().expect_err(&name).to_string();
            assert!(error.contains(&name), "{name}: {error}");
        }
        replace(&file, &good);
        load().unwrap();
    }
    // The configuration of a run under way.
    drop(RunFolder::begin(&path, &config, &Fingerprint::default(), true, false).unwrap());
    edit(&path.join("checkpoints/config.json"), "\"epochs\": 4", "\"epochs\": 5");
    let error = RunFolder::begin(&path, &config, &Fingerprint::default(), false, true)
        .unwrap_err()
        .to_string();
    assert!(error.contains("config.json: it has changed"), "{error}");
    drop(RunFolder::begin(&path, &config, &Fingerprint::default(), true, false).unwrap());
}

#[test]
fn what_was_edited_or_replaced_is_told_as_that() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("run");
    let (mut config, saved, known) = finished(&path);
    let opened = RunFolder::open(&path).unwrap();
    edit(&path.join("config.json"), "\"epochs\": 4", "\"epochs\": 5");
    let error = opened.config().unwrap_err().to_string();
    assert!(error.contains("config.json: it has changed since the run wrote it, by an edit"));
    assert!(error.contains("put it back as it was, or train again"), "{error}");
    edit(&path.join("config.json"), "\"epochs\": 5", "\"epochs\": 4");
    opened.config().unwrap();

    config.train.seed += 1;
    let folder = RunFolder::begin(&path, &config, &Fingerprint::default(), true, false).unwrap();
    folder.finish(&config, &saved, &known, &[], &"done").unwrap();
    let error = opened.model().unwrap_err().to_string();
    assert!(error.contains("replaced while it was read"), "{error}");
    std::fs::remove_file(path.join("checksums.json")).unwrap();
    let error = RunFolder::open(&path).unwrap_err().to_string();
    assert!(error.contains("checksums.json: it is missing"), "{error}");
}
