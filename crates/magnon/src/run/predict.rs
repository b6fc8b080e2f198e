//! Predictions of a trained model, on the graph that it knows or on another.

use super::reach::reach;
use super::{Known, RunError, SavedModel};
use crate::data::{Dataset, Features};
use crate::filter::{Filter, Form};
use crate::matrix::{Matrix, SparseMatrix};
use crate::model::ModelKind;
use crate::nn::Cpu;
use crate::operator::{MagneticOperator, Normalize};
use crate::train::{TrainError, classify, project};

/// What a model says about every node.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// Log-probabilities of the classes, one row a node.
    pub log_probabilities: Matrix<f32>,
    /// Rows that were computed; the others were known.
    pub computed: usize,
}

impl Prediction {
    /// The likeliest class of a node.
    pub fn class(&self, node: usize) -> usize {
        crate::train::largest(self.log_probabilities.row(node))
    }
}

/// Classifies the nodes of `dataset`, whose features must have been scaled as the model's were.
///
/// With what is `known` from before, only rows that the change can reach are computed: the rest
/// of the graph is the same for them. Filters that are solved for reach everywhere.
pub fn predict(
    saved: &SavedModel,
    dataset: &Dataset,
    known: Option<&Known>,
) -> Result<Prediction, RunError> {
    let features = check(saved, dataset)?;
    let engine = Cpu::parallel();
    let model = saved.build(&engine).map_err(TrainError::from)?;
    if saved.model.kind == ModelKind::Mlp {
        let block = project(&engine, &model, features, None)?;
        let log_probabilities = classify(&engine, &model, &block);
        return Ok(Prediction { computed: dataset.graph.nodes(), log_probabilities });
    }
    let operator =
        MagneticOperator::new(&dataset.graph, &saved.operator).map_err(TrainError::from)?;
    check_field(saved, dataset, &operator)?;
    let filter =
        saved.filter.build(operator.bounds(), operator.config().kind).map_err(TrainError::from)?;
    if let Some(known) = known
        && let Some(partial) = update(saved, dataset, features, &operator, &filter, known)?
    {
        return Ok(partial);
    }
    let block = project(&engine, &model, features, Some((&operator, &filter)))?;
    let log_probabilities = classify(&engine, &model, &block);
    Ok(Prediction { computed: dataset.graph.nodes(), log_probabilities })
}

/// Computes only what the change can reach; `None` where that is most of the graph.
fn update(
    saved: &SavedModel,
    dataset: &Dataset,
    features: &Features,
    operator: &MagneticOperator,
    filter: &Filter,
    known: &Known,
) -> Result<Option<Prediction>, RunError> {
    let Some(order) = filter.order() else { return Ok(None) };
    // A Chebyshev series is drawn over the spectrum's bounds, which move with the graph where it is
    // not normalised or has negative weights.
    let graph = &dataset.graph;
    let weights = |u| graph.weights(u).unwrap_or_default().iter();
    let moved = matches!(filter.form(), Form::Chebyshev { .. })
        && (saved.operator.normalize == Normalize::None
            || known.is_signed()
            || (0..graph.nodes()).flat_map(weights).any(|&weight| weight < 0.0));
    let classes = saved.classes.len();
    let other = known.log_probabilities.cols() != classes;
    if moved || other || !known.fits(&dataset.graph) {
        return Ok(None);
    }
    let reach = reach(known, &dataset.graph, operator.pattern(), features, order);
    let n = dataset.graph.nodes();
    if 2 * reach.ball.len() > n {
        return Ok(None);
    }
    let mut numbers = known.log_probabilities.as_slice().to_vec();
    numbers.resize(n * classes, 0.0);
    if !reach.affected.is_empty() {
        let engine = Cpu::parallel();
        let model = saved.build(&engine).map_err(TrainError::from)?;
        let part = operator.among(&reach.ball);
        let block = project(&engine, &model, &rows(features, &reach.ball), Some((&part, filter)))?;
        let computed = classify(&engine, &model, &block);
        let mut at = 0;
        for &u in &reach.affected {
            at += reach.ball[at..].partition_point(|&v| v < u);
            numbers[u as usize * classes..][..classes].copy_from_slice(computed.row(at));
        }
    }
    let computed = reach.affected.len();
    let table = Matrix::from_vec(n, classes, numbers);
    Ok(table.ok().map(|log_probabilities| Prediction { log_probabilities, computed }))
}

/// The features of some nodes.
fn rows(features: &Features, nodes: &[u32]) -> Features {
    match features {
        Features::Dense(x) => {
            let numbers: Vec<f32> =
                nodes.iter().flat_map(|&u| x.row(u as usize).iter().copied()).collect();
            let part = Matrix::from_vec(nodes.len(), x.cols(), numbers);
            Features::Dense(part.unwrap_or_else(|_| Matrix::zeros(0, x.cols())))
        }
        Features::Sparse(x) => {
            let entries = nodes.iter().enumerate().flat_map(|(row, &u)| {
                let (columns, values) = x.row(u as usize);
                columns.iter().zip(values).map(move |(&column, &value)| (row, column, value))
            });
            let part = SparseMatrix::from_triplets(nodes.len(), x.cols(), entries);
            Features::Sparse(part.unwrap_or_else(|_| unreachable!("columns stay in range")))
        }
    }
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
        advice: "give some with --features FILE",
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

/// A network of real weights cannot take complex features, nor the other way round.
fn check_field(
    saved: &SavedModel,
    dataset: &Dataset,
    operator: &MagneticOperator,
) -> Result<(), RunError> {
    if !saved.complex && !operator.is_real() {
        let words = |real: bool| if real { "a real operator" } else { "a complex operator" };
        return Err(RunError::Unfit {
            data: dataset.name.clone(),
            expected: words(true).to_owned(),
            found: format!("{} at the charge {}", words(false), saved.operator.charge),
            advice: "train on a graph with directions, or with the charge 0",
        });
    }
    Ok(())
}
