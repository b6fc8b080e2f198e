//! The bank beside what every model is held to: MGC is one of it, channels are chosen, and batches take their rows.

use crate::training_common::{Setup, dataset, model, sparse, thinned};
use magnon::compute::{DrawKey, Engine};
use magnon::data::{Dataset, Features, SyntheticConfig};
use magnon::graph::GraphBuilder;
use magnon::model::{Inputs, Mode, ModelConfig, PassChoice, Purpose};
use magnon::nn::Tape;
use magnon::operator::{Charge, Pattern};
use magnon::progress::Progress;
use magnon::train::{Experiment, RunConfig};
use std::sync::Arc;

/// A bank of one channel with MGC's activation is MGC, to the last bit.
#[test]
fn a_bank_of_one_channel_is_mgc() {
    let data = SyntheticConfig::demo().dataset("demo").unwrap();
    for (q, kind) in [("1/3", "adjacency"), ("0", "negated-adjacency")] {
        let mut mgc = RunConfig::of(ModelConfig::named("mgc").unwrap());
        let mut bank = RunConfig::of(ModelConfig::named("bank").unwrap());
        let operator = mgc.operator.as_mut().unwrap();
        operator.charge = q.parse().unwrap();
        operator.pass = if kind == "adjacency" { PassChoice::Low } else { PassChoice::High };
        let channel = format!("linear-rank(charge={q},kind={kind})");
        for (key, value) in [
            ("channels", channel.into()),
            ("activation", "gated_tanh".into()),
            ("normalize_rows", false.into()),
        ] {
            bank.model.set(key, value).unwrap();
        }
        bank.train = mgc.train;
        let [a, b] = [&mut mgc, &mut bank].map(|config| {
            config.train.epochs = 25;
            Experiment::new(&data, config).unwrap().run(None, &()).unwrap().runs.remove(0)
        });
        assert_eq!(a.history, b.history);
        assert_eq!(a.log_probabilities, b.log_probabilities);
    }
}

/// What a bank leaves open is decided by validation, and the choice is what is kept.
#[test]
fn channels_are_chosen_by_validation() {
    let data = SyntheticConfig::demo().dataset("demo").unwrap();
    let mut config = RunConfig::of(ModelConfig::named("bank").unwrap());
    config.train.epochs = 40;
    config.runs.count = 3;
    let outcome = Experiment::new(&data, &config).unwrap().run(None, &()).unwrap();
    let taken: Vec<usize> = outcome.choices.iter().map(|choice| choice.taken_by).collect();
    // Smoothed features of the undirected graph tell nothing here.
    assert_eq!((taken[0], taken.iter().sum::<usize>(), outcome.runs.len()), (0, 3, 3));
    let lowest = outcome.choices.iter().map(|choice| choice.val_loss).reduce(f64::min);
    let best = outcome.best().unwrap();
    assert!(!best.weights.is_empty());
    let winner = &outcome.choices[best.trial.choice];
    assert_eq!(Some(winner.val_loss), lowest);
    assert_eq!(outcome.model(&config, best), &winner.model);
    let shares = winner.model.shares(&best.weights);
    assert!((shares.iter().map(|input| input.share).sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(shares.iter().any(|input| input.name == "out"));
}

/// What batches take of filtered channels is what a step computes that filters for itself.
#[test]
fn batches_have_the_logits_of_all_rows() {
    const CHANNELS: &str = "x,out,in.out,rows-out,rows-out.in,linear-rank(order=3),\
         power(order=2,charge=1/3,self_loops=false,normalize=directed),heat(order=2,charge=1/8),in";
    let mut data = dataset(150, 9, 3);
    let plain = data.features.clone().unwrap();
    let edges = data.graph.iter().map(|(u, v)| (u, v, 0.5 + ((u + v) % 4) as f32 / 3.0));
    let weighted = GraphBuilder::new(150).weighted_edges(edges).build().unwrap().graph;
    let wide = Features::Sparse(sparse(&thinned(&plain, 4)));
    for (graph, features) in
        [(data.graph.clone(), plain.clone()), (weighted, plain), (data.graph.clone(), wide)]
    {
        (data.graph, data.features) = (graph, Some(features));
        let mut setup = Setup::on(data.clone(), "bank", Charge::ZERO);
        setup.pattern = Arc::new(Pattern::new(&data.graph).unwrap());
        let settings = [
            ("channels", CHANNELS.into()),
            ("degrees", true.into()),
            ("dropout", 0.0.into()),
            ("weight_dropout", 0.5.into()),
        ];
        let bank = model("bank", &settings);
        let engine = Engine::double().sequential();
        let whole = bank.build(&engine, &setup.inputs()).unwrap();
        let purpose = Purpose::Train { train: 60, val: 30, batches: true };
        let batched = bank.build(&engine, &Inputs { purpose, ..setup.inputs() }).unwrap();
        assert!(whole.by_rows().is_none());
        let parameters = whole.layout().draw(&engine, 5).unwrap();
        let nodes = [7, 8, 9, 149, 3, 0];
        let mut tape = Tape::new(&engine);
        let mut trace = tape.trace(&parameters);
        let view = whole.view(&engine, &nodes).unwrap();
        let rows = batched.by_rows().unwrap();
        // The same weights are dropped whichever way a product is made.
        let key = DrawKey { seed: 4, epoch: 1, batch: 0, site: 0 };
        let logits = [Mode::Evaluate, Mode::Train(key)].map(|mode| {
            let expected = view.logits(&mut trace, None, mode);
            let found = rows.logits_of(&mut trace, &nodes, &mut Default::default(), mode).unwrap();
            let [expected, found] = [expected, found]
                .map(|var| engine.download_double(trace.value(var).unwrap()).unwrap());
            assert_eq!(found.len(), 6 * 3);
            for (a, b) in expected.iter().zip(found) {
                // Rows are kept in single precision.
                assert!((a - b).abs() < 1e-5, "{a} {b}");
            }
            expected
        });
        assert!(logits[0].iter().zip(&logits[1]).all(|(a, b)| (a - b).abs() > 1e-9));
        let all = whole.predict(&engine, &parameters, None).unwrap();
        let other = batched.predict(&engine, &parameters, None).unwrap();
        assert_eq!((all.rows(), all.cols()), (other.rows(), other.cols()));
        for (a, b) in all.as_slice().iter().zip(other.as_slice()) {
            assert!((a - b).abs() < 1e-4, "{a} {b}");
        }
    }
}

/// Views that share steps, on a graph where many nodes have the same neighbours, have the logits of views of their own.
#[test]
fn shared_views_have_the_logits_of_single_ones() {
    let data = dataset(150, 9, 3);
    // 30 nodes, of which five each point to the same ten; of the reversed graph, five each are pointed to by them.
    let edges = |u: u32| (0..10).map(move |k| (u, (u / 5 * 7 + 3 * k + 31) % 150));
    let twins = GraphBuilder::new(150).edges((0..30).flat_map(edges)).build().unwrap().graph;
    let reversed = twins.transpose();
    for graph in [data.graph.clone(), twins, reversed] {
        let data = Dataset { graph, ..data.clone() };
        let mut setup = Setup::on(data.clone(), "bank", Charge::ZERO);
        setup.pattern = Arc::new(Pattern::new(&data.graph).unwrap());
        let channels = "x,out,in,out.out,out.in,in.out,in.in,rows-out,rows-in";
        let settings = [("channels", channels.into()), ("dropout", 0.0.into())];
        let engine = Engine::double().sequential();
        let network = model("bank", &settings).build(&engine, &setup.inputs()).unwrap();
        let parameters = network.layout().draw(&engine, 5).unwrap();
        let nodes: Vec<u32> = (0..150).map(|k| k * 7 % 150).collect();
        let parts = [&nodes[..70], &nodes[70..120]];
        let mut tape = Tape::new(&engine);
        let mut trace = tape.trace(&parameters);
        let everyone: Vec<u32> = (0..150).collect();
        let whole = network.view(&engine, &everyone).unwrap();
        let expected = whole.logits(&mut trace, None, Mode::Evaluate);
        for (view, nodes) in network.views(&engine, parts).unwrap().iter().zip(parts) {
            let found = view.logits(&mut trace, None, Mode::Evaluate);
            let [found, expected] = [found, expected]
                .map(|var| engine.download_double(trace.value(var).unwrap()).unwrap());
            assert_eq!(found.len(), 3 * nodes.len());
            for (row, &node) in found.chunks(3).zip(nodes) {
                for (a, b) in row.iter().zip(&expected[3 * node as usize..]) {
                    assert!((a - b).abs() < 1e-6, "node {node}: {a} {b}");
                }
            }
        }
    }
}

/// Training in batches learns what training on all rows learns.
#[test]
fn a_bank_learns_in_batches() {
    let data = SyntheticConfig::demo().dataset("demo").unwrap();
    let mut config = RunConfig::of(ModelConfig::named("bank").unwrap());
    config.model.set("channels", "x,out,in,out.in,rows-out".into()).unwrap();
    config.train.epochs = 40;
    let accuracy = [None, Some(50)].map(|batch| {
        config.train.batch = batch;
        let outcome = Experiment::new(&data, &config).unwrap().run(None, &()).unwrap();
        outcome.runs[0].metrics[2].accuracy
    });
    assert!(accuracy.iter().all(|&accuracy| accuracy > 0.9), "{accuracy:?}");
}

/// Says that features were filtered.
struct NoFiltering;

impl Progress for NoFiltering {
    fn step(&self, _: usize, _: usize, _: &str) {
        panic!("features are filtered");
    }
}

/// Filtering may take minutes; layers that no machine has memory for are refused before.
#[test]
fn layers_without_memory_are_refused_before_filtering() {
    const CHANNELS: &str = "x,out,in,out.out,out.in,in.out,in.in,heat(order=8,charge=1/3)";
    let data = SyntheticConfig::demo().dataset("demo").unwrap();
    let mut config = RunConfig::of(ModelConfig::named("bank").unwrap());
    config.model.set("channels", CHANNELS.into()).unwrap();
    config.model.set("hidden", 65_536.into()).unwrap();
    config.model.set("layers", 4.into()).unwrap();
    let error = Experiment::new(&data, &config).unwrap().run(None, &NoFiltering).unwrap_err();
    assert!(error.to_string().contains("no memory for 1202590842880 more bytes"), "{error}");
}
