//! Every file operation of a run fails in turn, and the folder holds one run or another, whole or to go
//! on with, and never a mixture.

use super::{FileError, PredictionCache, RunFolder, SavedModel};
use crate::model::ModelConfig;
use crate::train::{EpochRecord, RunConfig, State, checkpoint};
use magnon_core::compute::Shape;
use magnon_core::graph::generate::GeneratorConfig;
use magnon_core::matrix::Matrix;
use magnon_data::disk::faults::{self, Fault};
use magnon_data::{Dataset, Fingerprint, Scaling, SyntheticConfig};
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use tempfile::TempDir;

/// A folder in memory where there is one: some disks wait whenever a file takes another's place.
fn scratch() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

const FILES: [&str; 6] = [
    "checksums.json",
    "config.json",
    "history.csv",
    "metrics.json",
    "model.safetensors",
    "predictions.safetensors",
];

/// A run to be written, all of whose parts tell its number.
struct Run {
    config: RunConfig,
    model: SavedModel,
    predictions: PredictionCache,
    state: State,
}

impl Run {
    fn new(number: u32) -> Self {
        let graph = GeneratorConfig { nodes: 12, density: 0.3, ..Default::default() };
        let synthetic = SyntheticConfig { graph, columns: 2, noise: 1.0, seed: 1 };
        let Dataset { graph, features, .. } = synthetic.dataset("small").unwrap();
        let mut config = RunConfig::of(ModelConfig::named("mlp").unwrap());
        config.train.seed = number.into();
        let model = SavedModel {
            model: config.model.clone(),
            operator: None,
            filter: None,
            scaling: Scaling::None,
            width: 2,
            classes: vec!["a".to_owned(), "b".to_owned()],
            weights: vec![("w".to_owned(), Shape::real(1, 2), vec![number as f32; 2])],
        };
        let logs = Matrix::from_vec(12, 2, vec![-(number as f32); 24]).unwrap();
        let predictions = PredictionCache::new(&graph, features.as_ref().unwrap(), logs);
        let record = EpochRecord::from_columns(&[f64::from(number); 6]);
        let state = State {
            epoch: number as usize,
            steps: 0,
            weights: vec![vec![number as f32]],
            first: vec![vec![0.0]],
            second: vec![vec![0.0]],
            best: None,
            history: vec![record],
        };
        Self { config, model, predictions, state }
    }

    /// Begins the run, and leaves it to be gone on with.
    fn begin(&self, path: &Path, overwrite: bool, resume: bool) -> Result<RunFolder, FileError> {
        let folder =
            RunFolder::begin(path, &self.config, &Fingerprint::default(), overwrite, resume)?;
        let file = path.join("checkpoints/trial.safetensors");
        let written = (|| {
            if resume && let Some(state) = checkpoint::read_if_there(&file, "trial")? {
                assert_eq!(state.epoch, self.state.epoch, "a run goes on from its own checkpoints");
            }
            checkpoint::write(&file, "trial", &self.state)
        })();
        if written.is_err() {
            folder.abandon();
        }
        written.map(|()| folder)
    }

    /// The whole run.
    fn write(&self, path: &Path, overwrite: bool, resume: bool) -> Result<(), FileError> {
        let folder = self.begin(path, overwrite, resume)?;
        self.finish(&folder)
    }

    fn finish(&self, folder: &RunFolder) -> Result<(), FileError> {
        let metrics = self.config.train.seed;
        folder.finish(&self.config, &self.model, &self.predictions, &self.state.history, &metrics)
    }

    /// Reads all files of the run.
    fn read(&self, path: &Path) -> Result<(), FileError> {
        let folder = RunFolder::open(path)?;
        assert_eq!(folder.config()?, self.config);
        assert_eq!(folder.model()?, self.model);
        assert_eq!(folder.predictions()?.as_ref(), Some(&self.predictions));
        Ok(())
    }
}

/// What a folder holds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Found {
    Nothing,
    UnderWay(u32),
    Whole(u32),
}
use Found::{Nothing, UnderWay, Whole};

/// Looks at a folder; a mixture of runs, and any error but that there is none, fails the test.
fn look(path: &Path) -> Found {
    match RunFolder::open(path) {
        Ok(folder) => {
            let number = folder.config().unwrap().train.seed as u32;
            Run::new(number).read(path).unwrap();
            let metrics = fs::read_to_string(path.join("metrics.json")).unwrap();
            assert_eq!(metrics, format!("{number}\n"));
            let history = fs::read_to_string(path.join("history.csv")).unwrap();
            assert!(history.lines().nth(1).unwrap().starts_with(&number.to_string()));
            Whole(number)
        }
        Err(FileError::Unfinished { .. }) => {
            let number = RunFolder::begun_config(path).unwrap().train.seed as u32;
            let file = path.join("checkpoints/trial.safetensors");
            let state = checkpoint::read_if_there(&file, "trial").unwrap();
            assert!(state.is_none_or(|state| state.epoch as u32 == number), "a stale checkpoint");
            UnderWay(number)
        }
        Err(error) => {
            assert!(error.to_string().contains("no run folder"), "{error}");
            Nothing
        }
    }
}

fn names(path: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(path).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

const BROKEN: ErrorKind = ErrorKind::Other;
const FAULTS: [Fault; 5] = [
    Fault::Error(BROKEN),
    Fault::Error(ErrorKind::StorageFull),
    Fault::Torn,
    Fault::Short,
    Fault::Crash,
];

/// Makes each operation of a run fail in each way; `allowed` may be found after it.
fn fail_everywhere(before: impl Fn(&Path), new: &Run, resume: bool, allowed: &[Found]) {
    let number = new.config.train.seed as u32;
    let mut seen = Vec::new();
    for fault in FAULTS {
        for at in 0.. {
            let root = scratch();
            let path = root.path().join("run");
            faults::with(faults::NEVER, fault, || before(&path));
            let (result, operations) =
                faults::with(at, fault, || new.write(&path, !resume, resume));
            if operations.len() <= at {
                break;
            }
            let place = format!("{fault:?} at {at}: {:?}", operations[at]);
            let found = look(&path);
            match &result {
                Ok(()) => assert_eq!(found, Whole(number), "{place}"),
                Err(error) => {
                    let error = error.to_string();
                    assert!(error.contains(&*root.path().to_string_lossy()), "{place}: {error}");
                    assert!(allowed.contains(&found), "{place}: {found:?} after {error}");
                }
            }
            assert!(fault != Fault::Short || result.is_ok(), "{place}: {result:?}");
            if fault != Fault::Crash {
                let names = &names(&path) | &names(&path.join("checkpoints"));
                assert!(!names.iter().any(|name| name.ends_with(".tmp")), "{place}: {names:?}");
            }
            seen.push(found);
            // Whatever it was, the next run comes to its end.
            let (overwrite, resume) = match found {
                Nothing => (false, false),
                UnderWay(found) if found == number => (false, true),
                _ => (true, false),
            };
            let again = || new.write(&path, overwrite, resume);
            let (result, _) = faults::with(faults::NEVER, fault, again);
            result.unwrap_or_else(|error| panic!("{place}: {error}"));
            assert_eq!(look(&path), Whole(number), "{place}");
            assert_eq!(names(&path), FILES.map(str::to_owned).into(), "{place}");
        }
    }
    for found in allowed {
        assert!(seen.contains(found), "{found:?} was never found");
    }
}

#[test]
fn no_fault_of_the_disk_mixes_runs() {
    let [old, new] = [1, 2].map(Run::new);
    fail_everywhere(|_| (), &new, false, &[Nothing, UnderWay(2), Whole(2)]);
    let whole = |path: &Path| old.write(path, false, false).unwrap();
    fail_everywhere(whole, &new, false, &[Whole(1), UnderWay(2), Whole(2)]);
    let begun = |path: &Path| drop(old.begin(path, false, false).unwrap());
    // A run that replaces one under way and fails at once leaves neither.
    fail_everywhere(begun, &new, false, &[Nothing, UnderWay(1), UnderWay(2), Whole(2)]);
    fail_everywhere(begun, &old, true, &[UnderWay(1), Whole(1)]);
}

#[test]
fn a_run_that_was_being_replaced_can_be_replaced_again() {
    let [old, new] = [1, 2].map(Run::new);
    let between = |path: &Path| {
        old.write(path, false, false).unwrap();
        drop(old.begin(path, true, false).unwrap());
        fs::remove_file(path.join("metrics.json")).unwrap();
    };
    fail_everywhere(between, &new, false, &[UnderWay(1), UnderWay(2), Whole(2)]);
}

#[test]
fn what_cannot_be_read_is_said_and_read_later() {
    let root = scratch();
    let (path, run) = (root.path().join("run"), Run::new(1));
    run.write(&path, false, false).unwrap();
    for at in 0.. {
        let (result, operations) = faults::with(at, Fault::Error(BROKEN), || run.read(&path));
        if operations.len() <= at {
            assert!(at > 10, "{at}");
            break;
        }
        let error = result.unwrap_err().to_string();
        assert!(error.contains(&*path.to_string_lossy()), "{error}");
        run.read(&path).unwrap();
    }
}

#[test]
fn a_finish_that_failed_can_be_tried_again() {
    let root = scratch();
    let (path, run) = (root.path().join("run"), Run::new(1));
    let folder = run.begin(&path, false, false).unwrap();
    for at in 0.. {
        let (result, seen) =
            faults::with(at, Fault::Error(ErrorKind::StorageFull), || run.finish(&folder));
        run.finish(&folder).unwrap();
        if seen.len() <= at {
            result.unwrap();
            break;
        }
    }
    assert_eq!(look(&path), Whole(1));
}
