//! Predictions on a changed graph: what is computed anew is what a change can reach, and nothing
//! else differs from computing everything.

use crate::training_common::{charge, sparse};
use magnon::compute::Engine;
use magnon::data::{Dataset, Features, Scaling};
use magnon::filter::{FilterConfig, FilterKind};
use magnon::graph::{DiGraph, GraphBuilder};
use magnon::matrix::Matrix;
use magnon::model::{Inputs, Purpose};
use magnon::operator::{Kind, MagneticOperator, Normalize, OperatorConfig, Pattern};
use magnon::run::{Prediction, PredictionCache, SavedModel, predict};
use proptest::prelude::*;
use std::sync::Arc;

const NODES: usize = 300;
type Edge = (u32, u32, f32);

/// Edges along a line of nodes, so that far is far.
fn line(weighted: bool) -> Vec<Edge> {
    let edge = |i: u32| {
        let (u, step) = (i * 7 % 298, 1 + i % 2);
        let weight = if weighted { 0.5 + (i % 5) as f32 / 4.0 } else { 1.0 };
        let (u, v) = (u, (u + step).min(299));
        if i.is_multiple_of(3) { (v, u, weight) } else { (u, v, weight) }
    };
    let mut edges: Vec<Edge> = (0..500).map(edge).collect();
    edges.sort_by_key(|&(u, v, _)| (u, v));
    edges.dedup_by_key(|&mut (u, v, _)| (u, v));
    edges
}

fn graph(nodes: usize, edges: &[Edge]) -> DiGraph {
    GraphBuilder::new(nodes).weighted_edges(edges.iter().copied()).build().unwrap().graph
}

fn features(nodes: usize, columns: usize) -> Matrix<f32> {
    let draw = |i: usize| ((i * 7919 + 13) % 1009) as f32 / 252.0 - 2.0;
    Matrix::from_vec(nodes, columns, (0..nodes * columns).map(draw).collect()).unwrap()
}

fn dataset(graph: DiGraph, features: Features) -> Dataset {
    Dataset {
        name: "line".to_owned(),
        report: Default::default(),
        graph,
        features: Some(features),
        scaling: Scaling::None,
        labels: None,
        splits: Vec::new(),
        node_names: None,
        reading: Default::default(),
        remarks: Vec::new(),
    }
}

/// A model with weights as they are drawn for `data`.
fn model(
    name: &str,
    operator: Option<OperatorConfig>,
    filter: Option<FilterConfig>,
    data: &Dataset,
) -> SavedModel {
    let (engine, features) = (Engine::cpu().sequential(), data.features.as_ref().unwrap());
    let config = crate::training_common::model(name, &[("hidden", 6.into())]);
    let inputs = Inputs {
        graph: &data.graph,
        pattern: &Arc::new(Pattern::new(&data.graph).unwrap()),
        features,
        classes: 3,
        operator: operator.as_ref(),
        filter: filter.as_ref(),
        filtered: None,
        shared: None,
        field: None,
        purpose: Purpose::Predict,
        progress: &(),
    };
    let drawn = config.build(&engine, &inputs).unwrap().layout().draw(&engine, 4).unwrap();
    let weights = drawn.iter();
    let weights = weights
        .map(|(name, shape, value)| (name.to_owned(), shape, engine.numbers(value).unwrap()));
    SavedModel {
        model: config,
        scaling: Scaling::None,
        width: features.cols(),
        classes: ["a", "b", "c"].map(str::to_owned).to_vec(),
        weights: weights.collect(),
        operator,
        filter,
    }
}

fn mgc(operator: OperatorConfig, filter: FilterConfig, data: &Dataset) -> SavedModel {
    model("mgc", Some(operator), Some(filter), data)
}

/// Predicts on the graph that is known, then on another with and without what is known.
fn changed(saved: &SavedModel, before: &Dataset, after: &Dataset) -> Prediction {
    let first = predict(saved, before, None).unwrap();
    assert_eq!(first.computed, before.graph.nodes());
    let old = before.features.as_ref().unwrap();
    let known = PredictionCache::new(&before.graph, old, first.log_probabilities);
    let full = predict(saved, after, None).unwrap();
    let part = predict(saved, after, Some(&known)).unwrap();
    assert_eq!(part.log_probabilities.rows(), after.graph.nodes());
    for node in 0..after.graph.nodes() {
        let (a, b) = (part.log_probabilities.row(node), full.log_probabilities.row(node));
        for (a, b) in a.iter().zip(b) {
            assert!((a.exp() - b.exp()).abs() < 1e-5, "node {node}: {a} but {b}, {saved:?}");
        }
        let mut sorted = b.to_vec();
        sorted.sort_by(|a, b| b.total_cmp(a));
        if sorted[0] - sorted[1] > 1e-4 {
            assert_eq!(part.class(node), full.class(node), "node {node}");
        }
    }
    part
}

fn filters() -> Vec<FilterConfig> {
    let with = |kind| FilterConfig { kind, ..Default::default() };
    vec![
        FilterConfig { order: Some(1), ..Default::default() },
        FilterConfig { order: Some(4), ..Default::default() },
        FilterConfig { order: Some(3), ..with(FilterKind::Markov) },
        FilterConfig { order: Some(5), ..with(FilterKind::Heat) },
        FilterConfig { alpha: Some(0.3), tolerance: Some(1e-5), ..with(FilterKind::Ppr) },
        FilterConfig { coefficients: Some(vec![0.2, 0.5, 0.3]), ..with(FilterKind::Bernstein) },
    ]
}

fn operators() -> Vec<OperatorConfig> {
    let base = OperatorConfig { charge: charge(3), ..Default::default() };
    vec![
        base,
        OperatorConfig { kind: Kind::NegatedAdjacency, ..base },
        OperatorConfig { normalize: Normalize::RandomWalk, ..base },
        OperatorConfig { charge: magnon::operator::Charge::ZERO, ..base },
        OperatorConfig { kind: Kind::Laplacian, self_loops: false, ..base },
    ]
}

/// One small change each: to edges, weights, features and the number of nodes.
fn changes(weighted: bool, x: &Matrix<f32>) -> Vec<(&'static str, Dataset)> {
    let edges = line(weighted);
    let same = || Features::Dense(x.clone());
    let other = |u: u32, v: u32| if weighted { (u, v, 1.75) } else { (u, v, 1.0) };
    let mut list = Vec::new();
    let mut more = edges.clone();
    more.push(other(40, 43));
    list.push(("an edge more", dataset(graph(NODES, &more), same())));
    let mut fewer = edges.clone();
    fewer.remove(edges.len() / 2);
    list.push(("an edge less", dataset(graph(NODES, &fewer), same())));
    let mut turned = edges.clone();
    let (u, v, w) = turned[100];
    turned[100] = (v, u, w);
    turned.dedup_by_key(|&mut (u, v, _)| (u, v));
    list.push(("an edge turned", dataset(graph(NODES, &turned), same())));
    if weighted {
        let mut heavier = edges.clone();
        heavier[200].2 += 2.0;
        list.push(("a heavier edge", dataset(graph(NODES, &heavier), same())));
    }
    let mut numbers = x.as_slice().to_vec();
    numbers[150 * x.cols() + 1] += 3.0;
    let moved = Matrix::from_vec(NODES, x.cols(), numbers).unwrap();
    list.push(("another feature", dataset(graph(NODES, &edges), Features::Dense(moved))));
    let mut grown = edges.clone();
    grown.extend([other(300, 20), other(22, 300)]);
    let wide = Features::Dense(features(NODES + 1, x.cols()));
    list.push(("a node more", dataset(graph(NODES + 1, &grown), wide)));
    let wide = Features::Dense(features(NODES + 1, x.cols()));
    list.push(("a node alone", dataset(graph(NODES + 1, &edges), wide)));
    list
}

#[test]
fn a_small_change_computes_few_rows() {
    for weighted in [false, true] {
        // Fewer columns than hidden numbers, and more: features or hidden columns are filtered.
        for columns in [3, 20] {
            let x = features(NODES, columns);
            let before = dataset(graph(NODES, &line(weighted)), Features::Dense(x.clone()));
            assert_eq!(before.graph.is_weighted(), weighted);
            for operator in operators() {
                for filter in filters() {
                    let saved = mgc(operator, filter.clone(), &before);
                    let same = changed(&saved, &before, &before);
                    assert_eq!(same.computed, 0, "nothing changed, nothing computed");
                    for (name, after) in changes(weighted, &x) {
                        let part = changed(&saved, &before, &after);
                        assert!(part.computed > 0, "{name}: {filter:?}");
                        assert!(part.computed < NODES / 3, "{name}: {} {filter:?}", part.computed);
                    }
                }
            }
        }
    }
}

#[test]
fn sparse_features_are_taken_as_dense_ones() {
    let x = features(NODES, 5);
    let edges = line(false);
    let dense = dataset(graph(NODES, &edges), Features::Dense(x.clone()));
    let packed = Features::Sparse(sparse(&Features::Dense(x)));
    let mut fewer = edges.clone();
    fewer.remove(100);
    let after = dataset(graph(NODES, &fewer), packed);
    let filter = FilterConfig { order: Some(4), ..Default::default() };
    let saved = mgc(operators()[0], filter, &dense);
    let part = changed(&saved, &dense, &after);
    assert!((1..NODES / 3).contains(&part.computed));
}

/// Filters that are solved for reach everywhere, and so does a spectrum whose bounds move.
#[test]
fn what_reaches_everywhere_is_computed_everywhere() {
    let x = features(NODES, 5);
    let before = dataset(graph(NODES, &line(true)), Features::Dense(x.clone()));
    let exact =
        FilterConfig { kind: FilterKind::Ppr, alpha: Some(0.3), exact: true, ..Default::default() };
    let bernstein = FilterConfig {
        kind: FilterKind::Bernstein,
        coefficients: Some(vec![0.2, 0.5, 0.3]),
        ..Default::default()
    };
    let free = OperatorConfig { normalize: Normalize::None, ..operators()[0] };
    for (operator, filter) in [(operators()[0], exact), (free, bernstein.clone())] {
        let saved = mgc(operator, filter, &before);
        for (name, after) in changes(true, &x) {
            let part = changed(&saved, &before, &after);
            assert_eq!(part.computed, after.graph.nodes(), "{name}");
        }
    }
    // Negative weights leave the bounds of normalised operators where they are.
    let mut signed = line(true);
    signed[250].2 = -0.1;
    let signed = dataset(graph(NODES, &signed), Features::Dense(x.clone()));
    let config = OperatorConfig { kind: Kind::Adjacency, ..operators()[0] };
    let bounds = MagneticOperator::new(&signed.graph, &config).unwrap().bounds();
    assert_eq!((bounds.min, bounds.max), (-1.0, 1.0));
    let saved = mgc(config, bernstein, &signed);
    changed(&saved, &before, &signed);
    changed(&saved, &signed, &before);
}

/// A network without the graph gives what it gave before, wherever edges come and go.
#[test]
fn a_plain_network_does_not_look_at_the_graph() {
    let x = features(NODES, 5);
    let before = dataset(graph(NODES, &line(false)), Features::Dense(x.clone()));
    let saved = model("mlp", None, None, &before);
    for (_, after) in changes(false, &x) {
        changed(&saved, &before, &after);
    }
}

#[test]
fn data_that_do_not_fit_are_refused() {
    let filter = FilterConfig { order: Some(4), ..Default::default() };
    let data =
        |columns| dataset(graph(NODES, &line(false)), Features::Dense(features(NODES, columns)));
    let saved = mgc(operators()[3], filter, &data(5));
    let refuse = |saved: &SavedModel, data: &Dataset, word: &str| {
        let error = predict(saved, data, None).expect_err(word).to_string();
        assert!(error.contains(word), "{error}");
    };
    refuse(&saved, &data(4), "5 feature columns");
    let mut without = data(5);
    without.features = None;
    refuse(&saved, &without, "no features");
    let mut labelled = data(5);
    let names = ["a", "b", "new"].map(str::to_owned).to_vec();
    labelled.labels = Some(magnon::data::Labels { classes: vec![Some(0); NODES], names });
    refuse(&saved, &labelled, "the class new");
    // A real network, because its graph had no directions, on one that has some.
    let mut real = saved.clone();
    real.operator = Some(operators()[0]);
    refuse(&real, &data(5), "complex operator");
}

fn local_edges() -> impl Strategy<Value = Vec<(u32, u32)>> {
    proptest::collection::vec((0..NODES as u32 - 2, 1u32..3, any::<bool>()), 200..400).prop_map(
        |edges| {
            let turn = |(u, step, back)| if back { (u + step, u) } else { (u, u + step) };
            edges.into_iter().map(turn).collect()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Random graphs, of which a few edges come and go, some far away, and a few features change.
    #[test]
    fn any_change_is_found(
        edges in local_edges(),
        gone in proptest::collection::vec(0usize..200, 0..3),
        come in proptest::collection::vec((0..NODES as u32 + 3, 0..NODES as u32 + 3), 0..3),
        other in proptest::collection::vec(0..NODES, 0..3),
        extra in 0usize..4,
        operator in 0usize..5,
        filter in 0usize..6,
    ) {
        let weighted = |edges: &[(u32, u32)]| -> Vec<Edge> {
            edges.iter().map(|&(u, v)| (u, v, 1.0)).collect()
        };
        let x = features(NODES + extra, 4);
        let old = Matrix::from_vec(NODES, 4, x.as_slice()[..NODES * 4].to_vec()).unwrap();
        let unique = |edges: &[(u32, u32)]| {
            let mut edges = edges.to_vec();
            edges.sort_unstable();
            edges.dedup();
            edges
        };
        let before = dataset(graph(NODES, &weighted(&unique(&edges))), Features::Dense(old));
        let mut after = unique(&edges);
        gone.iter().for_each(|&i| { if i < after.len() { after.swap_remove(i); } });
        let nodes = NODES + extra;
        let fits = |&(u, v): &(u32, u32)| u != v && u.max(v) < nodes as u32;
        after.extend(come.iter().filter(|edge| fits(edge)));
        let mut numbers = x.into_vec();
        other.iter().for_each(|&node| numbers[node * 4] += 1.0);
        let x = Features::Dense(Matrix::from_vec(nodes, 4, numbers).unwrap());
        let after = dataset(graph(nodes, &weighted(&unique(&after))), x);
        let saved = mgc(operators()[operator], filters()[filter].clone(), &before);
        changed(&saved, &before, &after);
    }
}
