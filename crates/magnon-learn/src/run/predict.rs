//! Predictions of a trained model, on the graph that it knows or on another.

use super::reach::reach;
use super::{PredictionCache, RunError, SavedModel};
use crate::model::{Inputs, Network, Purpose, Reach};
use crate::nn::Parameters;
use crate::train::{TrainError, argmax};
use magnon_core::compute::{Device, Engine, Field};
use magnon_core::matrix::Matrix;
use magnon_core::operator::{MagneticOperator, OperatorError, Pattern};
use magnon_data::{Dataset, Features};
use std::sync::Arc;

/// What a model says about every node.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// Log-probabilities of the classes, one row per node.
    pub log_probabilities: Matrix<f32>,
    /// Rows that were computed; the others were cached.
    pub computed: usize,
}

impl Prediction {
    /// The likeliest class of a node.
    pub fn class(&self, node: usize) -> usize {
        argmax(self.log_probabilities.row(node))
    }
}

/// Classifies the nodes of `dataset`, whose features must have been scaled as the model's were.
///
/// With a `cache` of what was predicted before, only rows that the change can reach are computed: the
/// rest of the graph is the same for them. Models that see the whole graph compute everything.
pub fn predict(
    saved: &SavedModel,
    dataset: &Dataset,
    cache: Option<&PredictionCache>,
) -> Result<Prediction, RunError> {
    predict_on(Device::Cpu, saved, dataset, cache)
}

/// [`predict`] on a device.
pub fn predict_on(
    device: Device,
    saved: &SavedModel,
    dataset: &Dataset,
    cache: Option<&PredictionCache>,
) -> Result<Prediction, RunError> {
    let features = check(saved, dataset)?;
    let engine = device.engine().map_err(TrainError::from)?;
    run(&engine, saved, (dataset, features), cache)
}

fn run(
    engine: &Engine,
    saved: &SavedModel,
    (dataset, features): (&Dataset, &Features),
    cache: Option<&PredictionCache>,
) -> Result<Prediction, RunError> {
    let pattern = Pattern::new(&dataset.graph).map_err(OperatorError::from);
    let pattern = Arc::new(pattern.map_err(TrainError::from)?);
    let inputs = Inputs {
        graph: &dataset.graph,
        pattern: &pattern,
        features,
        classes: saved.classes.len(),
        operator: saved.operator.as_ref(),
        filter: saved.filter.as_ref(),
        filtered: None,
        shared: None,
        field: saved.is_complex().then_some(Field::Complex),
        purpose: Purpose::Predict,
        progress: &(),
    };
    let network = saved.model.build(engine, &inputs).map_err(TrainError::from)?;
    let loaded = network.layout().load(engine, &saved.weights);
    let more = network.layout().count() > saved.count();
    let loaded = loaded.map_err(|problem| misfit(saved, dataset, &pattern, more, problem))?;
    let parameters = loaded.map_err(TrainError::from)?;
    if let Some(cache) = cache
        && let Some(partial) =
            update(engine, network.as_ref(), &parameters, dataset, features, &pattern, cache)?
    {
        return Ok(partial);
    }
    let all = network.predict(engine, &parameters, None).map_err(TrainError::from)?;
    Ok(Prediction { computed: dataset.graph.nodes(), log_probabilities: all })
}

/// The prediction with what is cached, where that saves something.
fn update(
    engine: &Engine,
    network: &dyn Network,
    parameters: &Parameters,
    dataset: &Dataset,
    features: &Features,
    pattern: &Pattern,
    cache: &PredictionCache,
) -> Result<Option<Prediction>, RunError> {
    let Reach::Hops(order) = network.reach() else { return Ok(None) };
    let graph = &dataset.graph;
    let classes = cache.log_probabilities.cols();
    if !cache.fits(graph) {
        return Ok(None);
    }
    let reach = reach(cache, graph, pattern, features, order);
    let n = graph.nodes();
    if 2 * reach.ball.len() > n {
        return Ok(None);
    }
    let mut numbers = cache.log_probabilities.as_slice().to_vec();
    numbers.resize(n * classes, 0.0);
    if !reach.affected.is_empty() {
        let found = network.predict(engine, parameters, Some(&reach.affected));
        let found = found.map_err(TrainError::from)?;
        if found.cols() != classes {
            return Ok(None);
        }
        for (row, &u) in reach.affected.iter().enumerate() {
            numbers[u as usize * classes..][..classes].copy_from_slice(found.row(row));
        }
    }
    let computed = reach.affected.len();
    let table = Matrix::from_vec(n, classes, numbers);
    Ok(table.ok().map(|log_probabilities| Prediction { log_probabilities, computed }))
}

/// The features, where they fit the model.
fn check<'a>(saved: &SavedModel, dataset: &'a Dataset) -> Result<&'a Features, RunError> {
    let unfit = |expected: String, found: String, advice| {
        let data = dataset.name.clone();
        RunError::Unfit { data, expected, found, advice }
    };
    let features = dataset.features.as_ref().ok_or_else(|| TrainError::Missing {
        data: dataset.name.clone(),
        what: "features",
        advice: "give some in a file",
    })?;
    if features.cols() != saved.width {
        let columns = |count: usize| format!("{count} feature columns");
        let advice = "give data with the same features, in the same order";
        return Err(unfit(columns(saved.width), columns(features.cols()), advice));
    }
    if let Some(labels) = &dataset.labels
        && let Some(name) = labels.names.iter().find(|name| !saved.classes.contains(name))
    {
        let expected = format!("the classes {}", saved.classes.join(", "));
        let advice = "a new class needs a new model; without labels, predictions are made for all";
        return Err(unfit(expected, format!("the class {name}"), advice));
    }
    Ok(features)
}

/// Why the weights are not those of the network on these data, which may need `more` of them: a
/// network that was trained on a real operator cannot take a complex one.
fn misfit(
    saved: &SavedModel,
    dataset: &Dataset,
    pattern: &Arc<Pattern>,
    more: bool,
    problem: String,
) -> RunError {
    let data = dataset.name.clone();
    let operator = saved.operator.as_ref();
    let operator =
        operator.and_then(|config| MagneticOperator::from_pattern(pattern.clone(), config).ok());
    match operator.filter(|operator| more && !operator.is_real() && !saved.is_complex()) {
        Some(operator) => RunError::Unfit {
            data,
            expected: "a real operator".to_owned(),
            found: format!("a complex operator at the charge {}", operator.config().charge),
            advice: "train on a graph with directions, or with the charge 0",
        },
        None => RunError::Unfit {
            data,
            expected: format!("other data ({problem})"),
            found: format!("{} nodes, {} feature columns", dataset.graph.nodes(), saved.width),
            advice: "predict on a graph that the model fits, or train it again",
        },
    }
}
