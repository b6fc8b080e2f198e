//! Propagation needs its input, its output, the operator and two tiles: counted, not estimated.
#![allow(clippy::unwrap_used, clippy::panic)] // a failed test is a panic

mod counting;

use counting::{NOW, PEAK};
use magnon::data::Features;
use magnon::filter::{Filter, propagate};
use magnon::graph::generate::{GeneratorConfig, GeneratorKind, generate};
use magnon::matrix::Matrix;
use magnon::operator::{Charge, MagneticOperator, OperatorConfig};
use std::sync::atomic::Ordering::Relaxed;

#[test]
fn peak_is_within_the_promise() {
    let (nodes, columns) = (20_000, 64);
    let config = GeneratorConfig {
        kind: GeneratorKind::ErdosRenyi,
        nodes,
        density: 10.0 / 20_000.0,
        ..Default::default()
    };
    let graph = generate(&config, 1).unwrap().graph;
    let charge = Charge::fraction(1, 5).unwrap();
    let config = OperatorConfig { charge, ..Default::default() };
    let operator = MagneticOperator::new(&graph, &config).unwrap();
    drop(graph);
    let features = Features::Dense(Matrix::zeros(nodes, columns));
    PEAK.store(NOW.load(Relaxed), Relaxed);
    let result = propagate(&operator, &Filter::linear_rank(8).unwrap(), &features, &());
    let peak = PEAK.load(Relaxed);
    result.unwrap();

    let (input, output) = (nodes * columns * 4, nodes * columns * 8);
    let base = input + output + 5 * operator.pattern().stored() + 16 * nodes;
    assert!(peak as f64 <= 1.3 * base as f64, "{peak} bytes against {base}");
    // The promise is about real use: the result alone is most of it.
    assert!(peak > output);
}
