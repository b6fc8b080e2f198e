//! Lanes and recordings: whatever runs beside a fit, and however its steps are started, its bits stay.

use super::{card, trained};
use crate::training_common::{charge, config, dataset, history_bits, model};
use magnon::compute::{Device, Engine, LaneConfig};
use magnon::data::{Dataset, Features, SplitChoice};
use magnon::matrix::SparseMatrix;
use magnon::model::{Direction, Inputs, MODELS, ModelConfig, Network, Purpose, View};
use magnon::nn::{AdamConfig, Decay, Schedule};
use magnon::operator::{Charge, Pattern};
use magnon::train::{
    Experiment, Feed, Fitted, Repeat, RunConfig, Targets, TrainConfig, TrainError, Watch, fit,
    fit_lanes,
};
use magnon::workflow::tune::{Search, TuneConfig, tune};
use std::sync::Arc;

/// Clipped gradients, decoupled decay and a schedule: all that a step takes from the host.
fn optimiser(rate: f64, weight_decay: f64) -> AdamConfig {
    let schedule = Schedule::Cosine { epochs: 30, least: 0.1 };
    AdamConfig { rate, weight_decay, decay: Decay::Decoupled, clip: Some(0.4), schedule }
}

/// A network on data, with what `fit` takes.
struct Bench {
    data: Dataset,
    pattern: Arc<Pattern>,
    charge: Charge,
    config: RunConfig,
}

/// A charge that the model takes.
fn suited(name: &str) -> Charge {
    let info = MODELS.iter().find(|info| info.name == name).unwrap();
    if info.direction == Direction::Charge { charge(3) } else { Charge::ZERO }
}

impl Bench {
    fn new(name: &str) -> Self {
        let data = dataset(240, 12, 3);
        let pattern = Arc::new(Pattern::new(&data.graph).unwrap());
        Self { pattern, charge: suited(name), config: config(name, suited(name)), data }
    }

    /// Works with the views of the first split.
    fn with<T>(
        &self,
        engine: &Engine,
        model: &ModelConfig,
        work: impl FnOnce(&dyn Network, [&dyn View; 2], [&Targets; 2]) -> T,
    ) -> T {
        let labels = self.data.labels.as_ref().unwrap();
        let split = &self.data.splits[0];
        let targets = [&split.train, &split.val].map(|nodes| Targets::of(nodes, labels));
        let operator = self.config.operator.map(|choice| choice.config(self.charge, false));
        let (train, val) = (targets[0].len(), targets[1].len());
        let inputs = Inputs {
            graph: &self.data.graph,
            pattern: &self.pattern,
            features: self.data.features.as_ref().unwrap(),
            classes: labels.names.len(),
            operator: operator.as_ref(),
            filter: self.config.filter.as_ref(),
            filtered: None,
            shared: None,
            field: None,
            purpose: Purpose::Train { train, val, batches: false },
            progress: &(),
        };
        let network = model.build(engine, &inputs).unwrap();
        let views = [0, 1].map(|part| network.view(engine, &targets[part].nodes).unwrap());
        work(network.as_ref(), [views[0].as_ref(), views[1].as_ref()], targets.each_ref())
    }

    fn alone(&self, engine: &Engine, model: &ModelConfig, config: &TrainConfig) -> Vec<[u64; 6]> {
        self.with(engine, model, |network, [train, val], targets| {
            let mut parameters = network.layout().draw(engine, config.seed).unwrap();
            let feed = Feed::Full { train, val };
            let fitted = fit(engine, &mut parameters, &feed, targets, config, None, &mut ());
            history_bits(&fitted.unwrap().history)
        })
    }
}

/// Recorded steps are those that the host starts one by one, whatever they take from it.
#[test]
fn recordings() {
    let Some(cuda) = card() else { return };
    let stepwise = Engine::cuda(0).unwrap().stepwise();
    for name in ["mgc", "gcn", "magnet", "gat", "fsgnn", "ppnp", "appnp", "gprgnn"] {
        let bench = Bench::new(name);
        for optimiser in [AdamConfig::default(), optimiser(0.02, 0.01)] {
            let config = TrainConfig { optimiser, epochs: 40, seed: 5, ..bench.config.train };
            let model = &bench.config.model;
            let found = bench.alone(&cuda, model, &config);
            assert_eq!(found, bench.alone(&stepwise, model, &config), "{name} {optimiser:?}");
        }
    }
}

/// Lanes with rates, decays and dropouts of their own are what each would be alone, also beside one that
/// fails.
#[test]
fn lanes_of_their_own() {
    let Some(cuda) = card() else { return };
    for name in ["mgc", "gat"] {
        let bench = Bench::new(name);
        let lanes = [(0.01, 1e-3, 0.5), (0.05, 0.0, 0.2), (1e300, 0.0, 0.8), (0.02, 5e-3, 0.9)];
        let seed = |k: usize| 7 + k as u64 / 2;
        let configs: Vec<TrainConfig> = lanes
            .iter()
            .enumerate()
            .map(|(k, &(rate, decay, _))| TrainConfig {
                optimiser: AdamConfig { rate, weight_decay: decay, ..Default::default() },
                epochs: 35,
                seed: seed(k),
                ..bench.config.train
            })
            .collect();
        let dropout = |rate: f64| {
            let mut model = bench.config.model.clone();
            model.set("dropout", rate.into()).unwrap();
            model
        };
        let found = bench.with(&cuda, &dropout(0.3), |network, views, targets| {
            let own: Vec<LaneConfig> = lanes
                .iter()
                .zip(&configs)
                .map(|(lane, config)| LaneConfig { seed: config.seed, dropout: Some(lane.2) })
                .collect();
            let laned = cuda.lanes(&own).unwrap().unwrap();
            let mut parameters = network.layout().draw(&laned, 0).unwrap();
            for (lane, config) in configs.iter().enumerate() {
                let drawn = network.layout().draw(&cuda, config.seed).unwrap();
                for (from, to) in drawn.values().iter().zip(parameters.values_mut()) {
                    laned.put_lane(lane, from, to).unwrap();
                }
            }
            let mut watches = [(); 4];
            let watches = watches.iter_mut().map(|watch| watch as &mut dyn Watch).collect();
            fit_lanes(&laned, &mut parameters, views, &[targets], &configs, watches)
        });
        let found: Vec<Result<Fitted, TrainError>> = found.unwrap().unwrap();
        for (k, (found, &(.., rate))) in found.iter().zip(&lanes).enumerate() {
            match found {
                Ok(found) => {
                    let alone = bench.alone(&cuda, &dropout(rate), &configs[k]);
                    assert_eq!(history_bits(&found.history), alone, "{name}, lane {k}");
                }
                Err(error) => {
                    assert!(k == 2 && matches!(error, TrainError::NotFinite { .. }), "{error}");
                }
            }
        }
        assert!(found[2].is_err(), "{name}");
    }
}

/// The trials of a search are trained in the same steps, with the bits that each has alone.
#[test]
fn trials_of_a_search() {
    if card().is_none() {
        return;
    }
    let data = dataset(240, 12, 3);
    for (name, trials) in [("mgc", 24), ("gcn", 12), ("gprgnn", 8)] {
        let mut base = config(name, suited(name));
        (base.train.device, base.train.epochs) = (Device::Cuda(0), 25);
        if let Some(operator) = base.operator.as_mut().filter(|_| name == "mgc") {
            operator.charge = magnon::model::ChargeChoice::Auto;
        }
        let search = TuneConfig { trials, search: Search::Random, seed: 3, ..Default::default() };
        let found = tune(&data, &base, &data.splits[..1], &search, None, &()).unwrap();
        assert_eq!(found.trials.len(), trials, "{name}");
        for trial in &found.trials[1..] {
            let mut whole = serde_json::to_value(&base).unwrap();
            for dimension in &found.space {
                let place = whole.pointer_mut(&dimension.path).unwrap();
                *place = trial.settings[&dimension.name].clone();
            }
            let config: RunConfig = serde_json::from_value(whole).unwrap();
            let repeats = vec![Repeat { seed: 3, split: 0 }];
            let alone = Experiment::on(&data, &config, data.splits[..1].to_vec(), repeats);
            let alone = alone.unwrap().run(None, &()).unwrap();
            let settings = &trial.settings;
            assert_eq!(trial.val_loss, Some(alone.runs[0].best.val_loss), "{name} {settings:?}");
        }
    }
}

/// Splits of sparse rows and of models that propagate in every step, with the bits that each has alone.
#[test]
fn splits_of_every_kind() {
    if card().is_none() {
        return;
    }
    let mut data = dataset(240, 12, 3);
    let labels = data.labels.clone();
    let split =
        |seed| SplitChoice::Random([60.0, 20.0, 20.0]).choose(&[], labels.as_ref(), seed).unwrap();
    let mut splits: Vec<_> = (0..4).map(split).collect();
    // One with other shapes, and one of few training nodes.
    splits[2].train.pop();
    splits[3].train.truncate(4);
    let repeats: Vec<Repeat> =
        (0..8).map(|k: usize| Repeat { seed: 5 + k as u64, split: [0, 1, 2, 3][k % 4] }).collect();
    for sparse in [false, true] {
        if sparse {
            // Columns that some splits have more entries of than others, one of them long.
            let entry =
                |u: usize, k: usize| (u, ((u * 7 + k * 13) % 11 + 1) as u32, 1.0 + k as f32);
            let entries = (0..240).flat_map(|u| (0..u % 4).map(move |k| entry(u, k)));
            let long = (0..240).map(|u| (u, 0u32, 0.5));
            let all = long.chain(entries);
            let x = SparseMatrix::from_triplets(240, 12, all).unwrap();
            data.features = Some(Features::Sparse(x));
        }
        for name in ["mlp", "linkx", "gcn", "magnet", "gat", "ppnp", "dirgnn", "bank"] {
            let mut config = config(name, suited(name));
            (config.train.device, config.train.epochs) = (Device::Cuda(0), 33);
            if name == "bank" {
                config.model = model("bank", &[("channels", "x,out,in".into())]);
            }
            let run = |repeats: Vec<Repeat>| {
                let experiment = Experiment::on(&data, &config, splits.clone(), repeats).unwrap();
                experiment.run(None, &()).unwrap().runs
            };
            for (k, found) in run(repeats.clone()).iter().enumerate() {
                let alone = run(vec![repeats[k]]).remove(0);
                assert_eq!(found.trial, alone.trial, "{name}");
                let [a, b] = [found, &alone].map(|run| history_bits(&run.history));
                assert_eq!(a, b, "{name}, sparse {sparse}, run {k}");
                assert_eq!(found.hits, alone.hits, "{name}, sparse {sparse}, run {k}");
            }
        }
    }
}

/// What is solved for in main memory is a series on the card, and comes to the same.
#[test]
fn solved_and_summed() {
    if card().is_none() {
        return;
    }
    let [found, expected] = [Device::Cuda(0), Device::Cpu].map(|device| {
        trained("ppnp", device, |config| config.train.optimiser.clip = Some(0.3)).remove(0)
    });
    for (a, b) in found.history.iter().zip(&expected.history).take(5) {
        assert!((a.val_loss - b.val_loss).abs() < 1e-4, "{a:?}, in main memory {b:?}");
    }
}
