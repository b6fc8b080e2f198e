//! `predict`: a trained model on the same or a changed graph.

use super::{Phases, Progress, TrainReport, read_training_data};
use crate::Error;
use crate::compute::Device;
use crate::data::{Dataset, FeatureNorm, Split};
use crate::run::{self, Prediction, RunFolder, SavedModel};
use crate::train::{DataConfig, Experiment, RunConfig};
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
    /// The split that the model was trained on, where these are the data that it was trained on.
    pub split: Option<Split>,
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
    device: Device,
    progress: &dyn Progress,
) -> Result<Predicted, Error> {
    let mut seconds = Phases::default();
    let folder = RunFolder::open(folder)?;
    let config = folder.config()?;
    let (saved, cache) = seconds
        .time("model", || -> Result<_, Error> { Ok((folder.model()?, folder.predictions()?)) })?;
    let mut source = data.clone();
    // The features of other data are scaled as those that the model learnt from, not by themselves.
    source.load.feature_norm = FeatureNorm::None;
    let mut dataset = seconds.time("load", || read_training_data(&source, config.train.seed))?;
    if let Some(features) = dataset.features.as_mut().filter(|x| x.cols() == saved.width) {
        saved.scaling.apply(features);
        dataset.scaling = saved.scaling.clone();
    }
    dataset.remarks.iter().for_each(|remark| progress.remark(remark));
    let cache = cache.filter(|_| !full);
    let prediction =
        seconds.time("predict", || run::predict_on(device, &saved, &dataset, cache.as_ref()))?;
    let report = report(&saved, &dataset, &prediction, seconds);
    let split = match source.source == config.data.source && data.labels == config.data.labels {
        true => trained_on(&folder, &config, &dataset),
        false => None,
    };
    Ok(Predicted { saved, dataset, prediction, split, report })
}

/// The split of the run that was kept; `None` where the data no longer give it.
fn trained_on(folder: &RunFolder, config: &RunConfig, dataset: &Dataset) -> Option<Split> {
    let kept: TrainReport = folder.metrics().ok()?;
    let experiment = Experiment::new(dataset, config).ok()?;
    experiment.splits().get(kept.kept.split).cloned()
}

impl Predicted {
    /// One row per node, as text: its name, the label that it has, its part of the split, the label that
    /// is predicted, how sure that is, and the probabilities of the classes.
    pub fn header(&self) -> Vec<String> {
        let fixed = ["node", "label", "part", "predicted", "confidence"].map(str::to_owned);
        let classes = self.saved.classes.iter().map(|class| format!("probability_{class}"));
        fixed.into_iter().chain(classes).collect()
    }

    /// The rows under [`header`](Self::header).
    pub fn rows(&self) -> impl Iterator<Item = Vec<String>> + '_ {
        let mut parts = vec![""; self.dataset.graph.nodes()];
        if let Some(split) = &self.split {
            for (name, nodes) in
                [("train", &split.train), ("val", &split.val), ("test", &split.test)]
            {
                nodes.iter().for_each(|&node| parts[node as usize] = name);
            }
        }
        (0..self.dataset.graph.nodes()).map(move |node| {
            let label = self.dataset.labels.as_ref().and_then(|labels| {
                let class = labels.classes[node]?;
                labels.names.get(class as usize).cloned()
            });
            let class = self.prediction.class(node);
            let logs = self.prediction.log_probabilities.row(node);
            let mut row = vec![
                self.dataset.node_name(node),
                label.unwrap_or_default(),
                parts[node].to_owned(),
                self.saved.classes[class].clone(),
                logs[class].exp().to_string(),
            ];
            row.extend(logs.iter().map(|log| log.exp().to_string()));
            row
        })
    }
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
