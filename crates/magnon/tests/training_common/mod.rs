//! Small data sets and models to train.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)] // each file uses a part

use magnon::compute::Engine;
use magnon::data::{Dataset, Features, SyntheticConfig};
use magnon::filter::FilterConfig;
use magnon::graph::generate::GeneratorConfig;
use magnon::matrix::{Matrix, SparseMatrix};
use magnon::model::{ChargeChoice, Inputs, ModelConfig, Network, Purpose, View};
use magnon::nn::Parameters;
use magnon::operator::{Charge, OperatorConfig, Pattern};
use magnon::train::{EpochRecord, Feed, RunConfig, Targets, TrainConfig};
use std::sync::Arc;

/// Three blocks in a ring, with features that tell a little.
pub fn dataset(nodes: usize, columns: usize, seed: u64) -> Dataset {
    let graph = GeneratorConfig { nodes, density: 12.0 / nodes as f64, ..Default::default() };
    let config = SyntheticConfig { graph, columns, noise: 2.0, seed };
    config.dataset("ring").unwrap()
}

pub fn charge(m: u32) -> Charge {
    Charge::fraction(1, m).unwrap()
}

/// A model with some of its settings changed.
pub fn model(name: &str, settings: &[(&str, serde_json::Value)]) -> ModelConfig {
    let mut model = ModelConfig::named(name).unwrap();
    for (key, value) in settings {
        model.set(key, value.clone()).unwrap();
    }
    model
}

/// A small network of 8 hidden units, on a filter of order 4 where it has one.
pub fn config(name: &str, charge: Charge) -> RunConfig {
    let mut config = RunConfig::of(ModelConfig::named(name).unwrap());
    if config.model.has("hidden") {
        config.model.set("hidden", 8.into()).unwrap();
    }
    if let Some(operator) = &mut config.operator {
        operator.charge = ChargeChoice::Fixed(charge);
    }
    if let Some(filter) = config.filter.as_mut().filter(|filter| !filter.exact) {
        filter.order = Some(4);
    }
    config.train = TrainConfig { epochs: 30, patience: 1000, ..Default::default() };
    config
}

/// MGC complex, MGC real and MLP.
pub fn kinds() -> [(&'static str, Charge); 3] {
    [("mgc", charge(3)), ("mgc", Charge::ZERO), ("mlp", Charge::ZERO)]
}

/// What is needed to call `fit` by hand.
pub struct Setup {
    pub dataset: Dataset,
    pub pattern: Arc<Pattern>,
    pub operator: Option<OperatorConfig>,
    pub filter: Option<FilterConfig>,
    pub targets: [Targets; 2],
    pub name: &'static str,
}

impl Setup {
    pub fn new(name: &'static str, charge: Charge) -> Self {
        Self::on(dataset(150, 9, 3), name, charge)
    }

    pub fn on(dataset: Dataset, name: &'static str, charge: Charge) -> Self {
        let RunConfig { operator, filter, .. } = config(name, charge);
        let labels = dataset.labels.as_ref().unwrap();
        let split = &dataset.splits[0];
        Self {
            pattern: Arc::new(Pattern::new(&dataset.graph).unwrap()),
            operator: operator.map(|choice| choice.config(charge, false)),
            filter,
            targets: [&split.train, &split.val].map(|nodes| Targets::of(nodes, labels)),
            name,
            dataset,
        }
    }

    pub fn inputs(&self) -> Inputs<'_> {
        let [train, val] = &self.targets;
        Inputs {
            graph: &self.dataset.graph,
            pattern: &self.pattern,
            features: self.dataset.features.as_ref().unwrap(),
            classes: self.dataset.labels.as_ref().unwrap().names.len(),
            operator: self.operator.as_ref(),
            filter: self.filter.as_ref(),
            filtered: None,
            shared: None,
            field: None,
            purpose: Purpose::Train { train: train.len(), val: val.len(), batches: false },
            progress: &(),
        }
    }

    /// The network with 8 hidden units, and its views.
    pub fn ready(&self, dropout: f64) -> Ready<'_> {
        let settings = [("hidden", 8.into()), ("dropout", dropout.into())];
        self.ready_with(&model(self.name, &settings))
    }

    pub fn ready_with(&self, model: &ModelConfig) -> Ready<'_> {
        let engine = engine();
        let network = model.build(&engine, &self.inputs()).unwrap();
        let views = [0, 1].map(|part| network.view(&engine, &self.targets[part].nodes).unwrap());
        Ready { network, views }
    }

    pub fn both(&self) -> [&Targets; 2] {
        [&self.targets[0], &self.targets[1]]
    }
}

/// Main memory on this thread.
pub fn engine() -> Engine {
    Engine::cpu().sequential()
}

/// A network on data, with the views of its training and validation nodes.
pub struct Ready<'a> {
    pub network: Box<dyn Network + 'a>,
    pub views: [Box<dyn View>; 2],
}

impl Ready<'_> {
    pub fn feed(&self, batch: Option<usize>) -> Feed<'_> {
        match batch {
            None => {
                let [train, val] = &self.views;
                Feed::Full { train: train.as_ref(), val: val.as_ref() }
            }
            Some(size) => {
                let network = self.network.by_rows().unwrap();
                Feed::Batches { network, size }
            }
        }
    }

    pub fn draw(&self, seed: u64) -> Parameters {
        self.network.layout().draw(&engine(), seed).unwrap()
    }
}

/// The weights as bits, so that nothing passes for equal that is not.
pub fn bits(parameters: &Parameters) -> Vec<Vec<u32>> {
    let values = parameters.download(&engine()).unwrap();
    values.iter().map(|value| value.iter().map(|x| x.to_bits()).collect()).collect()
}

pub fn history_bits(history: &[EpochRecord]) -> Vec<[u64; 6]> {
    history.iter().map(|record| record.columns().map(f64::to_bits)).collect()
}

/// Dense features with all but every `kept`-th entry set to zero.
pub fn thinned(features: &Features, kept: usize) -> Features {
    let Features::Dense(x) = features else { panic!("dense features") };
    let numbers = x.as_slice().iter().enumerate();
    let numbers = numbers.map(|(i, &x)| if i.is_multiple_of(kept) { x } else { 0.0 }).collect();
    Features::Dense(Matrix::from_vec(x.rows(), x.cols(), numbers).unwrap())
}

/// The same features, stored as a sparse matrix.
pub fn sparse(features: &Features) -> SparseMatrix {
    let Features::Dense(x) = features else { panic!("dense features") };
    let entries = (0..x.rows()).flat_map(|i| {
        let row = (0..).zip(x.row(i));
        row.filter(|(_, value)| **value != 0.0).map(move |(j, &value)| (i, j, value))
    });
    SparseMatrix::from_triplets(x.rows(), x.cols(), entries).unwrap()
}
