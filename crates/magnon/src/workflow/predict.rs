//! `predict`: a trained model on the same or a changed graph.

use super::{Phases, Progress, read_dataset};
use crate::Error;
use crate::data::Dataset;
use crate::run::{self, Prediction, RunFolder, SavedModel};
use crate::train::DataConfig;
use serde::Serialize;
use std::path::Path;

/// What came of a prediction, in figures.
#[derive(Clone, Debug, Serialize)]
pub struct PredictReport {
    /// The model.
    pub model: &'static str,
    /// The data set.
    pub dataset: String,
    /// Its nodes.
    pub nodes: usize,
    /// Its edges.
    pub edges: usize,
    /// The charge of the model, where it has one.
    pub charge: Option<f64>,
    /// The classes.
    pub classes: Vec<String>,
    /// Rows that were computed; the others were known.
    pub computed: usize,
    /// Nodes predicted of each class.
    pub predicted: Vec<usize>,
    /// Nodes that have a label.
    pub labelled: usize,
    /// Share of them that were classified rightly, training nodes included.
    pub accuracy: Option<f64>,
    /// Where the time went.
    pub seconds: Phases,
}

/// Predictions, with what they are of.
#[derive(Clone, Debug)]
pub struct Predicted {
    /// The model.
    pub saved: SavedModel,
    /// The data.
    pub dataset: Dataset,
    /// Log-probabilities of all nodes.
    pub prediction: Prediction,
    /// The figures.
    pub report: PredictReport,
}

/// The data that a run was trained on, or others that are read as they were but have features and labels of
/// their own: what [`predict`] takes, with settings changed where need be.
pub fn run_data(folder: &Path, other: bool) -> Result<DataConfig, Error> {
    let own = RunFolder::open(folder)?.config()?.data;
    Ok(match other {
        false => own,
        true => DataConfig { load: own.load, ..Default::default() },
    })
}

/// Classifies nodes with the model of a run folder. Features are scaled as the model's were. Unless all rows
/// are to be computed (`full`), those that no change of the graph can reach are taken from what the run has
/// predicted.
pub fn predict(
    folder: &Path,
    data: &DataConfig,
    full: bool,
    progress: &dyn Progress,
) -> Result<Predicted, Error> {
    let mut seconds = Phases::default();
    let folder = RunFolder::open(folder)?;
    let config = folder.config()?;
    let (saved, cache) = seconds
        .time("model", || -> Result<_, Error> { Ok((folder.model()?, folder.predictions()?)) })?;
    let mut source = data.clone();
    source.load.feature_norm = saved.feature_norm;
    let dataset = seconds.time("load", || read_dataset(&source, config.train.seed))?;
    dataset.remarks.iter().for_each(|remark| progress.remark(remark));
    let cache = cache.filter(|_| !full);
    let prediction = seconds.time("predict", || run::predict(&saved, &dataset, cache.as_ref()))?;
    let report = report(&saved, &dataset, &prediction, seconds);
    Ok(Predicted { saved, dataset, prediction, report })
}

fn report(
    saved: &SavedModel,
    dataset: &Dataset,
    prediction: &Prediction,
    seconds: Phases,
) -> PredictReport {
    let nodes = dataset.graph.nodes();
    let mut predicted = vec![0usize; saved.classes.len()];
    let (mut right, mut labelled) = (0usize, 0usize);
    for node in 0..nodes {
        let class = prediction.class(node);
        predicted[class] += 1;
        let truth = dataset.labels.as_ref().and_then(|labels| {
            let class = labels.classes[node]?;
            Some(&labels.names[class as usize])
        });
        if let Some(truth) = truth {
            labelled += 1;
            right += usize::from(*truth == saved.classes[class]);
        }
    }
    PredictReport {
        model: saved.model.info().name,
        dataset: dataset.name.clone(),
        nodes,
        edges: dataset.graph.edges(),
        charge: saved.operator.map(|operator| operator.charge.value()),
        classes: saved.classes.clone(),
        computed: prediction.computed,
        predicted,
        labelled,
        accuracy: (labelled > 0).then(|| right as f64 / labelled as f64),
        seconds,
    }
}
