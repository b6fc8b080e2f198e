//! Training, trained models and what they predict.

use crate::arrays::{dense, table};
use crate::dataset::{Dataset, json};
use crate::errors::Failure;
use crate::fetch::local;
use crate::settings::{Asked, written};
use magnon::data::{self, FeatureNorm, Scaling};
use magnon::matrix::Matrix;
use magnon::run::{self, PredictionCache, RunFolder, SavedModel};
use magnon::settings::{PredictSettings, TrainSettings};
use magnon::train::{DataConfig, EpochRecord, RunConfig};
use magnon::workflow::{KeptRun, Phases, TrainReport, Trained, ensure_features, pages, train_on};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::Arc;

/// A trained model, with the run that it came from.
#[pyclass(frozen, module = "magnon._magnon")]
pub struct Model {
    saved: Arc<SavedModel>,
    run: Arc<KeptRun>,
    /// Log-probabilities of the nodes that it was trained on.
    known: Matrix<f32>,
}

/// Bytes of the weights, configuration, report, history, log-probabilities and data.
type State<'py> = (Bound<'py, PyBytes>, String, String, Vec<[f64; 6]>, Bound<'py, PyAny>, Dataset);

impl Model {
    fn new(config: &RunConfig, trained: Trained) -> Self {
        let known = trained.outcome.best().map(|best| best.log_probabilities.clone());
        let saved = Arc::new(trained.model.clone());
        let run = Arc::new(trained.into_run(config));
        Self { saved, run, known: known.unwrap_or_else(|| Matrix::zeros(0, 0)) }
    }
}

/// Trains a model on a data set, or on the data of a name; gives the model.
#[pyfunction]
#[pyo3(signature = (dataset, source, keywords, watch=None))]
pub fn train(
    py: Python<'_>,
    dataset: Option<&Dataset>,
    source: String,
    keywords: String,
    watch: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let Asked { mut settings, seed, call } = Asked::<TrainSettings>::read(py, &keywords, watch)?;
    let given = dataset.map(|dataset| (dataset.inner.clone(), dataset.config.clone()));
    call.run(py, move |watch| {
        let name = if given.is_some() { source } else { local(&source, watch)? };
        settings.data.data = Some(name.clone());
        let mut config = settings.config(seed)?;
        let options = settings.options(|| written("train", &name, &keywords));
        let trained = match given {
            Some((data, read)) => {
                let DataConfig { split, split_seed, .. } = config.data;
                let data_config = read.unwrap_or(DataConfig { source: name, ..Default::default() });
                config.data = DataConfig { split, split_seed, ..data_config };
                settings.check_resumed(&config)?;
                train_on(trainable(&data)?, &config, &options, Phases::default(), watch)?
            }
            None => {
                config = settings.settled(config)?;
                magnon::workflow::train(&config, &options, watch)?
            }
        };
        Ok(Model::new(&config, trained))
    })
}

/// The data with features: those of the degrees where there are none.
pub fn trainable(data: &data::Dataset) -> Result<data::Dataset, Failure> {
    with_features(data, FeatureNorm::Auto)
}

fn with_features(data: &data::Dataset, norm: FeatureNorm) -> Result<data::Dataset, Failure> {
    let mut data = data.clone();
    ensure_features(&mut data, norm)?;
    Ok(data)
}

/// The data with features that are scaled as the model's were: by this, or before.
fn scaled(saved: &SavedModel, data: &data::Dataset) -> Result<data::Dataset, Failure> {
    let as_they_came = data.features.is_none() || data.scaling == Scaling::None;
    // Features that are made here are scaled by the model, not by themselves.
    let mut data = with_features(data, FeatureNorm::None)?;
    let fits = |features: &&mut data::Features| features.cols() == saved.width;
    match data.features.as_mut().filter(fits) {
        Some(features) if as_they_came => {
            saved.scaling.apply(features);
            data.scaling = saved.scaling.clone();
        }
        Some(_) if data.scaling != saved.scaling => {
            let words = "the features are scaled otherwise than the model's; read them as they are, with \
                         feature_norm=\"none\"";
            return Err(Failure::data(words));
        }
        // What is wider or narrower is refused by the model, with its own words.
        _ => (),
    }
    Ok(data)
}

#[pymethods]
impl Model {
    /// Reads a run folder; the data are read again, too.
    #[staticmethod]
    #[pyo3(signature = (folder, dataset=None))]
    fn load(py: Python<'_>, folder: PathBuf, dataset: Option<&Dataset>) -> PyResult<Self> {
        let given = dataset.map(|dataset| dataset.inner.clone());
        crate::task::Call::default().run(py, move |watch| {
            let opened = RunFolder::open(&folder)?;
            let saved = opened.model()?;
            let run = match given {
                Some(data) => KeptRun {
                    config: opened.config()?,
                    dataset: scaled(&saved, &data)?,
                    cycles: None,
                    report: opened.metrics()?,
                    history: opened.history()?,
                },
                None => magnon::workflow::kept_run(&folder, watch)?,
            };
            let known = run::predict(&saved, &run.dataset, None)?.log_probabilities;
            Ok(Self { saved: Arc::new(saved), run: Arc::new(run), known })
        })
    }

    /// The classes.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.saved.classes.clone()
    }

    /// The data that it was trained on.
    #[getter]
    fn dataset(&self) -> Dataset {
        Dataset { inner: Arc::new(self.run.dataset.clone()), config: None }
    }

    /// The figures of the run, as JSON.
    fn report(&self) -> PyResult<String> {
        json(&self.run.report)
    }

    /// Its configuration, as JSON.
    fn config(&self) -> PyResult<String> {
        json(&self.run.config)
    }

    /// Names of the columns of the history, and one row per epoch.
    fn history(&self) -> (Vec<&'static str>, Vec<[f64; 6]>) {
        (EpochRecord::COLUMNS.to_vec(), self.run.history.iter().map(row).collect())
    }

    /// Log-probabilities of the nodes that it was trained on.
    fn log_probabilities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(table(py, self.known.clone())?.into_any())
    }

    /// Log-probabilities of the nodes of a data set, whose features are as they came.
    #[pyo3(signature = (dataset, threads=None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        dataset: &Dataset,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (saved, data) = (self.saved.clone(), dataset.inner.clone());
        let call = crate::task::Call { threads, watch: None };
        let found =
            call.run(py, move |_| Ok(run::predict(&saved, &scaled(&saved, &data)?, None)?))?;
        Ok(table(py, found.log_probabilities)?.into_any())
    }

    /// Writes a run folder, as the command line reads it.
    fn save(&self, py: Python<'_>, folder: PathBuf, overwrite: bool, page: bool) -> PyResult<()> {
        let (saved, run, known) = (self.saved.clone(), self.run.clone(), self.known.clone());
        crate::task::Call::default().run(py, move |watch| {
            let Some(features) = &run.dataset.features else {
                return Err(Failure::data("the data of the run have no features"));
            };
            let data = data::Fingerprint::of(&run.dataset);
            let opened = RunFolder::begin(&folder, &run.config, &data, overwrite, false)?;
            let cache = PredictionCache::new(&run.dataset.graph, features, known);
            opened.finish(&run.config, &saved, &cache, &run.history, &run.report)?;
            if page {
                pages::save_run(&run, opened.path(), String::new(), watch)
                    .map_err(|error| Failure::Named("RunError", error.to_string()))?;
            }
            Ok(())
        })
    }

    /// The page of the run.
    fn page(&self, py: Python<'_>) -> PyResult<String> {
        let run = self.run.clone();
        crate::task::Call::default()
            .run(py, move |watch| Ok(pages::run(&run, String::new(), watch)?.html()?))
    }

    /// All that a pickle needs.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<State<'py>> {
        let saved = self.saved.clone();
        let bytes = py.detach(move || -> Result<Vec<u8>, Failure> {
            let folder = tempfile::tempdir().map_err(Failure::data)?;
            let path = folder.path().join("model.safetensors");
            saved.write(&path)?;
            std::fs::read(&path).map_err(Failure::data)
        });
        let bytes = bytes.map_err(|failure| failure.exception(py))?;
        let known = table(py, self.known.clone())?.into_any();
        let history = self.run.history.iter().map(row).collect();
        let (config, report) = (json(&self.run.config)?, json(&self.run.report)?);
        Ok((PyBytes::new(py, &bytes), config, report, history, known, self.dataset()))
    }

    /// The model of a state.
    #[staticmethod]
    fn from_state(
        py: Python<'_>,
        weights: &[u8],
        config: &str,
        report: &str,
        history: Vec<[f64; 6]>,
        known: &Bound<'_, PyAny>,
        dataset: &Dataset,
    ) -> PyResult<Self> {
        let failed = |failure: Failure| failure.exception(py);
        let read = || -> Result<SavedModel, Failure> {
            let folder = tempfile::tempdir().map_err(Failure::data)?;
            let path = folder.path().join("model.safetensors");
            std::fs::write(&path, weights).map_err(Failure::data)?;
            Ok(SavedModel::read(&path)?)
        };
        let config = RunConfig::from_json(config).map_err(|e| failed(Failure::data(e)))?;
        let report: TrainReport =
            serde_json::from_str(report).map_err(|e| failed(Failure::data(e)))?;
        let dataset = data::Dataset::clone(&dataset.inner);
        let history = history.iter().map(record).collect();
        let run = Arc::new(KeptRun { config, dataset, cycles: None, report, history });
        let saved = Arc::new(read().map_err(failed)?);
        Ok(Self { saved, run, known: dense(known, "log-probabilities")? })
    }
}

fn row(record: &EpochRecord) -> [f64; 6] {
    let EpochRecord { epoch, rate, train_loss, train_accuracy, val_loss, val_accuracy } = *record;
    [epoch as f64, rate, train_loss, train_accuracy, val_loss, val_accuracy]
}

fn record(row: &[f64; 6]) -> EpochRecord {
    let [epoch, rate, train_loss, train_accuracy, val_loss, val_accuracy] = *row;
    let epoch = epoch as usize;
    EpochRecord { epoch, rate, train_loss, train_accuracy, val_loss, val_accuracy }
}

/// Log-probabilities, classes, figures as JSON, names of nodes and their parts of the split.
type Predictions<'py> = (Bound<'py, PyAny>, Vec<String>, String, Vec<String>);

/// Classifies nodes with the model of a run folder, as the command line does.
#[pyfunction]
#[pyo3(signature = (run, source, keywords, watch=None))]
pub fn predict<'py>(
    py: Python<'py>,
    run: PathBuf,
    source: Option<String>,
    keywords: String,
    watch: Option<Py<PyAny>>,
) -> PyResult<Predictions<'py>> {
    let Asked { mut settings, call, .. } = Asked::<PredictSettings>::read(py, &keywords, watch)?;
    let found = call.run(py, move |watch| {
        settings.data.data = source.map(|source| local(&source, watch)).transpose()?;
        let data = settings.data(&run)?;
        Ok(magnon::workflow::predict(&run, &data, settings.full, settings.device, watch)?)
    })?;
    let names = (0..found.dataset.graph.nodes()).map(|u| found.dataset.node_name(u)).collect();
    let told = json(&found.report)?;
    let known = table(py, found.prediction.log_probabilities)?.into_any();
    Ok((known, found.saved.classes, told, names))
}
