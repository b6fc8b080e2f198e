//! Results are the same, bit for bit, whatever the number of threads.
#![allow(clippy::unwrap_used, clippy::panic)] // a failed test is a panic

use magnon::data::{Features, SyntheticConfig};
use magnon::filter::{Accuracy, Filter, Propagated, propagate, propagate_block};
use magnon::graph::generate::GeneratorConfig;
use magnon::operator::{Charge, Kind, MagneticOperator, OperatorConfig};

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

fn check(nodes: usize, density: f64, columns: usize) {
    let graph = GeneratorConfig { nodes, density, ..Default::default() };
    let config = SyntheticConfig { graph, columns, ..Default::default() };
    let dataset = config.dataset("cyclic").unwrap();
    let features = dataset.features.as_ref().unwrap();
    for charge in [Charge::ZERO, Charge::fraction(1, 3).unwrap()] {
        let config = OperatorConfig { charge, ..Default::default() };
        let operator = MagneticOperator::new(&dataset.graph, &config).unwrap();
        let filters = [
            Filter::linear_rank(5).unwrap(),
            Filter::heat(1.5, operator.bounds(), Kind::Adjacency, Accuracy::Exact).unwrap(),
            Filter::page_rank(0.8, operator.bounds(), Kind::Adjacency, Accuracy::Exact).unwrap(),
        ];
        for filter in &filters {
            let run = || {
                let operator = MagneticOperator::new(&dataset.graph, &config).unwrap();
                propagate(&operator, filter, features, &()).unwrap()
            };
            let one = on_threads(1, run);
            assert!(one == on_threads(2, run), "2 threads, {filter:?}");
            assert!(one == on_threads(7, run), "7 threads, {filter:?}");
        }
    }
}

#[test]
fn on_a_small_graph() {
    check(700, 0.01, 21);
}

#[test]
fn on_a_large_graph() {
    check(10_000, 0.001, 21);
}

/// Columns never mix: a block of columns is the block of the whole result.
#[test]
fn blocks_of_columns_are_independent() {
    let dataset = SyntheticConfig::demo().dataset("demo").unwrap();
    let features = dataset.features.as_ref().unwrap();
    let charge = Charge::fraction(1, 4).unwrap();
    let config = OperatorConfig { charge, ..Default::default() };
    let operator = MagneticOperator::new(&dataset.graph, &config).unwrap();
    let filter = Filter::linear_rank(4).unwrap();
    let Features::Dense(_) = features else { panic!("dense features") };
    let Propagated::Complex(whole) = propagate(&operator, &filter, features, &()).unwrap() else {
        panic!("complex result")
    };
    let block = propagate_block(&operator, &filter, features, 3..14, &()).unwrap();
    let Propagated::Complex(block) = block else { panic!("complex result") };
    for u in 0..whole.rows() {
        assert_eq!(block.row(u), &whole.row(u)[3..14]);
    }
}
