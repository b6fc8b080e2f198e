//! Small data sets and models to train.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)] // each file uses a part

use magnon::data::{Dataset, Features, SyntheticConfig};
use magnon::filter::{Filter, FilterConfig, Propagated, propagate};
use magnon::graph::generate::GeneratorConfig;
use magnon::matrix::SparseMatrix;
use magnon::model::{Model, ModelConfig, ModelKind, TwoLayer, mgc, mlp};
use magnon::nn::{Cpu, Field};
use magnon::operator::{Charge, MagneticOperator, OperatorConfig};
use magnon::run::RunConfig;
use magnon::train::{ChargeChoice, EpochRecord, Inputs, OperatorChoice, Targets, TrainConfig};

/// Three blocks in a ring, with features that tell a little.
pub fn dataset(nodes: usize, columns: usize, seed: u64) -> Dataset {
    let graph = GeneratorConfig { nodes, density: 12.0 / nodes as f64, ..Default::default() };
    let config = SyntheticConfig { graph, columns, noise: 2.0, seed };
    config.dataset("ring").unwrap()
}

pub fn charge(m: u32) -> Charge {
    Charge::fraction(1, m).unwrap()
}

/// A small network of 8 hidden units on a filter of order 4.
pub fn config(kind: ModelKind, charge: Charge) -> RunConfig {
    RunConfig {
        operator: OperatorChoice { charge: ChargeChoice::Fixed(charge), ..Default::default() },
        filter: FilterConfig { order: Some(4), ..Default::default() },
        model: ModelConfig { kind, hidden: 8, ..Default::default() },
        train: TrainConfig { epochs: 30, patience: 1000, ..Default::default() },
        ..Default::default()
    }
}

/// MGC complex, MGC real and MLP.
pub fn kinds() -> [(ModelKind, Charge); 3] {
    [(ModelKind::Mgc, charge(3)), (ModelKind::Mgc, Charge::ZERO), (ModelKind::Mlp, Charge::ZERO)]
}

/// What is needed to call `fit` by hand.
pub struct Setup {
    pub dataset: Dataset,
    pub filtered: Propagated,
    pub targets: [Targets; 2],
    pub field: Field,
    pub kind: ModelKind,
}

impl Setup {
    pub fn new(kind: ModelKind, charge: Charge) -> Self {
        Self::on(dataset(150, 9, 3), kind, charge)
    }

    pub fn on(dataset: Dataset, kind: ModelKind, charge: Charge) -> Self {
        let recipe = OperatorConfig { charge, ..Default::default() };
        let operator = MagneticOperator::new(&dataset.graph, &recipe).unwrap();
        let features = dataset.features.as_ref().unwrap();
        let order = if kind == ModelKind::Mlp { 1 } else { 4 };
        // The filter of order 1 is the identity: an MLP sees the features as they are.
        let filter = Filter::linear_rank(order).unwrap();
        let filtered = propagate(&operator, &filter, features, &|_, _| ()).unwrap();
        let labels = dataset.labels.as_ref().unwrap();
        let split = &dataset.splits[0];
        let targets = [&split.train, &split.val].map(|nodes| Targets::of(nodes, labels));
        let field = if operator.is_real() { Field::Real } else { Field::Complex };
        Self { dataset, filtered, targets, field, kind }
    }

    pub fn inputs(&self) -> Inputs {
        let [train, val] = &self.targets;
        Inputs::rows(&self.filtered, &train.nodes, &val.nodes)
    }

    pub fn model(&self, engine: &Cpu<f32>, dropout: f64, seed: u64) -> TwoLayer<Cpu<f32>> {
        let config = ModelConfig { hidden: 8, dropout, ..Default::default() };
        let width = self.dataset.features.as_ref().unwrap().cols();
        let classes = self.dataset.labels.as_ref().unwrap().names.len();
        match self.kind {
            ModelKind::Mgc => mgc(engine, &config, self.field, width, classes, seed).unwrap(),
            ModelKind::Mlp => mlp(engine, &config, width, classes, seed).unwrap(),
        }
    }

    pub fn both(&self) -> [&Targets; 2] {
        [&self.targets[0], &self.targets[1]]
    }
}

/// The weights as bits, so that nothing passes for equal that is not.
pub fn bits(model: &TwoLayer<Cpu<f32>>) -> Vec<Vec<u32>> {
    let values = model.parameters().values();
    values.iter().map(|value| value.iter().map(|x| x.to_bits()).collect()).collect()
}

pub fn history_bits(history: &[EpochRecord]) -> Vec<[u64; 6]> {
    history.iter().map(|record| record.columns().map(f64::to_bits)).collect()
}

/// The same features, stored as a sparse matrix.
pub fn sparse(features: &Features) -> SparseMatrix {
    let Features::Dense(x) = features else { panic!("dense features") };
    let entries = (0..x.rows()).flat_map(|i| {
        let row = (0..).zip(x.row(i));
        row.map(move |(j, &value)| (i, j, value))
    });
    SparseMatrix::from_triplets(x.rows(), x.cols(), entries).unwrap()
}
